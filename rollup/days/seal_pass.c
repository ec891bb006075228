/* How a pass makes a seal:
 *
 *     rows of amount_by_day of a reseller ─▶ its days that are published, not dirty, have clicks
 *       ─▶ the day's clicks, read page by page and summed by ad
 *       ─▶ one batch (seal.h), if the day is as it was read and still not dirty
 *
 * What decides correctness: the batch is applied only if the day is as it was read
 * (store_apply_if), so the seal has exactly the clicks that are deleted.  The batch is applied only
 * while no refresh is under way and no reader has a pin (seal_gate.h), because these read clicks
 * and seals one after the other.
 *
 * A day that changed in between, or that is dirty, is left to the next pass.  A day or a reseller
 * that cannot be read is left, too; the error at the end names the first of these.  Any other
 * failure ends the pass; days that were sealed stay sealed.  After a pass with an error, or that
 * left days and sealed none, a server doubles its pause. */
#include "rollup/days/seal_pass.h"

#include <inttypes.h>

#include "storage/engine/store_rows.h"
#include "rollup/days/seal.h"
#include "base/log.h"
#include "base/memory.h"

enum {
    ADS_BYTES_MAX = 16 << 20, /* memory of a day's ads; more do not fit into one batch */
    ROW_BYTES = 160,          /* bytes of an ad, besides ids */
    NAME_SHOWN_MAX = 64,      /* bytes of a reseller's id in an error */
    HELD_PAUSE_MS = 5,
    FULL_PAUSE_MS = 20,
    LOOK_MS = 60000,           /* between two checks of a server for expired days */
    LOOK_MS_MAX = 60 * LOOK_MS /* the longest such pause, after passes without progress */
};

struct ad_sum {
    uint64_t clicks;
    struct decimal gross;
};

struct seal_pass {
    struct rollup *rollup;
    bool is_dry;
    int32_t from;
    int32_t to;        /* the last day that has expired */
    int32_t left_from; /* the first day left to the next pass; INT32_MAX: none */
    struct change_row change;
    struct bytes *resellers; /* those that had figures when the pass began */
    uint32_t reseller_count;
    uint32_t reseller_next;
    struct bytes reseller; /* the owner of `days` */
    int32_t *days;
    uint32_t day_count, day_capacity, day_next;
    int32_t day;
    struct buffer key;
    struct partition_stats stats;
    struct key_map *ads; /* by ad: a struct ad_sum */
    size_t bytes;
    bool is_read;
    struct store_version version;
    struct write_batch *batch;
    struct timer time_slice;
    struct seal_totals totals;
    seal_pass_done done;
    void *context;
    struct error err;    /* the failure that ended the pass; code 0: none */
    struct error unread; /* why the first of `totals.unread` could not be read */
};

/* ---- what is due ---- */

bool seal_pass_horizon(const struct rollup *rollup, int32_t *day_out)
{
    int64_t today = calendar_zone_day(rollup->zone, rollup_now_us(rollup) / 1000);
    int64_t last = today - rollup->retention.keep_days - 1;
    if (rollup->retention.keep_days == 0 || last < DAY_MIN || !rollup_trusts_clock(rollup))
        return false;
    *day_out = (int32_t)last;
    return true;
}

/* ---- the end ---- */

static void day_clear(struct seal_pass *pass)
{
    stats_release(&pass->stats);
    key_map_free(pass->ads);
    pass->ads = NULL;
    pass->bytes = 0;
    pass->is_read = false;
}

static void pass_free(struct seal_pass *pass)
{
    day_clear(pass);
    buffer_release(&pass->key);
    write_batch_free(pass->batch);
    memory_free(pass->resellers);
    memory_free(pass->days);
    memory_free(pass);
}

static bool is_ended(const struct seal_pass *pass)
{
    return pass->err.code < 0 || pass->rollup->is_closing || pass->rollup->is_failed;
}

/* Only a server logs what it sealed. */
static void log_sealed(const struct seal_pass *pass)
{
    char to[DAY_TEXT_SIZE + 1];
    struct buffer gross = {0};
    if (!pass->rollup->is_automatic || pass->is_dry || pass->totals.days == 0)
        return;
    calendar_day_format(pass->to, to);
    decimal_append(&gross, pass->totals.gross);
    log_event(LOG_NOTICE, "days_sealed", log_text("stream", pass->rollup->stream->name),
              log_text("up_to", to), log_number("keep_days", pass->rollup->retention.keep_days),
              log_number("days", (int64_t)pass->totals.days),
              log_number("clicks", (int64_t)pass->totals.clicks),
              log_bytes("gross", buffer_view(&gross)));
    buffer_release(&gross);
}

/* A server begins the next pass soon, so a failure is logged only if it differs from the last
 * one. */
static void log_not_sealed(const struct seal_pass *pass, const struct error *err)
{
    struct rollup *rollup = pass->rollup;
    const char *stream = rollup->stream->name;
    if (!rollup->is_automatic || rollup->is_closing)
        return;
    if (pass->totals.days_too_large > 0)
        log_event(LOG_WARNING, "days_too_large_to_seal", log_text("stream", stream),
                  log_number("days", (int64_t)pass->totals.days_too_large));
    if (err->code != 0 && err->code != rollup->retention.failure)
        log_event(LOG_WARNING, "days_not_sealed", log_text("stream", stream),
                  log_text("reason", err->text));
    rollup->retention.failure = err->code;
}

static void put_off(struct rollup *rollup, bool is_stuck)
{
    int32_t *pause_ms = &rollup->retention.pause_ms;
    int32_t next_ms = *pause_ms > 0 ? 2 * *pause_ms : LOOK_MS;
    *pause_ms = !is_stuck ? 0 : next_ms < LOOK_MS_MAX ? next_ms : LOOK_MS_MAX;
    if (is_stuck)
        seal_pass_tick_in(rollup, *pause_ms);
}

static void pass_finish(struct seal_pass *pass)
{
    struct rollup *rollup = pass->rollup;
    seal_pass_done done = pass->done;
    void *context = pass->context;
    const struct seal_totals totals = pass->totals;
    struct error err = pass->err;
    bool is_whole = !is_ended(pass) && !pass->is_dry;
    if (err.code == 0 && is_ended(pass))
        error_set(&err, ERROR_CLOSED, "the store is closing");
    error_wrap(&pass->unread,
               "days or resellers not sealed, as they could not be read: %" PRIu64 "; the first",
               totals.unread);
    error_keep(&err, pass->unread.code, &pass->unread);
    /* seal_pass_begin set seal_from to the day after the pass's last day.  Days that were not
     * sealed, or were refreshed during the pass, move seal_from back. */
    if (!is_whole)
        retention_expect(&rollup->retention, pass->from);
    retention_expect(&rollup->retention, pass->left_from);
    rollup->sealing = NULL;
    log_sealed(pass);
    log_not_sealed(pass, &err);
    if (!pass->is_dry)
        put_off(rollup, err.code < 0 || (totals.days == 0 && pass->left_from != INT32_MAX));
    pass_free(pass);
    if (done != NULL)
        done(context, err.code, &err, &totals);
    rollup_close_if_idle(rollup);
}

static void next_time_slice(struct timer *timer);

static void pass_go_on(struct seal_pass *pass)
{
    world_timer_start(pass->rollup->world, &pass->time_slice, next_time_slice, pass, 0);
}

static void pass_fail(struct seal_pass *pass, int status, const struct error *err)
{
    error_keep(&pass->err, status, err);
    pass_go_on(pass);
}

/* ---- one day ---- */

static void day_end(struct seal_pass *pass)
{
    day_clear(pass);
    pass_go_on(pass);
}

static void leave_from(struct seal_pass *pass, int32_t day)
{
    if (day < pass->left_from)
        pass->left_from = day;
}

static void day_leave(struct seal_pass *pass)
{
    pass->totals.days_left++;
    leave_from(pass, pass->day);
    day_end(pass);
}

/* `is_reseller`: none of the reseller's days could be read. */
static void leave_unread(struct seal_pass *pass, bool is_reseller, int status,
                         const struct error *err)
{
    char day[DAY_TEXT_SIZE + 1] = "";
    size_t shown = pass->reseller.size < NAME_SHOWN_MAX ? pass->reseller.size : NAME_SHOWN_MAX;
    if (!is_reseller)
        calendar_day_format(pass->day, day);
    if (pass->totals.unread++ == 0) {
        error_keep(&pass->unread, status, err);
        error_wrap(&pass->unread, "%.*s%s%s", (int)shown, (const char *)pass->reseller.data,
                   is_reseller ? "" : " ", day);
    }
    leave_from(pass, is_reseller ? pass->from : pass->day);
    day_end(pass);
}

/* The day has too many ads for one frame.  It starts no further pass; only a pass that begins for
 * another reason, or after the next start of the process, tries it again. */
static void day_leave_for_good(struct seal_pass *pass)
{
    pass->totals.days_too_large++;
    day_end(pass);
}

static int day_count(struct seal_pass *pass, const struct partition_stats *stats)
{
    pass->totals.days++;
    pass->totals.clicks += stats->rows;
    return decimal_add(pass->totals.gross, stats_sum(stats), &pass->totals.gross);
}

static void day_durable(void *context, int status, const struct error *err)
{
    struct seal_pass *pass = context;
    struct rollup *rollup = pass->rollup;
    rollup->pins++;
    seal_gate_end(&rollup->gate);
    rollup->pins--;
    if (status == 0)
        status = day_count(pass, &pass->stats);
    if (status < 0) {
        pass_fail(pass, status, err);
        return;
    }
    rollup->metrics.sealed->value++;
    day_end(pass);
}

/* ---- the batch ---- */

static void add_deletion(struct seal_pass *pass)
{
    const struct click_stream_clicks *clicks = &pass->rollup->stream->clicks;
    const struct column_value values[] = {
        {clicks->reseller, false, pass->reseller},
        {clicks->day, false, write_batch_day(pass->batch, pass->day)}};
    write_batch_delete(pass->batch, rollup_table(pass->rollup, clicks->table_id), values, 2);
}

static void add_state(struct seal_pass *pass)
{
    const struct column_value values[] = {
        {AMOUNT_RESELLER_ID, false, pass->reseller},
        {AMOUNT_DAY, false, write_batch_day(pass->batch, pass->day)},
        {AMOUNT_STATE, false, bytes_text(figure_state_name(DAY_SEALED))}};
    write_batch_insert(pass->batch,
                       rollup_table(pass->rollup, pass->rollup->stream->figures_table_id), values,
                       sizeof(values) / sizeof(values[0]));
}

static void add_seal(struct seal_pass *pass)
{
    const struct click_stream *stream = pass->rollup->stream;
    struct seal seal = {
        .key = buffer_view(&pass->key), .stats = pass->stats, .ads = key_map_count(pass->ads)};
    struct sealed_ad ad = {.key = seal.key};
    memcpy(seal.id, pass->change.id, UUID_SIZE);
    memcpy(ad.id, pass->change.id, UUID_SIZE);
    seal_write(pass->batch, rollup_table(pass->rollup, stream->seals_table_id), &seal);
    for (uint32_t i = 0; i < key_map_count(pass->ads); i++) {
        const struct ad_sum *sum = key_map_value(pass->ads, i);
        ad.ad = key_map_key(pass->ads, i);
        ad.clicks = sum->clicks;
        ad.gross = sum->gross;
        seal_write_ad(pass->batch, rollup_table(pass->rollup, stream->sealed_ads_table_id), &ad);
    }
}

static int apply_seal(struct seal_pass *pass, struct error *err)
{
    struct rollup *rollup = pass->rollup;
    struct store_expectation unchanged = {.table_id = rollup->stream->clicks.table_id,
                                          .key = buffer_view(&pass->key),
                                          .version = pass->version};
    bool is_later = pass->day > rollup->retention.sealed_to;
    write_batch_clear(pass->batch);
    add_seal(pass);
    add_deletion(pass);
    add_state(pass);
    if (is_later)
        retention_write_sealed_to(&rollup->retention, pass->batch, pass->day);
    rollup_write_change(rollup, pass->batch, &pass->change);
    seal_gate_begin(&rollup->gate);
    rollup->is_sealing = true;
    int rc = store_apply_if(rollup->store, pass->batch, &unchanged, 1, day_durable, pass, err);
    rollup->is_sealing = false;
    if (rc < 0)
        seal_gate_end(&rollup->gate);
    else if (is_later)
        rollup->retention.sealed_to = pass->day;
    return rc;
}

static bool is_owed(const struct seal_pass *pass)
{
    struct dirty_set *dirty = pass->rollup->marks.dirty;
    return dirty_set_find(dirty, buffer_view(&pass->key)) != NULL ||
           dirty_set_may_have_range(dirty, pass->reseller, pass->day);
}

static void commit_time_slice(struct timer *timer)
{
    struct seal_pass *pass = timer->context;
    struct rollup *rollup = pass->rollup;
    struct error err = {0};
    if (is_ended(pass)) {
        pass_finish(pass);
        return;
    }
    if (rollup->refresh != NULL || seal_gate_is_held(&rollup->gate)) {
        world_timer_start(rollup->world, timer, commit_time_slice, pass, HELD_PAUSE_MS);
        return;
    }
    if (is_owed(pass)) {
        day_leave(pass);
        return;
    }
    int rc = apply_seal(pass, &err);
    if (rc == ERROR_FULL)
        world_timer_start(rollup->world, timer, commit_time_slice, pass, FULL_PAUSE_MS);
    else if (rc == ERROR_CONFLICT)
        day_leave(pass);
    else if (rc == ERROR_LIMIT)
        day_leave_for_good(pass);
    else if (rc < 0)
        pass_fail(pass, rc, &err);
}

/* ---- the day's clicks ---- */

static int take_click(struct seal_pass *pass, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    const struct click_stream_clicks *clicks = &pass->rollup->stream->clicks;
    struct bytes ad, value;
    struct decimal amount;
    int64_t unscaled;
    uint8_t scale;
    if (!store_row_value(table, row, clicks->ad, &ad))
        return 0;
    struct ad_sum *sum = key_map_value(pass->ads, key_map_add(pass->ads, ad));
    if (sum->clicks++ == 0)
        pass->bytes += 2 * (pass->key.size + ad.size) + ROW_BYTES;
    stats_add_row(&pass->stats, type_value_bigint(row->row.clustering.values[0]));
    if (!store_row_value(table, row, clicks->amount, &value))
        return 0;
    int rc = decimal_deserialize(value, &amount);
    if (rc == 0)
        rc = decimal_add(sum->gross, amount, &sum->gross);
    if (rc == 0 && !decimal_split(amount, STATS_SCALES_MAX - 1, &unscaled, &scale))
        rc = ERROR_LIMIT;
    if (rc < 0)
        return error_set(err, rc, "a day has an amount that no sum can be kept of");
    stats_add_value(&pass->stats, unscaled, scale);
    return 0;
}

static int take_page(void *context, const struct read_page *page, struct error *err)
{
    struct seal_pass *pass = context;
    int rc = 0;
    if (!pass->is_read)
        pass->version = page->version;
    pass->is_read = true;
    for (uint32_t i = 0; rc == 0 && i < page->row_count; i++)
        rc = take_click(pass, page->table, &page->rows[i], err);
    if (rc == 0 && (is_ended(pass) || pass->bytes > ADS_BYTES_MAX))
        return 1;
    return rc;
}

static void clicks_read(void *context, int status, const struct error *err)
{
    struct seal_pass *pass = context;
    if (status < 0) {
        leave_unread(pass, false, status, err);
        return;
    }
    if (pass->bytes > ADS_BYTES_MAX) {
        day_leave_for_good(pass);
        return;
    }
    commit_time_slice(&pass->time_slice);
}

static void read_clicks(struct seal_pass *pass)
{
    struct bytes key = buffer_view(&pass->key);
    struct read_request request =
        store_rows_request(pass->rollup->stream->clicks.table_id, &key, READ_APPLIED);
    request.row_limit = READ_ROWS_MAX;
    pass->ads = key_map_new_of(sizeof(struct ad_sum));
    store_rows_read_pages(pass->rollup->store, &request, take_page, clicks_read, pass);
}

/* A day without clicks has nothing to seal.  The clicks of a day that was sealed before are late
 * clicks. */
static void take_stats(void *context, int status, const struct error *err,
                       const struct partition_figure *figures, uint32_t count,
                       struct bytes position)
{
    struct seal_pass *pass = context;
    (void)position;
    if (status == 0 && count > 0 && pass->is_dry)
        status = day_count(pass, &figures[0].stats);
    if (status < 0)
        leave_unread(pass, false, status, err);
    else if (count == 0 || pass->is_dry)
        day_end(pass);
    else
        read_clicks(pass);
}

static void day_begin(struct seal_pass *pass)
{
    struct error err = {0};
    buffer_clear(&pass->key);
    dirty_put_key(&pass->key, pass->reseller, pass->day);
    if (is_owed(pass)) {
        day_leave(pass);
        return;
    }
    int rc = store_stats(pass->rollup->store, pass->rollup->stream->clicks.table_id,
                         pass->rollup->stream->clicks.amount, buffer_view(&pass->key), READ_APPLIED,
                         take_stats, pass, &err);
    if (rc < 0)
        leave_unread(pass, false, rc, &err);
}

/* ---- the days of a reseller ---- */

static int take_day(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    struct seal_pass *pass = context;
    struct day_figure figure;
    int rc = figure_read(table, row, &figure, err);
    if (rc < 0 || figure.state == DAY_OPEN)
        return rc;
    pass->days =
        memory_make_room(pass->days, pass->day_count, &pass->day_capacity, sizeof(*pass->days));
    pass->days[pass->day_count++] = figure.day;
    return 0;
}

static void days_read(void *context, int status, const struct error *err)
{
    struct seal_pass *pass = context;
    if (status < 0) {
        pass->day_count = pass->day_next;
        leave_unread(pass, true, status, err);
        return;
    }
    pass_go_on(pass);
}

static void read_days(struct seal_pass *pass)
{
    struct day_slice_text text;
    struct read_request request =
        store_rows_request(pass->rollup->stream->figures_table_id, &pass->reseller, READ_APPLIED);
    request.slice = figure_slice(pass->from, pass->to, &text);
    pass->day_count = pass->day_next = 0;
    store_rows_read(pass->rollup->store, &request, take_day, days_read, pass);
}

/* Rows are read by descending day, but the oldest day is sealed first. */
static void next_time_slice(struct timer *timer)
{
    struct seal_pass *pass = timer->context;
    if (!is_ended(pass) && pass->day_next < pass->day_count) {
        pass->day = pass->days[pass->day_count - ++pass->day_next];
        day_begin(pass);
    } else if (!is_ended(pass) && pass->reseller_next < pass->reseller_count) {
        pass->reseller = pass->resellers[pass->reseller_next++];
        read_days(pass);
    } else {
        pass_finish(pass);
    }
}

/* ---- the beginning ---- */

static void resellers_known(void *context, int status, const struct error *err)
{
    struct seal_pass *pass = context;
    if (status < 0) {
        pass_fail(pass, status, err);
        return;
    }
    pass->resellers = key_map_sorted(pass->rollup->resellers.map, &pass->reseller_count);
    pass_go_on(pass);
}

int seal_pass_begin(struct rollup *rollup, const struct change_row *change, bool is_dry,
                    seal_pass_done done, void *context, struct error *err)
{
    int32_t to;
    if (rollup->sealing != NULL)
        return error_set(err, ERROR_FULL, "days are being sealed already");
    if (rollup->is_failed || rollup->is_closing)
        return error_set(err, ERROR_CLOSED, "the store is closing");
    struct seal_pass *pass = memory_zeroed(1, sizeof(*pass));
    *pass = (struct seal_pass){.rollup = rollup,
                               .is_dry = is_dry,
                               .from = rollup->retention.seal_from,
                               .to = DAY_MIN,
                               .left_from = INT32_MAX,
                               .change = *change,
                               .batch = write_batch_new(),
                               .done = done,
                               .context = context};
    rollup_begin_change(rollup, &pass->change);
    rollup->sealing = pass;
    if (!seal_pass_horizon(rollup, &to) || to < pass->from) {
        pass_go_on(pass);
        return 0;
    }
    pass->to = to;
    if (!is_dry)
        rollup->retention.seal_from = to + 1;
    known_resellers_read(&rollup->resellers, resellers_known, pass);
    return 0;
}

/* ---- by itself ---- */

static void tick(struct timer *timer)
{
    struct rollup *rollup = timer->context;
    const struct change_row change = {
        .door = "serve", .actor = "daybook", .command = "retention: clicks have expired"};
    int32_t to;
    if (seal_pass_horizon(rollup, &to) && rollup->retention.seal_from <= to &&
        rollup->sealing == NULL && !rollup->is_failed) {
        /* After a failure the seals are still due, and the next tick tries again. */
        int rc = seal_pass_begin(rollup, &change, false, NULL, NULL, NULL);
        (void)rc;
    }
    seal_pass_tick_in(rollup, LOOK_MS);
}

void seal_pass_tick_in(struct rollup *rollup, int64_t delay_ms)
{
    if (!rollup->is_automatic || rollup->is_closing || rollup->retention.keep_days == 0)
        return;
    world_timer_start(rollup->world, &rollup->seal_timer, tick, rollup, delay_ms);
}

/* The refresh: computes and writes the figures of dirty days, in chunks; each chunk is one batch.
 *
 *   take days off the queue, or a page of a range ─▶ stats of each ─▶ rows of amount_by_day
 *     ─▶ ledger of the published ones ─▶ decide each day (publication.h) ─▶ one batch:
 *        rows, ledger entries, marks deleted ─▶ applied: days leave the set, or wait
 *
 * Days that a command waits for are processed before the other queued days
 * (rollup_refresh_days_now).
 *
 * What decides correctness: the figure, the ledger entry and the deletion of the marks of a day are
 * in one batch, so after a crash either all three are done, or none is and the marks are still
 * there.  A mark that comes after its day was taken off the queue puts the day back, and is not
 * deleted.  write_chunk looks up the rates and applies the batch in one loop turn.  Ranges are
 * processed before days, so that a day whose rate changed is restated with the cause `rate`.
 *
 * If many rates changed, a chunk reads ranges of several resellers side by side.  It takes them in
 * the order of their rows, so that each page of the disk is decoded once.  It takes only one range
 * of a reseller, because two ranges could both restate a day.
 *
 * A day that cannot be read goes back to the queue, or its range stays; all other days are written.
 * If the store is full, days and ranges stay queued until after a pause.  If the store failed, all
 * waiters get its error. */
#include <stdlib.h>

#include "base/murmur3.h"
#include "rollup/days/day_reader.h"
#include "rollup/days/rollup_private.h"
#include "storage/engine/store_rows.h"
#include "base/arena.h"
#include "base/memory.h"

enum {
    CHUNK_DAYS_MAX = 64,
    BEHIND_DAYS_MAX = DAY_READER_MAX, /* days of a chunk, if very many are queued */
    WINDOW_MAX = 8192,
    CHUNK_RANGES_MAX = 8,
    RANGE_DAYS_MAX = DAY_READER_MAX / CHUNK_RANGES_MAX, /* of each range, if a chunk has several */
    NAME_SHOWN_MAX = 64,                                /* bytes of a reseller's id in an error */
    CHUNK_BYTES_MAX = 4 << 20, /* bytes of the batch, roughly; far below the store's limit */
    ROW_BYTES = 400            /* bytes of one row that is written for a day, besides its key */
};

#define RETRY_US      INT64_C(10000000) /* the pause after a day could not be read */
#define FULL_PAUSE_MS 20

struct plan {
    struct day_figure figure;
    enum publication_step step;
    bool clears; /* the day's marks are deleted, because nothing is owed and no mark came since the
                  * day was read */
};

/* A queued day or a range that will be processed soon. */
struct window_item {
    int64_t token; /* of its reseller: the order of rows on the disk */
    int64_t rank;  /* the order of items with the same token */
    union {
        struct dirty_day *day;
        struct dirty_range *range;
    };
};

/* The front of the queue, or of the ranges, in the order of rows. */
struct window {
    struct window_item *items; /* NULL: none was needed yet */
    uint32_t count;
    uint32_t next;
};

struct open_range {
    struct refresh *refresh;
    struct dirty_range *range;
    int32_t to;     /* the latest unprocessed day; later days are processed first */
    uint32_t days;  /* days of the range in this chunk */
    int32_t lowest; /* the earliest of these days */
    bool ends;
    bool fails;          /* days of the range could not be read in this chunk */
    bool has_failed;     /* days of the range could not be read in an applied chunk */
    struct error unread; /* the error in reading its rows in this chunk; code 0: none */
    struct error why;    /* the first failure of all chunks, if `has_failed` */
};

struct refresh {
    struct rollup *rollup;
    uint64_t number;
    struct window days_ahead;
    struct window ranges_ahead;
    struct day_reader *reader;
    struct write_batch *batch;
    const struct table *figures;
    const struct table *ledger;
    const struct table *marks;
    struct open_range ranges[CHUNK_RANGES_MAX];
    uint32_t range_count; /* 0: the chunk has days of the queue */
    uint32_t range_days_max;
    uint32_t reads;     /* reads of ranges under way, plus one for the function that starts them */
    bool had_days;      /* begin_days took days of the queue in this refresh */
    struct plan *plans; /* BEHIND_DAYS_MAX, by index of the day; not set if the day's status is <
                         * 0 */
    uint32_t written;
    uint32_t published;  /* ledger entries of publications in the batch */
    uint32_t restated;   /* ledger entries of restatements in the batch */
    uint32_t unpriced;   /* days that become unpriced by the batch */
    uint32_t priced;     /* days that are no longer unpriced after the batch */
    bool has_failed;     /* days of this refresh are left to the next */
    struct error unread; /* the first failed read of the chunk; code 0: none */
    struct error err;    /* the store's error, which ends the refresh; code 0: none */
};

/* ---- life ---- */

static struct refresh *refresh_new(struct rollup *rollup)
{
    struct refresh *refresh = memory_zeroed(1, sizeof(*refresh));
    refresh->rollup = rollup;
    refresh->number = ++rollup->progress.refreshes;
    refresh->reader = day_reader_new(rollup->store, rollup->stream, &rollup->retention.sealed_to);
    refresh->plans = memory_alloc(BEHIND_DAYS_MAX * sizeof(*refresh->plans)); /* not zeroed */
    refresh->batch = write_batch_new();
    return refresh;
}

static void chunk_clear(struct refresh *refresh)
{
    day_reader_clear(refresh->reader);
    write_batch_clear(refresh->batch);
    refresh->written = refresh->published = refresh->restated = 0;
    refresh->unpriced = refresh->priced = 0;
    refresh->unread.code = 0;
}

static void refresh_free(struct refresh *refresh)
{
    day_reader_free(refresh->reader);
    write_batch_free(refresh->batch);
    memory_free(refresh->plans);
    memory_free(refresh->days_ahead.items);
    memory_free(refresh->ranges_ahead.items);
    memory_free(refresh);
}

/* ---- deciding ---- */

static bool may_publish(const struct rollup *rollup, const struct day_facts *day, int64_t now_us)
{
    if (!rollup_trusts_clock(rollup))
        return false;
    if (refresh_list_is_publishing(&rollup->waiters) &&
        now_us >= publication_earliest_us(&rollup->due.rules, day->day))
        return true;
    return rollup->is_automatic && day->dirty != NULL &&
           now_us >= publication_due_us(&rollup->due.rules, day->dirty, now_us);
}

/* Only a server puts restatements off, to gather late clicks. */
static bool may_restate(const struct refresh *refresh, const struct day_facts *day, int64_t now_us)
{
    const struct rollup *rollup = refresh->rollup;
    if (!rollup->is_automatic || refresh_list_is_publishing(&rollup->waiters) ||
        day->range != NULL || rollup->evicted.holds)
        return true;
    for (uint32_t i = 0; i < day->dirty->mark_count; i++)
        if (dirty_day_marks(day->dirty)[i].cause != CAUSE_LATE_CLICKS)
            return true;
    return day->dirty->owed_us != 0 &&
           now_us >= publication_restate_us(&rollup->due.rules, day->dirty, now_us);
}

static void decide_day(struct refresh *refresh, struct day_facts *day, struct plan *plan,
                       int64_t now_us)
{
    const struct rollup *rollup = refresh->rollup;
    const struct rate *rate = rate_table_at(rollup->rates.table, day->reseller, day->day);
    bool is_sealed = day->is_settled ? day->row.state == DAY_SEALED : day->sum.seals > 0;
    if (day->is_settled) {
        plan->figure = day->row;
        plan->figure.state = DAY_OPEN;
        day->status = figure_price(&plan->figure, rate);
    } else {
        day->status = figure_make(day->reseller, day->day, &day->sum.stats, rate, &plan->figure);
    }
    if (day->status < 0)
        return;
    const struct publication_facts facts = {.figure = &plan->figure,
                                            .last = day->has_last ? &day->last : NULL,
                                            .may_publish = may_publish(rollup, day, now_us),
                                            .may_restate = may_restate(refresh, day, now_us)};
    plan->step = publication_step(&facts);
    if (plan->step != STEP_KEEP_OPEN && plan->step != STEP_VANISH)
        plan->figure.state = is_sealed ? DAY_SEALED : DAY_PUBLISHED;
    plan->clears = day->dirty != NULL && !day->dirty->is_queued && plan->step != STEP_KEEP_OPEN &&
                   plan->step != STEP_GATHER;
}

/* ---- writing ---- */

static void delete_mark(struct refresh *refresh, struct bytes reseller, int32_t day,
                        const struct dirty_mark *mark)
{
    const struct column_value values[] = {
        {DIRTY_RESELLER_ID, false, reseller},
        {DIRTY_DAY, false, write_batch_day(refresh->batch, day)},
        {DIRTY_ID, false, bytes_of(mark->id, UUID_SIZE)},
    };
    write_batch_delete(refresh->batch, refresh->marks, values, sizeof(values) / sizeof(values[0]));
}

/* The causes of a restatement: the marks of the day and of the range.  Expiry changes no figure, so
 * it is a cause only if there is no other. */
static struct dirty_mark *marks_of(struct refresh *refresh, const struct day_facts *day,
                                   uint32_t *count_out)
{
    uint32_t own = day->dirty != NULL ? day->dirty->mark_count : 0;
    struct dirty_mark *marks = arena_array(refresh->reader->arena, own + 1, sizeof(*marks));
    *count_out = 0;
    for (uint32_t i = 0; i < own; i++)
        if (dirty_day_marks(day->dirty)[i].cause != CAUSE_EXPIRY)
            marks[(*count_out)++] = dirty_day_marks(day->dirty)[i];
    if (day->range != NULL)
        marks[(*count_out)++] = day->range->mark;
    if (*count_out == 0 && own > 0)
        marks[(*count_out)++] = dirty_day_marks(day->dirty)[0];
    return marks;
}

static void write_entry(struct refresh *refresh, const struct day_facts *day,
                        const struct plan *plan)
{
    struct rollup *rollup = refresh->rollup;
    struct ledger_entry entry = {.at_ms = rollup->progress.ledger_at_ms,
                                 .is_publication = plan->step == STEP_PUBLISH,
                                 .new = plan->figure};
    uint32_t count = 0;
    struct dirty_mark *marks = NULL;
    if (plan->step != STEP_PUBLISH && plan->step != STEP_RESTATE)
        return;
    if (day->has_last) {
        entry.seq = day->last.seq + 1;
        entry.old = day->last.new;
        if (entry.at_ms < day->last.at_ms)
            entry.at_ms = day->last.at_ms;
    }
    if (!entry.is_publication)
        marks = marks_of(refresh, day, &count);
    ledger_write(refresh->batch, refresh->ledger, day->token, &entry, marks, count);
    (*(entry.is_publication ? &refresh->published : &refresh->restated))++;
}

static void write_figure(struct refresh *refresh, const struct day_facts *day,
                         const struct plan *plan)
{
    bool was_unpriced = day->has_row && day_figure_is_unpriced(&day->row);
    bool is_unpriced = plan->step != STEP_VANISH && day_figure_is_unpriced(&plan->figure);
    refresh->unpriced += !was_unpriced && is_unpriced;
    refresh->priced += was_unpriced && !is_unpriced;
    if (plan->step == STEP_VANISH) {
        if (day->has_row)
            figure_delete(refresh->batch, refresh->figures, &day->row);
        return;
    }
    if (day->has_row && figure_identical(&day->row, &plan->figure))
        return;
    figure_write(refresh->batch, refresh->figures, day->token, &plan->figure);
    refresh->written++;
}

/* During store_apply no waiter may be called, because the days of the batch are still in the
 * set. */
static void applied(void *context, int status, const struct error *err)
{
    struct rollup *rollup = context;
    rollup->progress.applies_durable++;
    if (status == 0)
        live_rates_batch_durable(&rollup->rates, rollup->progress.applies_durable);
    rollup->is_failed |= status < 0;
    error_keep(&rollup->failure, status, err);
    if (rollup->progress.is_applying)
        return;
    if (status == 0)
        dirty_set_forget(rollup->marks.dirty, rollup->progress.applies_durable);
    rollup_refreshed(rollup);
    rollup_close_if_idle(rollup);
}

/* ---- the end of a chunk ---- */

static void wait_or_clear(struct rollup *rollup, const struct day_facts *day,
                          const struct plan *plan, int64_t now_us)
{
    struct dirty_day *dirty = day->dirty;
    int64_t due_us = 0;
    if (dirty == NULL)
        return;
    bool is_open = day->status == 0 && plan->step == STEP_KEEP_OPEN;
    dirty_day_keep_row(dirty, is_open ? &plan->figure : NULL);
    if (day->status < 0) {
        dirty_set_queue(rollup->marks.dirty, dirty);
        return;
    }
    if (plan->clears) {
        check(!dirty->is_queued);
        if (day->sum.clicks > 0)
            retention_expect(&rollup->retention, day->day);
        dirty_set_clear(rollup->marks.dirty, dirty, rollup->progress.applies_sent);
        return;
    }
    if (plan->step == STEP_GATHER) {
        dirty->owed_us = dirty->owed_us != 0 ? dirty->owed_us : now_us;
        due_us = publication_restate_us(&rollup->due.rules, dirty, now_us);
    } else {
        dirty->owed_us = 0;
        due_us = publication_due_us(&rollup->due.rules, dirty, now_us);
    }
    publication_queue_expect(&rollup->due, due_us);
    if (!dirty->is_queued)
        dirty->order = rollup->progress.applies_sent;
}

static void put_back(struct refresh *refresh)
{
    for (uint32_t i = 0; i < refresh->reader->count; i++)
        if (refresh->reader->days[i].dirty != NULL)
            dirty_set_queue(refresh->rollup->marks.dirty, refresh->reader->days[i].dirty);
}

/* All days that were taken off the queue must be written, or be in the queue again. */
static void chunk_written(struct rollup *rollup)
{
    refresh_list_note_worked(&rollup->waiters, rollup->marks.dirty, rollup->progress.applies_sent);
    rollup_refreshed(rollup);
}

/* If the refresh failed, the write batches whose days it took are left to the next refresh, so
 * owed_us is again the arrival of the first of these batches. */
static void note_lag(struct rollup *rollup, bool has_failed)
{
    int64_t since_us = rollup->progress.works_us;
    rollup->progress.works_us = 0;
    if (since_us != 0 && has_failed)
        rollup->progress.owed_us = since_us;
    else if (since_us != 0)
        metrics_observe_us(rollup->metrics.lag, world_monotonic_us(rollup->world) - since_us);
}

static void refresh_finish(struct refresh *refresh)
{
    struct rollup *rollup = refresh->rollup;
    struct error err = refresh->err;
    bool has_failed = refresh->has_failed;
    if (refresh->had_days)
        rollup->look.refresh_took_us =
            world_monotonic_us(rollup->world) - rollup->progress.began_us;
    note_lag(rollup, err.code < 0 || has_failed);
    rollup->refresh = NULL;
    refresh_free(refresh);
    if (err.code < 0)
        refresh_list_fail(&rollup->waiters, &err);
    else
        chunk_written(rollup);
    if (err.code < 0 || has_failed)
        look_timer_at(&rollup->look, rollup_now_us(rollup) + RETRY_US);
    else
        rollup_look_again(rollup);
    dirty_evicted_let_write(&rollup->evicted);
    rollup_close_if_idle(rollup);
}

/* Ranges that end with the chunk leave the set, or wait for the next refresh if days of them could
 * not be read. */
static void end_ranges(struct refresh *refresh)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < refresh->range_count; i++) {
        struct open_range *open = &refresh->ranges[i];
        if (open->ends && open->has_failed) {
            open->range->failed_in = refresh->number;
            dirty_set_postpone_range(refresh->rollup->marks.dirty, open->range);
            continue;
        }
        if (open->ends) {
            dirty_set_clear_range(refresh->rollup->marks.dirty, open->range);
            continue;
        }
        open->to = open->lowest - 1;
        refresh->ranges[kept++] = *open;
    }
    refresh->range_count = kept;
}

static void chunk_end(struct refresh *refresh)
{
    struct rollup *rollup = refresh->rollup;
    int64_t now_us = rollup_now_us(rollup);
    for (uint32_t i = 0; i < refresh->reader->count; i++)
        wait_or_clear(rollup, &refresh->reader->days[i], &refresh->plans[i], now_us);
    dirty_set_forget(rollup->marks.dirty, rollup->progress.applies_durable);
    end_ranges(refresh);
    chunk_clear(refresh);
    rollup_make_room(rollup);
    rollup->metrics.dirty->value = dirty_set_queued(rollup->marks.dirty);
    rollup_report_memory(rollup);
    rollup_press(rollup);
    chunk_written(rollup);
    rollup_fire_in(rollup, &rollup->progress.time_slice, 0);
}

/* Rows and ledger entries become one mutation each, or more if day_reader_read did not sort. */
static void write_reseller(struct refresh *refresh, uint32_t start, uint32_t end)
{
    uint32_t written = refresh->written;
    for (uint32_t i = start; i < end; i++)
        if (refresh->reader->days[i].status == 0)
            write_figure(refresh, &refresh->reader->days[i], &refresh->plans[i]);
    if (refresh->written > written)
        known_resellers_add(&refresh->rollup->resellers, refresh->reader->days[start].reseller);
    for (uint32_t i = end; i > start; i--)
        if (refresh->reader->days[i - 1].status == 0)
            write_entry(refresh, &refresh->reader->days[i - 1], &refresh->plans[i - 1]);
    for (uint32_t i = start; i < end; i++) {
        const struct day_facts *day = &refresh->reader->days[i];
        bool clears = day->status == 0 && refresh->plans[i].clears;
        for (uint32_t m = 0; clears && m < day->dirty->mark_count; m++)
            delete_mark(refresh, day->reseller, day->day, &dirty_day_marks(day->dirty)[m]);
    }
}

static void write_days(struct refresh *refresh)
{
    const struct rollup *rollup = refresh->rollup;
    uint32_t end;
    refresh->figures = rollup_table(rollup, rollup->stream->figures_table_id);
    refresh->ledger = rollup_table(rollup, rollup->stream->ledger_table_id);
    refresh->marks = rollup_table(rollup, rollup->stream->dirty_table_id);
    for (uint32_t start = 0; start < refresh->reader->count; start = end) {
        end = start + 1;
        while (end < refresh->reader->count && bytes_equal(refresh->reader->days[end].reseller,
                                                           refresh->reader->days[start].reseller))
            end++;
        write_reseller(refresh, start, end);
    }
    for (uint32_t i = 0; i < refresh->range_count; i++) {
        const struct dirty_range *range = refresh->ranges[i].range;
        if (refresh->ranges[i].ends && !refresh->ranges[i].fails && !refresh->ranges[i].has_failed)
            delete_mark(refresh, range->reseller, range->from, &range->mark);
    }
}

static void call_watch(const struct refresh *refresh, const struct figure_watch *watch)
{
    for (uint32_t i = 0; i < refresh->reader->count; i++) {
        const struct day_facts *day = &refresh->reader->days[i];
        const struct dirty_range *range = day->range;
        if (range != NULL && range->mark.has_change && day->status == 0 &&
            refresh->plans[i].step != STEP_VANISH &&
            memcmp(range->mark.change, watch->change, sizeof(watch->change)) == 0)
            watch->each(watch->context, &refresh->plans[i].figure);
    }
}

static void call_watches(const struct refresh *refresh)
{
    const struct refresh_waiter *waiter = refresh->rollup->waiters.first;
    for (; waiter != NULL; waiter = waiter->next)
        if (waiter->watch.each != NULL)
            call_watch(refresh, &waiter->watch);
}

/* Whether other ranges, or days of these ranges, are left for another chunk. */
static bool is_followed(const struct refresh *refresh)
{
    for (uint32_t i = 0; i < refresh->range_count; i++)
        if (!refresh->ranges[i].ends)
            return true;
    return refresh->range_count > 0 && refresh->ranges_ahead.next < refresh->ranges_ahead.count;
}

static void count_unpriced(struct rollup *rollup, const struct refresh *refresh)
{
    if (refresh->unpriced == 0 && refresh->priced == 0)
        return;
    rollup->unpriced.changes++;
    rollup->unpriced.changed_in = rollup->progress.applies_sent;
    if (rollup->metrics.unpriced->value != METRIC_UNKNOWN)
        rollup->metrics.unpriced->value += (int64_t)refresh->unpriced - (int64_t)refresh->priced;
}

static int apply_chunk(struct refresh *refresh, struct error *err)
{
    struct rollup *rollup = refresh->rollup;
    if (write_batch_is_empty(refresh->batch))
        return 0;
    refresh->batch->write_lock = &rollup->evicted.write_lock;
    refresh->batch->is_followed = is_followed(refresh);
    rollup->progress.is_applying = true;
    rollup->progress.applies_sent++;
    live_rates_send(&rollup->rates, rollup->progress.applies_sent);
    int rc = store_apply(rollup->store, refresh->batch, applied, rollup, err);
    rollup->progress.is_applying = false;
    if (rc < 0) {
        live_rates_take_back(&rollup->rates, rollup->progress.applies_sent--);
        return rc;
    }
    rollup->metrics.written->value += refresh->written;
    rollup->metrics.published->value += refresh->published;
    rollup->metrics.restated->value += refresh->restated;
    count_unpriced(rollup, refresh);
    return 0;
}

static void note_day(struct refresh *refresh, const struct day_facts *day)
{
    char name[DAY_TEXT_SIZE + 1];
    size_t shown = day->reseller.size < NAME_SHOWN_MAX ? day->reseller.size : NAME_SHOWN_MAX;
    struct error err = {0};
    error_keep(&err, day->status, day->status == refresh->unread.code ? &refresh->unread : NULL);
    calendar_day_format(day->day, name);
    error_wrap(&err, "%.*s %s", (int)shown, (const char *)day->reseller.data, name);
    refresh_list_note_failed(&refresh->rollup->waiters, day->reseller, day->day, day->day,
                             day->range != NULL ? &day->range->mark : NULL, &err);
    for (uint32_t i = 0; i < refresh->range_count; i++)
        if (refresh->ranges[i].range == day->range)
            error_keep(&refresh->ranges[i].why, err.code, &err);
}

/* Waiters get the error only when the range ends, because some may be added after the chunk that
 * failed. */
static void note_range(struct refresh *refresh, struct open_range *open)
{
    const struct dirty_range *range = open->range;
    error_keep(&open->why, open->unread.code, &open->unread);
    if (open->ends && open->has_failed)
        refresh_list_note_failed(&refresh->rollup->waiters, range->reseller, range->from,
                                 range->until - 1, &range->mark, &open->why);
}

/* To be called after the chunk was applied.  If the store was full, the chunk is read again, so its
 * failures do not count. */
static void note_failures(struct refresh *refresh)
{
    for (uint32_t i = 0; i < refresh->reader->count; i++) {
        if (refresh->reader->days[i].status == 0)
            continue;
        refresh->has_failed = true;
        note_day(refresh, &refresh->reader->days[i]);
    }
    for (uint32_t i = 0; i < refresh->range_count; i++) {
        struct open_range *open = &refresh->ranges[i];
        open->has_failed |= open->fails;
        refresh->has_failed |= open->fails;
        note_range(refresh, open);
    }
}

static void write_chunk(struct refresh *refresh)
{
    struct rollup *rollup = refresh->rollup;
    struct error err = {0};
    int64_t now_us = rollup_now_us(rollup);
    if (now_us / 1000 > rollup->progress.ledger_at_ms)
        rollup->progress.ledger_at_ms = now_us / 1000;
    for (uint32_t i = 0; i < refresh->reader->count; i++) {
        struct day_facts *day = &refresh->reader->days[i];
        if (day->status == 0)
            decide_day(refresh, day, &refresh->plans[i], now_us);
        for (uint32_t r = 0; day->status < 0 && r < refresh->range_count; r++)
            refresh->ranges[r].fails |= refresh->ranges[r].range == day->range;
    }
    write_days(refresh);
    int rc = apply_chunk(refresh, &err);
    if (rc == 0) {
        note_failures(refresh);
        call_watches(refresh);
        chunk_end(refresh);
        return;
    }
    put_back(refresh);
    chunk_clear(refresh);
    if (rc == ERROR_FULL) {
        /* The days went back to the end of the queue: callers that wait for them now wait for all
         * days before them, too. */
        rollup->progress.order_wanted = dirty_set_order(rollup->marks.dirty);
        refresh_list_wait_longer(&rollup->waiters, rollup->progress.order_wanted);
        rollup_fire_in(rollup, &rollup->progress.time_slice, FULL_PAUSE_MS);
        return;
    }
    error_keep(&refresh->err, rc, &err);
    refresh_finish(refresh);
}

/* ---- the beginning of a chunk ---- */

static void chunk_read(void *context, int status, const struct error *err)
{
    struct refresh *refresh = context;
    error_keep(&refresh->unread, status, err);
    write_chunk(refresh);
}

/* Take a day off the queue before it is read, so that a later mark puts the day back. */
static void add_dirty(struct refresh *refresh, struct dirty_day *dirty)
{
    dirty_set_wait(refresh->rollup->marks.dirty, dirty);
    struct day_facts *day = day_reader_add_key(refresh->reader, dirty_day_key(dirty),
                                               dirty_day_reseller(dirty), dirty->day);
    day->dirty = dirty;
    day->has_row = dirty_day_row(dirty, &day->row);
    day->row.reseller = day->reseller;
}

static size_t bytes_of_day(const struct dirty_day *dirty)
{
    return (3 + (size_t)dirty->mark_count) * (dirty->key_size + (size_t)ROW_BYTES);
}

static void window_add(struct window *window, struct bytes reseller, struct window_item item)
{
    if (window->items == NULL)
        window->items = memory_alloc(WINDOW_MAX * sizeof(*window->items));
    item.token = murmur3_token(reseller.data, reseller.size);
    window->items[window->count++] = item;
}

static int compare_items(const void *a, const void *b)
{
    const struct window_item *left = a;
    const struct window_item *right = b;
    if (left->token != right->token)
        return left->token < right->token ? -1 : 1;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static void window_sort(struct window *window, uint32_t most)
{
    if (window->count > most)
        qsort(window->items, window->count, sizeof(*window->items), compare_items);
}

/* If more days are queued than a chunk takes, the first of them are sorted in the order of their
 * rows, so that a chunk reads neighbours.  These days stay queued.  The window stays valid: only
 * the refresh takes days off the queue, and it empties the window before it processes other
 * days. */
static void take_days_ahead(struct refresh *refresh)
{
    struct rollup *rollup = refresh->rollup;
    struct window *window = &refresh->days_ahead;
    window->count = window->next = 0;
    for (struct dirty_day *day = dirty_set_first_queued(rollup->marks.dirty);
         day != NULL && day->order < rollup->progress.order_wanted && window->count < WINDOW_MAX;
         day = TAILQ_NEXT(day, link))
        window_add(window, dirty_day_reseller(day),
                   (struct window_item){.rank = -(int64_t)day->day, .day = day});
    window_sort(window, CHUNK_DAYS_MAX);
}

static uint32_t add_awaited(struct refresh *refresh)
{
    struct rollup *rollup = refresh->rollup;
    size_t bytes = 0;
    uint32_t count = 0;
    for (struct refresh_waiter *waiter = rollup->waiters.first; waiter != NULL;
         waiter = waiter->next) {
        struct dirty_day *dirty;
        if (waiter->reseller.data == NULL || waiter->is_worked)
            continue;
        while (count < CHUNK_DAYS_MAX && bytes < CHUNK_BYTES_MAX &&
               (dirty = refresh_list_day(rollup->marks.dirty, waiter)) != NULL) {
            bytes += bytes_of_day(dirty);
            add_dirty(refresh, dirty);
            count++;
        }
    }
    return count;
}

static void begin_days(struct refresh *refresh)
{
    size_t bytes = 0;
    uint32_t count = 0;
    struct window *window = &refresh->days_ahead;
    if (window->next == window->count)
        take_days_ahead(refresh);
    uint32_t most = window->count == WINDOW_MAX ? BEHIND_DAYS_MAX : CHUNK_DAYS_MAX;
    while (window->next < window->count && count < most && bytes < CHUNK_BYTES_MAX) {
        struct dirty_day *dirty = window->items[window->next++].day;
        bytes += bytes_of_day(dirty);
        add_dirty(refresh, dirty);
        count++;
    }
    refresh->had_days |= count > 0;
    if (count == 0)
        refresh_finish(refresh);
    else
        day_reader_read(refresh->reader, false, chunk_read, refresh);
}

/* ---- ranges ---- */

/* Whether a day's row is right in all but the rate: all marks are loaded, and the day is not in the
 * set.  False in a defined stream: days of clicks from before its definition may not be marked yet.
 * Looking up a reseller's first day is cheaper than making a key for each day. */
static bool is_settled(const struct rollup *rollup, struct bytes reseller, int32_t day)
{
    return rollup->opened == NULL && !rollup->is_defined &&
           (dirty_set_first_of(rollup->marks.dirty, reseller) == NULL ||
            dirty_set_look(rollup->marks.dirty, reseller, day) == NULL);
}

static struct day_facts *add_row_day(struct refresh *refresh, struct bytes reseller,
                                     const struct day_figure *row)
{
    struct dirty_set *dirty = refresh->rollup->marks.dirty;
    if (is_settled(refresh->rollup, reseller, row->day))
        return day_reader_add_settled(refresh->reader, reseller, row);
    struct day_facts *day = day_reader_add(refresh->reader, reseller, row->day);
    day->dirty = dirty_set_find(dirty, day->key);
    if (day->dirty != NULL)
        dirty_set_wait(dirty, day->dirty);
    day->has_row = true;
    day->row = *row;
    day->row.reseller = day->reseller;
    return day;
}

static int range_row(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct open_range *open = context;
    struct refresh *refresh = open->refresh;
    struct day_figure figure;
    int rc = figure_read(table, row, &figure, err);
    if (rc < 0)
        return rc;
    add_row_day(refresh, open->range->reseller, &figure)->range = open->range;
    open->lowest = figure.day;
    return ++open->days == refresh->range_days_max;
}

static void ranges_read(struct refresh *refresh)
{
    if (--refresh->reads > 0)
        return;
    day_reader_read(refresh->reader, true, chunk_read, refresh);
}

static void range_read(void *context, int status, const struct error *err)
{
    struct open_range *open = context;
    open->ends = open->days < open->refresh->range_days_max;
    open->fails = status < 0;
    error_keep(&open->unread, status, err);
    ranges_read(open->refresh);
}

static void read_range(struct open_range *open)
{
    struct refresh *refresh = open->refresh;
    struct day_slice_text text;
    struct read_request request = store_rows_request(refresh->rollup->stream->figures_table_id,
                                                     &open->range->reseller, READ_APPLIED);
    open->days = 0;
    open->unread.code = 0;
    refresh->reads++;
    if (open->to < open->range->from) {
        range_read(open, 0, NULL);
        return;
    }
    request.slice = figure_slice(open->range->from, open->to, &text);
    request.row_limit = refresh->range_days_max;
    store_rows_read(refresh->rollup->store, &request, range_row, range_read, open);
}

/* A range that failed in this refresh is taken again only if a waiter was added after the failure,
 * because a failure gives the range an order after those of all present waiters.  So each waiter
 * causes at most one more attempt. */
static void take_ranges_ahead(struct refresh *refresh)
{
    struct window *window = &refresh->ranges_ahead;
    uint64_t awaited = refresh_list_range_order(&refresh->rollup->waiters);
    window->count = window->next = 0;
    for (struct dirty_range *range = dirty_set_first_range(refresh->rollup->marks.dirty);
         range != NULL && window->count < WINDOW_MAX; range = TAILQ_NEXT(range, link))
        if (range->failed_in != refresh->number || range->order < awaited)
            window_add(window, range->reseller,
                       (struct window_item){.rank = (int64_t)range->order, .range = range});
    window_sort(window, 1);
}

static bool is_open(const struct refresh *refresh, struct bytes reseller)
{
    for (uint32_t i = 0; i < refresh->range_count; i++)
        if (bytes_equal(refresh->ranges[i].range->reseller, reseller))
            return true;
    return false;
}

/* Ranges of the previous chunk that have not ended stay in the chunk. */
static void open_ranges(struct refresh *refresh)
{
    struct window *window = &refresh->ranges_ahead;
    if (refresh->range_count == 0 && window->next == window->count)
        take_ranges_ahead(refresh);
    while (refresh->range_count < CHUNK_RANGES_MAX && window->next < window->count) {
        struct dirty_range *range = window->items[window->next].range;
        if (is_open(refresh, range->reseller))
            break;
        window->next++;
        refresh->ranges[refresh->range_count++] =
            (struct open_range){.refresh = refresh,
                                .range = range,
                                .to = range->until > DAY_MAX ? DAY_MAX : range->until - 1};
    }
}

static void begin_ranges(struct refresh *refresh)
{
    refresh->range_days_max = refresh->range_count > 1 ? RANGE_DAYS_MAX : CHUNK_DAYS_MAX;
    refresh->reads = 1;
    for (uint32_t i = 0; i < refresh->range_count; i++)
        read_range(&refresh->ranges[i]);
    ranges_read(refresh);
}

static void chunk_begin(struct refresh *refresh)
{
    open_ranges(refresh);
    bool is_awaited = refresh->range_count == 0 && add_awaited(refresh) > 0;
    if (refresh->range_count > 0 || is_awaited)
        refresh->days_ahead.count = refresh->days_ahead.next = 0;
    if (refresh->range_count > 0)
        begin_ranges(refresh);
    else if (is_awaited)
        day_reader_read(refresh->reader, false, chunk_read, refresh);
    else
        begin_days(refresh);
}

void rollup_time_slice(struct timer *timer)
{
    struct rollup *rollup = timer->context;
    chunk_begin(rollup->refresh);
}

void rollup_refresh_ranges(struct rollup *rollup)
{
    if (rollup->refresh != NULL || rollup->is_failed || !rollup->is_loaded)
        return;
    rollup->progress.began_us = world_monotonic_us(rollup->world);
    rollup->progress.works_us = rollup->progress.owed_us;
    rollup->progress.owed_us = 0;
    rollup->refresh = refresh_new(rollup);
    chunk_begin(rollup->refresh);
}

void rollup_refresh_wanted(struct rollup *rollup)
{
    rollup->progress.order_wanted = dirty_set_order(rollup->marks.dirty);
    rollup_refresh_ranges(rollup);
}

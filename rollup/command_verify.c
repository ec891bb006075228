/* daybook verify: recompute everything that follows from clicks and rates, and compare.
 *
 *   1 files      every page's checksum; stats against rows            store_scrub
 *   2 figures    every day of ad_click: stats x rate = amount_by_day, digit for digit; of a
 *                published day the ledger's last entry says the same
 *   3 ledger     every entry's old figure is the one before's new; times never decrease; the first
 *                is the publication; as many days have a ledger as are published
 *   4 counters   clicks_per_ad and clicks_per_reseller = clicks counted again
 *
 * What decides correctness of the verdict while clicks keep coming: a day that is dirty is not
 * judged (its figure is known to be out of date), a day that differs is read a second time before
 * it is a difference, and a counter is read before and after the clicks are counted and must lie
 * in between.
 *
 * Memory: one entry per ad and per reseller; days and entries are read in chunks. */
#include <errno.h>
#include <inttypes.h>

#include "rollup/command_private.h"
#include "rollup/day_reader.h"
#include "rollup/rows.h"
#include "storage/base/memory.h"

enum { DIFFERENCES_PRINTED_MAX = 1000 };

#define PROGRESS_US INT64_C(2000000)

/* ---- options ---- */

enum { OPTION_QUIET = 'q' };

static const struct argp_option verify_argp_options[] = {
    {"quiet", OPTION_QUIET, NULL, 0, "no progress on standard error", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t verify_parse_option(int key, char *argument, struct argp_state *state)
{
    struct verify_options *options = state->input;
    switch (key) {
    case OPTION_QUIET:
        options->is_quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is one word too many", argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp verify_argp = {
    .options = verify_argp_options,
    .parser = verify_parse_option,
    .doc = "Prove that checksums, stats, counters, figures and ledger agree with the clicks.\v"
           "A line per check says what was compared; each difference is named, and the exit status "
           "is 1 if there is one.\n\n"
           "  daybook verify\n"
           "  daybook verify -q > /dev/null || page-somebody",
};

/* ---- the call ---- */

/* What a counter table says of one key, and what the clicks say. */
struct tally {
    uint64_t before;
    uint64_t counted;
    uint64_t after;
};

struct verify {
    struct rollup *rollup;
    const struct verify_options *options;
    struct command_output *output;
    uint64_t differences;
    int64_t progress_us; /* when the last line of progress was printed */

    struct timer turn; /* between chunks other things are done */
    bool is_of_rows;   /* rows of amount_by_day, after the partitions */
    struct day_reader *reader;
    struct buffer position;      /* of the chunk being judged */
    struct buffer position_next; /* of the one after it */
    bool has_more;               /* there is one */
    bool is_second_look;
    uint64_t days;
    uint64_t days_dirty;
    uint64_t clicks;
    uint64_t days_published; /* rows that say so */

    struct buffer ledger_reseller; /* the entry before, if of the same day */
    struct ledger_entry ledger_last;
    bool has_ledger_last;
    uint64_t entries;
    uint64_t ledger_days;

    uint32_t counter_table;
    struct key_map *keys;
    struct tally *tallies;
    uint32_t tally_capacity;
    bool is_after; /* counters are read the second time */
};

static void verify_finish(struct verify *verify, int exit_status)
{
    struct command_output *output = verify->output;
    if (verify->reader != NULL)
        day_reader_free(verify->reader);
    key_map_free(verify->keys);
    memory_free(verify->tallies);
    buffer_release(&verify->position);
    buffer_release(&verify->position_next);
    buffer_release(&verify->ledger_reseller);
    memory_free(verify);
    output->finish(output, exit_status);
}

static void verify_fail(struct verify *verify, int status, const struct error *err)
{
    command_printf(verify->output, COMMAND_ERR, "daybook: verify could not go on: %s\n",
                   err != NULL ? err->text : error_text(status));
    verify_finish(verify, EXIT_SYSTEM_FAILED);
}

static bool may_name(struct verify *verify)
{
    verify->differences++;
    if (verify->differences == DIFFERENCES_PRINTED_MAX + 1)
        command_printf(verify->output, COMMAND_OUT, "difference: … more are not named\n");
    return verify->differences <= DIFFERENCES_PRINTED_MAX;
}

static void progress(struct verify *verify, const char *what, uint64_t count)
{
    int64_t now_us = store_now_us(verify->rollup->store);
    if (verify->options->is_quiet || now_us - verify->progress_us < PROGRESS_US)
        return;
    verify->progress_us = now_us;
    command_printf(verify->output, COMMAND_ERR, "%s: %" PRIu64 "\n", what, count);
}

static void append_figure(struct buffer *text, const struct day_figure *figure)
{
    append_count(text, figure->clicks, "click");
    buffer_append_text(text, ", gross ");
    decimal_append(text, figure->gross);
    buffer_append_text(text, figure->is_priced ? ", rate " : ", unpriced");
    if (figure->is_priced) {
        decimal_append(text, figure->rate);
        buffer_append_text(text, ", amount ");
        decimal_append(text, figure->amount);
    }
}

/* "difference: amount_by_day, r 2013-11-28: it says …, clicks and rates say …"; NULL: nothing. */
static void name_figures(struct verify *verify, const char *table, struct bytes reseller,
                         int32_t day, const struct day_figure *says,
                         const struct day_figure *follows, const char *source)
{
    struct buffer text = {0};
    if (!may_name(verify))
        return;
    buffer_printf(&text, "difference: %s, ", table);
    buffer_append_bytes(&text, reseller);
    buffer_append_text(&text, " ");
    append_day(&text, day);
    buffer_append_text(&text, ": it says ");
    if (says != NULL)
        append_figure(&text, says);
    else
        buffer_append_text(&text, "nothing");
    buffer_printf(&text, "; %s say ", source);
    append_figure(&text, follows);
    buffer_append_text(&text, "\n");
    command_flush(verify->output, &text, true);
    buffer_release(&text);
}

/* ---- 4: counters ---- */

static void counters_start(struct verify *verify, uint32_t table_id);

static struct tally *tally_of(struct verify *verify, struct bytes key)
{
    bool is_new;
    uint32_t number = key_map_add(verify->keys, key, &is_new);
    if (number >= verify->tally_capacity) {
        verify->tally_capacity = verify->tally_capacity * 2 + 256;
        verify->tallies =
            memory_resize(verify->tallies, verify->tally_capacity * sizeof(*verify->tallies));
    }
    if (is_new)
        verify->tallies[number] = (struct tally){0, 0, 0};
    return &verify->tallies[number];
}

static const char *counter_name(const struct verify *verify)
{
    return verify->counter_table == TABLE_CLICKS_PER_AD ? "clicks_per_ad" : "clicks_per_reseller";
}

static void compare_counters(struct verify *verify)
{
    uint64_t total = 0;
    uint32_t count = key_map_count(verify->keys);
    for (uint32_t i = 0; i < count; i++) {
        const struct tally *tally = &verify->tallies[i];
        struct bytes key = key_map_key(verify->keys, i);
        total += tally->counted;
        if (tally->before <= tally->counted && tally->counted <= tally->after)
            continue;
        if (may_name(verify))
            command_printf(verify->output, COMMAND_OUT,
                           "difference: %s, %.*s: it says %" PRIu64 ", there are %" PRIu64
                           " clicks\n",
                           counter_name(verify), (int)key.size, (const char *)key.data,
                           tally->after, tally->counted);
    }
    command_printf(verify->output, COMMAND_OUT,
                   "%s: %u counters compared with %" PRIu64 " clicks\n", counter_name(verify),
                   count, total);
    if (verify->counter_table == TABLE_CLICKS_PER_AD) {
        counters_start(verify, TABLE_CLICKS_PER_RESELLER);
        return;
    }
    if (verify->differences > 0)
        command_printf(verify->output, COMMAND_OUT, "%" PRIu64 " difference%s\n",
                       verify->differences, verify->differences == 1 ? "" : "s");
    else
        command_printf(verify->output, COMMAND_OUT, "all agree\n");
    verify_finish(verify, verify->differences > 0 ? EXIT_DATA_SAYS_NO : EXIT_DONE);
}

static int take_counter(void *context, const struct table *table, const struct page_row *row,
                        struct error *err)
{
    struct verify *verify = context;
    struct bytes value;
    (void)err;
    if (!page_row_value(table, row, COUNTER_CLICKS, &value))
        return 0;
    struct tally *tally = tally_of(verify, row->key);
    *(verify->is_after ? &tally->after : &tally->before) = (uint64_t)value_bigint(value);
    return 0;
}

static void counters_read(struct verify *verify);
static void count_resellers(struct verify *verify);

static void clicks_counted(struct verify *verify)
{
    verify->is_after = true;
    counters_read(verify);
}

static void take_groups(void *context, int status, const struct error *err,
                        const struct partition_figure *figures, uint32_t count,
                        struct bytes position)
{
    struct verify *verify = context;
    (void)position;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        tally_of(verify, figures[i].key)->counted = figures[i].stats.rows;
    clicks_counted(verify);
}

static void take_partitions(void *context, int status, const struct error *err,
                            const struct partition_figure *figures, uint32_t count,
                            struct bytes position)
{
    struct verify *verify = context;
    struct bytes reseller;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (key_component(figures[i].key, 2, 0, &reseller) == 0)
            tally_of(verify, reseller)->counted += figures[i].stats.rows;
    }
    buffer_clear(&verify->position);
    buffer_append_bytes(&verify->position, position);
    if (position.size > 0)
        count_resellers(verify);
    else
        clicks_counted(verify);
}

static void count_resellers(struct verify *verify)
{
    struct error err = {0};
    int rc = store_stats_scan(verify->rollup->store, TABLE_AD_CLICK, buffer_view(&verify->position),
                              DAY_READER_MAX, READ_DURABLE, take_partitions, verify, &err);
    if (rc < 0)
        verify_fail(verify, rc, &err);
}

static void counters_done(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    struct error own = {0};
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    if (verify->is_after) {
        compare_counters(verify);
        return;
    }
    if (verify->counter_table == TABLE_CLICKS_PER_RESELLER) {
        count_resellers(verify);
        return;
    }
    int rc = store_group(verify->rollup->store, TABLE_AD_CLICK, AD_CLICK_AD_ID, take_groups, verify,
                         &own);
    if (rc < 0)
        verify_fail(verify, rc, &own);
}

static void counters_read(struct verify *verify)
{
    struct error err = {0};
    const struct read_request request = rows_request(verify->counter_table, NULL, READ_DURABLE);
    int rc = rows_read(verify->rollup->store, &request, take_counter, counters_done, verify, &err);
    if (rc < 0)
        verify_fail(verify, rc, &err);
}

static void counters_start(struct verify *verify, uint32_t table_id)
{
    key_map_free(verify->keys);
    verify->keys = key_map_new();
    verify->counter_table = table_id;
    verify->is_after = false;
    buffer_clear(&verify->position);
    counters_read(verify);
}

/* ---- 3: the ledger ---- */

static void name_entry(struct verify *verify, const struct ledger_entry *entry, const char *what)
{
    char day[DAY_TEXT_SIZE + 1];
    day_format(entry->new.day, day);
    if (may_name(verify))
        command_printf(verify->output, COMMAND_OUT,
                       "difference: restatement, %.*s %s, entry %" PRId64 ": %s\n",
                       (int)entry->new.reseller.size, (const char *)entry->new.reseller.data, day,
                       entry->seq, what);
}

static void check_entry(struct verify *verify, const struct ledger_entry *entry)
{
    const struct ledger_entry *last = &verify->ledger_last;
    bool same_day =
        verify->has_ledger_last &&
        last->new.day == entry->new.day &&bytes_equal(buffer_view(&verify->ledger_reseller),
                                                      entry->new.reseller);
    verify->ledger_days += !same_day;
    if (!same_day) {
        if (!entry->is_publication)
            name_entry(verify, entry, "the first entry is no publication");
        return;
    }
    if (entry->is_publication)
        name_entry(verify, entry, "published a second time");
    else if (!figure_identical(&entry->old, &last->new))
        name_entry(verify, entry, "its old figure is not the new one of the entry before");
    if (entry->at_ms < last->at_ms)
        name_entry(verify, entry, "its time is before the entry's before it");
}

static int take_entry(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct verify *verify = context;
    struct ledger_entry entry;
    int rc = ledger_read(table, row, &entry, err);
    if (rc < 0)
        return rc;
    check_entry(verify, &entry);
    buffer_clear(&verify->ledger_reseller);
    buffer_append_bytes(&verify->ledger_reseller, entry.new.reseller);
    verify->ledger_last = entry;
    verify->has_ledger_last = true;
    verify->entries++;
    progress(verify, "ledger entries", verify->entries);
    return 0;
}

static void ledger_done(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    if (verify->days_published != verify->ledger_days && verify->days_dirty == 0 &&
        may_name(verify))
        command_printf(verify->output, COMMAND_OUT,
                       "difference: %" PRIu64 " days are published, %" PRIu64 " have a ledger\n",
                       verify->days_published, verify->ledger_days);
    command_printf(verify->output, COMMAND_OUT,
                   "restatement: %" PRIu64 " entries of %" PRIu64 " days add up\n", verify->entries,
                   verify->ledger_days);
    counters_start(verify, TABLE_CLICKS_PER_AD);
}

static void ledger_start(struct verify *verify)
{
    struct error err = {0};
    const struct read_request request = rows_request(TABLE_RESTATEMENT, NULL, READ_DURABLE);
    int rc = rows_read(verify->rollup->store, &request, take_entry, ledger_done, verify, &err);
    if (rc < 0)
        verify_fail(verify, rc, &err);
}

/* ---- 2: figures ---- */

static bool is_pending(const struct rollup *rollup, struct bytes reseller, int32_t day)
{
    uint32_t start = 0;
    uint32_t end = rollup->pending_count;
    while (start < end) {
        uint32_t middle = start + (end - start) / 2;
        const struct day_figure *pending = &rollup->pending[middle];
        int order = bytes_compare(pending->reseller, reseller);
        if (order == 0)
            order = (pending->day < day) - (pending->day > day);
        if (order == 0)
            return true;
        if (order < 0)
            start = middle + 1;
        else
            end = middle;
    }
    return false;
}

/* Whether the day's figure is known to be out of date, or just being made. */
static bool is_dirty(const struct verify *verify, const struct day_facts *day)
{
    struct rollup *rollup = verify->rollup;
    const struct dirty_day *dirty = dirty_set_find(rollup->dirty, day->key);
    if (rollup->is_read_only)
        return is_pending(rollup, day->reseller, day->day);
    return dirty_set_first_range(rollup->dirty) != NULL || rollup->work != NULL ||
           (dirty != NULL && dirty->is_queued);
}

/* A restatement that is put off: the ledger follows later. */
static bool is_owed(const struct verify *verify, const struct day_facts *day)
{
    const struct dirty_day *dirty = dirty_set_find(verify->rollup->dirty, day->key);
    return dirty != NULL && dirty->owed_us != 0;
}

/* True when row and ledger are what follows; else, on the second look, they are named. */
static bool judge_day(struct verify *verify, struct day_facts *day, struct error *err)
{
    struct day_figure follows;
    int rc = day->status;
    if (rc == 0)
        rc = figure_make(day->reseller, day->day, &day->stats,
                         rate_table_at(verify->rollup->rates, day->reseller, day->day), &follows);
    if (rc < 0) {
        error_set(err, rc, "a day could not be read");
        return false;
    }
    follows.state = day->has_row ? day->row.state : DAY_OPEN;
    bool row_agrees = day->has_row ? figure_identical(&day->row, &follows) : follows.clicks == 0;
    bool is_published = day->has_row && day->row.state != DAY_OPEN;
    bool ledger_agrees = !is_published || is_owed(verify, day) ||
                         (day->has_last && figure_equal(&day->last.new, &day->row));
    if ((row_agrees && ledger_agrees) || is_dirty(verify, day))
        return true;
    if (verify->is_second_look && !row_agrees)
        name_figures(verify, "amount_by_day", day->reseller, day->day,
                     day->has_row ? &day->row : NULL, &follows, "clicks and rates");
    if (verify->is_second_look && !ledger_agrees)
        name_figures(verify, "restatement", day->reseller, day->day,
                     day->has_last ? &day->last.new : NULL, &day->row, "amount_by_day");
    return false;
}

static void count_day(struct verify *verify, const struct day_facts *day)
{
    verify->days++;
    verify->clicks += day->stats.rows;
    verify->days_dirty += is_dirty(verify, day);
}

/* ---- a chunk of days, looked at once or twice ---- */

static void next_partitions(struct verify *verify);
static void next_rows(struct verify *verify);

static void next_chunk(struct timer *timer)
{
    struct verify *verify = timer->context;
    if (verify->is_of_rows)
        next_rows(verify);
    else
        next_partitions(verify);
}

static void verify_turn(struct verify *verify)
{
    struct executor *executor = verify->rollup->world->executor;
    executor->timer_start(executor, &verify->turn, 0);
}

static void chunk_judge(struct verify *verify)
{
    bool is_of_rows = verify->is_of_rows;
    uint32_t count;
    struct day_facts *days = day_reader_days(verify->reader, &count);
    struct error err = {0};
    bool agrees = true;
    for (uint32_t i = 0; i < count; i++) {
        /* Rows whose days have clicks were judged with the partitions. */
        if (!is_of_rows || days[i].stats.rows == 0)
            agrees = judge_day(verify, &days[i], &err) && agrees;
    }
    if (err.code < 0) {
        verify_fail(verify, err.code, &err);
        return;
    }
    if (!agrees && !verify->is_second_look) {
        verify->is_second_look = true;
    } else {
        verify->is_second_look = false;
        for (uint32_t i = 0; i < count; i++) {
            if (!is_of_rows)
                count_day(verify, &days[i]);
            else if (days[i].row.state != DAY_OPEN)
                verify->days_published++;
        }
        buffer_clear(&verify->position);
        buffer_append_bytes(&verify->position, buffer_view(&verify->position_next));
        progress(verify, "days compared", verify->days);
    }
    verify_turn(verify);
}

/* ---- partitions: every day that has clicks ---- */

static void partitions_read(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (status < 0)
        verify_fail(verify, status, err);
    else
        chunk_judge(verify);
}

static void take_days(void *context, int status, const struct error *err,
                      const struct partition_figure *figures, uint32_t count, struct bytes position)
{
    struct verify *verify = context;
    struct bytes reseller;
    struct bytes day_text;
    int32_t day;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    day_reader_clear(verify->reader);
    for (uint32_t i = 0; i < count; i++) {
        if (key_component(figures[i].key, 2, 0, &reseller) == 0 &&
            key_component(figures[i].key, 2, 1, &day_text) == 0 && day_parse(day_text, &day))
            day_reader_add(verify->reader, reseller, day);
    }
    buffer_clear(&verify->position_next);
    buffer_append_bytes(&verify->position_next, position);
    verify->has_more = position.size > 0;
    day_reader_read(verify->reader, false, partitions_read, verify);
}

static void figures_done(struct verify *verify)
{
    command_printf(verify->output, COMMAND_OUT,
                   "amount_by_day: %" PRIu64 " days with %" PRIu64 " clicks compared", verify->days,
                   verify->clicks);
    if (verify->days_dirty > 0)
        command_printf(verify->output, COMMAND_OUT, ", %" PRIu64 " of them out of date and left",
                       verify->days_dirty);
    command_printf(verify->output, COMMAND_OUT, "\n");
    ledger_start(verify);
}

static void next_partitions(struct verify *verify)
{
    struct error err = {0};
    if (!verify->has_more && !verify->is_second_look) {
        buffer_clear(&verify->position);
        verify->has_more = true;
        verify->is_of_rows = true;
        next_rows(verify);
        return;
    }
    int rc = store_stats_scan(verify->rollup->store, TABLE_AD_CLICK, buffer_view(&verify->position),
                              DAY_READER_MAX, READ_APPLIED, take_days, verify, &err);
    if (rc < 0)
        verify_fail(verify, rc, &err);
}

/* ---- rows: figures of days that have no clicks, and how many are published ---- */

static void rows_judged(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    if (status < 0)
        verify_fail(verify, status, err);
    else
        chunk_judge(verify);
}

static void take_rows(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct verify *verify = context;
    struct error own = {0};
    struct day_figure figure;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    day_reader_clear(verify->reader);
    for (uint32_t i = 0; i < page->row_count; i++) {
        int rc = figure_read(page->table, &page->rows[i], &figure, &own);
        if (rc < 0) {
            verify_fail(verify, rc, &own);
            return;
        }
        struct day_facts *day = day_reader_add(verify->reader, figure.reseller, figure.day);
        day->has_row = true;
        day->row = figure;
        day->row.reseller = day->reseller;
    }
    buffer_clear(&verify->position_next);
    buffer_append_bytes(&verify->position_next, page->position);
    verify->has_more = page->position.size > 0;
    day_reader_read(verify->reader, true, rows_judged, verify);
}

static void next_rows(struct verify *verify)
{
    struct error err = {0};
    struct read_request request = rows_request(TABLE_AMOUNT_BY_DAY, NULL, READ_APPLIED);
    if (!verify->has_more && !verify->is_second_look) {
        figures_done(verify);
        return;
    }
    request.row_limit = DAY_READER_MAX;
    request.position = buffer_view(&verify->position);
    int rc = store_read(verify->rollup->store, &request, take_rows, verify, &err);
    if (rc < 0)
        verify_fail(verify, rc, &err);
}

/* ---- 1: files ---- */

static void take_damage(void *context, const char *text)
{
    struct verify *verify = context;
    if (may_name(verify))
        command_printf(verify->output, COMMAND_OUT, "difference: %s\n", text);
}

static void scrubbed(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    struct store_status store;
    if (status < 0) {
        verify_fail(verify, status, err);
        return;
    }
    store_status(verify->rollup->store, &store);
    command_printf(verify->output, COMMAND_OUT,
                   "files: checksums of %u segments, and their stats against their rows\n",
                   store.segments);
    verify->reader = day_reader_new(verify->rollup->store);
    verify->has_more = true;
    next_partitions(verify);
}

static void settled(void *context, int status, const struct error *err)
{
    struct verify *verify = context;
    struct error own = {0};
    if (status == 0) {
        status = store_scrub(verify->rollup->store, take_damage, scrubbed, verify, &own);
        err = &own;
    }
    if (status < 0)
        verify_fail(verify, status, err);
}

void verify_run(void *room, const struct command_request *request, struct command_output *output)
{
    struct verify *verify = memory_zeroed(1, sizeof(*verify));
    struct error err = {0};
    verify->rollup = room;
    verify->options = request->options;
    verify->output = output;
    verify->progress_us = store_now_us(verify->rollup->store);
    verify->turn = (struct timer){.fire = next_chunk, .context = verify};
    if (request->is_read_only) {
        settled(verify, 0, NULL);
        return;
    }
    int rc = rollup_settle(verify->rollup, false, settled, verify, &err);
    if (rc < 0)
        verify_fail(verify, rc, &err);
}

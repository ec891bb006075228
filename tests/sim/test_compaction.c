/* Merges of a table whose rows the store ranks, against a list of clicks.
 *
 * Method: random clicks of few keys, so that most have equals, in days small and large enough for
 * runs of their own; deletions of single clicks, ranges and days, corrections, and clicks that
 * clients name; flushes, merges that are waited for and merges that are not, hours that pass,
 * restarts and losses of power.  Every click has an amount of its own, by which it is known again.
 *
 * What must hold whatever was merged or purged: the rows are the list's; a click keeps its rank as
 * long as it is there; among equals ranks ascend in the order in which they came; stats are those
 * of the rows.  And by the end of a history that is left alone, no deletion is left.
 *
 * SIM_SEED is the first history's seed, SIM_HISTORIES how many are run. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/memory.h"
#include "base/calendar.h"
#include "storage/engine/compact_plan.h"
#include "storage/engine/engine_private.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_options.h"
#include "tests/sim/sim_random.h"
#include "tests/sim/sim_world.h"

enum {
    DAYS = 4,
    TIMES = 3,
    ADS = 2,
    CLICKS_MAX = 4000,
    TIER_BYTES = 16 << 10, /* so that runs fall into several */
    BLOCK_MAX = 14,
    STEPS = 120,
    HISTORIES_DEFAULT = 60,
    RANK_UNKNOWN = INT32_MIN
};

static const char *const days[DAYS] = {"2013-11-27", "2013-11-28", "2013-11-29", "2013-11-30"};
static const char *const ads[ADS] = {"a", "b"};

struct listed {
    uint32_t day, time, ad;
    uint32_t amount; /* in units of 10^-5 */
    int64_t rank;    /* RANK_UNKNOWN: not seen yet */
    bool is_there;
};

struct history {
    struct engine_fixture fixture;
    struct sim_world *sim;
    struct sim_random random;
    uint64_t seed;
    struct listed clicks[CLICKS_MAX]; /* in the order they came */
    uint32_t count;
    uint32_t amount_next;
    int64_t client_rank_next; /* descending */
    uint64_t segment_bytes;   /* on the disk, when it was looked at */
};

static uint32_t draw(struct history *history, uint32_t limit)
{
    return (uint32_t)sim_random_below(&history->random, limit);
}

static int64_t time_of(uint32_t day, uint32_t time)
{
    int32_t number;
    cr_assert(calendar_day_parse(bytes_text(days[day]), &number));
    return number * DAY_MS + time;
}

/* ---- what is there ---- */

static struct listed *find_amount(struct history *history, uint32_t amount)
{
    for (uint32_t i = 0; i < history->count; i++)
        if (history->clicks[i].is_there && history->clicks[i].amount == amount)
            return &history->clicks[i];
    return NULL;
}

/* "r|2013-11-28|2013-11-28T00:00:00.001Z|a|0|0.00042|-" */
static void check_row(struct history *history, uint32_t day, const char *line)
{
    char row_day[16], time[32], ad[8], amount_text[16];
    int64_t rank;
    struct decimal amount;
    int128 unscaled;
    cr_assert_eq(sscanf(line, "r|%15[^|]|%31[^|]|%7[^|]|%" SCNd64 "|%15[^|]|", row_day, time, ad,
                        &rank, amount_text),
                 5, "%s", line);
    cr_assert_eq(decimal_parse(bytes_text(amount_text), &amount), 0);
    cr_assert(decimal_to_int128(amount, &unscaled) && amount.scale == 5);
    struct listed *listed = find_amount(history, (uint32_t)unscaled);
    cr_assert_not_null(listed, "not in the list, seed %" PRIu64 ": %.60s", history->seed, line);
    cr_assert(listed->day == day && strcmp(ads[listed->ad], ad) == 0 &&
                  time[22] == (char)('0' + listed->time),
              "seed %" PRIu64 ": %.60s", history->seed, line);
    cr_assert(listed->rank == RANK_UNKNOWN || listed->rank == rank,
              "rank %" PRId64 " became another, seed %" PRIu64 ": %.60s", listed->rank,
              history->seed, line);
    listed->rank = rank;
}

/* Ranks of equals ascend in the order in which the clicks came. */
static void check_ranks(const struct history *history)
{
    int64_t last[DAYS][TIMES][ADS];
    memset(last, 0xff, sizeof last);
    for (uint32_t i = 0; i < history->count; i++) {
        const struct listed *listed = &history->clicks[i];
        int64_t *before = &last[listed->day][listed->time][listed->ad];
        if (!listed->is_there || listed->rank < 0)
            continue;
        cr_assert_gt(listed->rank, *before, "seed %" PRIu64, history->seed);
        *before = listed->rank;
    }
}

static void check_stats(struct history *history, uint32_t day, uint32_t rows, uint64_t sum)
{
    struct buffer stats = engine_fixture_stats(&history->fixture, "r", days[day]);
    char expected[64] = "";
    if (rows > 0)
        snprintf(expected, sizeof expected, "%u %" PRIu64 ".%05" PRIu64, rows, sum / 100000,
                 sum % 100000);
    cr_assert_str_eq((const char *)stats.data, expected, "stats of %s, seed %" PRIu64, days[day],
                     history->seed);
    buffer_release(&stats);
}

static void check_day(struct history *history, uint32_t day)
{
    struct buffer key = {0};
    uint32_t expected = 0, rows = 0;
    uint64_t sum = 0;
    engine_fixture_key(&key, "r", days[day]);
    struct buffer text =
        engine_fixture_rows(&history->fixture, TABLE_AD_CLICK, buffer_view(&key), 50, false);
    for (const char *line = (const char *)text.data; *line != '\0';
         line = strchr(line, '\n') + 1, rows++)
        check_row(history, day, line);
    for (uint32_t i = 0; i < history->count; i++) {
        bool counts = history->clicks[i].is_there && history->clicks[i].day == day;
        expected += counts;
        sum += counts ? history->clicks[i].amount : 0;
    }
    cr_assert_eq(rows, expected, "rows of %s, seed %" PRIu64 ":\n%s", days[day], history->seed,
                 (const char *)text.data);
    check_stats(history, day, rows, sum);
    buffer_release(&text);
    buffer_release(&key);
}

static void check_all(struct history *history)
{
    for (uint32_t day = 0; day < DAYS; day++)
        check_day(history, day);
    check_ranks(history);
}

/* ---- writes ---- */

static void write_clicks(struct history *history)
{
    struct click clicks[BLOCK_MAX];
    char amounts[BLOCK_MAX][16];
    uint32_t count = 1 + draw(history, BLOCK_MAX);
    uint32_t day = draw(history, DAYS);
    bool is_mixed = draw(history, 3) == 0;
    for (uint32_t i = 0; i < count; i++) {
        struct listed *listed = &history->clicks[history->count++];
        *listed = (struct listed){.day = is_mixed ? draw(history, DAYS) : day,
                                  .time = draw(history, TIMES),
                                  .ad = draw(history, ADS),
                                  .amount = history->amount_next++,
                                  .rank = RANK_UNKNOWN,
                                  .is_there = true};
        snprintf(amounts[i], sizeof amounts[i], "0.%05u", listed->amount);
        clicks[i] = (struct click){"r", days[listed->day], time_of(listed->day, listed->time),
                                   ads[listed->ad], amounts[i]};
    }
    cr_assert_eq(engine_fixture_clicks(&history->fixture, clicks, count), 0);
}

static void apply(struct history *history, struct write_batch *batch)
{
    cr_assert_eq(engine_fixture_apply(&history->fixture, batch), 0);
    write_batch_free(batch);
}

static const struct table *click_table(const struct history *history)
{
    return schema_table(store_schema(history->fixture.store), TABLE_AD_CLICK);
}

static uint32_t put_key(struct write_batch *batch, const struct listed *listed,
                        struct column_value *values)
{
    values[0] = (struct column_value){AD_CLICK_RESELLER_ID, false, bytes_text("r")};
    values[1] = (struct column_value){AD_CLICK_DAY, false, bytes_text(days[listed->day])};
    values[2] = (struct column_value){
        AD_CLICK_TIME, false, write_batch_bigint(batch, time_of(listed->day, listed->time))};
    values[3] = (struct column_value){AD_CLICK_AD_ID, false, bytes_text(ads[listed->ad])};
    values[4] =
        (struct column_value){AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, listed->rank)};
    return 5;
}

static void put_amount(struct write_batch *batch, const struct listed *listed,
                       struct column_value *value)
{
    *value = (struct column_value){AD_CLICK_AMOUNT, false,
                                   write_batch_decimal(batch, decimal_from(listed->amount, 5))};
}

/* A click that is there and whose rank is known; NULL: none was found. */
static struct listed *draw_click(struct history *history)
{
    for (uint32_t tries = 0; tries < 20 && history->count > 0; tries++) {
        struct listed *listed = &history->clicks[draw(history, history->count)];
        if (listed->is_there && listed->rank != RANK_UNKNOWN)
            return listed;
    }
    return NULL;
}

static void delete_click(struct history *history)
{
    struct write_batch *batch = write_batch_new();
    struct column_value values[5];
    for (uint32_t count = 1 + draw(history, 4); count > 0; count--) {
        struct listed *listed = draw_click(history);
        if (listed == NULL)
            continue;
        write_batch_delete(batch, click_table(history), values, put_key(batch, listed, values));
        listed->is_there = false;
    }
    apply(history, batch);
}

static void correct_click(struct history *history)
{
    struct write_batch *batch = write_batch_new();
    struct column_value values[6];
    struct listed *listed = draw_click(history);
    if (listed != NULL) {
        uint32_t count = put_key(batch, listed, values);
        listed->amount = history->amount_next++;
        put_amount(batch, listed, &values[count]);
        write_batch_insert(batch, click_table(history), values, count + 1);
    }
    apply(history, batch);
}

static void insert_named(struct history *history)
{
    struct write_batch *batch = write_batch_new();
    struct column_value values[6];
    struct listed *listed = &history->clicks[history->count++];
    *listed = (struct listed){.day = draw(history, DAYS),
                              .time = draw(history, TIMES),
                              .ad = draw(history, ADS),
                              .amount = history->amount_next++,
                              .rank = history->client_rank_next--,
                              .is_there = true};
    uint32_t count = put_key(batch, listed, values);
    put_amount(batch, listed, &values[count]);
    write_batch_insert(batch, click_table(history), values, count + 1);
    apply(history, batch);
}

/* A whole day, or all clicks of one of its milliseconds. */
static void delete_all(struct history *history, struct listed range, bool is_day)
{
    struct write_batch *batch = write_batch_new();
    struct column_value values[5];
    struct mutation mutation;
    const struct deletion deletion = {.timestamp_us = TIMESTAMP_SERVER};
    struct unfiltered bounds[2];
    put_key(batch, &range, values);
    mutation_delete(click_table(history), values, 2, batch->arena, &mutation);
    for (int i = 0; i < 2; i++) {
        bounds[i] = (struct unfiltered){.kind = UNFILTERED_BOUND,
                                        .bound = {.side = i == 0 ? BOUND_BEFORE : BOUND_AFTER},
                                        .before = i == 0 ? DELETION_NONE : deletion,
                                        .after = i == 0 ? deletion : DELETION_NONE};
        bounds[i].bound.prefix.count = 1;
        bounds[i].bound.prefix.values[0] = values[2].value;
    }
    if (!is_day) {
        mutation.deletion = DELETION_NONE;
        mutation.items = bounds;
        mutation.item_count = 2;
    }
    write_batch_add_mutation(batch, &mutation);
    for (uint32_t i = 0; i < history->count; i++)
        if (history->clicks[i].day == range.day &&
            (is_day || history->clicks[i].time == range.time))
            history->clicks[i].is_there = false;
    apply(history, batch);
}

static void delete_range(struct history *history)
{
    const struct listed range = {.day = draw(history, DAYS), .time = draw(history, TIMES)};
    delete_all(history, range, draw(history, 3) == 0);
}

/* ---- everything else ---- */

static void open_engine(struct history *history)
{
    struct error err = {0};
    cr_assert_eq(engine_fixture_open_in(&history->fixture, sim_world_interface(history->sim), &err),
                 0, "%s", err.text);
}

static void crash(struct history *history)
{
    struct sim_world *after = sim_world_crash(history->sim, sim_random_next(&history->random));
    engine_fixture_close(&history->fixture);
    sim_world_free(history->sim);
    history->sim = after;
    open_engine(history);
}

static void do_something_else(struct history *history)
{
    struct error err = {0};
    switch (draw(history, 12)) {
    case 0:
    case 1:
    case 2:
        cr_assert_eq(engine_flush(history->fixture.store, NULL, NULL, &err), 0);
        return;
    case 3:
        cr_assert_eq(engine_compact(history->fixture.store, NULL, NULL, &err), 0);
        return;
    case 4:
        if (draw(history, 3) == 0)
            engine_fixture_compact(&history->fixture);
        return;
    case 5:
        sim_world_run_us(history->sim, (int64_t)draw(history, 7200) * 1000000);
        return;
    case 6:
        engine_fixture_close(&history->fixture);
        open_engine(history);
        return;
    case 7:
        crash(history);
        return;
    default:
        for (uint32_t count = draw(history, 6); count > 0; count--)
            history->fixture.world->executor->step(history->fixture.world->executor);
        return;
    }
}

static void write_something(struct history *history)
{
    uint32_t at = draw(history, 100);
    if (at < 60)
        write_clicks(history);
    else if (at < 84)
        delete_click(history);
    else if (at < 90)
        delete_range(history);
    else if (at < 96)
        insert_named(history);
    else if (history->seed % 2 == 0)
        correct_click(history);
}

static uint32_t segments_of(const struct history *history, uint32_t table_id)
{
    uint32_t count;
    struct engine_table_status *tables = engine_table_status(history->fixture.store, &count);
    uint32_t segments = 0;
    for (uint32_t i = 0; i < count; i++)
        segments += tables[i].table_id == table_id ? tables[i].segments : 0;
    memory_free(tables);
    return segments;
}

static void start(struct history *history, uint64_t seed)
{
    *history = (struct history){
        .seed = seed, .random = {.state = seed}, .amount_next = 1, .client_rank_next = -1};
    history->sim = sim_world_new(seed);
    history->fixture.options = (struct engine_options){.log_file_size = 1 << 20};
    history->fixture.options.day_rows_min = 4 + draw(history, 20);
    history->fixture.options.memtable_rows_max = 10 + draw(history, 40);
    history->fixture.options.page_rows = 1 + (uint32_t)(seed % 7);
    history->fixture.options.tier_bytes = TIER_BYTES;
    sim_world_set_wall_us(history->sim, time_of(DAYS - 1, 0) * 1000 + 5 * 86400 * INT64_C(1000000));
    open_engine(history);
}

static void stop(struct history *history)
{
    engine_fixture_close(&history->fixture);
    sim_world_free(history->sim);
}

Test(compaction, whatever_is_merged_the_clicks_their_ranks_and_stats_are_those_of_the_list)
{
    static struct history history;
    uint64_t first = sim_option("SIM_SEED", 1);
    uint64_t enough = sim_option("SIM_HISTORIES", HISTORIES_DEFAULT);
    for (uint64_t seed = first; seed < first + enough; seed++) {
        printf("compaction: SIM_SEED=%" PRIu64 "\n", seed);
        fflush(stdout);
        start(&history, seed);
        for (uint32_t step = 0; step < STEPS; step++) {
            write_something(&history);
            do_something_else(&history);
            if (draw(&history, 3) == 0)
                check_all(&history);
        }
        engine_fixture_compact(&history.fixture);
        check_all(&history);
        stop(&history);
    }
}

/* Purged: after the last merge only clicks are left, and what is left of a history in which nothing
 * was named or corrected has no exceptions. */
Test(compaction, deletions_go_with_what_they_hid)
{
    static struct history history;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        start(&history, seed * 1000 + 1);
        for (uint32_t step = 0; step < 30; step++) {
            write_clicks(&history);
            check_all(&history);
            delete_click(&history);
            if (draw(&history, 4) == 0)
                delete_range(&history);
            check_all(&history);
        }
        engine_fixture_compact(&history.fixture);
        check_all(&history);
        cr_expect_leq(segments_of(&history, TABLE_AD_CLICK), DAYS, "seed %" PRIu64 ": %u segments",
                      history.seed, segments_of(&history, TABLE_AD_CLICK));
        stop(&history);
    }
}

/* ---- purges that were not done ---- */

enum { HOUR_S = 3600, STEPS_TO_REST = 10000 };

static void note_status(void *context, int status, const struct error *err)
{
    int *noted = context;
    (void)err;
    *noted = status;
}

/* Whether there are deletions or corrections of clicks of the day. */
static bool has_deletions(const struct history *history, uint32_t day)
{
    const struct run_set *runs = &engine_of(history->fixture.store)->runs;
    int32_t number = (int32_t)(time_of(day, 0) / DAY_MS);
    for (uint32_t i = 0; i < runs->count; i++)
        if (segment_is(runs->segments[i], TABLE_AD_CLICK, SEGMENT_ROW) &&
            segment_days_find(segment_days(runs->segments[i]), number) != NULL)
            return true;
    return false;
}

static void run_s(struct history *history, int64_t seconds)
{
    sim_world_run_us(history->sim, seconds * 1000000);
}

/* Nothing is left to do, now or later. */
static void expect_rest(struct history *history)
{
    struct executor *executor = history->fixture.world->executor;
    uint32_t steps = 0;
    while (steps < STEPS_TO_REST && executor->step(executor))
        steps++;
    cr_assert_lt(steps, STEPS_TO_REST, "there is always a merge to do");
}

static void click_day(struct history *history, uint32_t day)
{
    struct listed *listed = &history->clicks[history->count++];
    char amount[16];
    *listed = (struct listed){
        .day = day, .amount = history->amount_next++, .rank = RANK_UNKNOWN, .is_there = true};
    snprintf(amount, sizeof amount, "0.%05u", listed->amount);
    const struct click click = {"r", days[day], time_of(day, 0), ads[0], amount};
    cr_assert_eq(engine_fixture_clicks(&history->fixture, &click, 1), 0);
}

/* A segment of clicks of one day, whose ranks are known. */
static void flush_day(struct history *history, uint32_t day)
{
    for (uint32_t i = 0; i < 8; i++)
        click_day(history, day);
    check_all(history);
    engine_fixture_flush(&history->fixture);
}

/* Clicks of the first day and deletions of some, whose purge is not due yet. */
static void start_deleted(struct history *history)
{
    start(history, 1);
    flush_day(history, 0);
    delete_click(history);
    engine_fixture_flush(&history->fixture);
    run_s(history, 1);
    cr_assert(has_deletions(history, 0));
}

/* The purge is due, and while it is at work a click of the first day comes. */
static void disturb_purge(struct history *history)
{
    sim_world_stall_merges(history->sim, true);
    run_s(history, HOUR_S + 1);
    click_day(history, 0);
    sim_world_stall_merges(history->sim, false);
    run_s(history, 1);
    cr_assert(has_deletions(history, 0), "the purge was not disturbed");
}

/* It is tried again once the click is in a segment, and not within an hour. */
Test(compaction, does_a_purge_that_was_disturbed_when_nothing_disturbs_it)
{
    static struct history history;
    start_deleted(&history);
    disturb_purge(&history);
    expect_rest(&history);
    engine_fixture_flush(&history.fixture);
    run_s(&history, HOUR_S);
    cr_expect_not(has_deletions(&history, 0));
    check_all(&history);
    stop(&history);
}

Test(compaction, tries_a_purge_that_was_disturbed_not_within_an_hour)
{
    static struct history history;
    start_deleted(&history);
    disturb_purge(&history);
    engine_fixture_flush(&history.fixture);
    run_s(&history, HOUR_S / 2);
    cr_expect(has_deletions(&history, 0));
    run_s(&history, HOUR_S / 2);
    cr_expect_not(has_deletions(&history, 0));
    check_all(&history);
    stop(&history);
}

Test(compaction, does_a_purge_that_was_disturbed_when_it_is_asked_for)
{
    static struct history history;
    start_deleted(&history);
    disturb_purge(&history);
    engine_fixture_compact(&history.fixture);
    cr_expect_not(has_deletions(&history, 0));
    check_all(&history);
    stop(&history);
}

Test(compaction, does_the_purges_of_other_days_beside_a_disturbed_one)
{
    static struct history history;
    start_deleted(&history);
    flush_day(&history, 1);
    delete_all(&history, (struct listed){.day = 1, .time = 1}, false);
    engine_fixture_flush(&history.fixture);
    cr_assert(has_deletions(&history, 1));
    disturb_purge(&history);
    cr_expect_not(has_deletions(&history, 1));
    check_all(&history);
    stop(&history);
}

/* A copy of the log that begins and ends disturbs the purge of the first of two days.  A merge is
 * asked for at each moment of the other's purge. */
Test(compaction, forgets_no_disturbed_purge_when_asked_beside_another)
{
    static struct history history;
    for (uint32_t steps = 0; steps < 10; steps++) {
        struct commit_log_pin pin;
        int status = 1;
        start_deleted(&history);
        flush_day(&history, 1);
        delete_all(&history, (struct listed){.day = 1, .time = 1}, false);
        engine_fixture_flush(&history.fixture);
        struct commit_log *log = engine_of(history.fixture.store)->sequencer.log;
        sim_world_stall_merges(history.sim, true);
        run_s(&history, HOUR_S + 1);
        commit_log_pin(log, &pin, 0);
        sim_world_stall_merges(history.sim, false);
        for (uint32_t i = 0; i < steps + 2; i++) {
            history.fixture.world->executor->step(history.fixture.world->executor);
            if (i == 1)
                commit_log_unpin(log, &pin);
        }
        sim_world_stall_merges(history.sim, true);
        cr_assert_eq(engine_compact(history.fixture.store, note_status, &status, NULL), 0);
        run_s(&history, 1);
        cr_expect(has_deletions(&history, 0), "%u steps: the purge was not disturbed", steps);
        sim_world_stall_merges(history.sim, false);
        run_s(&history, 1);
        cr_expect_eq(status, 0);
        cr_expect(!has_deletions(&history, 0) && !has_deletions(&history, 1), "%u steps", steps);
        check_all(&history);
        stop(&history);
    }
}

Test(compaction, does_a_purge_for_which_there_was_no_room_when_there_is_some)
{
    static struct history history;
    start_deleted(&history);
    struct sim_disk *disk = sim_world_disk(history.sim);
    sim_world_stall_merges(history.sim, true);
    run_s(&history, HOUR_S + 1);
    sim_disk_set_space(disk, sim_disk_used(disk));
    sim_world_stall_merges(history.sim, false);
    run_s(&history, 5);
    cr_assert(has_deletions(&history, 0), "there was room");
    sim_disk_set_space(disk, UINT64_MAX);
    run_s(&history, 10);
    cr_expect_not(has_deletions(&history, 0));
    check_all(&history);
    stop(&history);
}

/* The purge of the first day drops the run of the second one, of which all is deleted, unread. */
Test(compaction, does_a_purge_also_after_runs_were_dropped_unread)
{
    static struct history history;
    start_deleted(&history);
    flush_day(&history, 1);
    delete_all(&history, (struct listed){.day = 1}, true);
    engine_fixture_flush(&history.fixture);
    run_s(&history, HOUR_S + 1);
    cr_expect_not(has_deletions(&history, 0));
    cr_expect_eq(segments_of(&history, TABLE_AD_CLICK), 1);
    check_all(&history);
    stop(&history);
}

/* A correction stays, as it hides no whole row: its purge, which finds nothing, is done once. */
Test(compaction, rests_after_a_purge_that_found_nothing)
{
    static struct history history;
    start(&history, 1);
    flush_day(&history, 0);
    correct_click(&history);
    engine_fixture_flush(&history.fixture);
    expect_rest(&history);
    cr_assert(has_deletions(&history, 0));
    engine_fixture_compact(&history.fixture);
    cr_expect(has_deletions(&history, 0));
    check_all(&history);
    stop(&history);
}

/* ---- tombstones of other tables ---- */

enum { RATES = 1200, RATE_KEY = 200, RATE_ROUNDS = 6 };

/* Rates of resellers with long names that do not compress, so that the first run is large. */
static void rate_key(uint32_t number, char name[RATE_KEY + 1])
{
    struct sim_random random = {.state = number + 1};
    for (uint32_t i = 0; i < RATE_KEY; i++)
        name[i] = (char)('!' + sim_random_below(&random, 90));
    name[RATE_KEY] = '\0';
}

static void write_rate(struct history *history, struct write_batch *batch, uint32_t number,
                       bool is_deleted)
{
    const struct table *table = schema_table(store_schema(history->fixture.store), TABLE_RESELLER);
    char name[RATE_KEY + 1];
    rate_key(number, name);
    const struct column_value values[] = {
        {RESELLER_ID, false, bytes_text(name)},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text("2013-01-01")},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, decimal_from(2, 1))},
    };
    if (is_deleted)
        write_batch_delete(batch, table, values, 2);
    else
        write_batch_insert(batch, table, values, 3);
}

static uint32_t count_rates(struct history *history)
{
    uint32_t rows = 0;
    struct buffer text =
        engine_fixture_rows(&history->fixture, TABLE_RESELLER, (struct bytes){0}, 1000, false);
    for (const char *at = (const char *)text.data; (at = strchr(at, '\n')) != NULL; at++)
        rows++;
    buffer_release(&text);
    return rows;
}

/* The oldest run is so large that what comes later is merged without it: the tombstones of that
 * merge stay, or rows of the oldest run are there again. */
Test(compaction, of_runs_without_the_oldest_keeps_their_tombstones)
{
    static struct history history;
    start(&history, 1);
    struct write_batch *batch = write_batch_new();
    for (uint32_t i = 0; i < RATES; i++)
        write_rate(&history, batch, i, false);
    apply(&history, batch);
    engine_fixture_flush(&history.fixture);
    uint32_t deleted = 0;
    for (uint32_t round = 0; round < RATE_ROUNDS; round++) {
        batch = write_batch_new();
        write_rate(&history, batch, deleted++, true);
        apply(&history, batch);
        engine_fixture_flush(&history.fixture);
        sim_world_run_us(history.sim, 1000000);
        cr_assert_eq(count_rates(&history), RATES - deleted, "round %u", round);
    }
    uint32_t runs = segments_of(&history, TABLE_RESELLER);
    cr_assert(runs > 1 && runs < RATE_ROUNDS, "%u runs of %u: none was merged without the oldest",
              runs, 1 + RATE_ROUNDS);
    engine_fixture_compact(&history.fixture);
    cr_assert_eq(segments_of(&history, TABLE_RESELLER), 1);
    cr_assert_eq(count_rates(&history), RATES - deleted);
    stop(&history);
}

static void note_done(void *context, int status, const struct error *err)
{
    bool *is_done = context;
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    *is_done = true;
}

/* A rate that is applied and, with the log stalled, not durable. */
static void start_rate(struct history *history, int64_t tenths)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(history->fixture.store), TABLE_RESELLER);
    struct column_value values[] = {
        {RESELLER_ID, false, bytes_text("r")},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text("2013-01-01")},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, decimal_from(tenths, 1))},
    };
    write_batch_insert(batch, table, values, 3);
    cr_assert_eq(store_apply(history->fixture.store, batch, NULL, NULL, NULL), 0);
    write_batch_free(batch);
}

static struct store_status status_of(struct history *history)
{
    struct store_status status;
    store_status(history->fixture.store, &status);
    return status;
}

static struct engine_status files_of(struct history *history)
{
    struct engine_status status;
    engine_status(history->fixture.store, &status);
    return status;
}

/* Also when an earlier memtable is written out while its frame still waits for the log. */
Test(compaction, a_flush_is_done_when_what_was_there_is_in_segments)
{
    static struct history history;
    bool is_first_done = false;
    bool is_second_done = false;
    start(&history, 1);
    start_rate(&history, 1);
    sim_world_run_us(history.sim, 100000);
    sim_world_stall(history.sim, LANE_BACKGROUND, true);
    cr_assert_eq(engine_flush(history.fixture.store, note_done, &is_first_done, NULL), 0);
    sim_world_stall(history.sim, LANE_LOG, true);
    start_rate(&history, 2); /* goes to the log at once, and this one has to wait for it */
    start_rate(&history, 3);
    uint64_t last = status_of(&history).frame_applied;
    cr_assert_eq(engine_flush(history.fixture.store, note_done, &is_second_done, NULL), 0);
    sim_world_stall(history.sim, LANE_BACKGROUND, false);
    sim_world_run_us(history.sim, 100000);
    cr_expect_not(is_second_done);
    sim_world_stall(history.sim, LANE_LOG, false);
    while (!is_second_done)
        cr_assert(history.fixture.world->executor->step(history.fixture.world->executor));
    cr_expect(is_first_done);
    cr_expect_geq(files_of(&history).frame_flushed, last);
    stop(&history);
}

/* ---- room on the disk ---- */

struct space {
    struct sim_disk *disk;
    uint64_t most; /* bytes that were in use before any call */
};

static void note_space(void *context, enum sim_call call)
{
    struct space *space = context;
    uint64_t used = sim_disk_used(space->disk);
    (void)call;
    space->most = used > space->most ? used : space->most;
}

/* Of all files below segments/. */
static void add_segment(void *context, const char *name)
{
    struct history *history = context;
    struct disk *disk = history->fixture.world->disk;
    struct disk_file *file;
    char path[80];
    snprintf(path, sizeof path, "segments/%s", name);
    cr_assert_eq(disk->open(disk, path, DISK_READ, &file, NULL), 0);
    history->segment_bytes += (uint64_t)disk->size(disk, file);
    disk->close(disk, file);
}

/* Log and manifest are as large as they were, and the roster is written beside the old one. */
Test(compaction, takes_no_more_room_than_its_runs_once_over_and_gives_it_back)
{
    static struct history history;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        start(&history, seed);
        struct disk *disk = history.fixture.world->disk;
        struct space space = {.disk = sim_world_disk(history.sim)};
        sim_world_stall_merges(history.sim, true); /* nothing is merged before it is looked */
        for (uint32_t step = 0; step < 12; step++) {
            write_clicks(&history);
            engine_fixture_flush(&history.fixture);
        }
        cr_assert_eq(disk->list(disk, "segments", add_segment, &history), 0);
        uint64_t before = sim_disk_used(space.disk);
        sim_disk_watch(space.disk, note_space, &space);
        sim_world_stall_merges(history.sim, false);
        engine_fixture_compact(&history.fixture);
        sim_disk_watch(space.disk, NULL, NULL);
        cr_expect_gt(space.most, before);
        cr_expect_leq(space.most, before + history.segment_bytes);
        cr_expect_lt(sim_disk_used(space.disk), before);
        check_all(&history);
        stop(&history);
    }
}

struct removals {
    const struct sim_world *sim;
    uint32_t count;
    uint32_t on_engine; /* of them, by the engine thread */
};

static void note_removal(void *context, enum sim_call call)
{
    struct removals *removals = context;
    if (call != SIM_REMOVE)
        return;
    removals->count++;
    removals->on_engine += sim_world_running(removals->sim) == LANE_COUNT;
}

/* To remove a large file takes the system some ten milliseconds, which no question may wait. */
Test(compaction, removes_what_it_merged_beside_the_engine_thread_and_before_it_says_so)
{
    static struct history history;
    struct removals removals = {0};
    start(&history, 1);
    removals.sim = history.sim;
    sim_world_stall_merges(history.sim, true);
    for (uint32_t step = 0; step < 12; step++) {
        write_clicks(&history);
        engine_fixture_flush(&history.fixture);
    }
    sim_disk_watch(sim_world_disk(history.sim), note_removal, &removals);
    sim_world_stall_merges(history.sim, false);
    engine_fixture_compact(&history.fixture);
    cr_expect_geq(removals.count, 12);
    cr_expect_eq(removals.on_engine, 0, "%u of %u", removals.on_engine, removals.count);
    sim_disk_watch(sim_world_disk(history.sim), NULL, NULL);
    check_all(&history);
    stop(&history);
}

/* Reports read all row runs, and a merge of clicks may take minutes. */
Test(compaction, merges_row_runs_while_clicks_are_being_merged)
{
    enum { ROUNDS = 40 };
    static struct history history;
    start(&history, 1);
    sim_world_stall(history.sim, LANE_MERGE, true);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        write_clicks(&history);
        engine_fixture_flush(&history.fixture);
        sim_world_run_us(history.sim, 1000000);
        cr_assert_leq(segments_of(&history, TABLE_CLICKS_PER_AD), 2 * COMPACT_RUNS_MIN);
    }
    cr_expect_geq(segments_of(&history, TABLE_AD_CLICK), ROUNDS);
    sim_world_stall(history.sim, LANE_MERGE, false);
    check_all(&history);
    stop(&history);
}

static uint32_t segments_now(struct history *history)
{
    struct engine_status status;
    engine_status(history->fixture.store, &status);
    return status.segments;
}

/* Four flushes, which each table's merges may begin with, and one merge or a few. */
static void flush_more_than_is_merged(struct history *history)
{
    struct executor *executor = history->fixture.world->executor;
    sim_world_stall_merges(history->sim, true);
    for (uint32_t i = 0; i < COMPACT_RUNS_MIN; i++) {
        write_clicks(history);
        engine_fixture_flush(&history->fixture);
    }
    uint32_t before = segments_now(history);
    sim_world_stall_merges(history->sim, false);
    while (segments_now(history) >= before)
        cr_assert(executor->step(executor));
}

/* Where clicks come faster than they are merged there is always a merge under way. */
Test(compaction, tells_who_asked_although_there_is_always_more_to_merge)
{
    enum { ROUNDS = 60 };
    static struct history history;
    uint32_t rounds = 0;
    int status = 1;
    start(&history, 1);
    flush_more_than_is_merged(&history);
    cr_assert_eq(engine_compact(history.fixture.store, note_status, &status, NULL), 0);
    for (; status == 1 && rounds < ROUNDS; rounds++)
        flush_more_than_is_merged(&history);
    cr_expect_eq(status, 0, "not told in %u rounds", rounds);
    check_all(&history);
    stop(&history);
}

/* ---- what cannot be read ---- */

enum { PAGE_BIT = 8 * 4200, RUNS_MAX = 64 };

struct file_names {
    char paths[RUNS_MAX][80];
    uint32_t count;
};

/* Of segments, which are named by numbers; there are other files beside them. */
static void note_segment(void *context, const char *name)
{
    struct file_names *names = context;
    if (strspn(name, "0123456789abcdef") != 16)
        return;
    cr_assert_lt(names->count, RUNS_MAX);
    snprintf(names->paths[names->count++], sizeof names->paths[0], "segments/%s", name);
}

static int compact_status(struct history *history)
{
    struct executor *executor = history->fixture.world->executor;
    int status = 1;
    cr_assert_eq(engine_compact(history->fixture.store, note_status, &status, NULL), 0);
    while (status == 1)
        cr_assert(executor->step(executor));
    return status;
}

/* A history whose runs, told in `names`, are not merged yet. */
static void start_unmerged(struct history *history, uint64_t seed, struct file_names *names)
{
    struct disk *disk;
    start(history, seed);
    sim_world_stall_merges(history->sim, true);
    for (uint32_t step = 0; step < 12; step++) {
        write_clicks(history);
        if (step % 3 == 2)
            delete_click(history);
        engine_fixture_flush(&history->fixture);
    }
    names->count = 0;
    disk = history->fixture.world->disk;
    cr_assert_eq(disk->list(disk, "segments", note_segment, names), 0);
}

/* Who asked for the merge is told; the store goes on, and merges what is before and behind the run.
 * With the bit turned back all is as it was, and is merged after the next opening. */
Test(compaction, leaves_out_a_run_that_cannot_be_read)
{
    static struct history history;
    struct file_names names = {.count = 1};
    uint32_t failures = 0;
    for (uint32_t i = 0; i < names.count; i++) {
        start_unmerged(&history, 3, &names);
        struct sim_disk *disk = sim_world_disk(history.sim);
        sim_disk_flip_bit(disk, names.paths[i], PAGE_BIT);
        sim_world_stall_merges(history.sim, false);
        int status = compact_status(&history);
        cr_assert(status == 0 || status == ERROR_CORRUPT, "%s: %d", names.paths[i], status);
        failures += status != 0;
        for (uint32_t step = 0; step < 4; step++) {
            write_clicks(&history);
            engine_fixture_flush(&history.fixture);
        }
        cr_assert_eq(compact_status(&history), 0);
        cr_expect_lt(segments_of(&history, TABLE_AD_CLICK), names.count / 2);
        if (status != 0)
            sim_disk_flip_bit(disk, names.paths[i], PAGE_BIT);
        check_all(&history);
        engine_fixture_close(&history.fixture);
        open_engine(&history);
        engine_fixture_compact(&history.fixture);
        check_all(&history);
        stop(&history);
    }
    cr_assert_gt(failures, 0);
}

/* One read of the oldest segment of clicks, or of their deletions, fails. */
static void fail_read(struct history *history, enum segment_kind kind)
{
    const struct run_set *runs = &engine_of(history->fixture.store)->runs;
    struct error err;
    uint32_t at = 0;
    while (at < runs->count && !segment_is(runs->segments[at], TABLE_AD_CLICK, kind))
        at++;
    cr_assert_lt(at, runs->count);
    sim_disk_fail(sim_world_disk(history->sim), SIM_READ, 1, -EIO, false);
    cr_assert_eq(segment_check_pages(runs->segments[at], &err), -EIO);
}

/* Clicks in two runs, which are to be merged beside deletions that cannot be read, and nothing
 * else. */
static void start_beside_unreadable(struct history *history)
{
    start_deleted(history);
    click_day(history, 0);
    engine_fixture_flush(&history->fixture);
    fail_read(history, SEGMENT_ROW);
    sim_world_stall(history->sim, LANE_MERGE_BESIDE, true);
}

/* The disk has no room: that is told and waited for, although something else cannot be read. */
Test(compaction, waits_for_room_also_beside_a_run_that_cannot_be_read)
{
    static struct history history;
    start_beside_unreadable(&history);
    struct sim_disk *disk = sim_world_disk(history.sim);
    uint32_t segments = segments_of(&history, TABLE_AD_CLICK);
    sim_disk_set_space(disk, sim_disk_used(disk));
    cr_expect_eq(compact_status(&history), -ENOSPC);
    cr_expect_eq(maintenance_status(&engine_of(history.fixture.store)->maintenance), -ENOSPC);
    cr_expect(maintenance_is_waiting_for_space(&engine_of(history.fixture.store)->maintenance));
    sim_disk_set_space(disk, UINT64_MAX);
    sim_world_stall(history.sim, LANE_MERGE_BESIDE, false);
    run_s(&history, 2);
    cr_expect_eq(compact_status(&history), 0);
    cr_expect_lt(segments_of(&history, TABLE_AD_CLICK), segments);
    stop(&history);
}

/* What a merge writes cannot be written: the store has failed. */
Test(compaction, fails_the_store_also_beside_a_run_that_cannot_be_read)
{
    static struct history history;
    start_beside_unreadable(&history);
    sim_disk_fail(sim_world_disk(history.sim), SIM_WRITE, 1, -EIO, true);
    cr_expect_eq(compact_status(&history), -EIO);
    cr_expect(status_of(&history).failed);
    sim_world_stall(history.sim, LANE_MERGE_BESIDE, false);
    engine_fixture_close_failed(&history.fixture);
    sim_world_free(history.sim);
}

/* The same where runs are dropped unread, one of which could not be read before. */
Test(compaction, fails_the_store_also_where_it_drops_a_run_that_cannot_be_read)
{
    static struct history history;
    start(&history, 1);
    flush_day(&history, 0);
    flush_day(&history, 0);
    delete_all(&history, (struct listed){.day = 0}, true);
    engine_fixture_flush(&history.fixture);
    fail_read(&history, SEGMENT_COLUMNAR);
    sim_world_stall_merges(history.sim, true);
    run_s(&history, HOUR_S + 1);
    sim_world_stall(history.sim, LANE_MERGE, false);
    sim_disk_fail(sim_world_disk(history.sim), SIM_OPEN, 1, -EIO, true);
    run_s(&history, 1);
    cr_expect(status_of(&history).failed);
    sim_world_stall_merges(history.sim, false);
    engine_fixture_close_failed(&history.fixture);
    sim_world_free(history.sim);
}

/* While clicks are merged, as was asked, rates are written whose merge cannot read one of them: who
 * asked for the one is not told of the other. */
Test(compaction, tells_who_asked_of_no_failed_read_of_another_merge)
{
    static struct history history;
    int status = 1;
    start_deleted(&history);
    click_day(&history, 0);
    engine_fixture_flush(&history.fixture);
    sim_world_stall(history.sim, LANE_MERGE, true);
    cr_assert_eq(engine_compact(history.fixture.store, note_status, &status, NULL), 0);
    run_s(&history, 1);
    sim_world_stall(history.sim, LANE_MERGE_BESIDE, true);
    for (uint32_t i = 0; i < COMPACT_RUNS_MIN; i++) {
        struct write_batch *batch = write_batch_new();
        write_rate(&history, batch, i, false);
        apply(&history, batch);
        engine_fixture_flush(&history.fixture);
    }
    sim_world_stall(history.sim, LANE_MERGE_BESIDE, false);
    sim_disk_fail(sim_world_disk(history.sim), SIM_READ, 1, -EIO, true);
    run_s(&history, 1);
    sim_disk_fail(sim_world_disk(history.sim), SIM_READ, 0, 0, false);
    cr_assert(files_of(&history).failed_reads > 0 && segments_of(&history, TABLE_RESELLER) > 1);
    cr_expect_eq(status, 1);
    sim_world_stall(history.sim, LANE_MERGE, false);
    run_s(&history, 1);
    cr_expect_eq(status, 0);
    cr_expect_not(has_deletions(&history, 0));
    check_all(&history);
    stop(&history);
}

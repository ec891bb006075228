/* The embedded store on a real directory: what is applied is read, whatever moved it meanwhile. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/memory.h"
#include "base/murmur3.h"
#include "ingest/ingest_tables.h"
#include "storage/engine/engine_private.h"
#include "storage/log/commit_log.h"
#include "storage/manifest/manifest.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_world.h"

/* The paper's six clicks; times are UTC. */
static const struct click paper[] = {
    {"supaboobs", "2013-11-28", 1385605012000, "890_567_234", "0.005"},
    {"supaboobs", "2013-11-28", 1385623055000, "890_567_234", "0.005"},
    {"supaboobs", "2013-11-29", 1385745531000, "890_567_211", "0.0075"},
    {"supaboobs", "2013-11-29", 1385763637000, "890_567_211", "0.0075"},
    {"supaboobs", "2013-11-30", 1385810516000, "890_567_234", "0.005"},
    {"supaboobs", "2013-12-01", 1385900519000, "890_567_010", "0.01"},
};

/* As the paper's SELECT * prints them: partitions by token, times descending. */
static const char *const paper_rows =
    "supaboobs|2013-12-01|2013-12-01T12:21:59.000Z|890_567_010|0|0.01|-\n"
    "supaboobs|2013-11-30|2013-11-30T11:21:56.000Z|890_567_234|0|0.005|-\n"
    "supaboobs|2013-11-28|2013-11-28T07:17:35.000Z|890_567_234|0|0.005|-\n"
    "supaboobs|2013-11-28|2013-11-28T02:16:52.000Z|890_567_234|0|0.005|-\n"
    "supaboobs|2013-11-29|2013-11-29T22:20:37.000Z|890_567_211|0|0.0075|-\n"
    "supaboobs|2013-11-29|2013-11-29T17:18:51.000Z|890_567_211|0|0.0075|-\n";

static void expect_rows(struct engine_fixture *fixture, uint32_t table_id, uint32_t limit,
                        const char *expected)
{
    struct buffer rows = engine_fixture_rows(fixture, table_id, (struct bytes){0}, limit, false);
    cr_expect_str_eq((const char *)rows.data, expected);
    buffer_release(&rows);
}

static void expect_stats(struct engine_fixture *fixture, const char *day, const char *expected)
{
    struct buffer stats = engine_fixture_stats(fixture, "supaboobs", day);
    cr_expect_str_eq((const char *)stats.data, expected, "%s: %s", day, (const char *)stats.data);
    buffer_release(&stats);
}

static void expect_paper(struct engine_fixture *fixture)
{
    expect_rows(fixture, TABLE_AD_CLICK, 100, paper_rows);
    expect_stats(fixture, "2013-11-28", "2 0.010");
    expect_stats(fixture, "2013-11-29", "2 0.0150");
    expect_stats(fixture, "2013-12-01", "1 0.01");
    expect_stats(fixture, "2013-12-02", "");
    expect_rows(fixture, TABLE_CLICKS_PER_RESELLER, 100, "supaboobs|6\n");
}

/* Clicks print in the paper's own order and their stats are exact: from memory, from the log, from
 * segments, from merged segments. */
Test(engine, paper_reads_the_same_wherever_it_lies)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    cr_assert_eq(engine_fixture_clicks(&fixture, paper, 2), 0);
    cr_assert_eq(engine_fixture_clicks(&fixture, paper + 2, 4), 0);
    expect_paper(&fixture);
    engine_fixture_restart(&fixture);
    expect_paper(&fixture);
    engine_fixture_flush(&fixture);
    expect_paper(&fixture);
    engine_fixture_compact(&fixture);
    expect_paper(&fixture);
    engine_fixture_restart(&fixture);
    expect_paper(&fixture);
    engine_fixture_stop(&fixture);
}

/* Two clicks on one ad in one millisecond are two rows, ranked in the order they came, in one batch
 * or in several, across runs and merges. */
Test(engine, twins_are_ranked_by_arrival_across_runs)
{
    struct engine_fixture fixture = {0};
    static const struct click twins[] = {
        {"r", "2013-01-01", 1357035300000, "a", "0.1"},
        {"r", "2013-01-01", 1357035300000, "a", "0.2"},
        {"r", "2013-01-01", 1357035300000, "a", "0.3"},
    };
    static const char *const expected = "r|2013-01-01|2013-01-01T10:15:00.000Z|a|0|0.1|-\n"
                                        "r|2013-01-01|2013-01-01T10:15:00.000Z|a|1|0.2|-\n"
                                        "r|2013-01-01|2013-01-01T10:15:00.000Z|a|2|0.3|-\n";
    engine_fixture_start(&fixture);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(engine_fixture_clicks(&fixture, &twins[i], 1), 0);
        engine_fixture_flush(&fixture);
    }
    expect_rows(&fixture, TABLE_AD_CLICK, 100, expected);
    expect_rows(&fixture, TABLE_AD_CLICK, 1, expected);
    engine_fixture_compact(&fixture);
    expect_rows(&fixture, TABLE_AD_CLICK, 2, expected);
    expect_rows(&fixture, TABLE_CLICKS_PER_AD, 2, "a|3\n");
    engine_fixture_stop(&fixture);
}

/* A void of the click with that rank, as a row deletion. */
static void delete_click(struct engine_fixture *fixture, int64_t time_ms, const char *ad,
                         int64_t click_id)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_AD_CLICK);
    struct column_value values[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text("r")},
        {AD_CLICK_DAY, false, bytes_text("2013-01-01")},
        {AD_CLICK_TIME, false, write_batch_bigint(batch, time_ms)},
        {AD_CLICK_AD_ID, false, bytes_text(ad)},
        {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, click_id)},
    };
    write_batch_delete(batch, table, values, 5);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static void expect_r(struct engine_fixture *fixture, const char *expected)
{
    struct buffer stats = engine_fixture_stats(fixture, "r", "2013-01-01");
    cr_expect_str_eq((const char *)stats.data, expected);
    buffer_release(&stats);
}

/* A deleted click is out of the figures wherever it lies, and clicks that come later, also on the
 * same ad in the same millisecond, stay in: whatever is flushed, merged or replayed in between. */
Test(engine, deleted_clicks_leave_the_figures_and_later_ones_stay)
{
    struct engine_fixture fixture = {0};
    static const struct click clicks[] = {
        {"r", "2013-01-01", 1357035300000, "a", "0.1"},
        {"r", "2013-01-01", 1357035300000, "a", "0.02"},
        {"r", "2013-01-01", 1357035300001, "a", "0.003"},
    };
    engine_fixture_start(&fixture);
    cr_assert_eq(engine_fixture_clicks(&fixture, clicks, 2), 0);
    delete_click(&fixture, 1357035300000, "a", 1);
    expect_r(&fixture, "1 0.1");
    cr_assert_eq(engine_fixture_clicks(&fixture, clicks, 3), 0);
    expect_r(&fixture, "4 0.223");
    engine_fixture_restart(&fixture);
    expect_r(&fixture, "4 0.223");
    delete_click(&fixture, 1357035300000, "a", 0);
    cr_assert_eq(engine_fixture_clicks(&fixture, clicks + 2, 1), 0);
    expect_r(&fixture, "4 0.126");
    engine_fixture_flush(&fixture);
    expect_r(&fixture, "4 0.126");
    engine_fixture_compact(&fixture);
    expect_r(&fixture, "4 0.126");
    expect_rows(&fixture, TABLE_AD_CLICK, 2,
                "r|2013-01-01|2013-01-01T10:15:00.001Z|a|0|0.003|-\n"
                "r|2013-01-01|2013-01-01T10:15:00.001Z|a|1|0.003|-\n"
                "r|2013-01-01|2013-01-01T10:15:00.000Z|a|2|0.1|-\n"
                "r|2013-01-01|2013-01-01T10:15:00.000Z|a|3|0.02|-\n");
    engine_fixture_stop(&fixture);
}

/* Deletions of clicks of which there are no such ranks, `count` of them in one batch. */
static void delete_ranks(struct engine_fixture *fixture, int64_t first, int64_t count)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_AD_CLICK);
    for (int64_t rank = first; rank < first + count; rank++) {
        struct column_value values[] = {
            {AD_CLICK_RESELLER_ID, false, bytes_text("r")},
            {AD_CLICK_DAY, false, bytes_text("2013-01-01")},
            {AD_CLICK_TIME, false, write_batch_bigint(batch, 1357035300000)},
            {AD_CLICK_AD_ID, false, bytes_text("a")},
            {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, rank)},
        };
        write_batch_delete(batch, table, values, 5);
    }
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

/* The open memtable has more of the partition than a read copies of it, and is frozen instead: the
 * clicks that were copied before are then read from it, and not once more from the copy. */
Test(engine, a_partition_too_large_to_copy_gives_each_click_once)
{
    struct engine_fixture fixture = {0};
    static const struct click click = {"r", "2013-01-01", 1357035300000, "a", "0.1"};
    struct buffer key = {0};
    engine_fixture_start(&fixture);
    for (int64_t first = 10; first < 24000; first += 4000)
        delete_ranks(&fixture, first, 4000);
    cr_assert_eq(engine_fixture_clicks(&fixture, &click, 1), 0);
    engine_fixture_key(&key, "r", "2013-01-01");
    struct buffer rows =
        engine_fixture_rows(&fixture, TABLE_AD_CLICK, buffer_view(&key), 100, false);
    cr_expect_str_eq((const char *)rows.data, "r|2013-01-01|2013-01-01T10:15:00.000Z|a|0|0.1|-\n");
    buffer_release(&rows);
    buffer_release(&key);
    engine_fixture_stop(&fixture);
}

static uint32_t read_jobs;
static void (*submit_of_world)(struct executor *executor, enum executor_lane lane, struct job *job);

static void submit_and_count(struct executor *executor, enum executor_lane lane, struct job *job)
{
    read_jobs += lane == LANE_READ;
    submit_of_world(executor, lane, job);
}

/* Write rates of the days d<first> to d<first + count - 1> of a reseller, or delete them. */
static void write_rates(struct engine_fixture *fixture, char letter, uint32_t first, uint32_t count,
                        bool deletes)
{
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_RESELLER);
    struct write_batch *batch = write_batch_new();
    for (uint32_t i = first; i < first + count; i++) {
        char day[12];
        snprintf(day, sizeof day, "%c%05u", letter, i);
        struct column_value values[] = {
            {RESELLER_ID, false, bytes_text("many")},
            {RESELLER_EFFECTIVE_SINCE, false, arena_copy(batch->arena, bytes_text(day))},
            {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, decimal_from(1, 1))},
        };
        if (deletes)
            write_batch_delete(batch, table, values, 2);
        else
            write_batch_insert(batch, table, values, 3);
    }
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static uint32_t lines_of(struct engine_fixture *fixture, const char *reseller)
{
    struct buffer rows =
        engine_fixture_rows(fixture, TABLE_RESELLER, bytes_text(reseller), 100, false);
    uint32_t lines = 0;
    for (size_t i = 0; i < rows.size; i++)
        lines += rows.data[i] == '\n';
    buffer_release(&rows);
    return lines;
}

/* A memtable that is frozen has more deleted rows of a partition than the engine thread may look
 * at for one read: a job reads the partition, and nothing of what was read before counts. */
Test(engine, very_many_deleted_rows_are_not_looked_at_on_the_engine_thread)
{
    enum { DELETED = 24000, OF_A_BATCH = 4000, LIVE = 5, HIDDEN = 300 };
    struct sim_world *sim = sim_world_new(1);
    struct executor *executor = sim_world_interface(sim)->executor;
    struct engine_fixture fixture = {0};
    struct error err = {0};
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), &err), 0);
    sim_world_stall(sim, LANE_BACKGROUND, true);
    write_rates(&fixture, 'a', 0, LIVE, false);
    write_rates(&fixture, 'd', 100, HIDDEN, false);
    write_rates(&fixture, 'd', DELETED - 400, HIDDEN, false);
    write_rates(&fixture, 'e', 0, LIVE, false);
    cr_assert_eq(engine_flush(fixture.store, NULL, NULL, &err), 0);
    for (uint32_t first = 0; first < DELETED; first += OF_A_BATCH)
        write_rates(&fixture, 'd', first, OF_A_BATCH, true);
    cr_assert_eq(engine_flush(fixture.store, NULL, NULL, &err), 0);
    submit_of_world = executor->submit;
    executor->submit = submit_and_count;
    read_jobs = 0;
    sim_world_advance_us(sim, 10000);
    cr_expect_eq(lines_of(&fixture, "few"), 0);
    cr_expect_eq(read_jobs, 0);
    cr_expect_eq(lines_of(&fixture, "many"), 2 * LIVE);
    cr_expect_gt(read_jobs, 0);
    executor->submit = submit_of_world;
    sim_world_stall(sim, LANE_BACKGROUND, false);
    engine_fixture_close(&fixture);
    sim_world_free(sim);
}

static void put_rate(struct engine_fixture *fixture, const char *day, const char *rate)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_RESELLER);
    struct decimal decimal;
    cr_assert_eq(decimal_parse(bytes_text(rate), &decimal), 0);
    struct column_value values[] = {
        {RESELLER_ID, false, bytes_text("supaboobs")},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text(day)},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, decimal)},
    };
    write_batch_insert(batch, table, values, 3);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static void delete_rate(struct engine_fixture *fixture, const char *day)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_RESELLER);
    struct column_value values[] = {
        {RESELLER_ID, false, bytes_text("supaboobs")},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text(day)},
    };
    write_batch_delete(batch, table, values, 2);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

/* Rows written, overwritten and deleted in different runs read as the last write left them, in
 * clustering order and against it. */
Test(engine, last_write_wins_across_runs)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    put_rate(&fixture, "2011-02-13", "0.2");
    put_rate(&fixture, "2012-01-22", "0.9");
    engine_fixture_flush(&fixture);
    put_rate(&fixture, "2012-01-22", "0.25");
    put_rate(&fixture, "2013-11-30", "0.3");
    put_rate(&fixture, "2014-01-01", "0.4");
    engine_fixture_flush(&fixture);
    delete_rate(&fixture, "2014-01-01");
    static const char *const expected = "supaboobs|2013-11-30|0.3\n"
                                        "supaboobs|2012-01-22|0.25\n"
                                        "supaboobs|2011-02-13|0.2\n";
    expect_rows(&fixture, TABLE_RESELLER, 1, expected);
    struct buffer rows =
        engine_fixture_rows(&fixture, TABLE_RESELLER, bytes_text("supaboobs"), 2, true);
    cr_expect_str_eq((const char *)rows.data, "supaboobs|2011-02-13|0.2\n"
                                              "supaboobs|2012-01-22|0.25\n"
                                              "supaboobs|2013-11-30|0.3\n");
    buffer_release(&rows);
    engine_fixture_compact(&fixture);
    expect_rows(&fixture, TABLE_RESELLER, 100, expected);
    engine_fixture_restart(&fixture);
    expect_rows(&fixture, TABLE_RESELLER, 100, expected);
    engine_fixture_stop(&fixture);
}

/* Many small memtables, flushes and background merges lose and double nothing. */
Test(engine, counts_hold_over_many_memtables)
{
    enum { ROUNDS = 60, ROWS = 500 };
    struct engine_fixture fixture = {.options = {.memtable_rows_max = 2000}};
    engine_fixture_start(&fixture);
    static struct click clicks[ROWS];
    static char ads[ROWS][8];
    for (int i = 0; i < ROWS; i++) {
        snprintf(ads[i], sizeof(ads[i]), "ad%d", i % 50);
        clicks[i] = (struct click){i % 3 == 0 ? "even" : "supaboobs", "2013-11-28",
                                   1385605012000 + i % 7, ads[i], "0.01"};
    }
    for (int i = 0; i < ROUNDS; i++)
        cr_assert_eq(engine_fixture_clicks(&fixture, clicks, ROWS), 0);
    expect_stats(&fixture, "2013-11-28", "19980 199.80");
    expect_rows(&fixture, TABLE_CLICKS_PER_RESELLER, 100, "even|10020\nsupaboobs|19980\n");
    engine_fixture_restart(&fixture);
    expect_stats(&fixture, "2013-11-28", "19980 199.80");
    engine_fixture_compact(&fixture);
    expect_stats(&fixture, "2013-11-28", "19980 199.80");
    struct buffer rows =
        engine_fixture_rows(&fixture, TABLE_AD_CLICK, (struct bytes){0}, 9999, false);
    size_t lines = 0;
    for (size_t i = 0; i < rows.size; i++)
        lines += rows.data[i] == '\n';
    cr_expect_eq(lines, ROUNDS * ROWS);
    buffer_release(&rows);
    engine_fixture_stop(&fixture);
}

static void change_counter(struct engine_fixture *fixture, bool is_set, int64_t value)
{
    struct write_batch *batch = write_batch_new();
    struct counter_increment increment = {.table_id = TABLE_CLICKS_PER_AD,
                                          .column_id = COUNTER_CLICKS,
                                          .key = bytes_text("a"),
                                          .change = is_set ? COUNTER_SET : COUNTER_ADD,
                                          .value = value};
    write_batch_add_increment(batch, &increment);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static void click_ads(struct engine_fixture *fixture, uint32_t count, uint32_t step)
{
    for (uint32_t i = 0; i < count; i += step) {
        char ad[16];
        snprintf(ad, sizeof(ad), "ad-%u", i);
        const struct click click = {"r", "2013-11-28", 1385605012000 + i, ad, "0.5"};
        cr_assert_eq(engine_fixture_clicks(fixture, &click, 1), 0);
    }
}

/* A scan meets each partition once, whichever of its runs a page ends in. */
Test(engine, a_scan_in_pages_gives_each_partition_once)
{
    enum { ADS = 60 };
    static const uint32_t limits[] = {1, 2, 3, 7, 1000};
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    click_ads(&fixture, ADS, 1);
    engine_fixture_flush(&fixture);
    click_ads(&fixture, ADS, 3);
    engine_fixture_flush(&fixture);
    engine_fixture_compact(&fixture);
    click_ads(&fixture, ADS, 2);
    struct buffer whole =
        engine_fixture_rows(&fixture, TABLE_CLICKS_PER_AD, (struct bytes){0}, 1000, false);
    uint32_t lines = 0;
    for (size_t i = 0; i < whole.size; i++)
        lines += whole.data[i] == '\n';
    cr_expect_eq(lines, ADS, "%u", lines);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        expect_rows(&fixture, TABLE_CLICKS_PER_AD, limits[i], (const char *)whole.data);
    buffer_release(&whole);
    engine_fixture_stop(&fixture);
}

/* A counter that is set counts on from there, and what it counted before stays forgotten, whichever
 * runs the increments before, the set and the increments after are in. */
Test(engine, a_set_counter_counts_on_across_runs)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    change_counter(&fixture, false, 5);
    engine_fixture_flush(&fixture);
    change_counter(&fixture, false, 6);
    change_counter(&fixture, true, 100);
    change_counter(&fixture, false, 1);
    expect_rows(&fixture, TABLE_CLICKS_PER_AD, 10, "a|101\n");
    engine_fixture_flush(&fixture);
    change_counter(&fixture, false, 7);
    expect_rows(&fixture, TABLE_CLICKS_PER_AD, 10, "a|108\n");
    engine_fixture_restart(&fixture);
    expect_rows(&fixture, TABLE_CLICKS_PER_AD, 10, "a|108\n");
    engine_fixture_compact(&fixture);
    expect_rows(&fixture, TABLE_CLICKS_PER_AD, 10, "a|108\n");
    change_counter(&fixture, true, 0);
    expect_rows(&fixture, TABLE_CLICKS_PER_AD, 10, "a|0\n");
    engine_fixture_stop(&fixture);
}

/* ---- writes that read first ---- */

struct state_read {
    struct store_version version;
    uint32_t rows;
    bool done;
};

static void take_state(void *context, int status, const struct error *err,
                       const struct read_page *page)
{
    struct state_read *state = context;
    (void)err;
    cr_assert_eq(status, 0);
    state->version = page->version;
    state->rows = page->row_count;
    state->done = true;
}

static struct state_read read_state(struct engine_fixture *fixture, uint32_t table_id,
                                    struct bytes key)
{
    struct state_read state = {0};
    struct error err = {0};
    const struct read_request request = {.table_id = table_id,
                                         .key = key,
                                         .slice = stream_slice_all(),
                                         .row_limit = 100,
                                         .view = READ_APPLIED};
    cr_assert_eq(store_read(fixture->store, &request, take_state, &state, &err), 0);
    while (!state.done)
        fixture->world->executor->step(fixture->world->executor);
    return state;
}

/* Reads that are asked for one in the callback of another. */
struct read_chain {
    struct store *store;
    struct read_request request;
    uint32_t left;
    bool is_within; /* a callback */
};

static void read_link(struct read_chain *chain);

static void take_link(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct read_chain *chain = context;
    (void)err, (void)page;
    cr_assert_eq(status, 0);
    cr_expect_not(chain->is_within, "a callback within another");
    chain->is_within = true;
    if (--chain->left > 0)
        read_link(chain);
    chain->is_within = false;
}

static void read_link(struct read_chain *chain)
{
    struct error err = {0};
    cr_assert_eq(store_read(chain->store, &chain->request, take_link, chain, &err), 0);
}

static void note_durable(void *context, int status, const struct error *err)
{
    (void)err;
    cr_assert_eq(status, 0);
    *(bool *)context = true;
}

static int apply_if(struct engine_fixture *fixture, struct write_batch *batch, uint32_t table_id,
                    struct bytes key, struct store_version version, bool allows_appended)
{
    struct store_expectation expectation = {
        .table_id = table_id, .key = key, .version = version, .allows_appended = allows_appended};
    struct error err = {0};
    bool done = false;
    int rc;
    while ((rc = store_apply_if(fixture->store, batch, &expectation, 1, note_durable, &done,
                                &err)) == ERROR_FULL)
        fixture->world->executor->step(fixture->world->executor);
    while (rc == 0 && !done)
        fixture->world->executor->step(fixture->world->executor);
    return rc;
}

static void add_rate(struct engine_fixture *fixture, struct write_batch *batch, const char *percent)
{
    struct decimal rate;
    cr_assert_eq(decimal_parse(bytes_text(percent), &rate), 0);
    const struct column_value values[] = {
        {RESELLER_ID, false, bytes_text("r")},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text("2013-01-01")},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, rate)},
    };
    write_batch_insert(batch, schema_table(store_schema(fixture->store), TABLE_RESELLER), values,
                       3);
}

Test(engine, a_read_asked_for_in_a_callback_is_answered_when_that_has_returned)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    struct read_chain chain = {.store = fixture.store,
                               .request = {.table_id = TABLE_RESELLER,
                                           .key = bytes_text("r"),
                                           .slice = stream_slice_all(),
                                           .row_limit = 1,
                                           .view = READ_APPLIED},
                               .left = 1000};
    read_link(&chain);
    while (chain.left > 0)
        fixture.world->executor->step(fixture.world->executor);
    engine_fixture_stop(&fixture);
}

/* Of two writers that read the same state one is applied and the other told; the second's next
 * try, on what it then reads, is applied. */
Test(engine, of_two_writes_on_one_state_the_second_is_refused)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    struct bytes key = bytes_text("r");
    struct state_read state = read_state(&fixture, TABLE_RESELLER, key);
    struct write_batch *batch = write_batch_new();
    add_rate(&fixture, batch, "0.25");
    cr_expect_eq(apply_if(&fixture, batch, TABLE_RESELLER, key, state.version, false), 0);
    cr_expect_eq(apply_if(&fixture, batch, TABLE_RESELLER, key, state.version, false),
                 ERROR_CONFLICT);
    engine_fixture_flush(&fixture);
    state = read_state(&fixture, TABLE_RESELLER, key);
    cr_expect_eq(state.rows, 1);
    engine_fixture_flush(&fixture);
    engine_fixture_compact(&fixture);
    cr_expect_eq(apply_if(&fixture, batch, TABLE_RESELLER, key, state.version, false), 0);
    write_batch_free(batch);
    engine_fixture_stop(&fixture);
}

/* A state that was read before a click came is another, except to who names his rows. */
Test(engine, fresh_rows_change_a_partition_unless_they_are_allowed)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    struct buffer key = {0};
    engine_fixture_key(&key, "supaboobs", "2013-11-28");
    struct write_batch *batch = write_batch_new();
    add_rate(&fixture, batch, "0.25");
    cr_assert_eq(engine_fixture_clicks(&fixture, paper, 1), 0);
    struct state_read state = read_state(&fixture, TABLE_AD_CLICK, buffer_view(&key));
    engine_fixture_flush(&fixture);
    cr_expect_eq(apply_if(&fixture, batch, TABLE_AD_CLICK, buffer_view(&key), state.version, false),
                 0);
    cr_assert_eq(engine_fixture_clicks(&fixture, paper + 1, 1), 0);
    cr_expect_eq(apply_if(&fixture, batch, TABLE_AD_CLICK, buffer_view(&key), state.version, false),
                 ERROR_CONFLICT);
    cr_expect_eq(apply_if(&fixture, batch, TABLE_AD_CLICK, buffer_view(&key), state.version, true),
                 0);
    write_batch_free(batch);
    buffer_release(&key);
    engine_fixture_stop(&fixture);
}

/* A counter that counts on after it was read is another, so that a DELETE of what was read cannot
 * take what came since. */
Test(engine, an_increment_changes_a_counters_partition)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    struct bytes key = bytes_text("a");
    struct write_batch *batch = write_batch_new();
    add_rate(&fixture, batch, "0.25");
    change_counter(&fixture, false, 5);
    struct state_read state = read_state(&fixture, TABLE_CLICKS_PER_AD, key);
    change_counter(&fixture, false, 1);
    cr_expect_eq(apply_if(&fixture, batch, TABLE_CLICKS_PER_AD, key, state.version, false),
                 ERROR_CONFLICT);
    state = read_state(&fixture, TABLE_CLICKS_PER_AD, key);
    cr_expect_eq(apply_if(&fixture, batch, TABLE_CLICKS_PER_AD, key, state.version, false), 0);
    write_batch_free(batch);
    engine_fixture_stop(&fixture);
}

static void count_granted(void *context)
{
    ++*(uint32_t *)context;
}

/* While one holds the store, others are told that it is full, and it is theirs in turn. */
Test(engine, a_hold_keeps_all_batches_away_but_its_own)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    uint32_t granted[2] = {0};
    uint32_t drained = 0;
    struct store_write_lock holds[2];
    struct error err = {0};
    struct write_batch *batch = write_batch_new();
    add_rate(&fixture, batch, "0.25");
    store_on_drain(fixture.store, count_granted, &drained);
    for (int i = 0; i < 2; i++) {
        holds[i] = (struct store_write_lock){.granted = count_granted, .context = &granted[i]};
        store_write_lock(fixture.store, &holds[i]);
    }
    cr_expect(granted[0] == 1 && granted[1] == 0);
    cr_expect_eq(store_apply(fixture.store, batch, NULL, NULL, &err), ERROR_FULL);
    batch->write_lock = &holds[1];
    cr_expect_eq(store_apply(fixture.store, batch, NULL, NULL, &err), ERROR_FULL);
    batch->write_lock = &holds[0];
    cr_expect_eq(store_apply(fixture.store, batch, NULL, NULL, &err), 0);
    store_write_unlock(fixture.store, &holds[0]);
    cr_expect(granted[1] == 1 && drained == 0);
    batch->write_lock = &holds[1];
    cr_expect_eq(engine_fixture_apply(&fixture, batch), 0);
    store_write_unlock(fixture.store, &holds[1]);
    cr_expect_eq(drained, 1);
    batch->write_lock = NULL;
    cr_expect_eq(engine_fixture_apply(&fixture, batch), 0);
    store_on_drain(fixture.store, NULL, &drained);
    write_batch_free(batch);
    engine_fixture_stop(&fixture);
}

/* Who decided to write nothing learns when what he read is durable. */
Test(engine, an_empty_batch_is_done_after_all_before_it)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    struct error err = {0};
    bool is_first_done = false;
    bool is_second_done = false;
    struct write_batch *batch = write_batch_new();
    add_rate(&fixture, batch, "0.25");
    cr_assert_eq(store_apply(fixture.store, batch, note_durable, &is_first_done, &err), 0);
    write_batch_clear(batch);
    cr_assert_eq(store_apply(fixture.store, batch, note_durable, &is_second_done, &err), 0);
    cr_expect(!is_first_done && !is_second_done);
    while (!is_second_done)
        fixture.world->executor->step(fixture.world->executor);
    cr_expect(is_first_done);
    is_second_done = false;
    cr_assert_eq(store_apply(fixture.store, batch, note_durable, &is_second_done, &err), 0);
    cr_expect(is_second_done);
    write_batch_free(batch);
    engine_fixture_stop(&fixture);
}

static uint64_t frame_of(struct store *store)
{
    struct store_status status;
    store_status(store, &status);
    return status.frame_applied;
}

/* A writer of two batches waits for one sync; and for no second batch that does not come. */
Test(engine, a_batch_that_is_followed_waits_for_the_next_to_share_its_frame)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    struct error err = {0};
    struct write_batch *batch = write_batch_new();
    for (int round = 0; round < 2; round++) {
        bool is_durable = false;
        uint64_t frame = frame_of(fixture.store) + 1;
        write_batch_clear(batch);
        add_rate(&fixture, batch, "0.25");
        batch->is_followed = true;
        cr_assert_eq(store_apply(fixture.store, batch, note_durable, &is_durable, &err), 0);
        if (round == 0) {
            batch->is_followed = false;
            cr_assert_eq(engine_fixture_apply(&fixture, batch), 0);
        }
        while (!is_durable)
            cr_assert(fixture.world->executor->step(fixture.world->executor));
        cr_expect_eq(frame_of(fixture.store), frame);
    }
    write_batch_free(batch);
    engine_fixture_stop(&fixture);
}

/* Many who write little wait for one sync together; and one who is alone is not forgotten. */
Test(engine, batches_that_join_a_turn_share_its_frame)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    struct error err = {0};
    struct write_batch *batch = write_batch_new();
    for (uint32_t writers = 1; writers <= 3; writers++) {
        bool are_durable[3] = {false};
        uint64_t frame = frame_of(fixture.store) + 1;
        for (uint32_t i = 0; i < writers; i++) {
            write_batch_clear(batch);
            add_rate(&fixture, batch, "0.25");
            batch->joins_loop_turn = true;
            cr_assert_eq(store_apply(fixture.store, batch, note_durable, &are_durable[i], &err), 0);
            cr_expect_not(are_durable[i]);
        }
        while (!are_durable[writers - 1])
            cr_assert(fixture.world->executor->step(fixture.world->executor));
        cr_expect_eq(frame_of(fixture.store), frame);
        cr_expect(are_durable[0]);
    }
    write_batch_free(batch);
    engine_fixture_stop(&fixture);
}

/* What is refused is not there at all, and what comes after it is. */
Test(engine, a_batch_over_the_limit_is_refused_whole)
{
    static char large[1 << 20];
    memset(large, 'n', sizeof(large));
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    const struct table *table = schema_table(store_schema(fixture.store), TABLE_RETENTION);
    struct write_batch *batch = write_batch_new();
    for (uint8_t i = 0; i < WRITE_BATCH_BYTES_MAX / sizeof(large); i++) {
        struct column_value values[] = {
            {RETENTION_STREAM, false, bytes_of(&i, 1)},
            {RETENTION_SEALED_TO, false, bytes_of(large, sizeof(large))},
        };
        write_batch_insert(batch, table, values, 2);
    }
    struct error err = {0};
    cr_expect_eq(store_apply(fixture.store, batch, note_durable, NULL, &err), ERROR_LIMIT);
    cr_expect_neq(strstr(err.text, "over the limit of 25165824"), NULL, "%s", err.text);
    expect_rows(&fixture, TABLE_RETENTION, 100, "");
    write_batch_clear(batch);
    add_rate(&fixture, batch, "0.25");
    cr_expect_eq(engine_fixture_apply(&fixture, batch), 0);
    engine_fixture_restart(&fixture);
    cr_expect_eq(read_state(&fixture, TABLE_RESELLER, bytes_text("r")).rows, 1);
    write_batch_free(batch);
    engine_fixture_stop(&fixture);
}

/* Replay is bounded even where the rows are few and the memory is not full. */
Test(engine, a_log_over_its_limit_goes_to_segments)
{
    struct engine_fixture fixture = {.options.unflushed_log_max = 256 << 10};
    struct engine_status status;
    engine_fixture_start(&fixture);
    struct write_batch *batch = write_batch_new();
    for (uint32_t i = 0; i < 4000; i++) {
        write_batch_clear(batch);
        add_rate(&fixture, batch, i % 2 == 0 ? "0.25" : "0.5");
        cr_assert_eq(engine_fixture_apply(&fixture, batch), 0);
    }
    engine_status(fixture.store, &status);
    cr_expect_gt(status.segments, 0);
    write_batch_free(batch);
    engine_fixture_stop(&fixture);
}

/* Flush; returns what is ready for the next rows when the memtable is gone, which is some clicks
 * later, since another thread frees it. */
static uint64_t ready_after_flush(struct engine_fixture *fixture)
{
    enum { LITTLE = 4 << 20 };
    static const struct click click = {"r", "2013-11-28", 1385605012000, "ad", "0.01"};
    struct engine_status status = {.memory_bytes = UINT64_MAX};
    engine_fixture_flush(fixture);
    for (uint32_t tries = 0; status.memory_bytes > LITTLE; tries++) {
        cr_assert_lt(tries, 5000, "the memtable stays");
        cr_assert_eq(engine_fixture_clicks(fixture, &click, 1), 0);
        engine_status(fixture->store, &status);
    }
    return status.memory_ready_bytes;
}

/* Clicks until the memtable has so much memory; returns how much. */
static uint64_t fill_memory(struct engine_fixture *fixture, uint64_t bytes)
{
    enum { ROWS = 20000 };
    static struct click clicks[ROWS];
    struct engine_status status = {0};
    for (uint32_t i = 0; i < ROWS; i++)
        clicks[i] = (struct click){"r", "2013-11-28", 1385605012000 + i, "ad", "0.01"};
    while (status.memory_bytes < bytes) {
        cr_assert_eq(engine_fixture_clicks(fixture, clicks, ROWS), 0);
        engine_status(fixture->store, &status);
    }
    return status.memory_bytes;
}

static uint64_t ready_bytes(struct engine_fixture *fixture)
{
    struct engine_status status;
    engine_status(fixture->store, &status);
    return status.memory_ready_bytes;
}

Test(engine, memory_of_what_was_flushed_is_for_the_next_rows_until_none_come)
{
    enum { FILLED = 24 << 20, MADE_AHEAD = 8 << 20 };
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    uint64_t filled = fill_memory(&fixture, FILLED);
    uint64_t ready = ready_after_flush(&fixture);
    cr_assert(ready >= FILLED / 2 && ready <= filled + MADE_AHEAD, "%llu of %llu",
              (unsigned long long)ready, (unsigned long long)filled);

    filled = fill_memory(&fixture, FILLED / 2);
    uint64_t left = ready_bytes(&fixture);
    cr_expect_geq(ready - left, filled / 2, "%llu of %llu were taken, for %llu",
                  (unsigned long long)(ready - left), (unsigned long long)ready,
                  (unsigned long long)filled);
    cr_assert_gt(left, MADE_AHEAD);
    engine_return_memory(fixture.store, false);
    cr_expect_eq(ready_bytes(&fixture), left, "it is in use");
    engine_return_memory(fixture.store, false);
    cr_expect_eq(ready_bytes(&fixture), MADE_AHEAD);

    cr_assert_gt(ready_after_flush(&fixture), MADE_AHEAD);
    cr_expect_gt(fill_memory(&fixture, 4 << 20), 0);
    engine_return_memory(fixture.store, true);
    cr_expect_leq(ready_bytes(&fixture), MADE_AHEAD);
    engine_fixture_stop(&fixture);
}

/* A third of what memtables may have, which is the less the more the rooms above hold. */
Test(engine, memory_is_not_kept_for_the_next_rows_where_there_is_little)
{
    enum { LIMIT = 64 << 20, FILLED = 14 << 20, MADE_AHEAD = 8 << 20 };
    struct engine_fixture fixture = {.options.memory_limit = LIMIT};
    engine_fixture_start(&fixture);
    (void)fill_memory(&fixture, FILLED);
    cr_expect_gt(ready_after_flush(&fixture), MADE_AHEAD);
    (void)fill_memory(&fixture, FILLED);
    memory_held_change(fixture.store->held, MEMORY_HELD_DAYS, LIMIT / 2);
    cr_expect_leq(ready_after_flush(&fixture), MADE_AHEAD);
    engine_fixture_stop(&fixture);
}

/* ---- a directory of an older version ---- */

enum { TABLE_OF_USER = 1000 };

/* By a version that had fewer tables. */
static void create_user_table(struct engine_fixture *fixture)
{
    static const struct column_definition columns[] = {
        {0, "id", "text", COLUMN_PARTITION, false},
        {0, "name", "text", COLUMN_REGULAR, false},
    };
    const struct table_definition definition = {
        .keyspace = "daybook", .name = "mine", .columns = columns, .column_count = 2};
    engine_fixture_create_table(fixture, &definition);
}

static void add_user_row(struct engine_fixture *fixture, uint32_t table_id, const char *key)
{
    const struct table *table = schema_table(store_schema(fixture->store), table_id);
    cr_assert_not_null(table);
    const struct column_value values[] = {{table->columns[0].id, false, bytes_text(key)},
                                          {table->columns[1].id, false, bytes_text("v")}};
    struct write_batch *batch = write_batch_new();
    write_batch_insert(batch, table, values, 2);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static void add_reject(struct engine_fixture *fixture)
{
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_REJECT);
    cr_assert_not_null(table);
    static const uint8_t id[16] = {[6] = 0x10, [8] = 0x80};
    const struct column_value values[] = {{REJECT_DAY, false, bytes_text("2013-11-28")},
                                          {REJECT_ID, false, bytes_of(id, sizeof id)},
                                          {REJECT_CODE, false, bytes_text("bad_day")}};
    struct write_batch *batch = write_batch_new();
    write_batch_insert(batch, table, values, 3);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static void expect_upgraded(struct engine_fixture *fixture)
{
    static const char *const reject =
        "2013-11-28|00000000-0000-1000-8000-000000000000|-|bad_day|-|-|-|-|-\n";
    expect_rows(fixture, TABLE_OF_USER, 100, "a|v\n");
    expect_rows(fixture, TABLE_REJECT, 100, reject);
}

/* A change of the schema is in a frame and in no memtable.  Who asks for a flush after it waits for
 * the one under way, and for nothing that is written meanwhile. */
Test(engine, a_flush_ends_though_the_last_frame_had_no_rows)
{
    enum { STEPS_MAX = 10000 };
    struct sim_world *sim = sim_world_new(1);
    struct engine_fixture fixture = {0};
    struct executor *executor = sim_world_interface(sim)->executor;
    struct error err = {0};
    bool is_first_done = false;
    bool is_done = false;
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), &err), 0, "%s",
                 err.text);
    cr_assert_eq(engine_fixture_clicks(&fixture, paper, 6), 0);
    sim_world_stall(sim, LANE_BACKGROUND, true);
    cr_assert_eq(engine_flush(fixture.store, note_durable, &is_first_done, &err), 0);
    create_user_table(&fixture);
    cr_assert_eq(engine_flush(fixture.store, note_durable, &is_done, &err), 0);
    add_user_row(&fixture, TABLE_OF_USER, "a");
    cr_assert(!is_first_done && !is_done, "nothing can have been flushed");
    sim_world_stall(sim, LANE_BACKGROUND, false);
    for (int i = 0; i < STEPS_MAX && !is_done; i++)
        executor->step(executor);
    cr_expect(is_first_done);
    cr_expect(is_done, "it waits for rows that nobody asked to flush");
    expect_rows(&fixture, TABLE_OF_USER, 100, "a|v\n");
    engine_fixture_close(&fixture);
    sim_world_free(sim);
}

/* The log of an older version holds a schema without the tables that this one has built in: they
 * are there after it is replayed, at every opening, and so are the rows that were written then. */
Test(engine, tables_of_a_newer_version_outlive_a_log_that_does_not_know_them)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    create_user_table(&fixture);
    add_user_row(&fixture, TABLE_OF_USER, "a");
    fixture.has_ingest = true;
    engine_fixture_restart(&fixture);
    add_reject(&fixture);
    expect_upgraded(&fixture);
    engine_fixture_restart(&fixture);
    expect_upgraded(&fixture);
    engine_fixture_flush(&fixture);
    engine_fixture_restart(&fixture);
    expect_upgraded(&fixture);
    engine_fixture_stop(&fixture);
}

/* ---- tables that this program cannot read ---- */

/* Spell the type of the user's table's column in another way, in the manifest. */
static void respell(struct world *world, const char *from, const char *to)
{
    const struct manifest_options options = {0};
    struct manifest *manifest;
    struct buffer bytes = {0};
    struct schema *schema;
    struct error err = {0};
    cr_assert_eq(manifest_open(world, &options, &manifest, &err), 0, "%s", err.text);
    schema_serialize(manifest_state(manifest)->schema, &bytes);
    uint8_t *table = memmem(bytes.data, bytes.size, "\4mine", 5);
    cr_assert_not_null(table);
    uint8_t *type = memmem(table, bytes.size - (size_t)(table - bytes.data), from, 5);
    cr_assert_not_null(type);
    memcpy(type, to, 5);
    cr_assert_eq(schema_deserialize(buffer_view(&bytes), &schema, &err), 0, "%s", err.text);
    const struct manifest_edit edit = {.schema = schema};
    cr_assert_eq(manifest_apply(manifest, &edit, &err), 0, "%s", err.text);
    manifest_close(manifest);
    schema_unref(schema);
    buffer_release(&bytes);
}

static void keep_notice(void *context, const char *text)
{
    snprintf(context, 512, "%s", text);
}

/* It refuses the opening and says which it is; --salvage opens everything else, and the table is
 * back with its rows as soon as a program can read it. */
Test(engine, a_table_that_cannot_be_read_is_left_out_by_salvage_and_keeps_its_rows)
{
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    char notice[512] = "";
    struct engine_fixture fixture = {.options = {.notice = keep_notice, .notice_context = notice}};
    struct error err = {0};
    cr_assert_eq(engine_fixture_open_in(&fixture, world, &err), 0, "%s", err.text);
    create_user_table(&fixture);
    add_user_row(&fixture, TABLE_OF_USER, "a");
    engine_fixture_flush(&fixture);
    engine_fixture_close(&fixture);
    respell(world, "\4text", "\4tekt");
    cr_assert_eq(engine_fixture_open_in(&fixture, world, &err), ERROR_CORRUPT);
    cr_expect(strstr(err.text, "daybook.mine: unknown type tekt") != NULL, "%s", err.text);
    cr_expect(strstr(err.text, "--salvage") != NULL, "%s", err.text);
    fixture.options.salvage = true;
    cr_assert_eq(engine_fixture_open_in(&fixture, world, &err), 0, "%s", err.text);
    cr_expect(strstr(notice, "daybook.mine") != NULL, "%s", notice);
    cr_expect_null(schema_table(store_schema(fixture.store), TABLE_OF_USER));
    static const struct column_definition columns[] = {{0, "id", "text", COLUMN_PARTITION, false}};
    const struct table_definition other = {
        .keyspace = "daybook", .name = "other", .columns = columns, .column_count = 1};
    engine_fixture_create_table(&fixture, &other);
    cr_assert_eq(engine_fixture_clicks(&fixture, paper, 6), 0);
    engine_fixture_compact(&fixture);
    expect_rows(&fixture, TABLE_AD_CLICK, 100, paper_rows);
    engine_fixture_close(&fixture);
    respell(world, "\4tekt", "\4text");
    fixture.options.salvage = false;
    cr_assert_eq(engine_fixture_open_in(&fixture, world, &err), 0, "%s", err.text);
    expect_rows(&fixture, TABLE_OF_USER, 100, "a|v\n");
    expect_rows(&fixture, TABLE_AD_CLICK, 100, paper_rows);
    engine_fixture_close(&fixture);
    sim_world_free(sim);
}

/* What is written must be readable. */
Test(engine, a_schema_that_would_not_read_back_is_refused_before_it_is_written)
{
    struct engine_fixture fixture = {0};
    struct error err = {0};
    struct write_batch *batch = write_batch_new();
    engine_fixture_start(&fixture);
    create_user_table(&fixture);
    batch->schema = schema_copy(store_schema(fixture.store));
    /* No edit makes this: it stands for one that has a bug. */
    const struct table *table = schema_table(batch->schema, TABLE_OF_USER);
    *(char *)(uintptr_t)table->columns[0].name = 0;
    cr_expect_eq(store_apply(fixture.store, batch, NULL, NULL, &err), ERROR_LIMIT);
    cr_expect(strstr(err.text, "could not read the schema again") != NULL, "%s", err.text);
    schema_unref(batch->schema);
    write_batch_free(batch);
    add_user_row(&fixture, TABLE_OF_USER, "a");
    engine_fixture_restart(&fixture);
    expect_rows(&fixture, TABLE_OF_USER, 100, "a|v\n");
    engine_fixture_stop(&fixture);
}

/* A reader without a server finds the tables, empty, and changes nothing. */
Test(engine, a_reader_of_an_older_directory_sees_empty_new_tables)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    create_user_table(&fixture);
    add_user_row(&fixture, TABLE_OF_USER, "a");
    fixture.has_ingest = true;
    fixture.options.read_only = true;
    engine_fixture_restart(&fixture);
    expect_rows(&fixture, TABLE_OF_USER, 100, "a|v\n");
    expect_rows(&fixture, TABLE_REJECT, 100, "");
    fixture.has_ingest = false;
    fixture.options.read_only = false;
    engine_fixture_restart(&fixture);
    cr_expect_null(schema_table(store_schema(fixture.store), TABLE_REJECT));
    engine_fixture_stop(&fixture);
}

/* ---- tombstones of tables whose clients give timestamps ---- */

static struct row user_row(struct write_batch *batch, int64_t timestamp_us)
{
    static const struct cell unset = {
        .column_id = 2, .expiry_s = EXPIRY_NONE, .value = {(const uint8_t *)"v", 1}};
    struct cell *cell = arena_alloc(batch->arena, sizeof(*cell), 16);
    *cell = unset;
    cell->timestamp_us = timestamp_us;
    return (struct row){.marker = {timestamp_us, 0, EXPIRY_NONE},
                        .deletion = DELETION_NONE,
                        .cells = cell,
                        .cell_count = 1};
}

/* INSERT, or DELETE of the partition, USING TIMESTAMP. */
static void write_user(struct engine_fixture *fixture, const char *key, bool deletes,
                       int64_t timestamp_us)
{
    struct write_batch *batch = write_batch_new();
    struct unfiltered item = {.kind = UNFILTERED_ROW,
                              .row = user_row(batch, timestamp_us),
                              .before = DELETION_NONE,
                              .after = DELETION_NONE};
    struct mutation mutation = {.table_id = TABLE_OF_USER,
                                .token = murmur3_token(key, strlen(key)),
                                .key = bytes_text(key),
                                .deletion = {timestamp_us, timestamp_us / 1000000},
                                .items = &item};
    if (!deletes) {
        mutation.deletion = DELETION_NONE;
        mutation.item_count = 1;
    }
    write_batch_add_mutation(batch, &mutation);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static uint64_t segment_rows(struct engine_fixture *fixture, uint32_t table_id)
{
    uint32_t count;
    struct engine_table_status *tables = engine_table_status(fixture->store, &count);
    uint64_t rows = 0;
    for (uint32_t i = 0; i < count; i++)
        rows += tables[i].table_id == table_id ? tables[i].segment_rows : 0;
    memory_free(tables);
    return rows;
}

/* A row that was written after its partition's deletion, with an earlier time, stays deleted,
 * whatever was merged before it was flushed; and tombstones go once nothing can need them. */
Test(engine, a_merge_brings_no_row_back_that_was_written_late)
{
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    create_user_table(&fixture);
    write_user(&fixture, "a", false, 100);
    write_user(&fixture, "b", false, 100);
    engine_fixture_flush(&fixture);
    write_user(&fixture, "a", true, 200);
    engine_fixture_flush(&fixture);
    bool is_merged = false;
    struct error err = {0};
    cr_assert_eq(engine_compact(fixture.store, note_durable, &is_merged, &err), 0);
    write_user(&fixture, "a", false, 150);
    while (!is_merged)
        fixture.world->executor->step(fixture.world->executor);
    expect_rows(&fixture, TABLE_OF_USER, 100, "b|v\n");
    engine_fixture_flush(&fixture);
    engine_fixture_restart(&fixture);
    expect_rows(&fixture, TABLE_OF_USER, 100, "b|v\n");
    write_user(&fixture, "b", true, 300);
    engine_fixture_compact(&fixture);
    expect_rows(&fixture, TABLE_OF_USER, 100, "");
    cr_expect_eq(segment_rows(&fixture, TABLE_OF_USER), 0);
    engine_fixture_stop(&fixture);
}

/* As TRUNCATE does it: the table gets the next number. */
static void truncate_table(struct engine_fixture *fixture, uint32_t table_id)
{
    struct schema *changed = schema_copy(store_schema(fixture->store));
    struct write_batch *batch = write_batch_new();
    struct error err = {0};
    cr_assert_eq(schema_truncate_table(changed, table_id, &err), 0, "%s", err.text);
    batch->schema = changed;
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
    schema_unref(changed);
}

/* Of a table that is truncated every hour no merge is remembered that was planned before. */
Test(engine, what_was_planned_for_truncated_tables_is_forgotten)
{
    enum { ROUNDS = 5 };
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    create_user_table(&fixture);
    const struct maintenance *maintenance = &engine_of(fixture.store)->maintenance;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        add_user_row(&fixture, TABLE_OF_USER + i, "a");
        engine_fixture_flush(&fixture);
        truncate_table(&fixture, TABLE_OF_USER + i);
    }
    cr_expect_gt(maintenance->purge_count, 0);
    cr_expect_leq(maintenance->purge_count, 2);
    engine_fixture_stop(&fixture);
}

/* ---- values of other types than their columns' ---- */

static struct column_value rate_values[] = {
    {RESELLER_ID, false, {(const uint8_t *)"r", 1}},
    {RESELLER_EFFECTIVE_SINCE, false, {(const uint8_t *)"2013-11-01", 10}},
    {RESELLER_REWARD_PERCENT, false, {(const uint8_t *)"\0\0\0\2\x19", 5}}, /* 0.25 */
};

static void add_rate_of(struct engine_fixture *fixture, struct write_batch *batch,
                        const char *since, struct bytes value)
{
    struct column_value values[3];
    memcpy(values, rate_values, sizeof(values));
    values[1].value = bytes_text(since);
    values[2].value = value;
    write_batch_insert(batch, schema_table(store_schema(fixture->store), TABLE_RESELLER), values,
                       3);
}

/* The one function that all doors' values pass; what comes together with a bad one is refused too.
 */
Test(engine, a_value_that_is_none_of_its_type_gets_into_no_frame)
{
    struct engine_fixture fixture = {0};
    struct error err = {0};
    engine_fixture_start(&fixture);
    struct write_batch *batch = write_batch_new();
    add_rate_of(&fixture, batch, "2013-11-01", rate_values[2].value);
    add_rate_of(&fixture, batch, "2013-11-02", bytes_of("\0\0\0", 3));
    cr_expect_eq(store_apply(fixture.store, batch, note_durable, NULL, &err), ERROR_INVALID);
    cr_expect_not_null(strstr(err.text, "column reward_percent: Expected 0 or at least 4 bytes"),
                       "%s", err.text);
    expect_rows(&fixture, TABLE_RESELLER, 100, "");
    write_batch_clear(batch);
    struct counter_increment increment = {.table_id = TABLE_RESELLER,
                                          .column_id = RESELLER_REWARD_PERCENT,
                                          .key = bytes_text("r"),
                                          .value = 1};
    write_batch_add_increment(batch, &increment);
    cr_expect_eq(store_apply(fixture.store, batch, note_durable, NULL, &err), ERROR_INVALID);
    engine_fixture_restart(&fixture);
    expect_rows(&fixture, TABLE_RESELLER, 100, "");
    write_batch_free(batch);
    engine_fixture_stop(&fixture);
}

static int ignore_frame(void *context, uint64_t frame, int64_t timestamp_us, struct bytes payload,
                        struct error *err)
{
    (void)context;
    (void)frame;
    (void)timestamp_us;
    (void)payload;
    (void)err;
    return 0;
}

static void note_log_durable(void *context, int status, uint64_t frame)
{
    (void)frame;
    cr_assert_eq(status, 0);
    *(bool *)context = true;
}

/* Append a frame to the log of a closed directory, as an earlier version wrote it. */
static void append_frame(struct world *world, const struct write_batch *batch)
{
    const struct commit_log_options options = {.file_size = SIM_LOG_FILE};
    struct buffer payload = {0};
    struct commit_log *log;
    struct error err = {0};
    bool is_durable = false;
    int rc =
        commit_log_open(world, &options, ignore_frame, note_log_durable, &is_durable, &log, &err);
    cr_assert_eq(rc, 0, "%s", err.text);
    buffer_put_u64(&payload, (uint64_t)world->clock->wall_us(world->clock));
    write_batch_serialize(batch, NULL, &payload);
    cr_assert(commit_log_has_room(log, payload.size));
    commit_log_append(log, world->clock->wall_us(world->clock), &payload);
    while (!is_durable)
        cr_assert(world->executor->step(world->executor));
    commit_log_close(log);
    buffer_release(&payload);
}

/* A directory with good rates, and a log that has one more that is no decimal. */
static void leave_bad_cell(struct engine_fixture *fixture, struct world *world)
{
    struct error err = {0};
    struct write_batch *batch = write_batch_new();
    cr_assert_eq(engine_fixture_open_in(fixture, world, &err), 0, "%s", err.text);
    add_rate_of(fixture, batch, "2013-11-01", rate_values[2].value);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_clear(batch);
    add_rate_of(fixture, batch, "2013-11-02", bytes_of("\0\0\0", 3));
    add_rate_of(fixture, batch, "2013-11-03", rate_values[2].value);
    struct block *block = engine_fixture_block(fixture->store, paper, 6);
    write_batch_add_block(batch, block);
    engine_fixture_close(fixture);
    append_frame(world, batch);
    block_free(block);
    write_batch_free(batch);
}

static void expect_one_bad_cell_left_out(uint64_t memtable_rows_max)
{
    struct sim_world *sim = sim_world_new(7);
    struct world *world = sim_world_interface(sim);
    struct engine_fixture fixture = {.options = {.log_file_size = SIM_LOG_FILE,
                                                 .log_first_file_size = SIM_LOG_FILE,
                                                 .memtable_rows_max = memtable_rows_max}};
    struct error err = {0};
    leave_bad_cell(&fixture, world);
    for (uint32_t i = 0; i < 3; i++) {
        fixture.options.read_only = i == 2;
        cr_expect_eq(engine_fixture_open_in(&fixture, world, &err), ERROR_CORRUPT);
        cr_expect_not_null(strstr(err.text, "daybook.reseller"), "%s", err.text);
        cr_expect_not_null(strstr(err.text, "at stake"), "%s", err.text);
        cr_expect_not_null(strstr(err.text, "--salvage"), "%s", err.text);
    }
    fixture.options.read_only = false;
    fixture.options.salvage = true;
    cr_assert_eq(engine_fixture_open_in(&fixture, world, &err), 0, "%s", err.text);
    struct sim_world *crashed = sim_world_crash(sim, 1);
    expect_rows(&fixture, TABLE_RESELLER, 100,
                "r|2013-11-03|0.25\nr|2013-11-02|-\nr|2013-11-01|0.25\n");
    expect_rows(&fixture, TABLE_AD_CLICK, 100, paper_rows);
    engine_fixture_close(&fixture);
    fixture.options.salvage = false;
    cr_assert_eq(engine_fixture_open_in(&fixture, world, &err), 0, "%s", err.text);
    engine_fixture_close(&fixture);
    int rc = engine_fixture_open_in(&fixture, sim_world_interface(crashed), &err);
    cr_assert_eq(rc, 0, "after a loss of power: %s", err.text);
    engine_fixture_close(&fixture);
    sim_world_free(crashed);
    sim_world_free(sim);
}

/* The cell is not met again once it was left out, though its frame alone fills no memtable.  One
 * that it fills is flushed while the log is read: not before it is known that the cell may be left
 * out, or the next opening would not meet it. */
Test(engine, one_bad_cell_of_the_log_costs_that_cell_and_only_with_salvage)
{
    expect_one_bad_cell_left_out(0);
    expect_one_bad_cell_left_out(6);
}

/* ---- timestamps ---- */

/* A client's time is its cells' alone, however far ahead, also once they are in a segment and the
 * directory is opened again; point-in-time backups go by the store's. */
Test(engine, a_clients_timestamp_moves_neither_the_clock_nor_a_snapshots_time)
{
    static const int64_t ahead_us[] = {INT64_C(3600000000), INT64_C(1700000000000000000)};
    for (size_t i = 0; i < sizeof(ahead_us) / sizeof(ahead_us[0]); i++) {
        struct engine_fixture fixture = {0};
        struct engine_snapshot *snapshot;
        engine_fixture_start(&fixture);
        create_user_table(&fixture);
        struct clock *clock = fixture.world->clock;
        write_user(&fixture, "a", false, clock->wall_us(clock) + ahead_us[i]);
        engine_fixture_flush(&fixture);
        for (int round = 0; round < 2; round++) {
            int64_t latest_us = clock->wall_us(clock) + INT64_C(60000000);
            cr_expect_lt(store_now_us(fixture.store), latest_us);
            cr_expect_lt(store_clock(fixture.store).last_us, latest_us);
            cr_assert_eq(engine_snapshot_take(fixture.store, UINT64_MAX, &snapshot, NULL), 0);
            cr_expect_lt(snapshot->timestamp_us, latest_us);
            engine_snapshot_release(fixture.store, snapshot);
            engine_fixture_restart(&fixture);
            clock = fixture.world->clock;
        }
        expect_rows(&fixture, TABLE_OF_USER, 100, "a|v\n");
        engine_fixture_stop(&fixture);
    }
}

/* The last one that was given is found again though its frame is in a segment and its log file is
 * another's, and though the clock was set back by a year. */
Test(engine, timestamps_grow_over_a_start_with_a_clock_that_was_set_back)
{
    struct sim_world *sim = sim_world_new(1);
    struct engine_fixture fixture = {0};
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), NULL), 0);
    for (uint32_t i = 0; i < 400; i++)
        cr_assert_eq(engine_fixture_clicks(&fixture, paper, 6), 0);
    engine_fixture_flush(&fixture);
    int64_t last_us = store_clock(fixture.store).last_us;
    engine_fixture_close(&fixture);
    sim_world_set_wall_us(sim, last_us - 365 * INT64_C(86400000000));
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), NULL), 0);
    cr_expect_eq(store_clock(fixture.store).last_us, last_us);
    cr_expect_gt(store_now_us(fixture.store), last_us);
    engine_fixture_close(&fixture);
    sim_world_free(sim);
}

/* ---- the trusted clock ---- */

#define HOUR_US INT64_C(3600000000)

static void pass_us(struct engine_fixture *fixture, struct sim_world *sim, int64_t us)
{
    for (; us > 0; us -= HOUR_US / 2) {
        sim_world_sleep_us(sim, HOUR_US / 2);
        store_watch_clock(fixture->store);
        sim_world_run_us(sim, 1000);
    }
}

/* The mark is kept as time passes, and a start of the machine or of the server goes on from it. */
Test(engine, trusted_time_outlives_the_server_and_the_machine)
{
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    struct engine_fixture fixture = {0};
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    pass_us(&fixture, sim, 40 * 24 * HOUR_US);
    cr_expect(!store_clock(fixture.store).is_in_doubt);
    engine_fixture_close(&fixture);
    sim_world_sleep_us(sim, 62 * HOUR_US);
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    cr_expect(!store_clock(fixture.store).is_in_doubt, "the server was stopped for a weekend");
    engine_fixture_close(&fixture);
    sim_world_reboot(sim, 62 * HOUR_US);
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    cr_expect(store_clock(fixture.store).is_in_doubt, "the machine was off for a weekend");
    pass_us(&fixture, sim, 3 * HOUR_US);
    cr_expect(!store_clock(fixture.store).is_in_doubt);
    sim_world_set_wall_us(sim, world->clock->wall_us(world->clock) + 365 * 24 * HOUR_US);
    engine_fixture_close(&fixture);
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    pass_us(&fixture, sim, 24 * HOUR_US);
    cr_expect(store_clock(fixture.store).is_in_doubt, "the clock is a year ahead");
    bool is_done = false;
    cr_assert_eq(store_accept_clock(fixture.store, note_durable, &is_done, NULL), 0);
    sim_world_run_us(sim, 1000);
    cr_assert(is_done);
    engine_fixture_close(&fixture);
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    cr_expect(!store_clock(fixture.store).is_in_doubt, "it was accepted");
    engine_fixture_close(&fixture);
    sim_world_free(sim);
}

/* INSERT of the row "t" USING TTL of an hour. */
static void write_expiring(struct engine_fixture *fixture)
{
    struct clock *clock = fixture->world->clock;
    int64_t now_s = clock->wall_us(clock) / 1000000;
    struct write_batch *batch = write_batch_new();
    struct cell cell = {.column_id = 2,
                        .timestamp_us = TIMESTAMP_SERVER,
                        .ttl_s = 3600,
                        .expiry_s = now_s + 3600,
                        .value = {(const uint8_t *)"v", 1}};
    struct unfiltered item = {.kind = UNFILTERED_ROW,
                              .row = {.marker = {TIMESTAMP_SERVER, 3600, now_s + 3600},
                                      .deletion = DELETION_NONE,
                                      .cells = &cell,
                                      .cell_count = 1},
                              .before = DELETION_NONE,
                              .after = DELETION_NONE};
    struct mutation mutation = {.table_id = TABLE_OF_USER,
                                .token = murmur3_token("t", 1),
                                .key = bytes_text("t"),
                                .deletion = DELETION_NONE,
                                .items = &item,
                                .item_count = 1};
    write_batch_add_mutation(batch, &mutation);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

/* While the clock is wrong an expired row is not shown; it is there again when the clock is right,
 * though everything was merged meanwhile. */
Test(engine, a_merge_by_a_clock_in_doubt_drops_no_row_as_expired)
{
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    struct engine_fixture fixture = {0};
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    create_user_table(&fixture);
    write_expiring(&fixture);
    engine_fixture_flush(&fixture);
    int64_t right_us = world->clock->wall_us(world->clock);
    sim_world_set_wall_us(sim, right_us + 365 * 24 * HOUR_US);
    add_user_row(&fixture, TABLE_OF_USER, "a");
    engine_fixture_compact(&fixture);
    expect_rows(&fixture, TABLE_OF_USER, 100, "a|v\n");
    sim_world_set_wall_us(sim, right_us);
    expect_rows(&fixture, TABLE_OF_USER, 100, "a|v\nt|v\n");
    sim_world_sleep_us(sim, 2 * HOUR_US);
    add_user_row(&fixture, TABLE_OF_USER, "b");
    engine_fixture_compact(&fixture);
    sim_world_set_wall_us(sim, right_us);
    expect_rows(&fixture, TABLE_OF_USER, 100, "a|v\nb|v\n");
    engine_fixture_close(&fixture);
    sim_world_free(sim);
}

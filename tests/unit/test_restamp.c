/* test_restamp: timestamps ahead of now become ones that are not, and no comparison changes. */
#include "storage/cell/restamp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/murmur3.h"
#include "counters/counter_cell.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_random.h"
#include "tests/sim/sim_world.h"

#define HOUR_US INT64_C(3600000000)
#define YEAR_US (365 * 24 * HOUR_US)

/* ---- the times ---- */

enum { TIMES = 2000 };

static int time_order(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Times around 1000 and 10^15, in clusters and alone. */
static void draw_times(struct sim_random *random, int64_t *times)
{
    int64_t at = 1;
    for (uint32_t i = 0; i < TIMES; i++) {
        uint64_t far = sim_random_below(random, 20) == 0 ? 1000000000000 : 3;
        at += (int64_t)sim_random_below(random, far);
        times[i] = at;
    }
    for (uint32_t i = TIMES - 1; i > 0; i--) {
        uint32_t other = (uint32_t)sim_random_below(random, i + 1);
        int64_t kept = times[i];
        times[i] = times[other];
        times[other] = kept;
    }
}

/* With room for all spans the times lie without a gap behind `after`; with little they still ascend
 * strictly. */
static void check_times(uint64_t seed, uint32_t spans_max)
{
    struct sim_random random = {.state = seed};
    struct restamp restamp;
    int64_t times[TIMES];
    draw_times(&random, times);
    int64_t after = times[0] < times[1] ? times[0] : times[1];
    int64_t until = times[0] < times[1] ? times[1] : times[0];
    restamp_init(&restamp, after, until, spans_max);
    for (uint32_t i = 0; i < TIMES; i++)
        cr_assert_eq(restamp_note(&restamp, times[i]), times[i]);
    restamp_settle(&restamp);
    qsort(times, TIMES, sizeof(times[0]), time_order);
    int64_t distinct = 0;
    for (uint32_t i = 0; i < TIMES; i++) {
        int64_t to = restamp_of(&restamp, times[i]);
        bool is_new = i > 0 && times[i] != times[i - 1];
        cr_assert(!is_new || to > restamp_of(&restamp, times[i - 1]), "seed %d", (int)seed);
        cr_assert_leq(to, times[i]);
        if (times[i] <= after || times[i] > until)
            cr_assert_eq(to, times[i]);
        else
            cr_assert(to > after && to <= restamp.end_us);
        distinct += is_new && times[i] > after && times[i] <= until;
    }
    if (spans_max > TIMES)
        cr_assert_eq(restamp.end_us, after + distinct);
    cr_assert_leq(restamp.end_us, until);
    restamp_release(&restamp);
}

Test(restamp, keeps_the_order_of_all_times_whatever_room_there_is)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        check_times(seed, 2 * TIMES + 2);
        check_times(seed, 16);
        check_times(seed, 2);
    }
}

/* ---- a stream ---- */

static int64_t add_1000(void *context, int64_t timestamp_us)
{
    uint32_t *asked = context;
    cr_assert_neq(timestamp_us, TIMESTAMP_NONE);
    ++*asked;
    return timestamp_us + 1000;
}

/* A counter of generation 5 with a shard from 7 on. */
static void put_counter(struct buffer *cell)
{
    counter_cell_write_single(cell, 5, (struct counter_shard){.id = 7, .clock = 12, .value = 3});
}

static void expect_counter(struct bytes cell)
{
    struct buffer expected = {0};
    counter_cell_write_single(&expected, 1005,
                              (struct counter_shard){.id = 1007, .clock = 12, .value = 3});
    cr_expect(bytes_equal(cell, buffer_view(&expected)));
    buffer_release(&expected);
}

Test(restamp, every_time_in_a_stream_is_another_and_nothing_else_is)
{
    struct buffer counter = {0};
    uint32_t asked = 0;
    put_counter(&counter);
    const struct complex_deletion complex = {.column_id = 3, .deletion = {40, 1}};
    const struct cell cells[] = {
        {.column_id = 2, .flags = CELL_TOMBSTONE, .timestamp_us = 20, .expiry_s = 9},
        {.column_id = 4, .flags = CELL_COUNTER, .timestamp_us = 5, .value = buffer_view(&counter)},
    };
    const struct unfiltered items[] = {
        {.kind = UNFILTERED_ROW,
         .row = {.marker = {10, 60, 70},
                 .deletion = {30, 2},
                 .complex = &complex,
                 .complex_count = 1,
                 .cells = cells,
                 .cell_count = 2}},
        {.kind = UNFILTERED_ROW, .row = {.marker = LIVENESS_NONE, .deletion = DELETION_NONE}},
        {.kind = UNFILTERED_BOUND, .before = DELETION_NONE, .after = {50, 3}},
        {.kind = UNFILTERED_BOUND, .before = {50, 3}, .after = DELETION_NONE},
    };
    struct stream *stream =
        restamp_of_stream(stream_of_array(NULL, (struct deletion){60, 4}, items, 4),
                          (struct restamp_each){add_1000, &asked});
    struct unfiltered item;
    cr_expect_eq(stream->partition_deletion.timestamp_us, 1060);
    cr_expect_eq(stream->partition_deletion.local_s, 4);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    cr_expect(item.row.marker.timestamp_us == 1010 && item.row.marker.expiry_s == 70);
    cr_expect(item.row.deletion.timestamp_us == 1030 && item.row.deletion.local_s == 2);
    cr_expect_eq(item.row.complex[0].deletion.timestamp_us, 1040);
    cr_expect(item.row.cells[0].timestamp_us == 1020 && item.row.cells[0].expiry_s == 9);
    cr_expect_eq(item.row.cells[1].timestamp_us, 1005);
    expect_counter(item.row.cells[1].value);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    cr_expect_eq(item.row.marker.timestamp_us, TIMESTAMP_NONE);
    cr_expect_eq(item.row.deletion.timestamp_us, TIMESTAMP_NONE);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    cr_expect_eq(item.before.timestamp_us, TIMESTAMP_NONE);
    cr_expect_eq(item.after.timestamp_us, 1050);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    cr_expect_eq(item.before.timestamp_us, 1050);
    cr_expect_eq(item.after.timestamp_us, TIMESTAMP_NONE);
    cr_expect_eq(stream->next(stream, &item, NULL), 0);
    cr_expect_eq(asked, 10);
    stream_close(stream);
    buffer_release(&counter);
}

/* ---- a directory ---- */

enum { TABLE_OF_USER = 1000, LISTINGS = 5 };

static const uint32_t listed[LISTINGS] = {TABLE_AD_CLICK, TABLE_RESELLER, TABLE_CLICKS_PER_AD,
                                          TABLE_CLICKS_PER_RESELLER, TABLE_OF_USER};

/* All rows of all tables, and stats. */
static struct buffer list_all(struct engine_fixture *fixture)
{
    struct buffer all = {0};
    for (uint32_t i = 0; i < LISTINGS; i++) {
        struct buffer rows = engine_fixture_rows(fixture, listed[i], (struct bytes){0}, 100, false);
        buffer_append_text(&all, (const char *)rows.data);
        buffer_release(&rows);
    }
    struct buffer stats = engine_fixture_stats(fixture, "r1", "2013-11-28");
    buffer_append_text(&all, (const char *)stats.data);
    buffer_release(&stats);
    buffer_put_u8(&all, 0);
    return all;
}

static void expect_all(struct engine_fixture *fixture, const struct buffer *expected)
{
    struct buffer all = list_all(fixture);
    cr_assert_str_eq((const char *)all.data, (const char *)expected->data);
    buffer_release(&all);
}

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

/* A driver's INSERT or DELETE with a time of its own; TIMESTAMP_SERVER: a conditional one. */
static void write_user(struct engine_fixture *fixture, const char *key, const char *value,
                       int64_t timestamp_us)
{
    struct write_batch *batch = write_batch_new();
    struct cell cell = {.column_id = 2,
                        .timestamp_us = timestamp_us,
                        .expiry_s = EXPIRY_NONE,
                        .value = value != NULL ? bytes_text(value) : (struct bytes){0}};
    struct unfiltered item = {.kind = UNFILTERED_ROW,
                              .row = {.marker = {timestamp_us, 0, EXPIRY_NONE},
                                      .deletion = DELETION_NONE,
                                      .cells = &cell,
                                      .cell_count = 1},
                              .before = DELETION_NONE,
                              .after = DELETION_NONE};
    struct mutation mutation = {.table_id = TABLE_OF_USER,
                                .token = murmur3_token(key, strlen(key)),
                                .key = bytes_text(key),
                                .deletion = {timestamp_us, timestamp_us / 1000000},
                                .items = &item};
    if (value != NULL) {
        mutation.deletion = DELETION_NONE;
        mutation.item_count = 1;
    }
    write_batch_add_mutation(batch, &mutation);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static void set_counter(struct engine_fixture *fixture, uint32_t table_id, const char *key,
                        int64_t value)
{
    const struct counter_increment set = {.table_id = table_id,
                                          .column_id = COUNTER_CLICKS,
                                          .key = bytes_text(key),
                                          .change = COUNTER_SET,
                                          .value = value};
    struct write_batch *batch = write_batch_new();
    write_batch_add_increment(batch, &set);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

/* A counter set to `set`; a rate; and the click of that rank deleted where there is one. */
static void write_own(struct engine_fixture *fixture, int64_t set, uint32_t percent, int64_t rank)
{
    struct write_batch *batch = write_batch_new();
    const struct schema *schema = store_schema(fixture->store);
    const struct column_value rate[] = {
        {RESELLER_ID, false, bytes_text("r1")},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text("2013-11-01")},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, decimal_from(percent, 2))},
    };
    const struct column_value click[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text("r1")},
        {AD_CLICK_DAY, false, bytes_text("2013-11-28")},
        {AD_CLICK_TIME, false, write_batch_bigint(batch, 1385605012000)},
        {AD_CLICK_AD_ID, false, bytes_text("a")},
        {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, rank)},
    };
    write_batch_insert(batch, schema_table(schema, TABLE_RESELLER), rate, 3);
    if (rank >= 0)
        write_batch_delete(batch, schema_table(schema, TABLE_AD_CLICK), click, 5);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
    set_counter(fixture, TABLE_CLICKS_PER_AD, "b", set);
}

/* The last one's counters have no time but their first click's. */
static void write_clicks(struct engine_fixture *fixture, uint32_t count)
{
    static const struct click clicks[] = {
        {"r1", "2013-11-28", 1385605012000, "a", "0.01"},
        {"r1", "2013-11-28", 1385605012000, "a", "0.015"},
        {"r2", "2013-11-29", 1385691412000, "b", "12"},
        {"r3", "2013-11-29", 1385691412000, "c", "1"},
    };
    cr_assert_eq(engine_fixture_clicks(fixture, clicks, count), 0);
}

/* A directory that was written while the clock was right, then a year ahead, then right again; a
 * client's times are later than that, and some of what was written is in the log alone. */
static struct sim_world *make_ahead(void)
{
    struct sim_world *sim = sim_world_new(3);
    struct world *world = sim_world_interface(sim);
    struct engine_fixture fixture = {.options = {.log_file_size = SIM_LOG_FILE}};
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    create_user_table(&fixture);
    int64_t right_us = world->clock->wall_us(world->clock);
    for (uint32_t round = 0; round < 4; round++) {
        write_clicks(&fixture, round == 0 ? 3 : 4);
        write_own(&fixture, 100 * round, 20 + round, round == 2 ? 3 : -1);
        write_user(&fixture, "own", round % 2 == 0 ? "v" : "w", TIMESTAMP_SERVER);
        write_user(&fixture, "gone", round % 2 == 0 ? "v" : NULL, TIMESTAMP_SERVER);
        if (round != 2)
            engine_fixture_flush(&fixture);
        if (round == 1)
            engine_fixture_compact(&fixture);
        sim_world_set_wall_us(sim, right_us + (round == 0 ? YEAR_US : round));
    }
    write_user(&fixture, "client", "v", 1000 * right_us);
    write_user(&fixture, "own", "last", TIMESTAMP_SERVER);
    write_clicks(&fixture, 4);
    struct sim_world *left = sim_world_restart(sim, 1);
    engine_fixture_close_failed(&fixture);
    sim_world_free(sim);
    return left;
}

static int64_t ahead_us(const struct engine_fixture *fixture)
{
    struct clock *clock = fixture->world->clock;
    return store_clock(fixture->store).last_us - clock->wall_us(clock);
}

/* What drivers and the store itself write from now on takes effect, and the latest write stands. */
static void expect_writes_work(struct engine_fixture *fixture, struct sim_world *sim)
{
    sim_world_advance_us(sim, HOUR_US);
    struct clock *clock = fixture->world->clock;
    int64_t now_us = clock->wall_us(clock);
    write_user(fixture, "own", "driver", now_us);
    write_user(fixture, "gone", "driver", now_us + 1);
    write_user(fixture, "client", "driver", now_us + 2);
    write_own(fixture, 7, 33, 0);
    set_counter(fixture, TABLE_CLICKS_PER_RESELLER, "r3", 40);
    write_clicks(fixture, 4);
    struct buffer all = list_all(fixture);
    cr_expect_not_null(strstr((const char *)all.data, "own|driver\n"));
    cr_expect_not_null(strstr((const char *)all.data, "gone|driver\n"));
    cr_expect_not_null(strstr((const char *)all.data, "client|v\n"), "its own time is later");
    cr_expect_not_null(strstr((const char *)all.data, "r1|2013-11-01|0.33\n"));
    cr_expect_not_null(strstr((const char *)all.data, "b|8\n"));
    cr_expect_not_null(strstr((const char *)all.data, "r3|41\n"), "%s", (const char *)all.data);
    buffer_release(&all);
    write_user(fixture, "own", "conditional", TIMESTAMP_SERVER);
    write_user(fixture, "gone", NULL, clock->wall_us(clock) + HOUR_US);
    all = list_all(fixture);
    cr_expect_not_null(strstr((const char *)all.data, "own|conditional\n"));
    cr_expect_null(strstr((const char *)all.data, "gone|"));
    engine_fixture_flush(fixture);
    engine_fixture_compact(fixture);
    expect_all(fixture, &all);
    buffer_release(&all);
}

static void count_tables(void *context, const struct table *table, uint64_t times)
{
    uint32_t *count = context;
    *count += table != NULL && times > 0;
}

Test(restamp, a_directory_that_was_a_year_ahead_is_written_to_as_if_it_never_was)
{
    struct sim_world *sim = make_ahead();
    struct world *world = sim_world_interface(sim);
    struct engine_fixture fixture = {.options = {.log_file_size = SIM_LOG_FILE}};
    uint32_t tables = 0;
    struct engine_restamp restamp = {.is_dry_run = true, .table = count_tables, .context = &tables};
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    struct buffer before = list_all(&fixture);
    engine_fixture_close(&fixture);
    fixture.options.restamp = &restamp;
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    cr_expect_eq(tables, LISTINGS);
    cr_expect_gt(ahead_us(&fixture), YEAR_US / 2, "it only looked");
    engine_fixture_close(&fixture);
    restamp.is_dry_run = false;
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    cr_expect_gt(restamp.before_us - restamp.now_us, YEAR_US / 2);
    cr_expect_lt(restamp.after_us - restamp.now_us, 1000);
    expect_all(&fixture, &before);
    engine_fixture_close(&fixture);
    fixture.options.restamp = NULL;
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    cr_expect_lt(ahead_us(&fixture), 1000);
    expect_all(&fixture, &before);
    expect_writes_work(&fixture, sim);
    engine_fixture_close(&fixture);
    buffer_release(&before);
    sim_world_free(sim);
}

/* ---- a crash ---- */

struct crashes {
    struct sim_world *sim;
    const struct buffer *expected;
    uint64_t count;
    uint32_t old, new;
};

/* All is as it was, or all as it is to be. */
static void look_after_crash(struct crashes *crashes)
{
    struct sim_world *left = sim_world_crash(crashes->sim, crashes->count++);
    struct engine_fixture fixture = {.options = {.log_file_size = SIM_LOG_FILE}};
    struct error err = {0};
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(left), &err), 0, "%s",
                 err.text);
    expect_all(&fixture, crashes->expected);
    bool is_old = ahead_us(&fixture) > YEAR_US / 2;
    crashes->old += is_old;
    crashes->new += !is_old;
    struct clock *clock = fixture.world->clock;
    write_user(&fixture, "own", "driver", clock->wall_us(clock) + HOUR_US);
    struct buffer all = list_all(&fixture);
    cr_assert_eq(strstr((const char *)all.data, "own|driver\n") == NULL, is_old);
    buffer_release(&all);
    engine_fixture_close(&fixture);
    sim_world_free(left);
}

static void before_call(void *context, enum sim_call call)
{
    struct crashes *crashes = context;
    if (sim_call_keeps(call))
        look_after_crash(crashes);
}

Test(restamp, a_loss_of_power_leaves_all_as_it_was_or_all_as_it_is_to_be)
{
    struct sim_world *sim = make_ahead();
    struct world *world = sim_world_interface(sim);
    struct engine_restamp restamp = {0};
    struct engine_fixture fixture = {.options = {.log_file_size = SIM_LOG_FILE}};
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    struct buffer before = list_all(&fixture);
    engine_fixture_close(&fixture);
    struct crashes crashes = {.sim = sim, .expected = &before};
    fixture.options.restamp = &restamp;
    sim_disk_watch(sim_world_disk(sim), before_call, &crashes);
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    engine_fixture_close(&fixture);
    sim_disk_watch(sim_world_disk(sim), NULL, NULL);
    cr_expect_gt(crashes.old, 10);
    cr_expect_gt(crashes.new, 1);
    buffer_release(&before);
    sim_world_free(sim);
}

/* ---- what is refused ---- */

Test(restamp, nothing_is_restamped_by_a_clock_in_doubt_or_on_a_full_disk)
{
    struct sim_world *sim = make_ahead();
    struct world *world = sim_world_interface(sim);
    struct engine_restamp restamp = {0};
    struct engine_fixture fixture = {.options = {.log_file_size = SIM_LOG_FILE}};
    struct error err = {0};
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    struct buffer before = list_all(&fixture);
    engine_fixture_flush(&fixture);
    engine_fixture_close(&fixture);
    int64_t right_us = world->clock->wall_us(world->clock);
    fixture.options.restamp = &restamp;
    sim_world_set_wall_us(sim, right_us - 2 * 24 * HOUR_US);
    cr_expect_eq(engine_fixture_open_in(&fixture, world, &err), ERROR_CONFLICT);
    cr_expect_not_null(strstr(err.text, "in doubt"), "%s", err.text);
    sim_world_set_wall_us(sim, right_us);
    sim_disk_set_space(sim_world_disk(sim), sim_disk_used(sim_world_disk(sim)) + 8192);
    cr_expect_eq(engine_fixture_open_in(&fixture, world, &err), -ENOSPC, "%s", err.text);
    sim_disk_set_space(sim_world_disk(sim), UINT64_MAX);
    fixture.options.restamp = NULL;
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    cr_expect_gt(ahead_us(&fixture), YEAR_US / 2);
    expect_all(&fixture, &before);
    engine_fixture_close(&fixture);
    fixture.options.restamp = &restamp;
    cr_assert_eq(engine_fixture_open_in(&fixture, world, NULL), 0);
    expect_all(&fixture, &before);
    expect_writes_work(&fixture, sim);
    engine_fixture_close(&fixture);
    buffer_release(&before);
    sim_world_free(sim);
}

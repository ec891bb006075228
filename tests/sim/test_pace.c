/* Merges and flushes beside ingest: they rest as long as they work while clicks come in, and get to
 * their end.
 *
 * Method: time passes whenever the clock is looked at, so that a merge or a flush, which looks at
 * it after each partition, takes time; nobody else does here.  Between two looks the test does what
 * other threads would: it sends clicks and waits until they are durable. */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>

#include "base/memory.h"
#include "storage/engine/compact_plan.h"
#include "storage/engine/engine.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_world.h"

enum {
    RESELLERS = 120,
    TICK_US = 700,        /* between two looks at the clock */
    MERGE_LOOKS = 4,      /* and clicks come after so many: a merge looks once a partition, */
    FLUSH_LOOKS = 8,      /* as does a flush */
    REST_MAX_US = 100000, /* base/world/pace.h */
    RUNS_TOO_MANY = 32    /* maintenance_compact.c */
};

static const char *const day = "2013-11-28";

struct pace {
    struct clock clock; /* in place of the world's */
    struct clock *real;
    struct sim_world *sim;
    struct engine_fixture fixture;
    uint32_t clicks; /* sent */
    uint32_t sends;  /* clicks come in after so many looks; 0: none do */
    uint32_t looks;
    uint32_t rests;
    int64_t rested_us;
    bool has_rested; /* and has not looked since: it has done nothing meanwhile */
};

static struct pace *pace_of(struct clock *clock)
{
    return (struct pace *)(void *)((char *)clock - offsetof(struct pace, clock));
}

static void send_clicks(struct pace *pace, uint32_t resellers)
{
    char names[RESELLERS][12];
    struct click clicks[RESELLERS];
    for (uint32_t i = 0; i < resellers; i++) {
        snprintf(names[i], sizeof names[i], "r%u", i);
        clicks[i] = (struct click){names[i], day, 1385600400000 + pace->clicks++, "ad", "0.01"};
    }
    cr_assert_eq(engine_fixture_clicks(&pace->fixture, clicks, resellers), 0);
}

static int64_t pace_wall_us(struct clock *clock)
{
    struct clock *real = pace_of(clock)->real;
    return real->wall_us(real);
}

static int64_t pace_monotonic_us(struct clock *clock)
{
    struct pace *pace = pace_of(clock);
    if (!pace->has_rested)
        pace->real->sleep_us(pace->real, TICK_US);
    pace->has_rested = false;
    if (pace->sends > 0 && ++pace->looks % pace->sends == 0)
        send_clicks(pace, 1);
    return pace->real->monotonic_us(pace->real);
}

/* Of clicks. */
static uint32_t click_runs(struct pace *pace)
{
    uint32_t count;
    struct engine_table_status *tables = engine_table_status(pace->fixture.store, &count);
    uint32_t runs = 0;
    for (uint32_t i = 0; i < count; i++)
        runs += tables[i].table_id == TABLE_AD_CLICK ? tables[i].segments : 0;
    memory_free(tables);
    return runs;
}

static void pace_sleep_us(struct clock *clock, int64_t us)
{
    struct pace *pace = pace_of(clock);
    pace->rests++;
    pace->rested_us += us;
    pace->has_rested = true;
    cr_expect_leq(us, REST_MAX_US);
    cr_expect_leq(click_runs(pace), RUNS_TOO_MANY, "it rests while there are so many runs");
    pace->real->sleep_us(pace->real, us);
}

/* A store with so many runs, none of them merged, whose memtables have so many rows; 0: the usual.
 */
static void pace_start(struct pace *pace, uint32_t runs, uint64_t memtable_rows)
{
    struct error err = {0};
    *pace = (struct pace){.sim = sim_world_new(1)};
    pace->fixture.options.memtable_rows_max = memtable_rows;
    struct world *world = sim_world_interface(pace->sim);
    pace->real = world->clock;
    pace->clock = (struct clock){.wall_us = pace_wall_us,
                                 .monotonic_us = pace_monotonic_us,
                                 .boottime_us = pace_wall_us,
                                 .boot_id = {1},
                                 .sleep_us = pace_sleep_us};
    world->clock = &pace->clock;
    cr_assert_eq(engine_fixture_open_in(&pace->fixture, world, &err), 0, "%s", err.text);
    sim_world_stall_merges(pace->sim, true);
    for (uint32_t i = 0; i < runs; i++) {
        send_clicks(pace, RESELLERS);
        engine_fixture_flush(&pace->fixture);
    }
}

/* Merge all clicks; how long it took.  Narrow runs are merged after that, and not looked at. */
static int64_t pace_merge(struct pace *pace)
{
    struct executor *executor = pace->fixture.world->executor;
    int64_t began_us = pace->real->monotonic_us(pace->real);
    sim_world_stall(pace->sim, LANE_MERGE, false);
    cr_assert_eq(engine_compact(pace->fixture.store, NULL, NULL, NULL), 0);
    do
        cr_assert(executor->step(executor));
    while (click_runs(pace) > 1);
    int64_t took_us = pace->real->monotonic_us(pace->real) - began_us;
    pace->sends = 0;
    sim_world_stall(pace->sim, LANE_MERGE_BESIDE, false);
    engine_fixture_compact(&pace->fixture);
    return took_us;
}

static void pace_close(struct pace *pace)
{
    cr_expect_leq(click_runs(pace), 2);
    engine_fixture_close(&pace->fixture);
    sim_world_interface(pace->sim)->clock = pace->real;
    sim_world_free(pace->sim);
}

static void pace_stop(struct pace *pace)
{
    struct buffer rows = engine_fixture_rows(&pace->fixture, TABLE_AD_CLICK, (struct bytes){0},
                                             pace->clicks + 1, false);
    uint32_t count = 0;
    for (size_t i = 0; i < rows.size; i++)
        count += rows.data[i] == '\n';
    buffer_release(&rows);
    cr_expect_eq(count, pace->clicks);
    pace_close(pace);
}

Test(pace, a_merge_rests_as_long_as_it_works_while_clicks_come_in_and_ends)
{
    struct pace pace;
    pace_start(&pace, 4, 0);
    pace.sends = MERGE_LOOKS;
    int64_t took_us = pace_merge(&pace);
    cr_expect_gt(pace.rests, 10);
    cr_expect_geq(pace.rested_us, took_us / 4, "rested %lld us of %lld", (long long)pace.rested_us,
                  (long long)took_us);
    cr_expect_leq(pace.rested_us, took_us / 2);
    pace_stop(&pace);
}

Test(pace, a_merge_that_is_alone_does_not_rest)
{
    struct pace pace;
    pace_start(&pace, 4, 0);
    (void)pace_merge(&pace);
    cr_expect_eq(pace.rests, 0);
    pace_stop(&pace);
}

/* Of many rows of one partition, too, of which a batch is put in order at once. */
Test(pace, a_merge_looks_at_the_clock_often_in_a_large_partition)
{
    enum { RUNS = 4, ROWS = 60000 };
    static struct click clicks[ROWS];
    struct pace pace;
    pace_start(&pace, 0, 0);
    for (uint32_t run = 0; run < RUNS; run++) {
        for (uint32_t i = 0; i < ROWS; i++)
            clicks[i] = (struct click){"r", day, 1385600400000 + i * RUNS + run, "ad", "0.01"};
        cr_assert_eq(engine_fixture_clicks(&pace.fixture, clicks, ROWS), 0);
        engine_fixture_flush(&pace.fixture);
    }
    pace.sends = UINT32_MAX;
    (void)pace_merge(&pace);
    cr_expect_gt(pace.looks, RUNS * ROWS / 1000, "%u", pace.looks);
    struct buffer stats = engine_fixture_stats(&pace.fixture, "r", day);
    cr_expect_str_eq((const char *)stats.data, "240000 2400.00");
    buffer_release(&stats);
    pace_close(&pace);
}

/* What is checked at every rest: a merge begins to hurry where it begins.  So the one that began
 * before there were so many is let go first. */
Test(pace, a_merge_of_too_many_runs_does_not_rest_though_clicks_come_in)
{
    enum { RUNS = RUNS_TOO_MANY + COMPACT_RUNS_MAX + 8 };
    struct pace pace;
    pace_start(&pace, RUNS, 0);
    struct executor *executor = pace.fixture.world->executor;
    cr_assert_eq(click_runs(&pace), RUNS);
    sim_world_stall(pace.sim, LANE_MERGE, false);
    while (click_runs(&pace) == RUNS)
        cr_assert(executor->step(executor));
    cr_assert_gt(click_runs(&pace), RUNS_TOO_MANY);
    pace.sends = MERGE_LOOKS;
    (void)pace_merge(&pace);
    pace_stop(&pace);
}

/* ---- flushes ---- */

/* Flush a memtable while the next one has so many clicks, and more come; how often it rests. */
static uint32_t flush_rests(uint32_t next_clicks)
{
    enum { ROWS = 2 * RESELLERS };
    struct pace pace;
    pace_start(&pace, 0, ROWS);
    struct executor *executor = pace.fixture.world->executor;
    sim_world_stall(pace.sim, LANE_BACKGROUND, true);
    for (uint32_t clicks = 0; clicks < ROWS; clicks += RESELLERS)
        send_clicks(&pace, RESELLERS);
    if (next_clicks > 0)
        send_clicks(&pace, next_clicks);
    pace.sends = FLUSH_LOOKS;
    sim_world_stall(pace.sim, LANE_BACKGROUND, false);
    while (click_runs(&pace) == 0)
        cr_assert(executor->step(executor));
    pace.sends = 0;
    uint32_t rests = pace.rests;
    pace_stop(&pace);
    return rests;
}

Test(pace, a_flush_rests_unless_it_is_behind_the_memtable_that_waits_for_it)
{
    uint32_t of_empty = flush_rests(0);
    uint32_t of_half = flush_rests(RESELLERS / 2);
    uint32_t of_most = flush_rests(RESELLERS - RESELLERS / 10);
    cr_expect_geq(of_empty, RESELLERS / 2, "%u", of_empty);
    cr_expect_lt(of_half, of_empty, "%u of %u", of_half, of_empty);
    cr_expect_lt(of_most, of_half, "%u of %u", of_most, of_half);
}

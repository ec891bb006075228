/* The engine through losses of power: acknowledged means there, once; the rest whole or not at all.
 *
 * Method: a short history (batches of clicks, flushes, merges) runs on the simulated world.  Before
 * every sync, and every call that changes names, the history is stopped for a moment: the disk as a
 * crash could leave it is cloned several times from different seeds, and an engine is opened on
 * each clone and asked for everything.  Then the history goes on.  Every batch has an ad of its
 * own, so that rows, stats and counters tell which batches are there. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/engine.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_cheap.h"
#include "tests/sim/sim_disk.h"
#include "tests/sim/sim_random.h"
#include "tests/sim/sim_seen.h"
#include "tests/sim/sim_world.h"

enum { BATCHES_MAX = 64, ROWS_MAX = 6, CLONES = 3 };

struct batch_fate {
    uint32_t rows;
    bool is_acknowledged;
};

struct history {
    struct sim_world *world;
    struct engine_fixture fixture;
    uint64_t seed;
    struct batch_fate batches[BATCHES_MAX];
    uint32_t batch_count;
    uint64_t moments;
    uint64_t crashes; /* that left what no other had left */
    struct sim_seen seen;
    bool is_checking;
    bool has_faults;
};

static void fate_acknowledged(void *context, int status, const struct error *err)
{
    (void)err;
    ((struct batch_fate *)context)->is_acknowledged = status == 0;
}

static void apply_batch(struct history *history, struct sim_random *random)
{
    struct batch_fate *fate = &history->batches[history->batch_count];
    struct click clicks[ROWS_MAX];
    char ad[16];
    struct error err = {0};
    snprintf(ad, sizeof(ad), "b%02u", history->batch_count);
    fate->rows = 1 + (uint32_t)sim_random_below(random, ROWS_MAX);
    for (uint32_t i = 0; i < fate->rows; i++) {
        clicks[i] =
            (struct click){sim_random_below(random, 2) == 0 ? "r1" : "r2", "2013-11-28",
                           1385605012000 + (int64_t)sim_random_below(random, 3), ad, "0.01"};
    }
    struct write_batch *batch = write_batch_new();
    struct block *block = engine_fixture_block(history->fixture.store, clicks, fate->rows);
    write_batch_add_block(batch, block);
    int rc;
    while ((rc = store_apply(history->fixture.store, batch, fate_acknowledged, fate, &err)) ==
           ERROR_FULL) {
        struct executor *executor = history->fixture.world->executor;
        cr_assert(executor->step(executor), "full, and nothing to wait for");
    }
    cr_assert(rc == 0 || (history->has_faults && rc == ERROR_FAILED), "%s", err.text);
    history->batch_count += rc == 0;
    block_free(block);
    write_batch_free(batch);
}

/* How often the batch's ad stands in lines of "ad|...|n" or as a row. */
static uint32_t rows_of_ad(const char *rows, uint32_t batch)
{
    char needle[16];
    uint32_t count = 0;
    snprintf(needle, sizeof(needle), "|b%02u|", batch);
    for (const char *at = rows; (at = strstr(at, needle)) != NULL; at++)
        count++;
    return count;
}

static uint32_t counter_of_ad(const char *counters, uint32_t batch)
{
    char needle[16];
    uint32_t count = 0;
    snprintf(needle, sizeof(needle), "b%02u|", batch);
    const char *at = strstr(counters, needle);
    if (at != NULL)
        cr_assert_eq(sscanf(at + strlen(needle), "%u", &count), 1);
    return count;
}

static uint32_t stats_rows(struct engine_fixture *fixture, const char *reseller)
{
    struct buffer stats = engine_fixture_stats(fixture, reseller, "2013-11-28");
    uint32_t rows = 0;
    if (stats.size > 1)
        cr_assert_eq(sscanf((const char *)stats.data, "%u", &rows), 1);
    buffer_release(&stats);
    return rows;
}

/* What an engine on the crashed disk must show. */
static void check_recovered(struct history *history, struct engine_fixture *fixture, uint64_t seed)
{
    struct buffer rows =
        engine_fixture_rows(fixture, TABLE_AD_CLICK, (struct bytes){0}, 100, false);
    struct buffer counters =
        engine_fixture_rows(fixture, TABLE_CLICKS_PER_AD, (struct bytes){0}, 100, false);
    uint32_t total = 0;
    bool missing = false;
    for (uint32_t i = 0; i < history->batch_count; i++) {
        const struct batch_fate *fate = &history->batches[i];
        uint32_t found = rows_of_ad((const char *)rows.data, i);
        cr_assert(found == fate->rows || (found == 0 && !fate->is_acknowledged),
                  "batch %u has %u of %u rows (acknowledged %d), seed %llu crash %llu", i, found,
                  fate->rows, fate->is_acknowledged, (unsigned long long)history->seed,
                  (unsigned long long)seed);
        cr_assert(!(missing && found > 0), "batch %u is there and one before it is not", i);
        cr_assert_eq(counter_of_ad((const char *)counters.data, i), found,
                     "counter of batch %u, seed %llu crash %llu", i,
                     (unsigned long long)history->seed, (unsigned long long)seed);
        missing |= found == 0;
        total += found;
    }
    cr_assert_eq(stats_rows(fixture, "r1") + stats_rows(fixture, "r2"), total);
    buffer_release(&rows);
    buffer_release(&counters);
}

static void crash_and_check(struct history *history, uint64_t seed)
{
    struct sim_world *crashed = sim_world_crash(history->world, seed);
    uint64_t hash = sim_disk_hash(sim_world_disk(crashed));
    for (uint32_t i = 0; i < history->batch_count; i++)
        hash = hash * 31 + history->batches[i].is_acknowledged;
    if (!sim_seen_add(&history->seen, hash)) {
        sim_world_free(crashed);
        return;
    }
    struct engine_fixture fixture = {.options = history->fixture.options};
    struct error err = {0};
    int rc = engine_fixture_open_in(&fixture, sim_world_interface(crashed), &err);
    cr_assert_eq(rc, 0, "open after crash: %s, seed %llu crash %llu", err.text,
                 (unsigned long long)history->seed, (unsigned long long)seed);
    check_recovered(history, &fixture, seed);
    engine_fixture_close(&fixture);
    rc = engine_fixture_open_in(&fixture, sim_world_interface(crashed), &err);
    cr_assert_eq(rc, 0, "open again after crash: %s", err.text);
    check_recovered(history, &fixture, seed);
    engine_fixture_close(&fixture);
    sim_world_free(crashed);
    history->crashes++;
}

static void before_call(void *context, enum sim_call call)
{
    struct history *history = context;
    if (!sim_call_keeps(call) || history->is_checking)
        return;
    history->is_checking = true;
    uint64_t moment = history->moments++;
    for (uint64_t i = 0; i < CLONES; i++)
        crash_and_check(history, history->seed * 1000003 + moment * 7919 + i);
    history->is_checking = false;
}

static void steps(struct history *history, uint64_t count)
{
    struct executor *executor = history->fixture.world->executor;
    while (count-- > 0 && executor->step(executor)) {
    }
}

/* Batches, with flushes and merges now and then. */
static void write_batches(struct history *history, struct sim_random *random, uint32_t count)
{
    struct error err = {0};
    for (uint32_t i = 0; i < count; i++) {
        apply_batch(history, random);
        steps(history, sim_random_below(random, 8));
        int rc = 0;
        if (sim_random_below(random, 10) == 0)
            rc = engine_flush(history->fixture.store, NULL, NULL, &err);
        if (rc == 0 && sim_random_below(random, 12) == 0)
            rc = engine_compact(history->fixture.store, NULL, NULL, &err);
        cr_assert(rc == 0 || (history->has_faults && rc == ERROR_FAILED), "%s", err.text);
    }
    steps(history, 100000);
}

static void start_history(struct history *history, struct sim_random *random)
{
    struct error err = {0};
    history->world = sim_world_new(history->seed);
    history->fixture.options =
        (struct engine_options){.memtable_rows_max = 12 + sim_random_below(random, 30),
                                .log_file_size = SIM_LOG_FILE,
                                .log_first_file_size = SIM_LOG_FILE};
    int rc = engine_fixture_open_in(&history->fixture, sim_world_interface(history->world), &err);
    cr_assert_eq(rc, 0, "%s", err.text);
}

static uint64_t run_history(uint64_t seed)
{
    struct history history = {.seed = seed};
    struct sim_random random = {seed};
    start_history(&history, &random);
    sim_disk_watch(sim_world_disk(history.world), before_call, &history);
    write_batches(&history, &random, 25);
    for (uint32_t i = 0; i < history.batch_count; i++)
        cr_assert(history.batches[i].is_acknowledged, "batch %u was never acknowledged", i);
    sim_disk_watch(sim_world_disk(history.world), NULL, NULL);
    engine_fixture_close(&history.fixture);
    sim_world_free(history.world);
    sim_seen_release(&history.seen);
    return history.crashes;
}

/* Acknowledged batches are there once, the others whole or not at all, in rows, stats and counters,
 * after every crash of every history. */
Test(engine_crash, acknowledged_is_there_once_after_any_crash)
{
    sim_cheap();
    uint64_t crashes = 0;
    for (uint64_t seed = 1; seed <= 12; seed++)
        crashes += run_history(seed);
    printf("engine_crash: %llu distinct crashes\n", (unsigned long long)crashes);
    cr_assert_gt(crashes, 500);
}

/* The n-th call of a kind fails, once or from then on; the engine goes on or stops, and what it had
 * acknowledged is there after a crash.  False when there were fewer than n such calls. */
static bool run_with_fault(enum sim_call call, uint64_t number, bool for_ever)
{
    struct history history = {.seed = number, .has_faults = true};
    struct sim_random random = {number};
    start_history(&history, &random);
    uint64_t before = sim_disk_calls(sim_world_disk(history.world), call);
    sim_disk_fail(sim_world_disk(history.world), call, number, -5, for_ever);
    write_batches(&history, &random, 12);
    bool was_reached = sim_disk_calls(sim_world_disk(history.world), call) - before >= number;
    crash_and_check(&history, number);
    engine_fixture_close_failed(&history.fixture);
    sim_world_free(history.world);
    sim_seen_release(&history.seen);
    return was_reached;
}

/* A disk that fails at any one call makes no acknowledgement a lie, and nothing crashes. */
Test(engine_crash, a_failing_call_takes_nothing_acknowledged_with_it)
{
    static const enum sim_call calls[] = {SIM_OPEN,     SIM_READ,   SIM_WRITE,  SIM_SYNC,
                                          SIM_ALLOCATE, SIM_RENAME, SIM_REMOVE, SIM_SYNC_DIRECTORY};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (int for_ever = 0; for_ever < 2; for_ever++) {
            for (uint64_t number = 1; number < 60 && run_with_fault(calls[i], number, for_ever);
                 number++) {
            }
        }
    }
}

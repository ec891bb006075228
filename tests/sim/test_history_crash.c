/* Random histories through losses of power: everything at once, checked against a list.
 *
 * Method: a random history of clicks, voided days, rates set and deleted, counters set and added
 * to, days that are sealed, flushes, merges, clean restarts, kills and crashes it goes on after, a
 * disk that is full for a while, a clock that jumps or is wrong for a while, clients' timestamps
 * ahead of it, and readers beside a disk that stands still
 * runs on the simulated world, with the rollup at work in it.  Before every sync and every change
 * of names the power fails, in several ways, and what is left is opened and compared with the model
 * (history.h).
 *
 * SIM_SEED is the first history's seed (also to see a failure again) and SIM_STRIDE the way from
 * one to the next, so that several processes share the seeds; SIM_SECONDS is how long to go on,
 * SIM_HISTORIES how many of them to run where no time is given. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <criterion/criterion.h>

#include "storage/engine/engine.h"
#include "tests/sim/history.h"
#include "tests/sim/sim_cheap.h"
#include "tests/sim/sim_options.h"

enum {
    HISTORIES_DEFAULT = 6,
    CRASHES_PER_MOMENT = 3,
    SEALS_EVERY = 3, /* of so many histories one has days that expire */
    KEEP_DAYS = 9    /* to 2013-11-30, while the clock stands at 2013-12-10 */
};

static uint32_t draw(struct history *history, uint32_t limit)
{
    return (uint32_t)sim_random_below(&history->random, limit);
}

/* A write of clicks before this one; false: there is none where it was looked for. */
static bool draw_target(struct history *history, struct written *what)
{
    what->target = history->count > 0 ? draw(history, history->count) : 0;
    what->target_click = draw(history, HISTORY_CLICKS);
    return history->count > 0 && history->writes[what->target].kind == WRITE_CLICKS;
}

static void write_something(struct history *history)
{
    uint32_t at = draw(history, 100);
    struct written what = {.kind = at < 54   ? WRITE_CLICKS
                                   : at < 62 ? WRITE_VOID_ONE
                                   : at < 66 ? WRITE_VOID
                                   : at < 78 ? WRITE_RATE
                                   : at < 84 ? WRITE_RATE_DELETE
                                   : at < 90 ? WRITE_COUNTER_SET
                                             : WRITE_COUNTER_ADD,
                           .reseller = draw(history, HISTORY_RESELLERS),
                           .day = draw(history, HISTORY_DAYS),
                           .counter = draw(history, HISTORY_COUNTERS)};
    if (what.kind == WRITE_VOID_ONE && !draw_target(history, &what))
        what.kind = WRITE_CLICKS;
    what.percent = 1 + draw(history, 99);
    what.value = (int64_t)draw(history, 1000) - 300;
    history_write(history, &what);
}

/* Up to a day, forwards or back; what is written later still comes later. */
static void move_clock(struct history *history)
{
    int64_t seconds = (int64_t)draw(history, 2 * 86400) - 86400;
    history_jump(history, seconds * 1000000);
}

/* Days or a year, forwards or back, and over a start: what cannot be undone waits. */
static void be_wrong(struct history *history)
{
    int64_t days = 4 + draw(history, 400);
    int64_t us = (draw(history, 2) == 0 ? days : -days) * 86400 * 1000000;
    uint32_t start = draw(history, 3);
    history_set_full(history, false);
    history_jump(history, us);
    if (start == 0)
        rollup_fixture_restart(&history->fixture);
    else
        history_crash_and_go_on(history, start == 1);
    history_watch(history, true);
    history_expect_waiting(history);
    if (history->count < HISTORY_WRITES)
        write_something(history);
    history_steps(history, draw(history, 8));
    history_expect_waiting(history);
    history_jump(history, -us);
}

static void stop_and_go_on(struct history *history)
{
    uint32_t at = draw(history, 8);
    history_set_full(history, false);
    if (at < 2)
        rollup_fixture_restart(&history->fixture);
    else if (at < 6)
        history_crash_and_go_on(history, at < 4);
    else if (history->has_seals)
        history_seal(history);
    else
        cr_assert_eq(rollup_fixture_refresh_now(&history->fixture, false), 0);
    history_watch(history, true);
}

static void do_something_else(struct history *history)
{
    struct error err = {0};
    uint32_t at = draw(history, 100);
    int rc = 0;
    if (at < 8)
        rc = engine_flush(history->fixture.store, NULL, NULL, &err);
    else if (at < 13)
        rc = engine_compact(history->fixture.store, NULL, NULL, &err);
    else if (at < 18)
        history_set_full(history, !history->is_full);
    else if (at < 20)
        move_clock(history);
    else if (at < 21)
        be_wrong(history);
    else if (at < 25)
        history_show(history);
    else if (at < 33)
        stop_and_go_on(history);
    else if (at < 35)
        history_write_ahead(history);
    cr_assert_eq(rc, 0, "%s, %s", err.text, history->label);
}

static uint64_t run_history(uint64_t seed)
{
    struct history history = {.random = {.state = seed},
                              .crashes_per_moment = CRASHES_PER_MOMENT,
                              .fixture = {.seed = seed, .is_automatic = true}};
    history.has_seals = seed % SEALS_EVERY == 0;
    history.fixture.keep_days = history.has_seals ? KEEP_DAYS : 0;
    snprintf(history.label, sizeof history.label, "SIM_SEED=%" PRIu64, seed);
    /* Said before it runs, as a failure may come from where the seed is not known. */
    printf("history_crash: %s\n", history.label);
    fflush(stdout);
    history.fixture.memtable_rows_max = 12 + draw(&history, 30);
    history.fixture.page_rows = 1 + (uint32_t)(seed % 5);
    history.fixture.tier_bytes = 16 << 10;
    history_start(&history);
    history_watch(&history, true);
    while (history.count < HISTORY_WRITES) {
        write_something(&history);
        history_steps(&history, draw(&history, 8));
        do_something_else(&history);
    }
    history_set_full(&history, false);
    history_check_all(&history);
    history_stop(&history);
    return history.crashes;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

Test(history_crash, what_is_there_is_a_beginning_of_what_was_written_with_all_acknowledged)
{
    sim_cheap();
    uint64_t first = sim_option("SIM_SEED", 1);
    uint64_t seconds = sim_option("SIM_SECONDS", 0);
    uint64_t enough = sim_option("SIM_HISTORIES", HISTORIES_DEFAULT);
    uint64_t stride = sim_option("SIM_STRIDE", 1);
    uint64_t crashes = 0;
    uint64_t histories = 0;
    double start = seconds_now();
    while (seconds > 0 ? seconds_now() - start < (double)seconds : histories < enough)
        crashes += run_history(first + stride * histories++);
    double taken = seconds_now() - start;
    printf("history_crash: %" PRIu64 " histories from seed %" PRIu64 ", %" PRIu64
           " distinct crashes, %.0f a second\n",
           histories, first, crashes, (double)crashes / taken);
    cr_assert_gt(crashes, 100);
}

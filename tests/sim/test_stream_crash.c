/* Random lives of a stream over a user's tables, through losses of power.
 *
 * Method: clicks are written and voided, rates set and deleted, over a column of each type of
 * numbers in turn, what no door may write is refused, the stream is defined over rows
 * that are there, dropped and defined again, its table truncated, memtables flushed, runs merged,
 * the program restarted, killed and crashed, with the rollup at work all the while.  Before every
 * sync and every change of names the power fails, in several ways, and what is left is opened and
 * compared with the model (defined_stream.h).
 *
 * SIM_SEED is the first life's seed (also to see a failure again), SIM_STRIDE the way from one to
 * the next, SIM_STREAMS how many there are. */
#include <inttypes.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "storage/engine/engine.h"
#include "tests/sim/defined_stream.h"
#include "tests/sim/sim_cheap.h"
#include "tests/sim/sim_options.h"

enum { LIVES_DEFAULT = 4, CRASHES_PER_MOMENT = 3, STEPS_BETWEEN = 12 };

static uint32_t draw(struct stream_life *life, uint32_t limit)
{
    return (uint32_t)sim_random_below(&life->random, limit);
}

static enum stream_write_kind draw_kind(struct stream_life *life)
{
    uint32_t at = draw(life, 100);
    bool is_defined = stream_life_is_defined(life);
    if (at < 8 || (!is_defined && at < 25))
        return is_defined ? STREAM_DROP : STREAM_DEFINE;
    return at < 62   ? STREAM_HIT
           : at < 72 ? STREAM_VOID_ONE
           : at < 76 ? STREAM_VOID_DAY
           : at < 90 ? STREAM_SHARE
           : at < 95 ? STREAM_SHARE_DELETE
                     : STREAM_TRUNCATE;
}

static void write_something(struct stream_life *life)
{
    struct stream_write what = {.kind = draw_kind(life),
                                .who = draw(life, STREAM_WHO),
                                .day = draw(life, STREAM_DAYS),
                                .target = draw(life, life->count + 1),
                                .target_hit = draw(life, STREAM_HITS),
                                .percent = 1 + draw(life, 99)};
    if (what.kind == STREAM_VOID_ONE &&
        (what.target == life->count || life->writes[what.target].kind != STREAM_HIT))
        what.kind = STREAM_HIT;
    stream_life_write(life, &what);
}

static void go_on_anew(struct stream_life *life)
{
    uint32_t at = draw(life, 3);
    if (at == 0)
        rollup_fixture_restart(&life->fixture);
    else
        stream_life_crash_and_go_on(life, at == 1);
    stream_life_watch(life, true);
}

static void do_something_else(struct stream_life *life)
{
    struct error err = {0};
    uint32_t at = draw(life, 100);
    int rc = 0;
    if (at < 12)
        rc = engine_flush(life->fixture.store, NULL, NULL, &err);
    else if (at < 18)
        rc = engine_compact(life->fixture.store, NULL, NULL, &err);
    else if (at < 26)
        go_on_anew(life);
    else if (at < 32)
        rc = stream_life_settle(life);
    else if (at < 40)
        stream_life_write_wrong(life);
    cr_assert_eq(rc, 0, "%s, %s", err.text, life->label);
}

static uint64_t run_life(uint64_t seed)
{
    struct stream_life life = {.random = {.state = seed},
                               .rates = (uint32_t)(seed % STREAM_RATES_KINDS),
                               .crashes_per_moment = CRASHES_PER_MOMENT,
                               .fixture = {.seed = seed, .is_automatic = true}};
    snprintf(life.label, sizeof life.label, "SIM_SEED=%" PRIu64, seed);
    /* Said before it runs, as a failure may come from where the seed is not known. */
    printf("stream_crash: %s\n", life.label);
    fflush(stdout);
    life.fixture.memtable_rows_max = 12 + draw(&life, 30);
    stream_life_start(&life);
    stream_life_watch(&life, true);
    while (life.count < STREAM_WRITES) {
        struct executor *executor = life.fixture.world->executor;
        write_something(&life);
        for (uint32_t steps = draw(&life, STEPS_BETWEEN); steps > 0; steps--)
            (void)executor->step(executor);
        do_something_else(&life);
    }
    stream_life_check_all(&life);
    stream_life_stop(&life);
    return life.crashes;
}

Test(stream_crash, rows_counters_and_figures_of_a_defined_stream_are_those_of_what_was_written)
{
    uint64_t first = sim_option("SIM_SEED", 1);
    uint64_t stride = sim_option("SIM_STRIDE", 1);
    uint64_t lives = sim_option("SIM_STREAMS", LIVES_DEFAULT);
    uint64_t crashes = 0;
    sim_cheap();
    for (uint64_t i = 0; i < lives; i++)
        crashes += run_life(first + stride * i);
    printf("stream_crash: %" PRIu64 " lives from seed %" PRIu64 ", %" PRIu64 " distinct crashes\n",
           lives, first, crashes);
    cr_assert_gt(crashes, 100);
}

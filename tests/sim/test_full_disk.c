/* A disk without room: flush and merge say so, wait, and go on by themselves; nothing is lost.
 *
 * Method: clicks are written until the log has all the room it needs, then the disk is declared
 * full to the byte, so that what fails are the segments. */
#include <errno.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_world.h"

enum { BATCHES = 8, RETRIES = 5, RETRY_US = 1100000 };

struct bench {
    struct sim_world *sim;
    struct engine_fixture fixture;
};

struct ended {
    bool is_done;
    int status;
};

static void set_ended(void *context, int status, const struct error *err)
{
    struct ended *ended = context;
    *ended = (struct ended){true, status};
    cr_assert(status == 0 || err->text[0] != '\0');
}

static void write_batches(struct bench *bench, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct click click = {"r1", "2013-11-28", 1385605012000 + i, "a", "0.01"};
        cr_assert_eq(engine_fixture_clicks(&bench->fixture, &click, 1), 0);
    }
}

static void bench_start(struct bench *bench)
{
    *bench = (struct bench){.sim = sim_world_new(1)};
    bench->fixture.options.log_file_size = 1 << 20;
    cr_assert_eq(engine_fixture_open_in(&bench->fixture, sim_world_interface(bench->sim), NULL), 0);
    write_batches(bench, BATCHES);
    sim_world_run_us(bench->sim, RETRY_US);
}

static void set_full(struct bench *bench, bool is_full)
{
    struct sim_disk *disk = sim_world_disk(bench->sim);
    sim_disk_set_space(disk, is_full ? sim_disk_used(disk) : UINT64_MAX);
}

static int flush_or_compact(struct bench *bench, bool compacts)
{
    struct ended ended = {0};
    struct executor *executor = bench->fixture.world->executor;
    int rc = compacts ? store_compact(bench->fixture.store, set_ended, &ended, NULL)
                      : store_flush(bench->fixture.store, set_ended, &ended, NULL);
    cr_assert_eq(rc, 0);
    while (!ended.is_done)
        cr_assert(executor->step(executor));
    return ended.status;
}

static void expect_clicks(struct bench *bench, uint32_t count)
{
    char expected[16];
    snprintf(expected, sizeof(expected), "%u 0.%02u", count, count);
    struct buffer stats = engine_fixture_stats(&bench->fixture, "r1", "2013-11-28");
    cr_assert_str_eq((const char *)stats.data, expected);
    buffer_release(&stats);
}

static void bench_stop(struct bench *bench)
{
    engine_fixture_close(&bench->fixture);
    sim_world_free(bench->sim);
}

static struct store_status status_of(struct bench *bench)
{
    struct store_status status;
    store_status(bench->fixture.store, &status);
    return status;
}

Test(full_disk, a_flush_without_room_is_made_up_for_when_there_is_some)
{
    struct bench bench;
    bench_start(&bench);
    set_full(&bench, true);
    uint64_t used = sim_disk_used(sim_world_disk(bench.sim));
    cr_assert_eq(flush_or_compact(&bench, false), -ENOSPC);
    write_batches(&bench, 2);
    expect_clicks(&bench, BATCHES + 2);
    sim_world_run_us(bench.sim, RETRIES * RETRY_US);
    cr_assert(!status_of(&bench).failed && status_of(&bench).frame_flushed == 0);
    cr_assert_leq(sim_disk_used(sim_world_disk(bench.sim)), used);
    set_full(&bench, false);
    sim_world_run_us(bench.sim, 2 * RETRY_US);
    cr_assert_eq(status_of(&bench).frame_flushed, BATCHES);
    expect_clicks(&bench, BATCHES + 2);
    bench_stop(&bench);
}

Test(full_disk, a_merge_without_room_says_so_and_leaves_everything_as_it_was)
{
    struct bench bench;
    bench_start(&bench);
    cr_assert_eq(flush_or_compact(&bench, false), 0);
    write_batches(&bench, 1);
    cr_assert_eq(flush_or_compact(&bench, false), 0);
    uint32_t segments = status_of(&bench).segments;
    set_full(&bench, true);
    cr_assert_eq(flush_or_compact(&bench, true), -ENOSPC);
    sim_world_run_us(bench.sim, RETRIES * RETRY_US);
    cr_assert(!status_of(&bench).failed && status_of(&bench).segments == segments);
    expect_clicks(&bench, BATCHES + 1);
    set_full(&bench, false);
    sim_world_run_us(bench.sim, 2 * RETRY_US);
    cr_assert_eq(flush_or_compact(&bench, true), 0);
    cr_assert_lt(status_of(&bench).segments, segments);
    expect_clicks(&bench, BATCHES + 1);
    bench_stop(&bench);
}

Test(full_disk, a_store_closes_without_the_room_to_flush)
{
    struct bench bench;
    bench_start(&bench);
    set_full(&bench, true);
    cr_assert_eq(flush_or_compact(&bench, false), -ENOSPC);
    engine_fixture_close(&bench.fixture);
    cr_assert_eq(engine_fixture_open_in(&bench.fixture, sim_world_interface(bench.sim), NULL), 0);
    expect_clicks(&bench, BATCHES);
    set_full(&bench, false);
    bench_stop(&bench);
}

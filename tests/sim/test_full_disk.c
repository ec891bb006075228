/* A disk without room: flush and merge say so, wait, and go on by themselves; nothing is lost.
 *
 * Method: clicks are written until the log has all the room it needs, then the disk is declared
 * full to the byte, so that what fails are the segments. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/engine.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_world.h"

enum {
    BATCHES = 8,
    RETRIES = 5,
    RETRY_US = 1100000,
    FRAMES_MAX = 4096,
    FRAME_US = 10000,
    STALL_US = 7000000
};

struct bench {
    struct sim_world *sim;
    struct engine_fixture fixture;
};

/* What a listener was told. */
struct heard {
    struct store_waiting last;
    uint32_t count;
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
    bench->fixture.options.metrics = metrics_new();
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
    int rc = compacts ? engine_compact(bench->fixture.store, set_ended, &ended, NULL)
                      : engine_flush(bench->fixture.store, set_ended, &ended, NULL);
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
    metrics_free(bench->fixture.options.metrics);
    sim_world_free(bench->sim);
}

static struct store_status status_of(struct bench *bench)
{
    struct store_status status;
    store_status(bench->fixture.store, &status);
    return status;
}

static struct engine_status files_of(struct bench *bench)
{
    struct engine_status status;
    engine_status(bench->fixture.store, &status);
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
    cr_assert(!status_of(&bench).failed && files_of(&bench).frame_flushed == 0);
    cr_assert_leq(sim_disk_used(sim_world_disk(bench.sim)), used);
    set_full(&bench, false);
    sim_world_run_us(bench.sim, 2 * RETRY_US);
    cr_assert_eq(files_of(&bench).frame_flushed, BATCHES);
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
    uint32_t segments = files_of(&bench).segments;
    set_full(&bench, true);
    cr_assert_eq(flush_or_compact(&bench, true), -ENOSPC);
    sim_world_run_us(bench.sim, RETRIES * RETRY_US);
    cr_assert(!status_of(&bench).failed && files_of(&bench).segments == segments);
    expect_clicks(&bench, BATCHES + 1);
    set_full(&bench, false);
    sim_world_run_us(bench.sim, 2 * RETRY_US);
    cr_assert_eq(flush_or_compact(&bench, true), 0);
    cr_assert_lt(files_of(&bench).segments, segments);
    expect_clicks(&bench, BATCHES + 1);
    bench_stop(&bench);
}

/* ---- what is said of it ---- */

static void hear(void *context, const struct store_waiting *waiting)
{
    struct heard *heard = context;
    heard->last = *waiting;
    heard->count++;
}

/* Clicks until the log has no room for more. */
static void write_until_full(struct bench *bench)
{
    const struct click click = {"r1", "2013-11-28", 1385605012000, "a", "0.01"};
    struct write_batch *batch = write_batch_new();
    struct block *block = engine_fixture_block(bench->fixture.store, &click, 1);
    int rc = 0;
    for (uint32_t i = 0; i < FRAMES_MAX && rc == 0; i++) {
        write_batch_clear(batch);
        write_batch_add_block(batch, block);
        rc = store_apply(bench->fixture.store, batch, NULL, NULL, NULL);
        sim_world_run_us(bench->sim, FRAME_US);
    }
    cr_assert_eq(rc, ERROR_FULL);
    block_free(block);
    write_batch_free(batch);
}

static int64_t waiting_metric(const struct bench *bench, const char *reason)
{
    for (const struct metric *metric = metrics_first(bench->fixture.options.metrics);
         metric != NULL; metric = metric->next) {
        if (strcmp(metric->name, "daybook_waiting") == 0 && strstr(metric->labels, reason) != NULL)
            return metric->value;
    }
    return -1;
}

Test(full_disk, a_log_without_room_says_what_it_waits_for_and_when_it_goes_on)
{
    struct bench bench;
    struct heard heard = {0};
    bench_start(&bench);
    store_on_waiting(bench.fixture.store, hear, &heard);
    cr_assert_eq(heard.count, 0);
    set_full(&bench, true);
    write_until_full(&bench);
    sim_world_run_us(bench.sim, RETRIES * RETRY_US);
    struct store_waiting waiting = status_of(&bench).waiting;
    cr_assert_eq(waiting.shortage, STORE_SHORT_OF_DISK);
    cr_assert(waiting.stops_writes);
    cr_assert_str_eq(waiting.path, "log");
    cr_assert_geq(waiting.needed_bytes, 1 << 20);
    cr_assert_eq(heard.last.shortage, STORE_SHORT_OF_DISK);
    cr_assert_leq(heard.count, 2, "the next file is missing; then clicks wait for it");
    cr_assert_eq(waiting_metric(&bench, "disk_full"), 1);
    set_full(&bench, false);
    sim_world_run_us(bench.sim, 2 * RETRY_US);
    cr_assert_eq(status_of(&bench).waiting.shortage, STORE_SHORT_OF_NOTHING);
    cr_assert_eq(heard.last.shortage, STORE_SHORT_OF_NOTHING);
    cr_assert_leq(heard.count, 3);
    cr_assert_eq(waiting_metric(&bench, "disk_full"), 0);
    write_batches(&bench, 1);
    bench_stop(&bench);
}

Test(full_disk, a_flush_without_room_is_said_once_and_not_with_every_try)
{
    struct bench bench;
    struct heard heard = {0};
    bench_start(&bench);
    store_on_waiting(bench.fixture.store, hear, &heard);
    set_full(&bench, true);
    cr_assert_eq(flush_or_compact(&bench, false), -ENOSPC);
    sim_world_run_us(bench.sim, RETRIES * RETRY_US);
    cr_assert_eq(heard.count, 1);
    cr_assert_eq(heard.last.shortage, STORE_SHORT_OF_DISK);
    cr_assert(!heard.last.stops_writes);
    cr_assert_str_eq(heard.last.path, "segments");
    set_full(&bench, false);
    sim_world_run_us(bench.sim, 2 * RETRY_US);
    cr_assert_eq(heard.count, 2);
    cr_assert_eq(heard.last.shortage, STORE_SHORT_OF_NOTHING);
    bench_stop(&bench);
}

Test(full_disk, memory_that_stays_full_is_said_and_memory_that_is_full_for_a_moment_is_not)
{
    struct bench bench;
    struct heard heard = {0};
    bench = (struct bench){.sim = sim_world_new(2)};
    bench.fixture.options.metrics = metrics_new();
    bench.fixture.options.memtable_rows_max = 4;
    cr_assert_eq(engine_fixture_open_in(&bench.fixture, sim_world_interface(bench.sim), NULL), 0);
    store_on_waiting(bench.fixture.store, hear, &heard);
    sim_world_stall(bench.sim, LANE_BACKGROUND, true);
    write_until_full(&bench);
    sim_world_run_us(bench.sim, RETRY_US);
    cr_assert_eq(heard.count, 0);
    sim_world_run_us(bench.sim, STALL_US);
    cr_assert_eq(heard.count, 1);
    cr_assert_eq(heard.last.shortage, STORE_SHORT_OF_MEMORY);
    cr_assert(heard.last.stops_writes);
    cr_assert_eq(waiting_metric(&bench, "no_memory"), 1);
    sim_world_stall(bench.sim, LANE_BACKGROUND, false);
    write_batches(&bench, 1);
    sim_world_run_us(bench.sim, 2 * RETRY_US);
    cr_assert_eq(heard.last.shortage, STORE_SHORT_OF_NOTHING);
    cr_assert_eq(heard.count, 2);
    bench_stop(&bench);
}

Test(full_disk, what_was_unlinked_and_how_much_room_is_left_is_seen)
{
    struct bench bench;
    struct engine_examination examination;
    bench_start(&bench);
    cr_assert_eq(flush_or_compact(&bench, false), 0);
    engine_examine(bench.fixture.store, &examination);
    cr_assert_eq(examination.unlinked, 0);
    cr_assert_geq(examination.disk_wanted_bytes, 1 << 20);
    set_full(&bench, true);
    struct disk *disk = bench.fixture.world->disk;
    cr_assert_eq(disk->remove(disk, "segments/0000000000000001.seg"), 0);
    engine_examine(bench.fixture.store, &examination);
    cr_assert_eq(examination.unlinked, 1);
    cr_assert_str_eq(examination.unlinked_path, "segments/0000000000000001.seg");
    cr_assert_eq(examination.disk_free_bytes, 0);
    set_full(&bench, false);
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

/* A directory that follows a store: it has all that it says, whatever fails, and has no gap.
 *
 * Method: backup_bench.h.  The power fails at each sync and change of names of the directory that
 * follows; calls fail there, and on the store's own disk. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/engine.h"
#include "tests/sim/backup_bench.h"

static void follow(struct backup_bench *bench)
{
    struct backup_bench_ended ended;
    backup_bench_begin(bench, &ended, true, 0);
    backup_bench_step_until(bench, &ended.is_done);
    cr_assert_eq(ended.status, 0, "%s", ended.err.text);
}

static void unfollow(struct backup_bench *bench)
{
    static const struct backup_handler handler = {.done = backup_bench_done};
    struct backup_bench_ended ended = {0};
    cr_assert(backup_unfollow(bench->backup, &handler, &ended));
    cr_assert_not(backup_unfollow(bench->backup, &handler, &ended));
    backup_bench_step_until(bench, &ended.is_done);
    cr_assert_eq(ended.status, 0, "%s", ended.err.text);
}

static void catch_up(struct backup_bench *bench)
{
    struct backup_status status;
    struct executor *executor = bench->fixture.world->executor;
    do {
        cr_assert(executor->step(executor));
        backup_status(bench->backup, &status);
        cr_assert(status.is_following);
    } while (status.lag_frames > 0 || status.point == 0);
    cr_assert_eq(status.lag_us, 0);
}

Test(backup_following, has_everything_as_soon_as_it_says_so)
{
    struct backup_bench bench;
    backup_bench_start(&bench, 11);
    backup_bench_write(&bench, 5);
    follow(&bench);
    for (uint32_t round = 0; round < 8; round++) {
        backup_bench_write(&bench, 17);
        if (round % 3 == 1)
            engine_fixture_flush(&bench.fixture);
        catch_up(&bench);
        backup_bench_expect_restored(&bench, BACKUP_LATEST, bench.written);
    }
    unfollow(&bench);
    backup_bench_stop(&bench);
}

Test(backup_following, makes_points_as_time_goes_by_and_loses_no_moment)
{
    struct backup_bench bench;
    struct backup_status status;
    backup_bench_start(&bench, 12);
    backup_bench_write(&bench, 5);
    follow(&bench);
    for (uint32_t round = 0; round < 4; round++) {
        backup_bench_write(&bench, 30);
        engine_fixture_flush(&bench.fixture);
        sim_world_advance_us(bench.sim, BACKUP_POINT_MS * 1000);
        catch_up(&bench);
    }
    backup_status(bench.backup, &status);
    cr_assert_geq(status.point, 4);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, bench.written);
    struct backup_bench_restored restored =
        backup_bench_restore(bench.target, BACKUP_AT_TIME, bench.times_us[110]);
    cr_assert_eq(restored.status, 0, "%s", restored.err.text);
    cr_assert_eq(restored.clicks, 110);
    backup_bench_stop(&bench);
}

Test(backup_following, loses_in_a_crash_only_what_it_had_not_synced)
{
    struct backup_bench bench;
    struct backup_bench_crashes crashes = {.bench = &bench, .moment = BACKUP_LATEST};
    backup_bench_start(&bench, 13);
    backup_bench_write(&bench, 5);
    follow(&bench);
    sim_disk_watch(bench.target, backup_bench_crash_before, &crashes);
    for (uint32_t round = 0; round < 10; round++) {
        backup_bench_write(&bench, 8);
        if (round == 4)
            sim_world_advance_us(bench.sim, BACKUP_POINT_MS * 1000);
        if (round % 3 == 2)
            engine_fixture_flush(&bench.fixture);
        catch_up(&bench);
        crashes.promised = bench.acknowledged;
    }
    sim_disk_watch(bench.target, NULL, NULL);
    cr_assert_gt(crashes.count, 30);
    backup_bench_stop(&bench);
}

Test(backup_following, waits_for_a_full_disk_and_has_no_gap_then)
{
    struct backup_bench bench;
    struct backup_status status;
    backup_bench_start(&bench, 14);
    backup_bench_write(&bench, 5);
    follow(&bench);
    sim_disk_set_space(bench.target, sim_disk_used(bench.target) + 8192);
    backup_bench_write(&bench, 60);
    engine_fixture_flush(&bench.fixture);
    backup_bench_write(&bench, 60);
    sim_world_run_us(bench.sim, 5000000);
    backup_status(bench.backup, &status);
    cr_assert(status.is_following && status.lag_frames > 0 && status.lag_us > 0);
    cr_assert_neq(strstr(status.failure, "No space"), NULL, "%s", status.failure);
    sim_disk_set_space(bench.target, UINT64_MAX);
    catch_up(&bench);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, 125);
    struct backup_bench_restored restored =
        backup_bench_restore(bench.target, BACKUP_AT_TIME, bench.times_us[70]);
    cr_assert_eq(restored.status, 0, "%s", restored.err.text);
    cr_assert_eq(restored.clicks, 70);
    backup_bench_stop(&bench);
}

/* The n-th call of a disk fails while it follows, once or until it is mended: it says so for as
 * long as it is so, goes on, and has no gap. */
static void follow_with_failing_calls(enum sim_call call, bool for_ever)
{
    struct backup_bench bench;
    struct backup_status status;
    uint32_t told = 0;
    backup_bench_start(&bench, 14);
    backup_bench_write(&bench, 5);
    follow(&bench);
    for (uint64_t n = 1; n < 200; n++) {
        uint64_t before = sim_disk_calls(bench.target, call);
        sim_disk_fail(bench.target, call, n, -EIO, for_ever);
        backup_bench_write(&bench, 3);
        engine_fixture_flush(&bench.fixture);
        sim_world_advance_us(bench.sim, BACKUP_POINT_MS * 1000);
        sim_world_run_us(bench.sim, 1000000);
        backup_status(bench.backup, &status);
        cr_assert(status.is_following);
        told += status.failure[0] != '\0';
        sim_disk_fail(bench.target, call, 0, 0, false);
        if (sim_disk_calls(bench.target, call) - before < n)
            break;
        sim_world_run_us(bench.sim, 10000000);
        catch_up(&bench);
        backup_status(bench.backup, &status);
        cr_assert_str_eq(status.failure, "");
        backup_bench_expect_restored(&bench, BACKUP_LATEST, bench.written);
    }
    cr_assert(!for_ever || told > 0, "call %d", (int)call);
    uint32_t last = bench.written - 2;
    struct backup_bench_restored restored =
        backup_bench_restore(bench.target, BACKUP_AT_TIME, bench.times_us[last]);
    cr_assert_eq(restored.status, 0, "%s", restored.err.text);
    cr_assert_eq(restored.clicks, last);
    backup_bench_stop(&bench);
}

Test(backup_following, says_that_its_disk_fails_and_goes_on_without_a_gap)
{
    static const enum sim_call calls[] = {SIM_OPEN,   SIM_WRITE,          SIM_SYNC,
                                          SIM_RENAME, SIM_SYNC_DIRECTORY, SIM_LIST};
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        follow_with_failing_calls(calls[c], false);
        follow_with_failing_calls(calls[c], true);
    }
}

/* Write until the log is far over its limit, if it were kept. */
static void write_past_the_limit(struct backup_bench *bench)
{
    struct engine_status store;
    for (uint32_t round = 0; round < 30; round++) {
        backup_bench_write(bench, 30);
        engine_fixture_flush(&bench->fixture);
        sim_world_run_us(bench->sim, 200000);
    }
    engine_status(bench->fixture.store, &store);
    cr_expect_lt(store.log_bytes, 16 * BACKUP_BENCH_LOG_FILE);
}

/* Its disk is full for so long that the store's own would be next. */
Test(backup_following, lets_the_log_go_past_its_limit_and_begins_with_a_point)
{
    struct backup_bench bench;
    struct backup_status status;
    backup_bench_start(&bench, 16);
    backup_bench_write(&bench, 5);
    bench.log_max = 8 * BACKUP_BENCH_LOG_FILE;
    follow(&bench);
    backup_status(bench.backup, &status);
    uint64_t first_point = status.point;
    sim_disk_set_space(bench.target, sim_disk_used(bench.target) + 8192);
    write_past_the_limit(&bench);
    sim_disk_set_space(bench.target, UINT64_MAX);
    catch_up(&bench);
    backup_status(bench.backup, &status);
    cr_expect_gt(status.point, first_point);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, bench.written);
    backup_bench_stop(&bench);
}

/* Step until the backup has begun to write: the snapshot is taken. */
static void step_until_copying(struct backup_bench *bench)
{
    struct executor *executor = bench->fixture.world->executor;
    uint64_t before = sim_disk_calls(bench->target, SIM_WRITE);
    while (sim_disk_calls(bench->target, SIM_WRITE) == before)
        cr_assert(executor->step(executor));
}

Test(backup_following, completes_a_first_point_that_takes_longer_than_the_log_is_kept)
{
    struct backup_bench bench;
    struct backup_bench_ended ended;
    struct backup_status status;
    backup_bench_start(&bench, 19);
    backup_bench_write(&bench, 5);
    bench.log_max = 8 * BACKUP_BENCH_LOG_FILE;
    backup_bench_begin(&bench, &ended, true, 0);
    step_until_copying(&bench);
    sim_world_stall(bench.sim, LANE_COPY, true); /* the disk of the backup does not answer */
    write_past_the_limit(&bench);
    sim_world_stall(bench.sim, LANE_COPY, false);
    backup_bench_step_until(&bench, &ended.is_done);
    cr_assert_eq(ended.status, 0, "%s", ended.err.text);
    backup_status(bench.backup, &status);
    cr_expect_eq(status.point, 1);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, 5);
    catch_up(&bench);
    backup_status(bench.backup, &status);
    cr_expect_eq(status.point, 2);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, bench.written);
    backup_bench_write(&bench, 5);
    catch_up(&bench);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, bench.written);
    backup_bench_stop(&bench);
}

/* The second point would also copy the log since the first, which the archive keeps until then. */
Test(backup_following, does_not_let_one_backup_keep_the_log_without_a_limit)
{
    struct backup_bench bench = {.archive_bytes = 2 * BACKUP_BENCH_LOG_FILE};
    struct backup_bench_ended ended;
    backup_bench_open(&bench, sim_world_new(20), sim_disk_new());
    backup_bench_write(&bench, 5);
    backup_bench_expect(&bench);
    for (uint32_t round = 0; round < 5; round++) {
        backup_bench_write(&bench, 15);
        engine_fixture_flush(&bench.fixture);
    }
    uint32_t written = bench.written;
    bench.log_max = 8 * BACKUP_BENCH_LOG_FILE;
    backup_bench_begin(&bench, &ended, false, 0);
    step_until_copying(&bench);
    sim_world_stall(bench.sim, LANE_COPY, true); /* the disk of the backup does not answer */
    write_past_the_limit(&bench);
    sim_world_stall(bench.sim, LANE_COPY, false);
    backup_bench_step_until(&bench, &ended.is_done);
    cr_assert_eq(ended.status, 0, "%s", ended.err.text);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, written);
    backup_bench_stop(&bench);
}

Test(backup_following, takes_the_last_frames_along_when_the_store_closes)
{
    struct backup_bench bench;
    backup_bench_start(&bench, 15);
    follow(&bench);
    backup_bench_write(&bench, 20);
    backup_bench_close(&bench);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, 20);
    sim_disk_free(bench.target);
}

/* A server ends as it should, is killed, or loses its power; then another one starts. */
static void restart(struct backup_bench *bench, uint32_t how, uint64_t seed)
{
    struct sim_world *after;
    struct backup_bench before = *bench;
    struct error err = {0};
    if (how == 0) {
        struct backup_bench_ended ended = {0};
        backup_close(bench->backup, backup_bench_set_ended, &ended);
        backup_bench_step_until(bench, &ended.is_done);
        engine_fixture_close(&bench->fixture);
        after = sim_world_restart(bench->sim, seed);
        metrics_free(bench->metrics);
        sim_world_free(bench->sim);
    } else {
        after = how == 1 ? sim_world_restart(bench->sim, seed) : sim_world_crash(bench->sim, seed);
        /* The old life shall not write to the target while it ends. */
        struct sim_disk *elsewhere = sim_disk_new();
        backup_bench_point_at(elsewhere);
        backup_bench_close(&before);
        sim_disk_free(elsewhere);
    }
    backup_bench_open(bench, after, bench->target);
    cr_assert_eq(
        backup_resume(bench->backup, backup_bench_open_target, backup_bench_close_target, &err), 0,
        "%s", err.text);
}

/* Who follows goes on in every next life, however the last one ended, until it is told to stop. */
Test(backup_following, goes_on_after_every_start_until_it_is_told_to_stop)
{
    struct backup_bench bench;
    struct backup_status status;
    backup_bench_start(&bench, 16);
    backup_bench_write(&bench, 5);
    follow(&bench);
    for (uint32_t round = 0; round < 9; round++) {
        restart(&bench, round % 3, round);
        backup_bench_write(&bench, 7);
        if (round == 4)
            engine_fixture_flush(&bench.fixture);
        catch_up(&bench);
        backup_bench_expect_restored(&bench, BACKUP_LATEST, bench.written);
    }
    unfollow(&bench);
    for (uint32_t how = 0; how < 3; how++) {
        restart(&bench, how, how);
        backup_status(bench.backup, &status);
        cr_assert_not(status.is_following);
    }
    backup_bench_stop(&bench);
}

static uint32_t names_seen;

static void see_name(void *context, const char *name)
{
    (void)context;
    (void)name;
    names_seen++;
}

/* Its disk is not mounted: nothing is begun in the empty directory that is there instead, until it
 * is told to; and with the disk in place it goes on by itself. */
Test(backup_following, begins_nothing_anew_where_its_directory_is_gone)
{
    struct backup_bench bench;
    struct backup_status status;
    backup_bench_start(&bench, 18);
    backup_bench_write(&bench, 5);
    follow(&bench);
    struct sim_disk *mounted = bench.target;
    bench.target = sim_disk_new();
    restart(&bench, 0, 1);
    backup_bench_write(&bench, 5);
    sim_world_run_us(bench.sim, 5000000);
    backup_status(bench.backup, &status);
    cr_assert(status.is_following && status.point == 0 && status.lag_frames > 0);
    cr_assert_not_null(strstr(status.failure, "mount its disk"), "%s", status.failure);
    struct disk *empty = sim_disk_interface(bench.target);
    cr_assert_eq(empty->list(empty, "", see_name, NULL), 0);
    cr_assert_eq(names_seen, 0);
    backup_bench_point_at(mounted);
    catch_up(&bench);
    backup_status(bench.backup, &status);
    cr_assert_str_eq(status.failure, "");
    backup_bench_point_at(bench.target);
    unfollow(&bench);
    follow(&bench);
    catch_up(&bench);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, bench.written);
    sim_disk_free(mounted);
    backup_bench_stop(&bench);
}

struct lives {
    uint32_t ended, went_on;
};

/* Its own disk fails the store while a directory follows it.  A read of the log is done again; what
 * a flush writes, and then reads back, ends the store if that fails, as it does alone.  What the
 * directory has is a beginning of what was written, and the next life goes on with it. */
static bool follow_while_the_store_fails(enum sim_call call, bool for_ever, uint64_t number,
                                         struct lives *lives)
{
    struct backup_bench bench;
    struct store_status store;
    backup_bench_start(&bench, number);
    bench.may_fail = true;
    backup_bench_write(&bench, 5);
    follow(&bench);
    struct sim_disk *source = sim_world_disk(bench.sim);
    uint64_t before = sim_disk_calls(source, call);
    sim_disk_fail(source, call, number, -EIO, for_ever);
    backup_bench_write(&bench, 8);
    int rc = engine_flush(bench.fixture.store, NULL, NULL, NULL);
    cr_assert(rc == 0 || rc == ERROR_FAILED, "%d", rc);
    sim_world_run_us(bench.sim, 1000000);
    backup_bench_write(&bench, 4);
    store_status(bench.fixture.store, &store);
    cr_assert(!bench.has_failed || store.failed);
    bool was_reached = sim_disk_calls(source, call) - before >= number;
    lives->ended += store.failed;
    lives->went_on += was_reached && !store.failed;
    sim_disk_fail(source, call, 0, 0, false);
    restart(&bench, 1 + number % 2, number);
    uint32_t clicks = backup_bench_clicks(&bench.fixture);
    cr_assert(clicks >= bench.acknowledged && clicks <= bench.written, "%u of %u to %u", clicks,
              bench.acknowledged, bench.written);
    bench.written = bench.acknowledged = clicks;
    bench.has_failed = false;
    backup_bench_write(&bench, 3);
    catch_up(&bench);
    backup_bench_expect_restored(&bench, BACKUP_LATEST, clicks + 3);
    backup_bench_stop(&bench);
    return was_reached;
}

Test(backup_following, goes_on_in_the_next_life_of_a_store_whose_own_disk_failed)
{
    static const enum sim_call calls[] = {SIM_OPEN,     SIM_READ,   SIM_WRITE,         SIM_SYNC,
                                          SIM_ALLOCATE, SIM_RENAME, SIM_SYNC_DIRECTORY};
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        struct lives lives = {0};
        for (int for_ever = 0; for_ever < 2; for_ever++) {
            uint64_t number = 1;
            while (follow_while_the_store_fails(calls[c], for_ever != 0, number, &lives))
                cr_assert_lt(++number, 200);
        }
        cr_assert_gt(lives.ended, 0, "call %d", (int)calls[c]);
        cr_assert(lives.went_on > 0 || calls[c] != SIM_READ);
    }
}

/* ---- ranks ---- */

/* A click has the rank in a restored directory that it had in the store, where deleted ones before
 * it could have been purged meanwhile: the log that follows is replayed over a state with them. */
Test(backup_following, gives_clicks_the_ranks_that_they_had)
{
    static const struct click click = {"r1", "2013-11-28", 1385605012000, "a", "0.01"};
    struct backup_bench bench;
    backup_bench_start(&bench, 17);
    cr_assert_eq(engine_fixture_clicks(&bench.fixture, &click, 1), 0);
    follow(&bench);
    for (int64_t round = 1; round < 4; round++) {
        cr_assert_eq(engine_fixture_clicks(&bench.fixture, &click, 1), 0);
        engine_fixture_flush(&bench.fixture);
        backup_bench_delete_rank(&bench, &click, round);
        engine_fixture_compact(&bench.fixture);
    }
    cr_assert_eq(engine_fixture_clicks(&bench.fixture, &click, 1), 0);
    catch_up(&bench);
    struct buffer here =
        engine_fixture_rows(&bench.fixture, TABLE_AD_CLICK, (struct bytes){0}, 100, false);
    struct buffer there;
    struct error err = {0};
    cr_assert_eq(backup_bench_rows(bench.target, BACKUP_LATEST, 0, TABLE_AD_CLICK, &there, &err), 0,
                 "%s", err.text);
    cr_expect_str_eq((const char *)here.data, (const char *)there.data);
    buffer_release(&here);
    buffer_release(&there);
    backup_bench_stop(&bench);
}

/* Backups of a store at work: one moment, whatever fails; cut short, damaged, forked.
 *
 * Method: backup_bench.h.  The power fails on both disks at once, at each sync and change of names
 * of the backup's. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/backup/backup_point.h"
#include "base/memory.h"
#include "storage/engine/engine.h"
#include "tests/sim/backup_bench.h"
#include "tests/sim/sim_random.h"

/* ---- the tests ---- */

Test(backup, of_an_empty_directory_is_an_empty_directory)
{
    struct backup_bench bench;
    backup_bench_start(&bench, 1);
    backup_bench_expect(&bench);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 0);
    backup_bench_stop(&bench);
}

Test(backup, holds_what_was_there_in_log_and_in_segments)
{
    struct backup_bench bench;
    backup_bench_start(&bench, 2);
    backup_bench_write(&bench, 10);
    backup_bench_expect(&bench);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 10);
    engine_fixture_flush(&bench.fixture);
    backup_bench_expect(&bench);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 10);
    backup_bench_write(&bench, 30);
    engine_fixture_flush(&bench.fixture);
    engine_fixture_compact(&bench.fixture);
    backup_bench_write(&bench, 2);
    backup_bench_expect(&bench);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 42);
    struct backup_bench_ended ended = {0};
    backup_close(bench.backup, backup_bench_set_ended, &ended);
    engine_fixture_close(&bench.fixture);
    cr_assert_eq(engine_fixture_open_in(&bench.fixture, bench.fixture.world, NULL), 0);
    bench.backup = backup_new(bench.fixture.store, bench.fixture.world, bench.metrics);
    backup_bench_write(&bench, 1);
    backup_bench_expect(&bench);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 43);
    backup_bench_stop(&bench);
}

Test(backup, is_one_moment_while_writes_flushes_and_merges_go_on)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct backup_bench bench;
        struct backup_bench_ended ended;
        bench = (struct backup_bench){.memtable_rows_max = 16};
        backup_bench_open(&bench, sim_world_new(seed), sim_disk_new());
        backup_bench_write(&bench, 30);
        uint32_t before = bench.acknowledged;
        cr_assert_eq(engine_compact(bench.fixture.store, NULL, NULL, NULL), 0);
        cr_assert_eq(backup_bench_back_up(&bench, 40, &ended), 0, "%s", ended.err.text);
        struct backup_bench_restored restored =
            backup_bench_restore(bench.target, BACKUP_AT_POINT, 0);
        cr_assert_eq(restored.status, 0, "%s", restored.err.text);
        cr_assert(restored.clicks >= before && restored.clicks <= bench.written);
        backup_bench_stop(&bench);
    }
}

Test(backup, of_any_moment_since_the_first_point_can_be_restored)
{
    struct backup_bench bench;
    backup_bench_start(&bench, 3);
    backup_bench_write(&bench, 5);
    backup_bench_expect(&bench);
    for (uint32_t round = 0; round < 3; round++) {
        backup_bench_write(&bench, 30);
        engine_fixture_flush(&bench.fixture);
        engine_fixture_compact(&bench.fixture);
    }
    backup_bench_expect(&bench);
    for (uint32_t i = 5; i < bench.acknowledged; i += 7) {
        struct backup_bench_restored restored =
            backup_bench_restore(bench.target, BACKUP_AT_TIME, bench.times_us[i]);
        cr_assert_eq(restored.status, 0, "%u: %s", i, restored.err.text);
        cr_assert_eq(restored.clicks, i);
    }
    struct backup_bench_restored early =
        backup_bench_restore(bench.target, BACKUP_AT_TIME, bench.times_us[1]);
    cr_assert_eq(early.status, ERROR_NOT_FOUND);
    cr_assert_neq(strstr(early.err.text, "oldest moment"), NULL, "%s", early.err.text);
    backup_bench_stop(&bench);
}

Test(backup, without_the_log_between_two_points_says_that_there_is_a_gap)
{
    struct backup_bench bench;
    backup_bench_start(&bench, 3);
    backup_bench_write(&bench, 5);
    backup_bench_expect(&bench);
    backup_bench_write(&bench, 60);
    engine_fixture_flush(&bench.fixture);
    backup_bench_expect(&bench);
    struct disk *target = sim_disk_interface(bench.target);
    cr_assert_eq(target->remove(target, "log/00000002.log"), 0);
    struct backup_bench_restored gap =
        backup_bench_restore(bench.target, BACKUP_AT_TIME, bench.times_us[50]);
    cr_assert_eq(gap.status, ERROR_CORRUPT);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 65);
    backup_bench_stop(&bench);
}

Test(backup, keeps_as_many_points_as_it_is_told_and_their_files)
{
    struct backup_bench bench;
    backup_bench_start(&bench, 4);
    for (uint32_t round = 0; round < 5; round++) {
        struct backup_bench_ended ended;
        backup_bench_write(&bench, 30);
        engine_fixture_flush(&bench.fixture);
        engine_fixture_compact(&bench.fixture);
        backup_bench_begin(&bench, &ended, false, 2);
        backup_bench_step_until(&bench, &ended.is_done);
        cr_assert_eq(ended.status, 0, "%s", ended.err.text);
        backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 30 * (round + 1));
    }
    uint64_t *numbers;
    size_t count;
    cr_assert_eq(backup_point_list(sim_disk_interface(bench.target), &numbers, &count, NULL), 0);
    cr_assert(count == 2 && numbers[0] == 4 && numbers[1] == 5);
    memory_free(numbers);
    struct backup_bench_restored restored =
        backup_bench_restore(bench.target, BACKUP_AT_TIME, bench.times_us[120]);
    cr_assert(restored.status == 0 && restored.clicks == 120);
    backup_bench_stop(&bench);
}

static void count_temporary(void *context, const char *name)
{
    *(uint32_t *)context += strstr(name, ".tmp") != NULL;
}

static uint32_t temporary_segments(struct backup_bench *bench)
{
    struct disk *disk = sim_disk_interface(bench->target);
    uint32_t count = 0;
    cr_assert_eq(disk->list(disk, "segments", count_temporary, &count), 0);
    return count;
}

Test(backup, removes_what_an_interrupted_one_left_of_a_segment_that_was_merged)
{
    struct backup_bench bench;
    struct backup_bench_ended ended;
    backup_bench_start(&bench, 4);
    backup_bench_write(&bench, 10);
    backup_bench_expect(&bench);
    engine_fixture_flush(&bench.fixture);
    sim_disk_fail(bench.target, SIM_RENAME, 1, -EIO, false);
    cr_assert_eq(backup_bench_back_up(&bench, 0, &ended), -EIO);
    cr_assert_eq(temporary_segments(&bench), 1);
    backup_bench_write(&bench, 10);
    engine_fixture_flush(&bench.fixture);
    engine_fixture_compact(&bench.fixture);
    backup_bench_begin(&bench, &ended, false, 1);
    backup_bench_step_until(&bench, &ended.is_done);
    cr_assert_eq(ended.status, 0, "%s", ended.err.text);
    cr_assert_eq(temporary_segments(&bench), 0);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 20);
    backup_bench_stop(&bench);
}

/* ---- faults ---- */

Test(backup, that_a_crash_cuts_short_leaves_the_ones_before)
{
    struct backup_bench bench;
    struct backup_bench_crashes crashes = {.bench = &bench, .moment = BACKUP_AT_POINT};
    backup_bench_start(&bench, 5);
    sim_disk_watch(bench.target, backup_bench_crash_before, &crashes);
    for (uint32_t round = 0; round < 6; round++) {
        struct backup_bench_ended ended;
        backup_bench_write(&bench, 20);
        if (round % 2 == 0)
            engine_fixture_flush(&bench.fixture);
        backup_bench_begin(&bench, &ended, false, 2);
        backup_bench_step_until(&bench, &ended.is_done);
        cr_assert_eq(ended.status, 0, "%s", ended.err.text);
        crashes.promised = bench.acknowledged;
    }
    cr_assert_gt(crashes.count, 50);
    sim_disk_watch(bench.target, NULL, NULL);
    backup_bench_stop(&bench);
}

Test(backup, that_a_crash_cut_short_is_gone_on_with)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct backup_bench bench;
        struct backup_bench_ended ended;
        backup_bench_start(&bench, seed);
        backup_bench_write(&bench, 25);
        engine_fixture_flush(&bench.fixture);
        backup_bench_expect(&bench);
        backup_bench_write(&bench, 25);
        engine_fixture_compact(&bench.fixture);
        backup_bench_write(&bench, 3);
        backup_bench_begin(&bench, &ended, false, 0);
        for (uint64_t i = 0; i < seed && !ended.is_done; i++)
            cr_assert(bench.fixture.world->executor->step(bench.fixture.world->executor));
        struct backup_bench after = bench;
        backup_bench_open(&after, sim_world_crash(bench.sim, seed),
                          sim_disk_crash(bench.target, seed));
        cr_assert_eq(backup_bench_clicks(&after.fixture), bench.acknowledged);
        backup_bench_write(&after, 2);
        backup_bench_expect(&after);
        backup_bench_expect_restored(&after, BACKUP_AT_POINT, bench.acknowledged + 2);
        backup_bench_stop(&after);
        backup_bench_point_at(bench.target);
        backup_bench_stop(&bench);
    }
}

/* The n-th call fails a copy, the next copy succeeds, and the power fails. */
static bool copy_survives_after_failure(enum sim_call call, uint64_t n)
{
    struct backup_bench bench;
    struct backup_bench_ended ended;
    backup_bench_start(&bench, 5);
    backup_bench_write(&bench, 10);
    backup_bench_expect(&bench);
    backup_bench_write(&bench, 40);
    engine_fixture_flush(&bench.fixture);
    backup_bench_write(&bench, 3);
    sim_disk_fail(bench.target, call, n, -EIO, false);
    bool has_failed = backup_bench_back_up(&bench, 0, &ended) != 0;
    sim_disk_fail(bench.target, call, 0, 0, false);
    backup_bench_expect(&bench);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sim_disk *target = sim_disk_crash(bench.target, seed);
        struct backup_bench_restored restored = backup_bench_restore(target, BACKUP_AT_POINT, 0);
        cr_assert_eq(restored.status, 0, "call %d, %" PRIu64 ": %s", (int)call, n,
                     restored.err.text);
        cr_assert_eq(restored.clicks, 53);
        sim_disk_free(target);
    }
    backup_bench_stop(&bench);
    return has_failed;
}

Test(backup, after_a_failed_one_keeps_the_names_that_the_failed_one_made)
{
    static const enum sim_call calls[] = {SIM_OPEN, SIM_WRITE, SIM_SYNC, SIM_RENAME,
                                          SIM_SYNC_DIRECTORY};
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        uint64_t n = 1;
        while (copy_survives_after_failure(calls[c], n))
            n++;
        cr_assert_gt(n, 1, "call %d", (int)calls[c]);
    }
}

Test(backup, onto_a_full_disk_fails_with_a_reason_and_goes_on_when_there_is_room)
{
    struct backup_bench bench;
    struct backup_bench_ended ended;
    backup_bench_start(&bench, 6);
    backup_bench_write(&bench, 10);
    backup_bench_expect(&bench);
    backup_bench_write(&bench, 40);
    engine_fixture_flush(&bench.fixture);
    backup_bench_write(&bench, 1);
    uint64_t used = sim_disk_used(bench.target);
    for (uint64_t room = 0; room < 40000; room += 4096) {
        sim_disk_set_space(bench.target, used + room);
        int status = backup_bench_back_up(&bench, 0, &ended);
        cr_assert(status == 0 || status == -ENOSPC);
        if (status != 0) {
            cr_assert_neq(strstr(ended.err.text, "No space"), NULL, "%s", ended.err.text);
            backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 10);
        }
        backup_bench_write(&bench, 1);
    }
    sim_disk_set_space(bench.target, UINT64_MAX);
    backup_bench_expect(&bench);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, bench.written);
    backup_bench_stop(&bench);
}

Test(backup, that_a_call_of_its_disk_fails_fails_and_the_store_does_not)
{
    static const enum sim_call calls[] = {SIM_OPEN,           SIM_READ,           SIM_WRITE,
                                          SIM_SYNC,           SIM_SIZE,           SIM_RENAME,
                                          SIM_MAKE_DIRECTORY, SIM_SYNC_DIRECTORY, SIM_LIST};
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        struct backup_bench bench;
        struct backup_bench_ended ended;
        uint32_t failures = 0;
        backup_bench_start(&bench, 7);
        backup_bench_write(&bench, 10);
        engine_fixture_flush(&bench.fixture);
        backup_bench_expect(&bench);
        for (uint64_t n = 1; n < 200; n++) {
            backup_bench_write(&bench, 2);
            if (n % 3 == 0)
                engine_fixture_flush(&bench.fixture);
            uint64_t before = sim_disk_calls(bench.target, calls[c]);
            sim_disk_fail(bench.target, calls[c], n, -EIO, false);
            int status = backup_bench_back_up(&bench, 0, &ended);
            sim_disk_fail(bench.target, calls[c], 0, 0, false);
            if (sim_disk_calls(bench.target, calls[c]) - before < n)
                break;
            failures += status != 0;
            cr_assert(status == 0 || status == -EIO, "%d: %s", status, ended.err.text);
            struct backup_bench_restored restored =
                backup_bench_restore(bench.target, BACKUP_AT_POINT, 0);
            cr_assert_eq(restored.status, 0, "%s", restored.err.text);
        }
        cr_assert_gt(failures, 0);
        backup_bench_write(&bench, 1);
        backup_bench_expect(&bench);
        backup_bench_expect_restored(&bench, BACKUP_AT_POINT, bench.written);
        backup_bench_stop(&bench);
    }
}

/* What it reads of the store; merges, which would read it too, are kept from it. */
static void backups_with_failing_reads(enum sim_call call, bool for_ever)
{
    struct backup_bench bench;
    struct backup_bench_ended ended;
    uint32_t failures = 0;
    backup_bench_start(&bench, 8);
    struct sim_disk *source = sim_world_disk(bench.sim);
    sim_world_stall_merges(bench.sim, true);
    backup_bench_write(&bench, 10);
    backup_bench_expect(&bench);
    for (uint64_t n = 1; n < 200; n++) {
        backup_bench_write(&bench, 2);
        engine_fixture_flush(&bench.fixture);
        uint64_t before = sim_disk_calls(source, call);
        sim_disk_fail(source, call, n, -EIO, for_ever);
        int status = backup_bench_back_up(&bench, 0, &ended);
        sim_disk_fail(source, call, 0, 0, false);
        if (sim_disk_calls(source, call) - before < n)
            break;
        failures += status != 0;
        cr_assert(status == 0 || (status == -EIO && ended.err.text[0] != '\0'), "%d", status);
        struct backup_bench_restored restored =
            backup_bench_restore(bench.target, BACKUP_AT_POINT, 0);
        cr_assert_eq(restored.status, 0, "%s", restored.err.text);
        cr_assert(status != 0 || restored.clicks == bench.written);
    }
    cr_assert_gt(failures, 0, "call %d", (int)call);
    sim_world_stall_merges(bench.sim, false);
    backup_bench_write(&bench, 1);
    backup_bench_expect(&bench);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, bench.written);
    backup_bench_stop(&bench);
}

Test(backup, that_cannot_read_the_store_fails_and_the_next_one_is_good)
{
    backups_with_failing_reads(SIM_READ, false);
    backups_with_failing_reads(SIM_READ, true);
}

Test(backup, that_cannot_be_read_is_not_restored_and_the_reason_is_told)
{
    static const enum sim_call calls[] = {SIM_OPEN, SIM_READ, SIM_SIZE, SIM_LIST};
    struct backup_bench bench;
    backup_bench_start(&bench, 8);
    backup_bench_write(&bench, 10);
    engine_fixture_flush(&bench.fixture);
    backup_bench_write(&bench, 50); /* in several log files */
    backup_bench_expect(&bench);
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        uint64_t n = 0;
        struct backup_bench_restored restored;
        do {
            sim_disk_fail(bench.target, calls[c], ++n, -EIO, false);
            restored = backup_bench_restore(bench.target, BACKUP_AT_POINT, 0);
            sim_disk_fail(bench.target, calls[c], 0, 0, false);
            cr_assert(restored.status == 0 || restored.err.text[0] != '\0', "call %d, %" PRIu64,
                      (int)calls[c], n);
        } while (restored.status != 0);
        cr_assert_gt(n, 1, "call %d", (int)calls[c]);
        cr_assert_eq(restored.clicks, 60);
    }
    backup_bench_stop(&bench);
}

/* Fail the test unless the error names a file that the store has. */
static void expect_own_file(struct backup_bench *bench, const struct error *err)
{
    static const char before[] = "backup: read ";
    struct disk *disk = sim_disk_interface(sim_world_disk(bench->sim));
    struct disk_file *file;
    char path[64];
    const char *found = strstr(err->text, before);
    cr_assert_not_null(found, "%s", err->text);
    cr_assert_eq(sscanf(found + strlen(before), "%63[^:]", path), 1);
    cr_assert_eq(disk->open(disk, path, DISK_READ, &file, NULL), 0, "%s", err->text);
    disk->close(disk, file);
}

/* The n-th read of the store fails a backup that goes on with log files, which have been moved to
 * the archive meanwhile. */
static bool names_what_it_cannot_read(uint64_t n)
{
    struct backup_bench bench;
    struct backup_bench_ended ended;
    backup_bench_start(&bench, 8);
    struct sim_disk *source = sim_world_disk(bench.sim);
    sim_world_stall_merges(bench.sim, true);
    backup_bench_write(&bench, 10);
    backup_bench_expect(&bench);
    backup_bench_write(&bench, 50);
    engine_fixture_flush(&bench.fixture);
    sim_disk_fail(source, SIM_READ, n, -EIO, false);
    bool has_failed = backup_bench_back_up(&bench, 0, &ended) != 0;
    sim_disk_fail(source, SIM_READ, 0, 0, false);
    if (has_failed)
        expect_own_file(&bench, &ended.err);
    sim_world_stall_merges(bench.sim, false);
    backup_bench_stop(&bench);
    return has_failed;
}

Test(backup, that_cannot_read_the_store_names_a_file_of_the_store)
{
    uint64_t n = 1;
    while (names_what_it_cannot_read(n))
        n++;
    cr_assert_gt(n, 5);
}

/* ---- damage, and other courses ---- */

struct file_list {
    char paths[64][64];
    size_t count;
    const char *directory;
};

static void add_path(void *context, const char *name)
{
    struct file_list *list = context;
    cr_assert_lt(list->count, 64);
    snprintf(list->paths[list->count++], 64, "%s/%s", list->directory, name);
}

static uint64_t file_bits(struct sim_disk *target, const char *path)
{
    struct disk *disk = sim_disk_interface(target);
    struct disk_file *file;
    cr_assert_eq(disk->open(disk, path, DISK_READ, &file, NULL), 0);
    int64_t size = disk->size(disk, file);
    disk->close(disk, file);
    return (uint64_t)size * 8;
}

Test(backup, with_a_bit_turned_over_is_restored_right_or_refused)
{
    static const char *const directories[] = {"points", "segments", "log"};
    struct backup_bench bench;
    struct file_list list = {0};
    struct sim_random random = {.state = 8};
    uint32_t refused = 0;
    backup_bench_start(&bench, 8);
    backup_bench_write(&bench, 10);
    engine_fixture_flush(&bench.fixture);
    backup_bench_write(&bench, 3);
    backup_bench_expect(&bench);
    for (size_t i = 0; i < 3; i++) {
        struct disk *disk = sim_disk_interface(bench.target);
        list.directory = directories[i];
        cr_assert_eq(disk->list(disk, directories[i], add_path, &list), 0);
    }
    for (size_t i = 0; i < list.count; i++) {
        for (uint32_t n = 0; n < 40; n++) {
            uint64_t bit = sim_random_below(&random, file_bits(bench.target, list.paths[i]));
            sim_disk_flip_bit(bench.target, list.paths[i], bit);
            struct backup_bench_restored restored =
                backup_bench_restore(bench.target, BACKUP_AT_POINT, 0);
            cr_assert(restored.status != 0 || restored.clicks == 13);
            refused += restored.status != 0;
            sim_disk_flip_bit(bench.target, list.paths[i], bit);
        }
    }
    cr_assert_gt(refused, 40 * list.count / 2);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 13);
    backup_bench_stop(&bench);
}

Test(backup, with_damage_in_a_newer_point_is_restored_to_the_moment_or_refused)
{
    enum { MOMENT = 12 };
    struct backup_bench bench;
    struct backup_point points[2];
    uint32_t refused = 0;
    backup_bench_start(&bench, 3);
    for (uint32_t i = 0; i < 2; i++) {
        backup_bench_write(&bench, i == 0 ? 5 : 8);
        backup_bench_expect(&bench);
        cr_assert_eq(backup_point_read(sim_disk_interface(bench.target), i + 1, &points[i], NULL),
                     0);
    }
    /* Both points end in the same file, the newest one. */
    cr_assert(points[0].log_count == 1 && points[1].log_count == 1);
    cr_assert_eq(points[0].log[0].extent.file_id, points[1].log[0].extent.file_id);
    for (uint64_t offset = points[0].log[0].extent.size; offset < points[1].log[0].extent.size;
         offset += 512) {
        sim_disk_flip_bit(bench.target, "log/00000001.log", offset * 8);
        struct backup_bench_restored restored =
            backup_bench_restore(bench.target, BACKUP_AT_TIME, bench.times_us[MOMENT]);
        cr_assert(restored.status == 0 || restored.status == ERROR_CORRUPT, "%s",
                  restored.err.text);
        cr_assert(restored.status != 0 || restored.clicks == MOMENT,
                  "offset %" PRIu64 ": %u clicks", offset, restored.clicks);
        refused += restored.status != 0;
        sim_disk_flip_bit(bench.target, "log/00000001.log", offset * 8);
    }
    cr_assert_geq(refused, MOMENT - 5);
    backup_point_release(&points[0]);
    backup_point_release(&points[1]);
    backup_bench_stop(&bench);
}

Test(backup, of_another_course_of_the_directory_is_refused)
{
    struct backup_bench bench;
    struct backup_bench_ended ended;
    backup_bench_start(&bench, 9);
    backup_bench_write(&bench, 20);
    backup_bench_expect(&bench);
    backup_bench_write(&bench, 20);
    engine_fixture_flush(&bench.fixture);
    backup_bench_expect(&bench);
    struct sim_world *other = sim_world_new(10);
    struct backup_bench_restored restored =
        backup_bench_restore_to(bench.target, BACKUP_AT_TIME, bench.times_us[20], other);
    cr_assert(restored.status == 0 && restored.clicks == 20);
    struct backup_bench forked = {.written = 20, .acknowledged = 20};
    backup_bench_open(&forked, other, bench.target);
    backup_bench_write(&forked, 30);
    engine_fixture_flush(&forked.fixture);
    cr_assert_eq(backup_bench_back_up(&forked, 0, &ended), ERROR_CONFLICT, "%s", ended.err.text);
    cr_assert_neq(strstr(ended.err.text, "another course"), NULL, "%s", ended.err.text);
    backup_bench_expect_restored(&bench, BACKUP_AT_POINT, 40);
    struct sim_disk *fresh = sim_disk_new();
    backup_bench_point_at(fresh);
    backup_bench_expect(&forked);
    backup_bench_point_at(bench.target);
    sim_disk_free(fresh);
    backup_bench_close(&forked);
    backup_bench_stop(&bench);
}

/* Backups of a store at work: one moment, whatever fails; followed, cut short, damaged, forked.
 *
 * Method: clicks are written one a frame, click i with i cents, so that rows and sum of the one
 * partition say which beginning of the writes is there: N rows and N (N + 1) / 2 cents, or it is
 * none.  The store and its backup are two simulated disks; the power fails on both at once, at each
 * sync and change of names of the backup's.  What is restored is opened by the engine. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/backup.h"
#include "storage/backup_point.h"
#include "storage/backup_restore.h"
#include "storage/base/memory.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_random.h"
#include "tests/sim/sim_world.h"

enum { LOG_FILE = 64 << 10, CLONES = 2, CLICKS_MAX = 1000 };

static const char *const day = "2013-11-28";

struct ended {
    bool is_done;
    int status;
    struct error err;
};

struct bench {
    struct sim_world *sim;
    struct sim_disk *target;
    struct engine_fixture fixture;
    uint64_t memtable_rows_max;
    struct metrics *metrics;
    struct backup *backup;
    uint32_t written;
    uint32_t acknowledged;
    uint64_t log_max;             /* backup.h */
    int64_t times_us[CLICKS_MAX]; /* of each click's acknowledgement; [0]: before the first */
};

/* Where backup_options' open finds the disk: one test runs in a process. */
static struct sim_disk *opened;

static int open_target(const char *path, bool create, struct disk **disk_out, struct error *err)
{
    (void)path;
    (void)create;
    (void)err;
    *disk_out = sim_disk_interface(opened);
    return 0;
}

static void close_target(struct disk *disk)
{
    disk->unlock(disk);
}

/* ---- the store ---- */

static void bench_open(struct bench *bench, struct sim_world *sim, struct sim_disk *target)
{
    struct error err = {0};
    bench->sim = sim;
    bench->target = target;
    opened = target;
    bench->metrics = metrics_new();
    bench->fixture = (struct engine_fixture){0};
    bench->fixture.options.log_file_size = LOG_FILE;
    bench->fixture.options.log_first_file_size = LOG_FILE;
    bench->fixture.options.archive_bytes = 8 << 20;
    bench->fixture.options.memtable_rows_max = bench->memtable_rows_max;
    cr_assert_eq(engine_fixture_open_in(&bench->fixture, sim_world_interface(sim), &err), 0, "%s",
                 err.text);
    bench->backup = backup_new(bench->fixture.store, bench->fixture.world, bench->metrics);
}

static void bench_start(struct bench *bench, uint64_t seed)
{
    *bench = (struct bench){0};
    bench_open(bench, sim_world_new(seed), sim_disk_new());
}

static void set_ended(void *context, int status, const struct error *err)
{
    struct ended *ended = context;
    ended->is_done = true;
    ended->status = status;
    if (err != NULL)
        ended->err = *err;
}

static void step_until(struct bench *bench, const bool *is_done)
{
    struct executor *executor = bench->fixture.world->executor;
    while (!*is_done)
        cr_assert(executor->step(executor));
}

static void bench_close(struct bench *bench)
{
    struct ended ended = {0};
    backup_close(bench->backup, set_ended, &ended);
    step_until(bench, &ended.is_done);
    engine_fixture_close(&bench->fixture);
    metrics_free(bench->metrics);
    sim_world_free(bench->sim);
}

static void bench_stop(struct bench *bench)
{
    bench_close(bench);
    sim_disk_free(bench->target);
}

static void click_of(uint32_t i, char amount[16], struct click *click)
{
    snprintf(amount, 16, "%u.%02u", i / 100, i % 100);
    *click = (struct click){"r1", day, 1385605012000 + i, "a", amount};
}

static void acknowledged(void *context, int status, const struct error *err)
{
    struct bench *bench = context;
    (void)err;
    cr_assert_eq(status, 0);
    bench->times_us[++bench->acknowledged] =
        bench->fixture.world->clock->wall_us(bench->fixture.world->clock);
}

/* Begin to write the next click; false when the store is busy. */
static bool write_begin(struct bench *bench)
{
    char amount[16];
    struct click click;
    struct write_batch *batch = write_batch_new();
    click_of(bench->written + 1, amount, &click);
    struct block *block = engine_fixture_block(bench->fixture.store, &click, 1);
    write_batch_add_block(batch, block);
    int rc = store_apply(bench->fixture.store, batch, acknowledged, bench, NULL);
    block_free(block);
    write_batch_free(batch);
    cr_assert(rc == 0 || rc == ERROR_FULL);
    bench->written += rc == 0;
    return rc == 0;
}

static void write_clicks(struct bench *bench, uint32_t count)
{
    struct executor *executor = bench->fixture.world->executor;
    for (uint32_t i = 0; i < count; i++) {
        while (!write_begin(bench))
            cr_assert(executor->step(executor));
        while (bench->acknowledged < bench->written)
            cr_assert(executor->step(executor));
        sim_world_advance_us(bench->sim, 5000);
    }
}

/* ---- backups ---- */

static void backup_done(void *context, int status, const struct error *err,
                        const struct backup_progress *progress)
{
    (void)progress;
    set_ended(context, status, err);
}

static void backup_begin(struct bench *bench, struct ended *ended, bool follows, uint32_t keep)
{
    static const struct backup_handler handler = {.done = backup_done};
    const struct backup_options options = {.path = "/b",
                                           .follows = follows,
                                           .keep = keep,
                                           .log_max = bench->log_max,
                                           .open = open_target,
                                           .close = close_target};
    *ended = (struct ended){0};
    cr_assert_eq(backup_start(bench->backup, &options, &handler, ended, NULL), 0);
}

/* While it runs `writes` clicks are written, between its steps. */
static int back_up(struct bench *bench, uint32_t writes, struct ended *ended)
{
    struct executor *executor = bench->fixture.world->executor;
    backup_begin(bench, ended, false, 0);
    while (!ended->is_done) {
        if (writes > 0 && write_begin(bench))
            writes--;
        cr_assert(executor->step(executor));
    }
    while (bench->acknowledged < bench->written)
        cr_assert(executor->step(executor));
    return ended->status;
}

static void expect_backup(struct bench *bench)
{
    struct ended ended;
    cr_assert_eq(back_up(bench, 0, &ended), 0, "%s", ended.err.text);
}

/* ---- restores ---- */

/* How many clicks there are; fails the test unless they are the first so many. */
static uint32_t count_clicks(struct engine_fixture *fixture)
{
    unsigned rows = 0, whole = 0, cents = 0;
    struct buffer stats = engine_fixture_stats(fixture, "r1", day);
    if (stats.data[0] != '\0')
        cr_assert_geq(sscanf((const char *)stats.data, "%u %u.%2u", &rows, &whole, &cents), 2);
    cr_assert_eq(whole * 100 + cents, rows * (rows + 1) / 2, "%s", (const char *)stats.data);
    buffer_release(&stats);
    return rows;
}

struct restored {
    int status;
    struct error err;
    uint32_t clicks;
    struct backup_restored report;
};

static struct restored restore_to(struct sim_disk *target, enum backup_moment moment,
                                  int64_t time_us, struct sim_world *sim)
{
    struct restored restored = {0};
    const struct backup_restore_options options = {.source = sim_disk_interface(target),
                                                   .world = sim_world_interface(sim),
                                                   .moment = moment,
                                                   .time_us = time_us};
    restored.status = backup_restore(&options, &restored.report, &restored.err);
    if (restored.status == 0) {
        struct engine_fixture fixture = {0};
        struct error err = {0};
        fixture.options.log_first_file_size = LOG_FILE;
        cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), &err), 0, "%s",
                     err.text);
        restored.clicks = count_clicks(&fixture);
        engine_fixture_close(&fixture);
    }
    return restored;
}

static struct restored restore(struct sim_disk *target, enum backup_moment moment, int64_t time_us)
{
    struct sim_world *sim = sim_world_new(7);
    struct restored restored = restore_to(target, moment, time_us, sim);
    sim_world_free(sim);
    return restored;
}

static void expect_restored(struct bench *bench, enum backup_moment moment, uint32_t clicks)
{
    struct restored restored = restore(bench->target, moment, 0);
    cr_assert_eq(restored.status, 0, "%s", restored.err.text);
    cr_assert_eq(restored.clicks, clicks);
}

/* ---- the tests ---- */

Test(backup, of_an_empty_directory_is_an_empty_directory)
{
    struct bench bench;
    bench_start(&bench, 1);
    expect_backup(&bench);
    expect_restored(&bench, BACKUP_AT_POINT, 0);
    bench_stop(&bench);
}

Test(backup, holds_what_was_there_in_log_and_in_segments)
{
    struct bench bench;
    bench_start(&bench, 2);
    write_clicks(&bench, 10);
    expect_backup(&bench);
    expect_restored(&bench, BACKUP_AT_POINT, 10);
    engine_fixture_flush(&bench.fixture);
    expect_backup(&bench);
    expect_restored(&bench, BACKUP_AT_POINT, 10);
    write_clicks(&bench, 30);
    engine_fixture_flush(&bench.fixture);
    engine_fixture_compact(&bench.fixture);
    write_clicks(&bench, 2);
    expect_backup(&bench);
    expect_restored(&bench, BACKUP_AT_POINT, 42);
    struct ended ended = {0};
    backup_close(bench.backup, set_ended, &ended);
    engine_fixture_close(&bench.fixture);
    cr_assert_eq(engine_fixture_open_in(&bench.fixture, bench.fixture.world, NULL), 0);
    bench.backup = backup_new(bench.fixture.store, bench.fixture.world, bench.metrics);
    write_clicks(&bench, 1);
    expect_backup(&bench);
    expect_restored(&bench, BACKUP_AT_POINT, 43);
    bench_stop(&bench);
}

Test(backup, is_one_moment_while_writes_flushes_and_merges_go_on)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct bench bench;
        struct ended ended;
        bench = (struct bench){.memtable_rows_max = 16};
        bench_open(&bench, sim_world_new(seed), sim_disk_new());
        write_clicks(&bench, 30);
        uint32_t before = bench.acknowledged;
        cr_assert_eq(store_compact(bench.fixture.store, NULL, NULL, NULL), 0);
        cr_assert_eq(back_up(&bench, 40, &ended), 0, "%s", ended.err.text);
        struct restored restored = restore(bench.target, BACKUP_AT_POINT, 0);
        cr_assert_eq(restored.status, 0, "%s", restored.err.text);
        cr_assert(restored.clicks >= before && restored.clicks <= bench.written);
        bench_stop(&bench);
    }
}

Test(backup, of_any_moment_since_the_first_point_can_be_restored)
{
    struct bench bench;
    bench_start(&bench, 3);
    write_clicks(&bench, 5);
    expect_backup(&bench);
    for (uint32_t round = 0; round < 3; round++) {
        write_clicks(&bench, 30);
        engine_fixture_flush(&bench.fixture);
        engine_fixture_compact(&bench.fixture);
    }
    expect_backup(&bench);
    for (uint32_t i = 5; i < bench.acknowledged; i += 7) {
        struct restored restored = restore(bench.target, BACKUP_AT_TIME, bench.times_us[i]);
        cr_assert_eq(restored.status, 0, "%u: %s", i, restored.err.text);
        cr_assert_eq(restored.clicks, i);
    }
    struct restored early = restore(bench.target, BACKUP_AT_TIME, bench.times_us[1]);
    cr_assert_eq(early.status, ERROR_NOT_FOUND);
    cr_assert_neq(strstr(early.err.text, "oldest moment"), NULL, "%s", early.err.text);
    bench_stop(&bench);
}

Test(backup, without_the_log_between_two_points_says_that_there_is_a_gap)
{
    struct bench bench;
    bench_start(&bench, 3);
    write_clicks(&bench, 5);
    expect_backup(&bench);
    write_clicks(&bench, 60);
    engine_fixture_flush(&bench.fixture);
    expect_backup(&bench);
    struct disk *target = sim_disk_interface(bench.target);
    cr_assert_eq(target->remove(target, "log/00000002.log"), 0);
    struct restored gap = restore(bench.target, BACKUP_AT_TIME, bench.times_us[50]);
    cr_assert_eq(gap.status, ERROR_CORRUPT);
    expect_restored(&bench, BACKUP_AT_POINT, 65);
    bench_stop(&bench);
}

Test(backup, keeps_as_many_points_as_it_is_told_and_their_files)
{
    struct bench bench;
    bench_start(&bench, 4);
    for (uint32_t round = 0; round < 5; round++) {
        struct ended ended;
        write_clicks(&bench, 30);
        engine_fixture_flush(&bench.fixture);
        engine_fixture_compact(&bench.fixture);
        backup_begin(&bench, &ended, false, 2);
        step_until(&bench, &ended.is_done);
        cr_assert_eq(ended.status, 0, "%s", ended.err.text);
        expect_restored(&bench, BACKUP_AT_POINT, 30 * (round + 1));
    }
    uint64_t *numbers;
    size_t count;
    cr_assert_eq(backup_points_list(sim_disk_interface(bench.target), &numbers, &count, NULL), 0);
    cr_assert(count == 2 && numbers[0] == 4 && numbers[1] == 5);
    memory_free(numbers);
    struct restored restored = restore(bench.target, BACKUP_AT_TIME, bench.times_us[120]);
    cr_assert(restored.status == 0 && restored.clicks == 120);
    bench_stop(&bench);
}

/* ---- faults ---- */

struct crashes {
    struct bench *bench;
    uint64_t count;
    uint32_t promised; /* clicks of the newest point that was reported done */
    enum backup_moment moment;
    bool is_checking;
};

static void check_crash(struct crashes *crashes, uint64_t seed)
{
    struct sim_disk *target = sim_disk_crash(crashes->bench->target, seed);
    struct restored restored = restore(target, crashes->moment, 0);
    if (restored.status == ERROR_NOT_FOUND) {
        cr_assert_eq(crashes->promised, 0);
    } else {
        cr_assert_eq(restored.status, 0, "crash %" PRIu64 ": %s", crashes->count,
                     restored.err.text);
        cr_assert(
            restored.clicks >= crashes->promised && restored.clicks <= crashes->bench->written,
            "crash %" PRIu64 ": %u of %u", crashes->count, restored.clicks, crashes->promised);
    }
    sim_disk_free(target);
    crashes->count++;
}

static void before_call(void *context, enum sim_call call)
{
    struct crashes *crashes = context;
    if (!sim_call_keeps(call) || crashes->is_checking)
        return;
    crashes->is_checking = true;
    for (uint64_t i = 0; i < CLONES; i++)
        check_crash(crashes, crashes->count * 7919 + i);
    crashes->is_checking = false;
}

Test(backup, that_a_crash_cuts_short_leaves_the_ones_before)
{
    struct bench bench;
    struct crashes crashes = {.bench = &bench, .moment = BACKUP_AT_POINT};
    bench_start(&bench, 5);
    sim_disk_watch(bench.target, before_call, &crashes);
    for (uint32_t round = 0; round < 6; round++) {
        struct ended ended;
        write_clicks(&bench, 20);
        if (round % 2 == 0)
            engine_fixture_flush(&bench.fixture);
        backup_begin(&bench, &ended, false, 2);
        step_until(&bench, &ended.is_done);
        cr_assert_eq(ended.status, 0, "%s", ended.err.text);
        crashes.promised = bench.acknowledged;
    }
    cr_assert_gt(crashes.count, 50);
    sim_disk_watch(bench.target, NULL, NULL);
    bench_stop(&bench);
}

Test(backup, that_a_crash_cut_short_is_gone_on_with)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct bench bench;
        struct ended ended;
        bench_start(&bench, seed);
        write_clicks(&bench, 25);
        engine_fixture_flush(&bench.fixture);
        expect_backup(&bench);
        write_clicks(&bench, 25);
        engine_fixture_compact(&bench.fixture);
        write_clicks(&bench, 3);
        backup_begin(&bench, &ended, false, 0);
        for (uint64_t i = 0; i < seed && !ended.is_done; i++)
            cr_assert(bench.fixture.world->executor->step(bench.fixture.world->executor));
        struct bench after = bench;
        bench_open(&after, sim_world_crash(bench.sim, seed), sim_disk_crash(bench.target, seed));
        cr_assert_eq(count_clicks(&after.fixture), bench.acknowledged);
        write_clicks(&after, 2);
        expect_backup(&after);
        expect_restored(&after, BACKUP_AT_POINT, bench.acknowledged + 2);
        bench_stop(&after);
        opened = bench.target;
        bench_stop(&bench);
    }
}

Test(backup, onto_a_full_disk_fails_with_a_reason_and_goes_on_when_there_is_room)
{
    struct bench bench;
    struct ended ended;
    bench_start(&bench, 6);
    write_clicks(&bench, 10);
    expect_backup(&bench);
    write_clicks(&bench, 40);
    engine_fixture_flush(&bench.fixture);
    write_clicks(&bench, 1);
    uint64_t used = sim_disk_used(bench.target);
    for (uint64_t room = 0; room < 40000; room += 4096) {
        sim_disk_set_space(bench.target, used + room);
        int status = back_up(&bench, 0, &ended);
        cr_assert(status == 0 || status == -ENOSPC);
        if (status != 0) {
            cr_assert_neq(strstr(ended.err.text, "No space"), NULL, "%s", ended.err.text);
            expect_restored(&bench, BACKUP_AT_POINT, 10);
        }
        write_clicks(&bench, 1);
    }
    sim_disk_set_space(bench.target, UINT64_MAX);
    expect_backup(&bench);
    expect_restored(&bench, BACKUP_AT_POINT, bench.written);
    bench_stop(&bench);
}

Test(backup, that_a_call_of_its_disk_fails_fails_and_the_store_does_not)
{
    static const enum sim_call calls[] = {SIM_OPEN,           SIM_READ,           SIM_WRITE,
                                          SIM_SYNC,           SIM_SIZE,           SIM_RENAME,
                                          SIM_MAKE_DIRECTORY, SIM_SYNC_DIRECTORY, SIM_LIST};
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        struct bench bench;
        struct ended ended;
        uint32_t failures = 0;
        bench_start(&bench, 7);
        write_clicks(&bench, 10);
        engine_fixture_flush(&bench.fixture);
        expect_backup(&bench);
        for (uint64_t n = 1; n < 200; n++) {
            write_clicks(&bench, 2);
            if (n % 3 == 0)
                engine_fixture_flush(&bench.fixture);
            uint64_t before = sim_disk_calls(bench.target, calls[c]);
            sim_disk_fail(bench.target, calls[c], n, -EIO, false);
            int status = back_up(&bench, 0, &ended);
            sim_disk_fail(bench.target, calls[c], 0, 0, false);
            if (sim_disk_calls(bench.target, calls[c]) - before < n)
                break;
            failures += status != 0;
            cr_assert(status == 0 || status == -EIO, "%d: %s", status, ended.err.text);
            struct restored restored = restore(bench.target, BACKUP_AT_POINT, 0);
            cr_assert_eq(restored.status, 0, "%s", restored.err.text);
        }
        cr_assert_gt(failures, 0);
        write_clicks(&bench, 1);
        expect_backup(&bench);
        expect_restored(&bench, BACKUP_AT_POINT, bench.written);
        bench_stop(&bench);
    }
}

/* What it reads of the store; merges, which would read it too, are kept from it. */
static void backups_with_failing_reads(enum sim_call call, bool for_ever)
{
    struct bench bench;
    struct ended ended;
    uint32_t failures = 0;
    bench_start(&bench, 8);
    struct sim_disk *source = sim_world_disk(bench.sim);
    sim_world_stall(bench.sim, LANE_MERGE, true);
    write_clicks(&bench, 10);
    expect_backup(&bench);
    for (uint64_t n = 1; n < 200; n++) {
        write_clicks(&bench, 2);
        engine_fixture_flush(&bench.fixture);
        uint64_t before = sim_disk_calls(source, call);
        sim_disk_fail(source, call, n, -EIO, for_ever);
        int status = back_up(&bench, 0, &ended);
        sim_disk_fail(source, call, 0, 0, false);
        if (sim_disk_calls(source, call) - before < n)
            break;
        failures += status != 0;
        cr_assert(status == 0 || (status == -EIO && ended.err.text[0] != '\0'), "%d", status);
        struct restored restored = restore(bench.target, BACKUP_AT_POINT, 0);
        cr_assert_eq(restored.status, 0, "%s", restored.err.text);
        cr_assert(status != 0 || restored.clicks == bench.written);
    }
    cr_assert_gt(failures, 0, "call %d", (int)call);
    sim_world_stall(bench.sim, LANE_MERGE, false);
    write_clicks(&bench, 1);
    expect_backup(&bench);
    expect_restored(&bench, BACKUP_AT_POINT, bench.written);
    bench_stop(&bench);
}

Test(backup, that_cannot_read_the_store_fails_and_the_next_one_is_good)
{
    backups_with_failing_reads(SIM_READ, false);
    backups_with_failing_reads(SIM_READ, true);
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
    struct bench bench;
    struct file_list list = {0};
    struct sim_random random = {.state = 8};
    uint32_t refused = 0;
    bench_start(&bench, 8);
    write_clicks(&bench, 10);
    engine_fixture_flush(&bench.fixture);
    write_clicks(&bench, 3);
    expect_backup(&bench);
    for (size_t i = 0; i < 3; i++) {
        struct disk *disk = sim_disk_interface(bench.target);
        list.directory = directories[i];
        cr_assert_eq(disk->list(disk, directories[i], add_path, &list), 0);
    }
    for (size_t i = 0; i < list.count; i++) {
        for (uint32_t n = 0; n < 40; n++) {
            uint64_t bit = sim_random_below(&random, file_bits(bench.target, list.paths[i]));
            sim_disk_flip_bit(bench.target, list.paths[i], bit);
            struct restored restored = restore(bench.target, BACKUP_AT_POINT, 0);
            cr_assert(restored.status != 0 || restored.clicks == 13);
            refused += restored.status != 0;
            sim_disk_flip_bit(bench.target, list.paths[i], bit);
        }
    }
    cr_assert_gt(refused, 40 * list.count / 2);
    expect_restored(&bench, BACKUP_AT_POINT, 13);
    bench_stop(&bench);
}

Test(backup, of_another_course_of_the_directory_is_refused)
{
    struct bench bench;
    struct ended ended;
    bench_start(&bench, 9);
    write_clicks(&bench, 20);
    expect_backup(&bench);
    write_clicks(&bench, 20);
    engine_fixture_flush(&bench.fixture);
    expect_backup(&bench);
    struct sim_world *other = sim_world_new(10);
    struct restored restored = restore_to(bench.target, BACKUP_AT_TIME, bench.times_us[20], other);
    cr_assert(restored.status == 0 && restored.clicks == 20);
    struct bench forked = {.written = 20, .acknowledged = 20};
    bench_open(&forked, other, bench.target);
    write_clicks(&forked, 30);
    engine_fixture_flush(&forked.fixture);
    cr_assert_eq(back_up(&forked, 0, &ended), ERROR_CONFLICT, "%s", ended.err.text);
    cr_assert_neq(strstr(ended.err.text, "another course"), NULL, "%s", ended.err.text);
    expect_restored(&bench, BACKUP_AT_POINT, 40);
    struct sim_disk *fresh = sim_disk_new();
    opened = fresh;
    expect_backup(&forked);
    opened = bench.target;
    sim_disk_free(fresh);
    bench_close(&forked);
    bench_stop(&bench);
}

/* ---- following ---- */

static void follow(struct bench *bench)
{
    struct ended ended;
    backup_begin(bench, &ended, true, 0);
    step_until(bench, &ended.is_done);
    cr_assert_eq(ended.status, 0, "%s", ended.err.text);
}

static void unfollow(struct bench *bench)
{
    static const struct backup_handler handler = {.done = backup_done};
    struct ended ended = {0};
    cr_assert(backup_unfollow(bench->backup, &handler, &ended));
    cr_assert_not(backup_unfollow(bench->backup, &handler, &ended));
    step_until(bench, &ended.is_done);
    cr_assert_eq(ended.status, 0, "%s", ended.err.text);
}

static void catch_up(struct bench *bench)
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

Test(backup, that_follows_has_everything_as_soon_as_it_says_so)
{
    struct bench bench;
    bench_start(&bench, 11);
    write_clicks(&bench, 5);
    follow(&bench);
    for (uint32_t round = 0; round < 8; round++) {
        write_clicks(&bench, 17);
        if (round % 3 == 1)
            engine_fixture_flush(&bench.fixture);
        catch_up(&bench);
        expect_restored(&bench, BACKUP_LATEST, bench.written);
    }
    unfollow(&bench);
    bench_stop(&bench);
}

Test(backup, that_follows_makes_points_as_time_goes_by_and_loses_no_moment)
{
    struct bench bench;
    struct backup_status status;
    bench_start(&bench, 12);
    write_clicks(&bench, 5);
    follow(&bench);
    for (uint32_t round = 0; round < 4; round++) {
        write_clicks(&bench, 30);
        engine_fixture_flush(&bench.fixture);
        sim_world_advance_us(bench.sim, BACKUP_POINT_MS * 1000);
        catch_up(&bench);
    }
    backup_status(bench.backup, &status);
    cr_assert_geq(status.point, 4);
    expect_restored(&bench, BACKUP_LATEST, bench.written);
    struct restored restored = restore(bench.target, BACKUP_AT_TIME, bench.times_us[110]);
    cr_assert_eq(restored.status, 0, "%s", restored.err.text);
    cr_assert_eq(restored.clicks, 110);
    bench_stop(&bench);
}

Test(backup, that_follows_loses_in_a_crash_only_what_it_had_not_synced)
{
    struct bench bench;
    struct crashes crashes = {.bench = &bench, .moment = BACKUP_LATEST};
    bench_start(&bench, 13);
    write_clicks(&bench, 5);
    follow(&bench);
    sim_disk_watch(bench.target, before_call, &crashes);
    for (uint32_t round = 0; round < 10; round++) {
        write_clicks(&bench, 8);
        if (round == 4)
            sim_world_advance_us(bench.sim, BACKUP_POINT_MS * 1000);
        if (round % 3 == 2)
            engine_fixture_flush(&bench.fixture);
        catch_up(&bench);
        crashes.promised = bench.acknowledged;
    }
    sim_disk_watch(bench.target, NULL, NULL);
    cr_assert_gt(crashes.count, 30);
    bench_stop(&bench);
}

Test(backup, that_follows_waits_for_a_full_disk_and_has_no_gap_then)
{
    struct bench bench;
    struct backup_status status;
    bench_start(&bench, 14);
    write_clicks(&bench, 5);
    follow(&bench);
    sim_disk_set_space(bench.target, sim_disk_used(bench.target) + 8192);
    write_clicks(&bench, 60);
    engine_fixture_flush(&bench.fixture);
    write_clicks(&bench, 60);
    sim_world_run_us(bench.sim, 5000000);
    backup_status(bench.backup, &status);
    cr_assert(status.is_following && status.lag_frames > 0 && status.lag_us > 0);
    cr_assert_neq(strstr(status.failure, "No space"), NULL, "%s", status.failure);
    sim_disk_set_space(bench.target, UINT64_MAX);
    catch_up(&bench);
    expect_restored(&bench, BACKUP_LATEST, 125);
    struct restored restored = restore(bench.target, BACKUP_AT_TIME, bench.times_us[70]);
    cr_assert_eq(restored.status, 0, "%s", restored.err.text);
    cr_assert_eq(restored.clicks, 70);
    bench_stop(&bench);
}

/* The n-th call of a disk fails while it follows, once or until it is mended: it says so for as
 * long as it is so, goes on, and has no gap. */
static void follow_with_failing_calls(enum sim_call call, bool for_ever)
{
    struct bench bench;
    struct backup_status status;
    uint32_t told = 0;
    bench_start(&bench, 14);
    write_clicks(&bench, 5);
    follow(&bench);
    for (uint64_t n = 1; n < 200; n++) {
        uint64_t before = sim_disk_calls(bench.target, call);
        sim_disk_fail(bench.target, call, n, -EIO, for_ever);
        write_clicks(&bench, 3);
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
        expect_restored(&bench, BACKUP_LATEST, bench.written);
    }
    cr_assert(!for_ever || told > 0, "call %d", (int)call);
    uint32_t last = bench.written - 2;
    struct restored restored = restore(bench.target, BACKUP_AT_TIME, bench.times_us[last]);
    cr_assert_eq(restored.status, 0, "%s", restored.err.text);
    cr_assert_eq(restored.clicks, last);
    bench_stop(&bench);
}

Test(backup, that_follows_says_that_its_disk_fails_and_goes_on_without_a_gap)
{
    static const enum sim_call calls[] = {SIM_OPEN,   SIM_WRITE,          SIM_SYNC,
                                          SIM_RENAME, SIM_SYNC_DIRECTORY, SIM_LIST};
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        follow_with_failing_calls(calls[c], false);
        follow_with_failing_calls(calls[c], true);
    }
}

/* Its disk is full for so long that the store's own would be next. */
Test(backup, that_follows_lets_the_log_go_past_its_limit_and_begins_with_a_point)
{
    struct bench bench;
    struct backup_status status;
    struct store_status store;
    bench_start(&bench, 16);
    write_clicks(&bench, 5);
    bench.log_max = 8 * LOG_FILE;
    follow(&bench);
    backup_status(bench.backup, &status);
    uint64_t first_point = status.point;
    sim_disk_set_space(bench.target, sim_disk_used(bench.target) + 8192);
    for (uint32_t round = 0; round < 30; round++) {
        write_clicks(&bench, 30);
        engine_fixture_flush(&bench.fixture);
        sim_world_run_us(bench.sim, 200000);
    }
    store_status(bench.fixture.store, &store);
    cr_expect_lt(store.log_bytes, 16 * LOG_FILE);
    sim_disk_set_space(bench.target, UINT64_MAX);
    catch_up(&bench);
    backup_status(bench.backup, &status);
    cr_expect_gt(status.point, first_point);
    expect_restored(&bench, BACKUP_LATEST, bench.written);
    bench_stop(&bench);
}

Test(backup, that_follows_takes_the_last_frames_along_when_the_store_closes)
{
    struct bench bench;
    bench_start(&bench, 15);
    follow(&bench);
    write_clicks(&bench, 20);
    bench_close(&bench);
    expect_restored(&bench, BACKUP_LATEST, 20);
    sim_disk_free(bench.target);
}

/* A server ends as it should, is killed, or loses its power; then another one starts. */
static void restart(struct bench *bench, uint32_t how, uint64_t seed)
{
    struct sim_world *after;
    struct bench before = *bench;
    struct error err = {0};
    if (how == 0) {
        struct ended ended = {0};
        backup_close(bench->backup, set_ended, &ended);
        step_until(bench, &ended.is_done);
        engine_fixture_close(&bench->fixture);
        after = sim_world_restart(bench->sim, seed);
        metrics_free(bench->metrics);
        sim_world_free(bench->sim);
    } else {
        after = how == 1 ? sim_world_restart(bench->sim, seed) : sim_world_crash(bench->sim, seed);
        opened = sim_disk_new(); /* the old life shall not write to it while it ends */
        struct sim_disk *elsewhere = opened;
        bench_close(&before);
        sim_disk_free(elsewhere);
    }
    bench_open(bench, after, bench->target);
    cr_assert_eq(backup_resume(bench->backup, open_target, close_target, &err), 0, "%s", err.text);
}

/* Who follows goes on in every next life, however the last one ended, until it is told to stop. */
Test(backup, that_follows_goes_on_after_every_start_until_it_is_told_to_stop)
{
    struct bench bench;
    struct backup_status status;
    bench_start(&bench, 16);
    write_clicks(&bench, 5);
    follow(&bench);
    for (uint32_t round = 0; round < 9; round++) {
        restart(&bench, round % 3, round);
        write_clicks(&bench, 7);
        if (round == 4)
            engine_fixture_flush(&bench.fixture);
        catch_up(&bench);
        expect_restored(&bench, BACKUP_LATEST, bench.written);
    }
    unfollow(&bench);
    for (uint32_t how = 0; how < 3; how++) {
        restart(&bench, how, how);
        backup_status(bench.backup, &status);
        cr_assert_not(status.is_following);
    }
    bench_stop(&bench);
}

/* ---- ranks ---- */

static struct buffer rows_of(struct sim_disk *target)
{
    struct sim_world *sim = sim_world_new(7);
    struct engine_fixture fixture = {0};
    struct error err = {0};
    struct backup_restored report;
    const struct backup_restore_options options = {.source = sim_disk_interface(target),
                                                   .world = sim_world_interface(sim),
                                                   .moment = BACKUP_LATEST};
    cr_assert_eq(backup_restore(&options, &report, &err), 0, "%s", err.text);
    fixture.options.log_first_file_size = LOG_FILE;
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), &err), 0, "%s",
                 err.text);
    struct buffer rows =
        engine_fixture_rows(&fixture, TABLE_AD_CLICK, (struct bytes){0}, 100, false);
    engine_fixture_close(&fixture);
    sim_world_free(sim);
    return rows;
}

/* Delete the click with this rank among those of one time and ad. */
static void delete_rank(struct bench *bench, const struct click *click, int64_t rank)
{
    const struct table *table = schema_table(store_schema(bench->fixture.store), TABLE_AD_CLICK);
    struct write_batch *batch = write_batch_new();
    const struct column_value values[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text(click->reseller)},
        {AD_CLICK_DAY, false, bytes_text(click->day)},
        {AD_CLICK_TIME, false, write_batch_bigint(batch, click->time_ms)},
        {AD_CLICK_AD_ID, false, bytes_text(click->ad)},
        {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, rank)}};
    write_batch_delete(batch, table, values, 5);
    cr_assert_eq(engine_fixture_apply(&bench->fixture, batch), 0);
    write_batch_free(batch);
}

/* A click has the rank in a restored directory that it had in the store, where deleted ones before
 * it could have been purged meanwhile: the log that follows is replayed over a state with them. */
Test(backup, that_follows_gives_clicks_the_ranks_that_they_had)
{
    static const struct click click = {"r1", "2013-11-28", 1385605012000, "a", "0.01"};
    struct bench bench;
    bench_start(&bench, 17);
    cr_assert_eq(engine_fixture_clicks(&bench.fixture, &click, 1), 0);
    follow(&bench);
    for (int64_t round = 1; round < 4; round++) {
        cr_assert_eq(engine_fixture_clicks(&bench.fixture, &click, 1), 0);
        engine_fixture_flush(&bench.fixture);
        delete_rank(&bench, &click, round);
        engine_fixture_compact(&bench.fixture);
    }
    cr_assert_eq(engine_fixture_clicks(&bench.fixture, &click, 1), 0);
    catch_up(&bench);
    struct buffer here =
        engine_fixture_rows(&bench.fixture, TABLE_AD_CLICK, (struct bytes){0}, 100, false);
    struct buffer there = rows_of(bench.target);
    cr_expect_str_eq((const char *)here.data, (const char *)there.data);
    buffer_release(&here);
    buffer_release(&there);
    bench_stop(&bench);
}

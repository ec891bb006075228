/* backup_bench: see the header. */
#include "tests/sim/backup_bench.h"

#include <inttypes.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "storage/backup/backup_restore.h"

enum { CLONES = 2 }; /* crashes of a moment */

static const char *const day = "2013-11-28";

/* Where backup_options' open finds the disk: one test runs in a process. */
static struct sim_disk *opened;

void backup_bench_point_at(struct sim_disk *target)
{
    opened = target;
}

int backup_bench_open_target(const char *path, bool create, struct disk **disk_out,
                             struct error *err)
{
    (void)path;
    (void)create;
    (void)err;
    *disk_out = sim_disk_interface(opened);
    return 0;
}

void backup_bench_close_target(struct disk *disk)
{
    disk->unlock(disk);
}

/* ---- the store ---- */

void backup_bench_open(struct backup_bench *bench, struct sim_world *sim, struct sim_disk *target)
{
    struct error err = {0};
    bench->sim = sim;
    bench->target = target;
    opened = target;
    bench->metrics = metrics_new();
    bench->fixture = (struct engine_fixture){0};
    uint64_t log_file = bench->keeps_no_log ? BACKUP_BENCH_LONG_LOG_FILE : BACKUP_BENCH_LOG_FILE;
    bench->fixture.options.log_file_size = log_file;
    bench->fixture.options.log_first_file_size = log_file;
    uint64_t archive = bench->archive_bytes > 0 ? bench->archive_bytes : 8 << 20;
    bench->fixture.options.archive_bytes = bench->keeps_no_log ? 0 : archive;
    bench->fixture.options.memtable_rows_max = bench->memtable_rows_max;
    cr_assert_eq(engine_fixture_open_in(&bench->fixture, sim_world_interface(sim), &err), 0, "%s",
                 err.text);
    bench->backup = backup_new(bench->fixture.store, bench->fixture.world, bench->metrics);
}

void backup_bench_start(struct backup_bench *bench, uint64_t seed)
{
    *bench = (struct backup_bench){0};
    backup_bench_open(bench, sim_world_new(seed), sim_disk_new());
}

void backup_bench_set_ended(void *context, int status, const struct error *err)
{
    struct backup_bench_ended *ended = context;
    ended->is_done = true;
    ended->status = status;
    if (err != NULL)
        ended->err = *err;
}

void backup_bench_step_until(struct backup_bench *bench, const bool *is_done)
{
    struct executor *executor = bench->fixture.world->executor;
    while (!*is_done)
        cr_assert(executor->step(executor));
}

void backup_bench_close(struct backup_bench *bench)
{
    struct backup_bench_ended ended = {0};
    backup_close(bench->backup, backup_bench_set_ended, &ended);
    backup_bench_step_until(bench, &ended.is_done);
    if (bench->may_fail)
        engine_fixture_close_failed(&bench->fixture);
    else
        engine_fixture_close(&bench->fixture);
    metrics_free(bench->metrics);
    sim_world_free(bench->sim);
}

void backup_bench_stop(struct backup_bench *bench)
{
    backup_bench_close(bench);
    sim_disk_free(bench->target);
}

static void click_of(uint32_t i, char amount[16], struct click *click)
{
    snprintf(amount, 16, "%u.%02u", i / 100, i % 100);
    *click = (struct click){"r1", day, 1385605012000 + i, "a", amount};
}

static void acknowledged(void *context, int status, const struct error *err)
{
    struct backup_bench *bench = context;
    struct clock *clock = bench->fixture.world->clock;
    cr_assert(status == 0 || bench->may_fail, "%s", err != NULL ? err->text : "");
    if (status == 0)
        bench->times_us[++bench->acknowledged] = clock->wall_us(clock);
    else
        bench->has_failed = true;
}

/* Begin to write the next click; false when the store is busy, or has failed. */
static bool write_begin(struct backup_bench *bench)
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
    cr_assert(rc == 0 || rc == ERROR_FULL || (bench->may_fail && rc == ERROR_FAILED));
    bench->has_failed |= rc == ERROR_FAILED;
    bench->written += rc == 0;
    return rc == 0;
}

void backup_bench_write(struct backup_bench *bench, uint32_t count)
{
    struct executor *executor = bench->fixture.world->executor;
    for (uint32_t i = 0; i < count && !bench->has_failed; i++) {
        while (!write_begin(bench) && !bench->has_failed)
            cr_assert(executor->step(executor));
        while (bench->acknowledged < bench->written && !bench->has_failed)
            cr_assert(executor->step(executor));
        sim_world_advance_us(bench->sim, 5000);
    }
}

/* ---- backups ---- */

void backup_bench_done(void *context, int status, const struct error *err,
                       const struct backup_progress *progress)
{
    (void)progress;
    backup_bench_set_ended(context, status, err);
}

void backup_bench_begin(struct backup_bench *bench, struct backup_bench_ended *ended, bool follows,
                        uint32_t keep)
{
    static const struct backup_handler handler = {.done = backup_bench_done};
    const struct backup_options options = {.path = "/b",
                                           .follows = follows,
                                           .keep = keep,
                                           .log_max = bench->log_max,
                                           .open = backup_bench_open_target,
                                           .close = backup_bench_close_target};
    *ended = (struct backup_bench_ended){0};
    cr_assert_eq(backup_start(bench->backup, &options, &handler, ended, NULL), 0);
}

/* While it runs `writes` clicks are written, between its steps. */
int backup_bench_back_up(struct backup_bench *bench, uint32_t writes,
                         struct backup_bench_ended *ended)
{
    struct executor *executor = bench->fixture.world->executor;
    backup_bench_begin(bench, ended, false, 0);
    while (!ended->is_done) {
        if (writes > 0 && write_begin(bench))
            writes--;
        cr_assert(executor->step(executor));
    }
    while (bench->acknowledged < bench->written)
        cr_assert(executor->step(executor));
    return ended->status;
}

void backup_bench_expect(struct backup_bench *bench)
{
    struct backup_bench_ended ended;
    cr_assert_eq(backup_bench_back_up(bench, 0, &ended), 0, "%s", ended.err.text);
}

/* ---- restores ---- */

/* How many clicks there are; fails the test unless they are the first so many. */
uint32_t backup_bench_clicks(struct engine_fixture *fixture)
{
    unsigned rows = 0, whole = 0, cents = 0;
    struct buffer stats = engine_fixture_stats(fixture, "r1", day);
    if (stats.data[0] != '\0')
        cr_assert_geq(sscanf((const char *)stats.data, "%u %u.%2u", &rows, &whole, &cents), 2);
    cr_assert_eq(whole * 100 + cents, rows * (rows + 1) / 2, "%s", (const char *)stats.data);
    buffer_release(&stats);
    return rows;
}

struct bench_progress {
    uint64_t done;
    uint64_t total;
};

static void note_progress(void *context, uint64_t bytes_done, uint64_t bytes_total)
{
    struct bench_progress *progress = context;
    cr_assert(bytes_done > progress->done && bytes_done <= bytes_total);
    *progress = (struct bench_progress){bytes_done, bytes_total};
}

struct backup_bench_restored backup_bench_restore_to(struct sim_disk *target,
                                                     enum backup_moment moment, int64_t time_us,
                                                     struct sim_world *sim)
{
    struct backup_bench_restored restored = {0};
    struct bench_progress progress = {0};
    const struct backup_restore_options options = {.source = sim_disk_interface(target),
                                                   .world = sim_world_interface(sim),
                                                   .moment = moment,
                                                   .time_us = time_us,
                                                   .progress = note_progress,
                                                   .context = &progress};
    restored.status = backup_restore(&options, &restored.report, &restored.err);
    if (restored.status == 0) {
        cr_assert_eq(progress.done, progress.total);
        struct engine_fixture fixture = {0};
        struct error err = {0};
        fixture.options.log_first_file_size = BACKUP_BENCH_LOG_FILE;
        cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), &err), 0, "%s",
                     err.text);
        restored.clicks = backup_bench_clicks(&fixture);
        engine_fixture_close(&fixture);
    }
    return restored;
}

struct backup_bench_restored backup_bench_restore(struct sim_disk *target,
                                                  enum backup_moment moment, int64_t time_us)
{
    struct sim_world *sim = sim_world_new(7);
    struct backup_bench_restored restored = backup_bench_restore_to(target, moment, time_us, sim);
    sim_world_free(sim);
    return restored;
}

void backup_bench_expect_restored(struct backup_bench *bench, enum backup_moment moment,
                                  uint32_t clicks)
{
    struct backup_bench_restored restored = backup_bench_restore(bench->target, moment, 0);
    cr_assert_eq(restored.status, 0, "%s", restored.err.text);
    cr_assert_eq(restored.clicks, clicks);
}

/* ---- ranks ---- */

void backup_bench_delete_rank(struct backup_bench *bench, const struct click *click, int64_t rank)
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

struct buffer backup_bench_rows_here(struct backup_bench *bench, uint32_t table_id)
{
    return engine_fixture_rows(&bench->fixture, table_id, (struct bytes){0}, 100, false);
}

int backup_bench_rows(struct sim_disk *target, enum backup_moment moment, int64_t time_us,
                      uint32_t table_id, struct buffer *rows_out, struct error *err)
{
    struct sim_world *sim = sim_world_new(7);
    struct engine_fixture fixture = {0};
    struct backup_restored report;
    const struct backup_restore_options options = {.source = sim_disk_interface(target),
                                                   .world = sim_world_interface(sim),
                                                   .moment = moment,
                                                   .time_us = time_us};
    int rc = backup_restore(&options, &report, err);
    if (rc == 0) {
        fixture.options.log_first_file_size = BACKUP_BENCH_LOG_FILE;
        cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), err), 0, "%s",
                     err->text);
        *rows_out = engine_fixture_rows(&fixture, table_id, (struct bytes){0}, 100, false);
        engine_fixture_close(&fixture);
    }
    sim_world_free(sim);
    return rc;
}

/* ---- faults ---- */

static void check_crash(struct backup_bench_crashes *crashes, uint64_t seed)
{
    struct sim_disk *target = sim_disk_crash(crashes->bench->target, seed);
    struct backup_bench_restored restored = backup_bench_restore(target, crashes->moment, 0);
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

void backup_bench_crash_before(void *context, enum sim_call call)
{
    struct backup_bench_crashes *crashes = context;
    if (!sim_call_keeps(call) || crashes->is_checking)
        return;
    crashes->is_checking = true;
    for (uint64_t i = 0; i < CLONES; i++)
        check_crash(crashes, crashes->count * 7919 + i);
    crashes->is_checking = false;
}

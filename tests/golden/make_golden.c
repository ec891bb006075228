/* make_golden: the golden files of the present format, below the directory given (tests/golden/v3).
 *
 * To be run once for a format, when it is new; what it wrote is then never changed.  A short
 * history in the simulated world: fresh rows, late and equal ones, rates that are set and deleted,
 * counters that are set, in segments and behind them in the log; a backup before the last
 * writes. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "storage/backup/backup.h"
#include "tests/lib/golden.h"
#include "tests/sim/sim_world.h"

static struct sim_disk *target;

static int open_target(const char *path, bool create, struct disk **disk_out, struct error *err)
{
    (void)path;
    (void)create;
    (void)err;
    *disk_out = sim_disk_interface(target);
    return 0;
}

static void close_target(struct disk *disk)
{
    disk->unlock(disk);
}

static void backup_done(void *context, int status, const struct error *err,
                        const struct backup_progress *progress)
{
    (void)err;
    (void)progress;
    check(status == 0);
    *(bool *)context = true;
}

static void closed(void *context, int status, const struct error *err)
{
    (void)err;
    check(status == 0);
    *(bool *)context = true;
}

static void step_until(struct engine_fixture *fixture, const bool *is_done)
{
    while (!*is_done)
        check(fixture->world->executor->step(fixture->world->executor));
}

static void make_backup(struct engine_fixture *fixture)
{
    static const struct backup_handler handler = {.done = backup_done};
    const struct backup_options options = {
        .path = "backup", .open = open_target, .close = close_target};
    struct metrics *metrics = metrics_new();
    struct backup *backup = backup_new(fixture->store, fixture->world, metrics);
    bool is_done = false;
    check(backup_start(backup, &options, &handler, &is_done, NULL) == 0);
    step_until(fixture, &is_done);
    is_done = false;
    backup_close(backup, closed, &is_done);
    step_until(fixture, &is_done);
    metrics_free(metrics);
}

static void write_clicks(struct engine_fixture *fixture, uint32_t first, uint32_t count)
{
    static const char *const days[] = {"2013-11-28", "2013-11-29"};
    for (uint32_t i = first; i < first + count; i++) {
        char ad[16];
        snprintf(ad, sizeof(ad), "ad%u", i % 5);
        const struct click clicks[] = {
            {i % 3 == 0 ? "r1" : "r2", days[i % 2], 1385605012000 + i * 997, ad, "0.01"},
            {"r3", days[i % 2], 1385605012000 - i, ad, i % 2 == 0 ? "1.5" : "0.25"},
            {"r1", days[0], 1385605099000, "same", "0.005"},
        };
        check(engine_fixture_clicks(fixture, clicks, 3) == 0);
    }
}

static void write_rate(struct engine_fixture *fixture, const char *reseller, int64_t percent)
{
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_RESELLER);
    struct write_batch *batch = write_batch_new();
    struct column_value values[] = {
        {RESELLER_ID, false, bytes_text(reseller)},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text("2013-11-01")},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, decimal_from(percent, 2))},
    };
    if (percent == 0)
        write_batch_delete(batch, table, values, 2);
    else
        write_batch_insert(batch, table, values, 3);
    check(engine_fixture_apply(fixture, batch) == 0);
    write_batch_free(batch);
}

static void write_counter(struct engine_fixture *fixture, const char *ad, int64_t value)
{
    struct write_batch *batch = write_batch_new();
    const struct counter_increment increment = {.table_id = TABLE_CLICKS_PER_AD,
                                                .column_id = COUNTER_CLICKS,
                                                .key = arena_copy(batch->arena, bytes_text(ad)),
                                                .change = COUNTER_SET,
                                                .value = value};
    write_batch_add_increment(batch, &increment);
    check(engine_fixture_apply(fixture, batch) == 0);
    write_batch_free(batch);
}

static void describe(struct engine_fixture *fixture, const char *directory, const char *name)
{
    char path[512];
    struct buffer text = golden_describe(fixture);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    golden_write(path, buffer_view(&text));
    buffer_release(&text);
}

int main(int argc, char **argv)
{
    char path[512];
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden DIR\n");
        return 1;
    }
    struct sim_world *sim = sim_world_new(1);
    struct engine_fixture fixture = {
        .options = {.log_file_size = 64 << 10, .log_first_file_size = 64 << 10}};
    target = sim_disk_new();
    check(mkdir(argv[1], 0777) == 0 || errno == EEXIST);
    check(engine_fixture_open_in(&fixture, sim_world_interface(sim), NULL) == 0);
    write_clicks(&fixture, 0, 4);
    write_rate(&fixture, "r1", 25);
    write_rate(&fixture, "r2", 10);
    engine_fixture_flush(&fixture);
    write_counter(&fixture, "other", 41);
    write_rate(&fixture, "r2", 0);
    write_clicks(&fixture, 4, 2);
    make_backup(&fixture);
    describe(&fixture, argv[1], "backup.txt");
    write_clicks(&fixture, 6, 1);
    describe(&fixture, argv[1], "data.txt");
    engine_fixture_close(&fixture);
    snprintf(path, sizeof(path), "%s/data", argv[1]);
    golden_save(sim_world_disk(sim), path);
    snprintf(path, sizeof(path), "%s/backup", argv[1]);
    golden_save(target, path);
    sim_disk_free(target);
    sim_world_free(sim);
    return 0;
}

/* The worked examples of docs/FORMATS.md are what is written. */
#include <criterion/criterion.h>

#include "storage/base/calendar.h"
#include "storage/commit_log.h"
#include "tests/lib/formats.h"
#include "tests/lib/golden.h"
#include "tests/sim/sim_world.h"

static void expect_file(const char *section, const char *path, size_t least)
{
    struct buffer file = golden_read(path);
    formats_expect(section, buffer_view(&file), least);
    buffer_release(&file);
}

Test(formats, of_a_manifest_a_roster_and_a_backup_are_shown_as_the_golden_files_have_them)
{
    expect_file("Manifest", "tests/golden/v1/data/manifest", 150);
    expect_file("Roster", "tests/golden/v1/data/segments/roster", 100);
    expect_file("Backup", "tests/golden/v1/backup/points/0000000000000001.point", 150);
}

static int no_frame(void *context, uint64_t frame, int64_t timestamp_us, struct bytes payload,
                    struct error *err)
{
    (void)context;
    (void)timestamp_us;
    (void)payload;
    return error_set(err, ERROR_CORRUPT, "frame %llu in a new log", (unsigned long long)frame);
}

static void durable(void *context, int status, uint64_t frame)
{
    (void)frame;
    cr_assert_eq(status, 0);
    *(bool *)context = true;
}

Test(formats, of_the_commit_log_are_shown_as_the_log_writes_them)
{
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    const struct commit_log_options options = {0};
    struct commit_log *log;
    struct buffer payload = {0};
    struct disk_file *file;
    uint8_t content[8192];
    int64_t time_ms;
    bool is_durable = false;
    cr_assert_eq(commit_log_open(world, &options, no_frame, durable, &is_durable, &log, NULL), 0);
    cr_assert(time_parse(bytes_text("2013-11-28T16:00:00.123Z"), &time_ms));
    cr_assert(commit_log_has_room(log, 5));
    buffer_append_text(&payload, "hello");
    commit_log_append(log, time_ms * 1000, &payload);
    while (!is_durable)
        cr_assert(world->executor->step(world->executor));
    cr_assert_eq(world->disk->open(world->disk, "log/00000001.log", DISK_READ, &file, NULL), 0);
    cr_assert_eq(world->disk->read(world->disk, file, 0, content, sizeof content), 8192);
    world->disk->close(world->disk, file);
    formats_expect("Commit log", bytes_of(content, sizeof content), 70);
    commit_log_close(log);
    buffer_release(&payload);
    sim_world_free(sim);
}

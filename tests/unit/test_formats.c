/* The worked examples of docs/FORMATS.md are what is written. */
#include <criterion/criterion.h>

#include "storage/engine/store_rows.h"
#include "base/calendar.h"
#include "storage/log/commit_log.h"
#include "storage/segment/segment_format.h"
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
    expect_file("Manifest", "tests/golden/v3/data/manifest", 150);
    expect_file("Roster", "tests/golden/v3/data/segments/roster", 100);
    expect_file("Backup", "tests/golden/v3/backup/points/0000000000000001.point", 150);
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

static void append_hello(struct world *world, struct commit_log *log, bool *is_durable)
{
    struct buffer payload = {0};
    int64_t time_ms;
    *is_durable = false;
    cr_assert(calendar_time_parse(bytes_text("2013-11-28T16:00:00.123Z"), &time_ms));
    cr_assert(commit_log_has_room(log, 5));
    buffer_append_text(&payload, "hello");
    commit_log_append(log, time_ms * 1000, &payload);
    while (!*is_durable)
        cr_assert(world->executor->step(world->executor));
    buffer_release(&payload);
}

Test(formats, of_the_commit_log_are_shown_as_the_log_writes_them)
{
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    const struct commit_log_options options = {0};
    struct commit_log *log;
    struct disk_file *file;
    uint8_t content[8192];
    bool is_durable;
    cr_assert_eq(commit_log_open(world, &options, no_frame, durable, &is_durable, &log, NULL), 0);
    append_hello(world, log, &is_durable);
    commit_log_note_purges(log, 3);
    append_hello(world, log, &is_durable);
    cr_assert_eq(world->disk->open(world->disk, "log/00000001.log", DISK_READ, &file, NULL), 0);
    cr_assert_eq(world->disk->read(world->disk, file, 0, content, sizeof content), 8192);
    world->disk->close(world->disk, file);
    formats_expect("Commit log", bytes_of(content, sizeof content), 140);
    commit_log_close(log);
    sim_world_free(sim);
}

Test(formats, of_a_row_span_are_shown_as_the_golden_segment_has_them)
{
    struct buffer file = golden_read("tests/golden/v1/rollup/segments/0000000000000003.seg");
    struct segment_footer footer;
    struct error err = {0};
    cr_assert_eq(
        segment_format_read_footer(file.data + file.size - SEGMENT_BLOCK, file.size, &footer, &err),
        0, "%s", err.text);
    cr_assert_eq(footer.info.table_id, TABLE_AMOUNT_BY_DAY);
    const struct segment_section *extra = &footer.sections[SECTION_EXTRA];
    cr_assert_eq(extra->size, 25);
    formats_expect("Narrow span", bytes_of(file.data + extra->offset, extra->size), 25);
    buffer_release(&file);
}

/* Values of the one row of a table, one behind the other: column 0 is the partition's key. */
struct joined {
    const uint32_t *columns;
    uint32_t count;
    struct buffer bytes;
    bool is_done;
};

static int join_row(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    struct joined *joined = context;
    struct bytes value;
    (void)err;
    cr_assert_eq(joined->bytes.size, 0);
    for (uint32_t i = 0; i < joined->count; i++) {
        if (joined->columns[i] == 0)
            value = row->key;
        else
            cr_assert(store_row_value(table, row, joined->columns[i], &value));
        buffer_append_bytes(&joined->bytes, value);
    }
    return 0;
}

static void joined_all(void *context, int status, const struct error *err)
{
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    ((struct joined *)context)->is_done = true;
}

static void expect_row(const char *section, uint32_t table_id, const uint32_t *columns,
                       uint32_t count, size_t least)
{
    struct sim_world *sim = sim_world_new(1);
    struct engine_fixture fixture = {.options = {.read_only = true}};
    struct joined joined = {.columns = columns, .count = count};
    struct error err = {0};
    const struct read_request request = store_rows_request(table_id, NULL, READ_DURABLE);
    golden_load("tests/golden/v1/rollup", sim_world_disk(sim));
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), &err), 0, "%s",
                 err.text);
    store_rows_read(fixture.store, &request, join_row, joined_all, &joined);
    while (!joined.is_done)
        cr_assert(fixture.world->executor->step(fixture.world->executor));
    formats_expect(section, buffer_view(&joined.bytes), least);
    engine_fixture_close(&fixture);
    buffer_release(&joined.bytes);
    sim_world_free(sim);
}

Test(formats, of_a_sealed_day_and_a_stream_are_shown_as_the_golden_rows_have_them)
{
    static const uint32_t sealed[] = {0, SEALED_ID, SEALED_STATS, SEALED_ADS, SEALED_CHECKSUM};
    static const uint32_t unmarked[] = {DEFINED_UNMARKED};
    expect_row("Sealed days", TABLE_SEALED_DAY, sealed, 5, 115);
    expect_row("Defined streams", TABLE_DEFINED_STREAM, unmarked, 1, 1);
}

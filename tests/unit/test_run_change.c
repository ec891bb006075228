/* A change of the live runs in its steps, on a directory in memory. */
#include "storage/engine/run_change.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/murmur3.h"
#include "storage/segment/row_segment.h"
#include "tests/sim/sim_world.h"

enum { TABLE = 7 };

struct fixture {
    struct sim_world *sim;
    struct world *world;
    struct engine_env env;
    struct run_set runs;
    const struct table *table;
};

static void fixture_open(struct fixture *fixture)
{
    static const struct column_definition columns[] = {
        {.id = 1, .name = "id", .type = "text", .kind = COLUMN_PARTITION},
        {.id = 2, .name = "clicks", .type = "bigint", .kind = COLUMN_REGULAR},
    };
    static const struct table_definition definition = {.id = TABLE,
                                                       .keyspace = "k",
                                                       .name = "t",
                                                       .comment = "",
                                                       .columns = columns,
                                                       .column_count = 2};
    static const uint8_t directory_id[16] = {1};
    struct schema *schema = schema_new();
    struct manifest *manifest;
    struct error err;
    *fixture = (struct fixture){.sim = sim_world_new(1)};
    fixture->world = sim_world_interface(fixture->sim);
    cr_assert_eq(schema_add_keyspace(schema, "k", NULL), 0);
    cr_assert_eq(schema_add_table(schema, &definition, NULL), 0);
    cr_assert_eq(
        manifest_create(fixture->world, schema, directory_id, bytes_text(""), &manifest, &err), 0,
        "%s", err.text);
    cr_assert_eq(fixture->world->disk->make_directory(fixture->world->disk, "segments"), 0);
    schema_unref(schema);
    engine_env_init(&fixture->env, fixture->world, &(struct engine_options){0});
    run_set_init(&fixture->runs, &fixture->env, manifest);
    fixture->table = schema_table(fixture->runs.schema, TABLE);
}

static void fixture_close(struct fixture *fixture)
{
    run_set_release(&fixture->runs);
    sim_world_free(fixture->sim);
}

/* A segment that holds the deletion of a partition. */
static struct segment_info write_segment(struct fixture *fixture)
{
    struct segment_info info = {.id = run_set_next_id(&fixture->runs),
                                .table_id = TABLE,
                                .kind = SEGMENT_ROW,
                                .frame_first = 1,
                                .frame_last = 2,
                                .schema_version = 1};
    struct row_segment_writer *writer;
    struct error err;
    cr_assert_eq(row_segment_writer_open(fixture->world, &info, &writer, &err), 0);
    struct stream *stream =
        stream_of_array(fixture->table, (struct deletion){.timestamp_us = 5}, NULL, 0);
    cr_assert_eq(
        row_segment_writer_partition(writer, murmur3_token("a", 1), bytes_text("a"), stream, &err),
        0);
    stream_close(stream);
    cr_assert_eq(row_segment_writer_finish(writer, &info, &err), 0);
    row_segment_writer_close(writer);
    return info;
}

/* A segment that is in the change; returns its id. */
static uint64_t add_segment(struct fixture *fixture, struct run_change *change)
{
    struct segment_info info = write_segment(fixture);
    struct error err;
    cr_assert_eq(run_change_add(change, &info, fixture->table, &err), 0, "%s", err.text);
    return info.id;
}

static bool has_file(struct fixture *fixture, uint64_t id)
{
    struct disk *disk = fixture->world->disk;
    struct disk_file *file;
    char path[64];
    segment_path(id, path);
    int rc = disk->open(disk, path, DISK_READ, &file, NULL);
    if (rc == 0)
        disk->close(disk, file);
    cr_assert(rc == 0 || rc == -ENOENT);
    return rc == 0;
}

static void change_make(struct run_change *change)
{
    struct error err;
    cr_assert_eq(run_change_publish(change, (struct manifest_edit){.flushed_frame = 2}, &err), 0);
    run_change_apply(change);
    run_change_release(change);
}

Test(run_change, the_manifest_and_memory_swap_what_was_removed_for_what_was_added)
{
    struct fixture fixture;
    fixture_open(&fixture);
    struct run_change first = {.runs = &fixture.runs};
    uint64_t old = add_segment(&fixture, &first);
    change_make(&first);
    cr_assert_eq(fixture.runs.count, 1);
    struct run_change second = {.runs = &fixture.runs};
    uint64_t new = add_segment(&fixture, &second);
    run_change_remove(&second, fixture.runs.segments[0]);
    cr_expect(has_file(&fixture, old), "until the change is made");
    change_make(&second);
    const struct manifest_state *state = manifest_state(fixture.runs.manifest);
    cr_assert_eq(state->segment_count, 1);
    cr_expect_eq(state->segments[0].id, new);
    cr_expect_eq(state->flushed_frame, 2);
    cr_assert_eq(fixture.runs.count, 1);
    cr_expect_eq(segment_info(fixture.runs.segments[0])->id, new);
    cr_expect(has_file(&fixture, new));
    cr_expect_not(has_file(&fixture, old));
    fixture_close(&fixture);
}

Test(run_change, what_is_discarded_leaves_no_file_and_what_is_released_does)
{
    struct fixture fixture;
    fixture_open(&fixture);
    struct run_change discarded = {.runs = &fixture.runs};
    struct run_change kept = {.runs = &fixture.runs};
    uint64_t gone = add_segment(&fixture, &discarded);
    uint64_t left = add_segment(&fixture, &kept);
    run_change_discard(&discarded);
    run_change_release(&discarded);
    run_change_release(&kept);
    cr_expect_not(has_file(&fixture, gone));
    cr_expect(has_file(&fixture, left));
    cr_expect_eq(fixture.runs.count, 0);
    cr_expect_eq(manifest_state(fixture.runs.manifest)->segment_count, 0);
    fixture_close(&fixture);
}

Test(run_change, a_segment_that_cannot_be_opened_leaves_no_file)
{
    struct fixture fixture;
    struct error err;
    fixture_open(&fixture);
    struct run_change change = {.runs = &fixture.runs};
    struct segment_info info = write_segment(&fixture);
    sim_disk_fail(sim_world_disk(fixture.sim), SIM_OPEN, 1, -EMFILE, false);
    cr_expect_eq(run_change_add(&change, &info, fixture.table, &err), -EMFILE);
    cr_expect_eq(change.added_count, 0);
    cr_expect_not(has_file(&fixture, info.id));
    run_change_release(&change);
    fixture_close(&fixture);
}

Test(run_change, a_segment_that_holds_nothing_is_left_out)
{
    struct fixture fixture;
    struct error err;
    fixture_open(&fixture);
    struct run_change change = {.runs = &fixture.runs};
    const struct segment_info info = {.id = 9, .table_id = TABLE, .kind = SEGMENT_ROW};
    cr_expect_eq(run_change_add(&change, &info, fixture.table, &err), 0);
    cr_expect_eq(change.added_count, 0);
    run_change_release(&change);
    fixture_close(&fixture);
}

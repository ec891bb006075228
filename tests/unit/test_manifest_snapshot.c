/* test_manifest_snapshot: what stands in for a manifest and its copy is whole, or refused.
 *
 * Method: a manifest on the simulated world names real segments, each of which is empty; then files
 * are removed, cut and changed. */
#include "storage/manifest/manifest_snapshot.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/memory.h"
#include "storage/manifest/manifest_probe.h"
#include "storage/segment/segment.h"
#include "tests/sim/sim_world.h"

#define ROSTER_PATH "segments/" MANIFEST_SNAPSHOT_NAME

static const uint8_t directory_id[16] = "0123456789abcde";

static struct schema *schema_example(void)
{
    struct schema *schema = schema_new();
    cr_assert_eq(schema_add_keyspace(schema, "k", NULL), 0);
    return schema;
}

static struct segment_info make_segment(struct world *world, uint64_t id)
{
    struct segment_info info = {.id = id,
                                .table_id = 7,
                                .kind = SEGMENT_ROW,
                                .frame_first = id,
                                .frame_last = id,
                                .schema_version = 1};
    struct segment_writer *writer;
    cr_assert_eq(segment_writer_open(world, &info, &writer, NULL), 0);
    cr_assert_eq(segment_writer_finish(writer, &info, NULL), 0);
    segment_writer_close(writer);
    return info;
}

/* A directory with segments 2 and 3, of which 3 was merged from 1, which is there, too. */
static struct sim_world *make_directory(void)
{
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    struct schema *schema = schema_example();
    struct manifest *manifest;
    const uint64_t merged = 1;
    cr_assert_eq(
        manifest_create(world, schema, directory_id, bytes_text("zone=UTC\n"), &manifest, NULL), 0);
    schema_unref(schema);
    const struct segment_info infos[] = {make_segment(world, 1), make_segment(world, 2),
                                         make_segment(world, 3)};
    const struct manifest_edit flush = {.added = infos, .added_count = 2, .flushed_frame = 9};
    const struct manifest_edit merge = {
        .added = &infos[2], .added_count = 1, .removed = &merged, .removed_count = 1};
    cr_assert_eq(manifest_apply(manifest, &flush, NULL), 0);
    cr_assert_eq(manifest_apply(manifest, &merge, NULL), 0);
    manifest_close(manifest);
    return sim;
}

static struct buffer read_roster(struct world *world)
{
    struct disk_file *file;
    struct buffer content = {0};
    cr_assert_eq(world->disk->open(world->disk, ROSTER_PATH, DISK_READ, &file, NULL), 0);
    content.size = (size_t)world->disk->size(world->disk, file);
    content.data = memory_alloc(content.size);
    cr_assert_eq(world->disk->read(world->disk, file, 0, content.data, content.size),
                 (int64_t)content.size);
    world->disk->close(world->disk, file);
    return content;
}

static void lose_manifests(struct world *world)
{
    cr_assert_eq(world->disk->remove(world->disk, MANIFEST_PATH), 0);
    cr_assert_eq(world->disk->remove(world->disk, "manifest.copy"), 0);
}

static int salvage(struct world *world, struct manifest **manifest_out, struct error *err)
{
    return manifest_open(world, &(struct manifest_options){.salvage = true}, manifest_out, err);
}

/* ---- the record ---- */

Test(manifest_snapshot, says_what_the_manifest_says)
{
    struct sim_world *sim = make_directory();
    struct buffer record = read_roster(sim_world_interface(sim));
    struct manifest *manifest;
    cr_assert_eq(manifest_snapshot_decode(buffer_view(&record), &manifest, NULL), 0);
    const struct manifest_state *state = manifest_state(manifest);
    cr_expect_eq(state->segment_count, 2);
    cr_expect_eq(state->segments[0].id, 2);
    cr_expect_eq(state->segments[1].id, 3);
    cr_expect_eq(state->flushed_frame, 9);
    cr_expect_eq(state->segment_id_next, 4);
    cr_expect(memcmp(state->directory_id, directory_id, 16) == 0);
    cr_expect(bytes_equal(state->properties, bytes_text("zone=UTC\n")));
    struct buffer again = {0};
    manifest_snapshot_encode(state, &again);
    cr_expect(bytes_equal(buffer_view(&again), buffer_view(&record)));
    manifest_close(manifest);
    buffer_release(&again);
    buffer_release(&record);
    sim_world_free(sim);
}

Test(manifest_snapshot, cut_at_any_byte_is_damage)
{
    struct sim_world *sim = make_directory();
    struct buffer record = read_roster(sim_world_interface(sim));
    for (size_t size = 0; size < record.size; size++) {
        struct manifest *manifest;
        cr_assert_eq(manifest_snapshot_decode(bytes_of(record.data, size), &manifest, NULL),
                     ERROR_CORRUPT);
        cr_assert_null(manifest);
    }
    buffer_release(&record);
    sim_world_free(sim);
}

Test(manifest_snapshot, with_any_bit_flipped_is_damage)
{
    struct sim_world *sim = make_directory();
    struct buffer record = read_roster(sim_world_interface(sim));
    for (size_t bit = 0; bit < 8 * record.size; bit++) {
        struct manifest *manifest;
        record.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_assert_eq(manifest_snapshot_decode(buffer_view(&record), &manifest, NULL),
                     ERROR_CORRUPT);
        record.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buffer_release(&record);
    sim_world_free(sim);
}

Test(manifest_snapshot, of_a_newer_format_is_refused_as_such)
{
    struct sim_world *sim = make_directory();
    struct buffer record = read_roster(sim_world_interface(sim));
    struct manifest *manifest;
    record.data[8] = 3;
    store_u32(record.data + record.size - 4, crc32c(0, record.data, record.size - 4));
    cr_expect_eq(manifest_snapshot_decode(buffer_view(&record), &manifest, NULL),
                 ERROR_NEWER_FORMAT);
    buffer_release(&record);
    sim_world_free(sim);
}

/* ---- a manifest made of it ---- */

Test(manifest_snapshot, makes_a_lost_manifest_again_without_what_was_merged)
{
    struct sim_world *sim = make_directory();
    struct world *world = sim_world_interface(sim);
    struct manifest *manifest;
    struct error err = {0};
    lose_manifests(world);
    cr_assert_eq(manifest_open(world, &(struct manifest_options){0}, &manifest, &err),
                 ERROR_CORRUPT);
    cr_expect(strstr(err.text, "serve --salvage") != NULL, "%s", err.text);
    cr_assert_eq(salvage(world, &manifest, &err), 0, "%s", err.text);
    cr_expect(strstr(err.text, "from segments/roster (2 segments, up to frame 9)") != NULL, "%s",
              err.text);
    manifest_close(manifest);
    cr_assert_eq(manifest_open(world, &(struct manifest_options){0}, &manifest, &err), 0);
    cr_assert_eq(manifest_state(manifest)->segment_count, 2);
    cr_expect_eq(manifest_state(manifest)->segments[0].id, 2);
    cr_expect_eq(manifest_state(manifest)->segments[1].id, 3);
    manifest_close(manifest);
    sim_world_free(sim);
}

Test(manifest_snapshot, is_not_asked_where_the_copy_is_whole)
{
    struct sim_world *sim = make_directory();
    struct world *world = sim_world_interface(sim);
    struct manifest *manifest;
    struct error err = {0};
    cr_assert_eq(world->disk->remove(world->disk, MANIFEST_PATH), 0);
    cr_assert_eq(world->disk->remove(world->disk, ROSTER_PATH), 0);
    cr_assert_eq(salvage(world, &manifest, &err), 0, "%s", err.text);
    cr_expect(strstr(err.text, "manifest.copy") != NULL, "%s", err.text);
    manifest_close(manifest);
    sim_world_free(sim);
}

Test(manifest_snapshot, keeps_both_of_the_damaged_ones)
{
    struct sim_world *sim = make_directory();
    struct world *world = sim_world_interface(sim);
    struct manifest *manifest;
    struct disk_file *file;
    struct error err = {0};
    sim_disk_flip_bit(sim_world_disk(sim), MANIFEST_PATH, 8 * 4100);
    sim_disk_flip_bit(sim_world_disk(sim), "manifest.copy", 8 * 4101);
    cr_assert_eq(salvage(world, &manifest, &err), 0, "%s", err.text);
    manifest_close(manifest);
    for (uint32_t i = 0; i < 2; i++) {
        const char *const kept[] = {"manifest.damaged-1", "manifest.damaged-2"};
        cr_assert_eq(world->disk->open(world->disk, kept[i], DISK_READ, &file, NULL), 0, "%s",
                     kept[i]);
        world->disk->close(world->disk, file);
    }
    lose_manifests(world);
    cr_expect_eq(manifest_probe(world->disk, &err), ERROR_CORRUPT, "%s", err.text);
    sim_world_free(sim);
}

Test(manifest_snapshot, names_what_is_gone_and_makes_nothing)
{
    struct sim_world *sim = make_directory();
    struct world *world = sim_world_interface(sim);
    struct manifest *manifest;
    struct error err = {0};
    char path[64];
    lose_manifests(world);
    segment_path(3, path);
    cr_assert_eq(world->disk->remove(world->disk, path), 0);
    cr_assert_eq(salvage(world, &manifest, &err), ERROR_CORRUPT);
    cr_expect(strstr(err.text, "1 of the 2 segments") != NULL && strstr(err.text, path) != NULL,
              "%s", err.text);
    cr_expect_eq(manifest_probe(world->disk, NULL), ERROR_CORRUPT);
    sim_world_free(sim);
}

Test(manifest_snapshot, a_segment_that_is_another_than_it_says_is_damage)
{
    struct sim_world *sim = make_directory();
    struct world *world = sim_world_interface(sim);
    struct manifest *manifest;
    struct error err = {0};
    char from[64], to[64];
    lose_manifests(world);
    segment_path(1, from);
    segment_path(2, to);
    cr_assert_eq(world->disk->rename(world->disk, from, to), 0);
    cr_assert_eq(salvage(world, &manifest, &err), ERROR_CORRUPT);
    cr_expect(strstr(err.text, "of another segment") != NULL, "%s", err.text);
    sim_world_free(sim);
}

Test(manifest_snapshot, one_that_is_out_of_date_goes_when_the_disk_is_full)
{
    struct sim_world *sim = make_directory();
    struct world *world = sim_world_interface(sim);
    struct manifest *manifest;
    struct disk_file *file;
    cr_assert_eq(manifest_open(world, &(struct manifest_options){0}, &manifest, NULL), 0);
    sim_disk_set_space(sim_world_disk(sim), sim_disk_used(sim_world_disk(sim)));
    cr_assert_eq(manifest_snapshot_write(world->disk, manifest_state(manifest), false), 0);
    cr_expect_eq(world->disk->open(world->disk, ROSTER_PATH, DISK_READ, &file, NULL), -ENOENT);
    sim_disk_set_space(sim_world_disk(sim), UINT64_MAX);
    cr_assert_eq(manifest_snapshot_write(world->disk, manifest_state(manifest), false), 0);
    struct buffer record = read_roster(world);
    cr_expect_gt(record.size, 0);
    buffer_release(&record);
    manifest_close(manifest);
    sim_world_free(sim);
}

/* ---- what verify says ---- */

/* Take the copy's records from `offset` on; each has a block here. */
static void cut_copy(struct world *world, uint64_t offset)
{
    static const uint8_t zeros[4096];
    struct disk_file *file;
    cr_assert_eq(world->disk->open(world->disk, "manifest.copy", DISK_WRITE, &file, NULL), 0);
    cr_assert_eq(world->disk->write(world->disk, file, offset, zeros, sizeof(zeros)), 0);
    world->disk->close(world->disk, file);
}

static int verify_again(struct world *world, bool read_only)
{
    struct manifest *manifest;
    const struct manifest_options options = {.read_only = read_only};
    cr_assert_eq(manifest_open(world, &options, &manifest, NULL), 0);
    int rc = manifest_verify(manifest, NULL);
    manifest_close(manifest);
    return rc;
}

Test(manifest_snapshot, the_copy_may_lack_the_last_record_and_no_other)
{
    struct sim_world *sim = make_directory();
    struct world *world = sim_world_interface(sim);
    cr_expect_eq(verify_again(world, true), 0);
    cut_copy(world, 3 * 4096);
    cr_expect_eq(verify_again(world, true), 0);
    cut_copy(world, 2 * 4096);
    cr_expect_eq(verify_again(world, true), ERROR_CORRUPT);
    cr_expect_eq(verify_again(world, false), 0, "an opening that writes makes it anew");
    cr_expect_eq(verify_again(world, true), 0);
    sim_world_free(sim);
}

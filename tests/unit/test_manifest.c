/* test_manifest: an edit that was applied is there after any crash; damage is never taken for one.
 *
 * Method: the real manifest on the simulated world, whose file is changed byte by byte, and whose
 * power fails before every call of a history. */
#include "storage/manifest/manifest.h"
#include "storage/segment/segment.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/memory.h"
#include "storage/manifest/manifest_probe.h"
#include "tests/sim/sim_world.h"

enum { BLOCK = 4096 };

static const uint8_t directory_id[16] = "0123456789abcde";

/* A directory and its manifest. */
struct bench {
    struct sim_world *sim;
    struct world *world;
    struct manifest *manifest;
    struct error err;
};

static struct schema *schema_example(void)
{
    static const struct column_definition columns[] = {
        {.id = 1, .name = "id", .type = "text", .kind = COLUMN_PARTITION},
        {.id = 2, .name = "clicks", .type = "bigint", .kind = COLUMN_REGULAR},
    };
    static const struct table_definition table = {
        .id = 7,
        .keyspace = "k",
        .name = "t",
        .comment = "",
        .columns = columns,
        .column_count = 2,
    };
    struct schema *schema = schema_new();

    cr_assert_eq(schema_add_keyspace(schema, "k", NULL), 0);
    cr_assert_eq(schema_add_table(schema, &table, NULL), 0);
    return schema;
}

static void bench_use(struct bench *bench, struct sim_world *sim)
{
    memset(bench, 0, sizeof(*bench));
    bench->sim = sim;
    bench->world = sim_world_interface(sim);
}

static void bench_init(struct bench *bench)
{
    struct schema *schema = schema_example();

    bench_use(bench, sim_world_new(1));
    cr_assert_eq(manifest_create(bench->world, schema, directory_id, bytes_text("zone=UTC\n"),
                                 &bench->manifest, &bench->err),
                 0, "%s", bench->err.text);
    schema_unref(schema);
}

static int bench_open(struct bench *bench, bool read_only)
{
    manifest_close(bench->manifest);
    const struct manifest_options options = {.read_only = read_only};

    return manifest_open(bench->world, &options, &bench->manifest, &bench->err);
}

static void bench_release(struct bench *bench)
{
    manifest_close(bench->manifest);
    sim_world_free(bench->sim);
}

static struct segment_info segment_example(uint64_t id)
{
    struct segment_info segment = {.id = id,
                                   .table_id = 7,
                                   .kind = SEGMENT_ROW,
                                   .frame_first = id * 10,
                                   .frame_last = id * 10 + 9,
                                   .size = id * 1000,
                                   .rows = id * 100,
                                   .partitions = id,
                                   .timestamp_max_us = (int64_t)id * -5,
                                   .schema_version = 3};

    return segment;
}

/* Edit `number` adds segment `number`, and every third takes away the one before. */
static int edit_apply(struct bench *bench, uint64_t number)
{
    struct segment_info added = segment_example(number);
    uint64_t removed = number - 1;
    struct manifest_edit edit = {.added = &added,
                                 .added_count = 1,
                                 .removed = &removed,
                                 .removed_count = number % 3 == 0,
                                 .flushed_frame = number * 10};

    if (number % 2 == 1)
        edit.timestamp_us = (int64_t)number * 7;
    if (number % 3 == 1)
        edit.clock =
            (struct clock_reading){(int64_t)number * 11, (int64_t)number, {(uint8_t)number}};
    return manifest_apply(bench->manifest, &edit, &bench->err);
}

/* Every second edit has a timestamp, and every third a mark. */
static void expect_clock(const struct manifest_state *state, uint64_t last)
{
    uint64_t given = last - (last % 2 == 0 && last > 0);
    uint64_t marked = last == 0 ? 0 : last - (last - 1) % 3;

    cr_assert_eq(state->timestamp_us, (int64_t)given * 7);
    if (marked == 0)
        return;
    cr_assert_eq(state->clock.wall_us, (int64_t)marked * 11);
    cr_assert_eq(state->clock.boot_us, (int64_t)marked);
    cr_assert_eq(state->clock.boot_id[0], (uint8_t)marked);
}

static void expect_edits(const struct manifest *manifest, uint64_t last)
{
    const struct manifest_state *state = manifest_state(manifest);
    uint32_t at = 0;

    cr_assert_eq(memcmp(state->directory_id, directory_id, 16), 0);
    cr_assert(bytes_equal(state->properties, bytes_text("zone=UTC\n")));
    cr_assert_not_null(schema_table_named(state->schema, "k", "t"));
    cr_assert_eq(state->flushed_frame, last * 10);
    cr_assert_eq(state->segment_id_next, last + 1);
    expect_clock(state, last);
    for (uint64_t id = 1; id <= last; id++) {
        struct segment_info expected = segment_example(id);

        if (id % 3 == 2 && id < last)
            continue;
        cr_assert_lt(at, state->segment_count);
        cr_assert_eq(state->segments[at].id, expected.id);
        cr_assert_eq(state->segments[at].table_id, expected.table_id);
        cr_assert_eq(state->segments[at].kind, expected.kind);
        cr_assert_eq(state->segments[at].frame_first, expected.frame_first);
        cr_assert_eq(state->segments[at].frame_last, expected.frame_last);
        cr_assert_eq(state->segments[at].size, expected.size);
        cr_assert_eq(state->segments[at].rows, expected.rows);
        cr_assert_eq(state->segments[at].partitions, expected.partitions);
        cr_assert_eq(state->segments[at].timestamp_max_us, expected.timestamp_max_us);
        cr_assert_eq(state->segments[at].schema_version, expected.schema_version);
        at++;
    }
    cr_assert_eq(at, state->segment_count);
}

static void file_read(struct bench *bench, struct buffer *content)
{
    struct disk *disk = bench->world->disk;
    struct disk_file *file;

    cr_assert_eq(disk->open(disk, "manifest", DISK_READ, &file, NULL), 0);
    buffer_clear(content);
    buffer_reserve(content, (size_t)disk->size(disk, file));
    content->size = (size_t)disk->size(disk, file);
    cr_assert_eq(disk->read(disk, file, 0, content->data, content->size), (int64_t)content->size);
    disk->close(disk, file);
}

static void file_replace(struct bench *bench, const char *path, const void *content, size_t size)
{
    struct disk *disk = bench->world->disk;
    struct disk_file *file;

    (void)disk->remove(disk, path);
    cr_assert_eq(disk->open(disk, path, DISK_WRITE | DISK_CREATE, &file, NULL), 0);
    if (size > 0)
        cr_assert_eq(disk->write(disk, file, 0, content, size), 0);
    cr_assert_eq(disk->sync(disk, file), 0);
    disk->close(disk, file);
}

/* Cut the file to so many blocks and have its header say so: most of it is zeros for edits to come,
 * which would be read at every opening. */
static void file_shrink(struct bench *bench, size_t blocks)
{
    struct buffer content = {0};

    file_read(bench, &content);
    store_u64(content.data + 16, blocks * BLOCK);
    store_u32(content.data + 24, crc32c(0, content.data, 24));
    file_replace(bench, "manifest", content.data, blocks * BLOCK);
    buffer_release(&content);
}

/* ---- what is kept ---- */

Test(manifest, segment_path_names_the_file)
{
    char path[64];

    segment_path(0xa1, path);
    cr_assert_str_eq(path, "segments/00000000000000a1.seg");
}

static void put_file(struct bench *bench, const char *name, const char *content)
{
    struct disk *disk = bench->world->disk;
    struct disk_file *file;

    cr_assert_eq(disk->open(disk, name, DISK_WRITE | DISK_CREATE, &file, &bench->err), 0);
    cr_assert_eq(disk->write(disk, file, 0, content, strlen(content)), 0);
    disk->close(disk, file);
}

static void count_name(void *context, const char *name)
{
    (void)name;
    (*(int *)context)++;
}

/* Asked before the lock is taken, whose file would stay in somebody else's directory. */
Test(manifest, directory_is_told_what_it_is_without_being_touched)
{
    struct bench bench;
    int names = 0;

    bench_use(&bench, sim_world_new(1));
    cr_expect_eq(manifest_probe(bench.world->disk, &bench.err), ERROR_NOT_FOUND);
    put_file(&bench, "thesis.txt", "");
    cr_expect_eq(manifest_probe(bench.world->disk, &bench.err), ERROR_NOT_OURS);
    cr_expect_eq(bench.world->disk->list(bench.world->disk, "", count_name, &names), 0);
    cr_expect_eq(names, 1);
    put_file(&bench, "manifest", "of a ship's cargo");
    cr_expect_eq(manifest_probe(bench.world->disk, &bench.err), ERROR_NOT_OURS);
    bench_release(&bench);
    bench_init(&bench);
    cr_expect_eq(manifest_probe(bench.world->disk, &bench.err), 0, "%s", bench.err.text);
    bench_release(&bench);
}

Test(manifest, new_one_has_what_it_was_created_with)
{
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, true), 0, "%s", bench.err.text);
    expect_edits(bench.manifest, 0);
    bench_release(&bench);
}

Test(manifest, a_new_one_goes_on_as_if_it_had_been_opened)
{
    struct bench bench;
    struct buffer made = {0}, opened = {0};

    bench_init(&bench);
    manifest_state_encode(manifest_state(bench.manifest), &made);
    cr_assert_eq(bench_open(&bench, false), 0, "%s", bench.err.text);
    manifest_state_encode(manifest_state(bench.manifest), &opened);
    cr_expect(bytes_equal(buffer_view(&made), buffer_view(&opened)));
    bench_release(&bench);

    bench_init(&bench);
    for (uint64_t number = 1; number <= 40; number++)
        cr_assert_eq(edit_apply(&bench, number), 0, "%s", bench.err.text);
    cr_assert_eq(bench_open(&bench, false), 0, "%s", bench.err.text);
    expect_edits(bench.manifest, 40);
    buffer_release(&made);
    buffer_release(&opened);
    bench_release(&bench);
}

Test(manifest, a_second_first_manifest_is_refused)
{
    struct bench bench;
    struct schema *schema = schema_example();
    struct manifest *second;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, false), 0, "%s", bench.err.text);
    cr_assert_eq(edit_apply(&bench, 1), 0);
    cr_expect_eq(
        manifest_create(bench.world, schema, directory_id, bytes_text(""), &second, &bench.err),
        ERROR_EXISTS);
    cr_expect_null(second);
    cr_assert_eq(bench_open(&bench, true), 0, "%s", bench.err.text);
    expect_edits(bench.manifest, 1);
    bench_release(&bench);
    schema_unref(schema);
}

Test(manifest, edits_are_there_after_every_reopening)
{
    struct bench bench;

    bench_init(&bench);
    for (uint64_t number = 1; number <= 20; number++) {
        cr_assert_eq(bench_open(&bench, false), 0, "%s", bench.err.text);
        cr_assert_eq(edit_apply(&bench, number), 0);
        expect_edits(bench.manifest, number);
        cr_assert_eq(bench_open(&bench, true), 0, "%s", bench.err.text);
        expect_edits(bench.manifest, number);
    }
    bench_release(&bench);
}

Test(manifest, schema_changes_with_an_edit)
{
    static const struct column_definition extra = {0, "extra", "int", COLUMN_REGULAR, false};
    struct bench bench;
    struct manifest_edit edit = {0};

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, false), 0);
    edit.schema = schema_copy(manifest_state(bench.manifest)->schema);
    cr_assert_eq(schema_add_columns(edit.schema, 7, &extra, 1, NULL), 0);
    cr_assert_eq(manifest_apply(bench.manifest, &edit, &bench.err), 0);
    cr_assert_eq(bench_open(&bench, true), 0);
    cr_assert_eq(schema_version(manifest_state(bench.manifest)->schema),
                 schema_version(edit.schema));
    cr_assert_not_null(schema_column_named(schema_table(manifest_state(bench.manifest)->schema, 7),
                                           bytes_text("extra")));
    schema_unref(edit.schema);
    bench_release(&bench);
}

Test(manifest, file_stays_small_over_many_edits)
{
    struct bench bench;
    struct buffer content = {0};

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, false), 0);
    for (uint64_t number = 1; number <= 300; number++)
        cr_assert_eq(edit_apply(&bench, number), 0, "%s", bench.err.text);
    file_read(&bench, &content);
    cr_assert_leq(content.size, 300 << 10);
    cr_assert_eq(bench_open(&bench, true), 0);
    expect_edits(bench.manifest, 300);
    buffer_release(&content);
    bench_release(&bench);
}

Test(manifest, segments_are_ordered_by_table_and_frame)
{
    struct bench bench;
    struct segment_info added[3];
    struct manifest_edit edit = {.added = added, .added_count = 3};

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, false), 0);
    added[0] = segment_example(5);
    added[1] = segment_example(2);
    added[2] = segment_example(9);
    added[2].table_id = 3;
    cr_assert_eq(manifest_apply(bench.manifest, &edit, &bench.err), 0);
    cr_assert_eq(manifest_state(bench.manifest)->segments[0].id, 9);
    cr_assert_eq(manifest_state(bench.manifest)->segments[1].id, 2);
    cr_assert_eq(manifest_state(bench.manifest)->segments[2].id, 5);
    bench_release(&bench);
}

/* ---- directories without a manifest ---- */

static int open_after(struct bench *bench, const char *path)
{
    bench_use(bench, sim_world_new(1));
    if (path != NULL && strchr(path, '/') != NULL)
        cr_assert_eq(bench->world->disk->make_directory(bench->world->disk, "log"), 0);
    if (path != NULL)
        file_replace(bench, path, "hello", 5);
    return bench_open(bench, true);
}

Test(manifest, directory_without_one_is_told_apart)
{
    static const struct {
        const char *path;
        int code;
        const char *text;
    } rows[] = {
        {NULL, ERROR_NOT_FOUND, "no daybook"},
        {"lock", ERROR_NOT_FOUND, "no daybook"},
        {"manifest.new", ERROR_NOT_FOUND, "no daybook"},
        {"holiday.jpg", ERROR_NOT_OURS, "holiday.jpg"},
        {"log/00000001.log", ERROR_CORRUPT, "manifest is missing"},
        {"manifest", ERROR_NOT_OURS, "not one of daybook's"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench bench;

        cr_expect_eq(open_after(&bench, rows[i].path), rows[i].code);
        cr_expect(strstr(bench.err.text, rows[i].text) != NULL, "%s", bench.err.text);
        bench_release(&bench);
    }
}

Test(manifest, newer_format_is_refused_as_such)
{
    struct bench bench;
    struct buffer content = {0};

    bench_init(&bench);
    file_read(&bench, &content);
    content.data[8] = 3;
    store_u32(content.data + 24, crc32c(0, content.data, 24));
    file_replace(&bench, "manifest", content.data, content.size);
    cr_assert_eq(bench_open(&bench, true), ERROR_NEWER_FORMAT);
    buffer_release(&content);
    bench_release(&bench);
}

/* ---- torn or damaged ---- */

Test(manifest, flipped_bit_never_loses_an_edit_silently)
{
    struct bench bench;
    int noticed = 0;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, false), 0);
    for (uint64_t number = 1; number <= 4; number++)
        cr_assert_eq(edit_apply(&bench, number), 0);
    file_shrink(&bench, 8);
    for (uint64_t bit = 0; bit < 8 * 7 * BLOCK; bit += bit / 8 % BLOCK < 600 ? 1 : 61) {
        int rc;

        sim_disk_flip_bit(sim_world_disk(bench.sim), "manifest", bit);
        rc = bench_open(&bench, true);
        if (rc == 0) {
            expect_edits(bench.manifest, 4);
        } else {
            cr_assert(rc == ERROR_CORRUPT || (rc == ERROR_NOT_OURS && bit < 64), "bit %" PRIu64,
                      bit);
            noticed++;
        }
        sim_disk_flip_bit(sim_world_disk(bench.sim), "manifest", bit);
    }
    cr_assert_gt(noticed, 8 * 600);
    bench_release(&bench);
}

Test(manifest, cut_file_is_damage)
{
    struct bench bench;
    struct buffer content = {0};

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, false), 0);
    cr_assert_eq(edit_apply(&bench, 1), 0);
    file_read(&bench, &content);
    for (size_t size = 0; size < content.size; size += size < 3 * BLOCK ? 1 : 1111) {
        int rc;

        file_replace(&bench, "manifest", content.data, size);
        rc = bench_open(&bench, true);
        cr_assert(rc == ERROR_CORRUPT || (rc == ERROR_NOT_OURS && size < 8), "size %zu", size);
    }
    buffer_release(&content);
    bench_release(&bench);
}

/* Its header agrees, and the first record, which has the whole state, is not there. */
Test(manifest, header_without_a_record_is_damage)
{
    struct bench bench;
    struct buffer content = {0};

    bench_init(&bench);
    file_read(&bench, &content);
    store_u64(content.data + 16, BLOCK);
    store_u32(content.data + 24, crc32c(0, content.data, 24));
    file_replace(&bench, "manifest", content.data, BLOCK);
    cr_assert_eq(bench_open(&bench, true), ERROR_CORRUPT);
    buffer_release(&content);
    bench_release(&bench);
}

/* The checksum is right, the content is not: random bodies must be refused, or read, in peace. */
Test(manifest, body_that_makes_no_sense_is_refused)
{
    struct bench bench;
    struct buffer content = {0};
    uint32_t draw = 1;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, false), 0);
    cr_assert_eq(edit_apply(&bench, 1), 0);
    file_shrink(&bench, 4);
    file_read(&bench, &content);
    for (int round = 0; round < 3000; round++) {
        uint8_t *record = content.data + BLOCK * (1 + (round & 1));
        uint32_t size = load_u32(record), at;
        uint8_t kept;

        draw = draw * 1664525 + 1013904223;
        at = 20 + (draw >> 8) % size;
        kept = record[at];
        record[at] = (uint8_t)(draw >> 24);
        store_u32(record + 20 + size, crc32c(0, record, 20 + size));
        file_replace(&bench, "manifest", content.data, content.size);
        (void)bench_open(&bench, true);
        record[at] = kept;
        store_u32(record + 20 + size, crc32c(0, record, 20 + size));
    }
    buffer_release(&content);
    bench_release(&bench);
}

Test(manifest, full_disk_refuses_the_edit_and_can_be_tried_again)
{
    struct bench bench;
    uint64_t number = 1;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, false), 0);
    sim_disk_set_space(sim_world_disk(bench.sim), sim_disk_used(sim_world_disk(bench.sim)));
    while (edit_apply(&bench, number) == 0)
        number++;
    cr_assert_eq(bench.err.code, -ENOSPC, "%s", bench.err.text);
    cr_assert_gt(number, 50);
    expect_edits(bench.manifest, number - 1);
    sim_disk_set_space(sim_world_disk(bench.sim), 100 << 20);
    cr_assert_eq(edit_apply(&bench, number), 0);
    expect_edits(bench.manifest, number);
    bench_release(&bench);
}

Test(manifest, failed_sync_is_final)
{
    struct bench bench;

    bench_init(&bench);
    cr_assert_eq(bench_open(&bench, false), 0);
    sim_disk_fail(sim_world_disk(bench.sim), SIM_SYNC, 1, -EIO, false);
    cr_assert_eq(edit_apply(&bench, 1), -EIO);
    cr_assert_eq(edit_apply(&bench, 1), ERROR_FAILED);
    expect_edits(bench.manifest, 0);
    bench_release(&bench);
}

/* ---- the power fails ---- */

struct history {
    struct bench bench;
    uint64_t applied; /* edits that returned */
    uint64_t calls;
    bool is_created;
};

static void crash_check(struct history *history, uint64_t seed)
{
    struct bench after;
    uint64_t found;
    int rc;

    bench_use(&after, sim_world_crash(history->bench.sim, seed));
    rc = bench_open(&after, false);
    if (rc == ERROR_NOT_FOUND && !history->is_created) {
        bench_release(&after);
        return;
    }
    cr_assert_eq(rc, 0, "call %" PRIu64 " seed %" PRIu64 ": %s", history->calls, seed,
                 after.err.text);
    found = manifest_state(after.manifest)->flushed_frame / 10;
    cr_assert(found == history->applied || found == history->applied + 1,
              "call %" PRIu64 " seed %" PRIu64, history->calls, seed);
    expect_edits(after.manifest, found);
    cr_assert_eq(edit_apply(&after, found + 1), 0);
    cr_assert_eq(bench_open(&after, true), 0, "%s", after.err.text);
    expect_edits(after.manifest, found + 1);
    bench_release(&after);
}

static void history_watch(void *context, enum sim_call call)
{
    struct history *history = context;

    (void)call;
    history->calls++;
    for (uint64_t i = 0; i < 10; i++)
        crash_check(history, history->calls * 100 + i);
}

Test(manifest, every_call_survives_a_loss_of_power)
{
    struct history history = {0};
    struct schema *schema = schema_example();

    bench_use(&history.bench, sim_world_new(1));
    sim_disk_watch(sim_world_disk(history.bench.sim), history_watch, &history);
    cr_assert_eq(manifest_create(history.bench.world, schema, directory_id,
                                 bytes_text("zone=UTC\n"), &history.bench.manifest, NULL),
                 0);
    history.is_created = true;
    schema_unref(schema);
    for (uint64_t number = 1; number <= 70; number++) {
        if (number % 11 == 0)
            cr_assert_eq(bench_open(&history.bench, false), 0);
        cr_assert_eq(edit_apply(&history.bench, number), 0);
        history.applied = number;
    }
    cr_assert_gt(history.calls, 140);
    sim_disk_watch(sim_world_disk(history.bench.sim), NULL, NULL);
    bench_release(&history.bench);
}

/* test_row_segment: streams of everything the cell model has, through pages and back.
 *
 * Method: partitions of random content are made as arrays; a slice of one is worked out on the
 * array (the model), and must be what the segment's stream yields, item by item as packed bytes,
 * forward and reversed.  Content is small in its clustering values, so that slices and bounds meet
 * rows and each other often, and large in its cells, so that partitions take several pages. */
#include "storage/segment/row_segment.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/counter_cell.h"
#include "base/arena.h"
#include "base/memory.h"
#include "storage/segment/row_page.h"
#include "storage/segment/segment_format.h"
#include "tests/lib/formats.h"
#include "tests/lib/segment_alone.h"
#include "tests/sim/ram_disk.h"

enum { COLUMN_NAME = 4, COLUMN_VALUE = 5, COLUMN_TAGS = 6, COLUMN_COUNT = 7 };

static const struct column_definition columns[] = {
    {1, "id", "text", COLUMN_PARTITION, false},
    {2, "major", "int", COLUMN_CLUSTERING, false},
    {3, "minor", "text", COLUMN_CLUSTERING, true},
    {COLUMN_NAME, "name", "text", COLUMN_STATIC, false},
    {COLUMN_VALUE, "value", "blob", COLUMN_REGULAR, false},
    {COLUMN_TAGS, "tags", "map<text, int>", COLUMN_REGULAR, false},
    {COLUMN_COUNT, "count", "bigint", COLUMN_REGULAR, false},
};

static const struct segment_info row_info = {.id = 1,
                                             .table_id = 900,
                                             .kind = SEGMENT_ROW,
                                             .frame_first = 1,
                                             .frame_last = 2,
                                             .schema_version = 1};

/* A disk, a table, and memory for made content. */
struct fixture {
    struct ram_disk *ram;
    struct schema *schema;
    const struct table *table;
    struct arena *arena;
    uint64_t random;
};

static void setup(struct fixture *fixture, uint64_t seed)
{
    const struct table_definition definition = {.id = 900,
                                                .keyspace = "test",
                                                .name = "narrow",
                                                .columns = columns,
                                                .column_count = sizeof columns / sizeof columns[0]};
    fixture->ram = ram_disk_new();
    fixture->schema = schema_new();
    cr_assert_eq(schema_add_keyspace(fixture->schema, "test", NULL), 0);
    cr_assert_eq(schema_add_table(fixture->schema, &definition, NULL), 0);
    fixture->table = schema_table(fixture->schema, 900);
    fixture->arena = arena_new(1 << 16);
    fixture->random = seed;
}

static void teardown(struct fixture *fixture)
{
    arena_free(fixture->arena);
    schema_unref(fixture->schema);
    ram_disk_free(fixture->ram);
}

/* Uniform enough below `limit`; splitmix64. */
static uint64_t draw(struct fixture *fixture, uint64_t limit)
{
    uint64_t z = fixture->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % limit;
}

/* ---- content ---- */

static struct bytes make_text(struct fixture *fixture, uint64_t limit)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.*s", (int)draw(fixture, 3), "minor");
    cr_assert_geq(length, 0);
    text[length] = (char)('a' + draw(fixture, limit));
    return arena_copy(fixture->arena, bytes_of(text, (size_t)length + 1));
}

static struct bytes make_blob(struct fixture *fixture, size_t size)
{
    uint8_t *data = arena_alloc(fixture->arena, size + 1, 1);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)draw(fixture, 256);
    return bytes_of(data, size);
}

static struct deletion make_deletion(struct fixture *fixture)
{
    return (struct deletion){.timestamp_us = (int64_t)draw(fixture, 1000) - 500,
                             .local_s = (int64_t)draw(fixture, 1000)};
}

static struct clustering make_clustering(struct fixture *fixture, uint32_t count, uint64_t spread)
{
    struct clustering clustering = {.count = count};
    struct buffer major = {0};
    type_value_put_int(&major, (int32_t)draw(fixture, spread) - 3);
    if (count > 0)
        clustering.values[0] = arena_copy(fixture->arena, buffer_view(&major));
    if (count > 1)
        clustering.values[1] = make_text(fixture, 8);
    buffer_release(&major);
    return clustering;
}

static struct bound make_bound(struct fixture *fixture, uint64_t spread)
{
    uint32_t count = (uint32_t)draw(fixture, 8) == 0 ? 0 : 1 + (uint32_t)draw(fixture, 2);
    return (struct bound){.prefix = make_clustering(fixture, count, spread),
                          .side = draw(fixture, 2) == 0 ? BOUND_BEFORE : BOUND_AFTER};
}

static struct cell make_cell(struct fixture *fixture, uint32_t column_id, struct bytes value)
{
    struct cell cell = {.column_id = column_id,
                        .expiry_s = EXPIRY_NONE,
                        .value = value,
                        .timestamp_us = (int64_t)draw(fixture, 1000)};
    switch (draw(fixture, 4)) {
    case 0:
        cell.flags = CELL_TOMBSTONE;
        cell.expiry_s = (int64_t)draw(fixture, 1000);
        cell.value = bytes_of(NULL, 0);
        break;
    case 1:
        cell.ttl_s = 1 + (int32_t)draw(fixture, 1000);
        cell.expiry_s = (int64_t)draw(fixture, 1000);
        break;
    }
    return cell;
}

static struct cell make_counter(struct fixture *fixture)
{
    struct buffer value = {0};
    counter_cell_write_single(&value, 3, (struct counter_shard){5, draw(fixture, 9), -4});
    struct cell cell = {.column_id = COLUMN_COUNT,
                        .flags = CELL_COUNTER,
                        .expiry_s = EXPIRY_NONE,
                        .timestamp_us = 77,
                        .value = arena_copy(fixture->arena, buffer_view(&value))};
    buffer_release(&value);
    return cell;
}

static void make_regular_cells(struct fixture *fixture, struct row *row, size_t value_size_max)
{
    struct cell *cells = arena_alloc(fixture->arena, 5 * sizeof *cells, _Alignof(struct cell));
    uint32_t count = 0;
    if (draw(fixture, 4) > 0)
        cells[count++] =
            make_cell(fixture, COLUMN_VALUE, make_blob(fixture, draw(fixture, value_size_max + 1)));
    for (uint64_t i = 0, tags = draw(fixture, 4); i < tags; i++) {
        char path[2] = {'k', (char)('0' + i)};
        cells[count] = make_cell(fixture, COLUMN_TAGS, make_blob(fixture, 4));
        cells[count++].path = arena_copy(fixture->arena, bytes_of(path, 1 + i % 2));
        if (i > 0)
            cells[count - 1].path = arena_copy(fixture->arena, bytes_of(path, 2));
    }
    if (draw(fixture, 4) == 0)
        cells[count++] = make_counter(fixture);
    row->cells = cells;
    row->cell_count = count;
}

static struct unfiltered make_row(struct fixture *fixture, uint64_t spread, size_t value_size_max)
{
    struct unfiltered item = {
        .kind = UNFILTERED_ROW, .before = DELETION_NONE, .after = DELETION_NONE};
    item.row = (struct row){.clustering = make_clustering(fixture, 2, spread),
                            .marker = LIVENESS_NONE,
                            .deletion = DELETION_NONE};
    if (draw(fixture, 2) == 0)
        item.row.marker.timestamp_us = (int64_t)draw(fixture, 1000);
    if (draw(fixture, 8) == 0)
        item.row.marker = (struct liveness){.timestamp_us = 5, .ttl_s = 60, .expiry_s = 65};
    if (draw(fixture, 8) == 0)
        item.row.deletion = make_deletion(fixture);
    if (draw(fixture, 8) == 0) {
        struct complex_deletion *complex =
            arena_alloc(fixture->arena, sizeof *complex, _Alignof(struct complex_deletion));
        *complex = (struct complex_deletion){COLUMN_TAGS, make_deletion(fixture)};
        item.row.complex = complex;
        item.row.complex_count = 1;
    }
    make_regular_cells(fixture, &item.row, value_size_max);
    return item;
}

static struct unfiltered make_static(struct fixture *fixture)
{
    struct unfiltered item = {
        .kind = UNFILTERED_ROW, .before = DELETION_NONE, .after = DELETION_NONE};
    struct cell *cell = arena_alloc(fixture->arena, sizeof *cell, _Alignof(struct cell));
    *cell = make_cell(fixture, COLUMN_NAME, make_text(fixture, 20));
    item.row = (struct row){.is_static = true,
                            .marker = LIVENESS_NONE,
                            .deletion = DELETION_NONE,
                            .cells = cell,
                            .cell_count = 1};
    return item;
}

/* The static row, rows and bounds of one partition, sorted, without two at one place. */
struct content {
    struct unfiltered *items;
    size_t count;
    struct deletion deletion;
};

static int compare_items(const void *a, const void *b, void *table)
{
    return stream_position_compare(table, a, b);
}

static void sort_items(const struct fixture *fixture, struct content *content)
{
    struct table table = *fixture->table;
    qsort_r(content->items, content->count, sizeof *content->items, compare_items, &table);
}

/* Give the bounds their deletions: each goes on from the one before; the last ends. */
static void join_bounds(struct fixture *fixture, struct content *content)
{
    struct deletion open = DELETION_NONE;
    size_t kept = 0;
    for (size_t i = 0; i < content->count; i++) {
        struct unfiltered *item = &content->items[i];
        if (kept > 0 &&
            stream_position_compare(fixture->table, item, &content->items[kept - 1]) == 0)
            continue;
        if (item->kind == UNFILTERED_BOUND) {
            item->before = open;
            bool closes = open.timestamp_us != TIMESTAMP_NONE && draw(fixture, 2) == 0;
            open = closes ? DELETION_NONE : make_deletion(fixture);
            item->after = open;
        }
        content->items[kept++] = *item;
    }
    if (open.timestamp_us != TIMESTAMP_NONE) {
        struct unfiltered *last = &content->items[kept - 1];
        bool at_end = last->kind == UNFILTERED_BOUND && last->bound.prefix.count == 0 &&
                      last->bound.side == BOUND_AFTER;
        if (!at_end)
            content->items[kept++] = (struct unfiltered){
                .kind = UNFILTERED_BOUND, .bound = {.side = BOUND_AFTER}, .before = open};
        content->items[kept - 1].after = DELETION_NONE;
    }
    content->count = kept;
}

static struct content make_content(struct fixture *fixture, uint64_t rows, uint64_t bounds,
                                   size_t value_size_max)
{
    struct content content = {.deletion = DELETION_NONE};
    uint64_t spread = rows / 4 + 4;
    content.items = arena_alloc(fixture->arena, (rows + bounds + 2) * sizeof *content.items,
                                _Alignof(struct unfiltered));
    if (draw(fixture, 2) == 0)
        content.items[content.count++] = make_static(fixture);
    for (uint64_t i = 0; i < rows; i++)
        content.items[content.count++] = make_row(fixture, spread, value_size_max);
    for (uint64_t i = 0; i < bounds; i++)
        content.items[content.count++] =
            (struct unfiltered){.kind = UNFILTERED_BOUND, .bound = make_bound(fixture, spread)};
    sort_items(fixture, &content);
    join_bounds(fixture, &content);
    if (draw(fixture, 4) == 0)
        content.deletion = make_deletion(fixture);
    return content;
}

/* ---- the model ---- */

static int item_compare(const struct fixture *fixture, const struct unfiltered *item,
                        const struct bound *bound)
{
    struct unfiltered other = {.kind = UNFILTERED_BOUND, .bound = *bound};
    return stream_position_compare(fixture->table, item, &other);
}

static struct unfiltered bound_item(const struct bound *bound, struct deletion before,
                                    struct deletion after)
{
    return (struct unfiltered){
        .kind = UNFILTERED_BOUND, .bound = *bound, .before = before, .after = after};
}

/* What a slice of the content is; static row, if there is one, first in both directions. */
static struct content model_slice(struct fixture *fixture, const struct content *content,
                                  const struct slice *slice)
{
    struct content sliced = {.deletion = content->deletion};
    sliced.items = arena_alloc(fixture->arena, (content->count + 2) * sizeof *sliced.items,
                               _Alignof(struct unfiltered));
    size_t i = 0;
    if (content->count > 0 && content->items[0].kind == UNFILTERED_ROW &&
        content->items[0].row.is_static) {
        if (slice->with_static)
            sliced.items[sliced.count++] = content->items[0];
        i++;
    }
    if (row_bound_compare(fixture->table, &slice->start, &slice->end) >= 0)
        return sliced;
    size_t rows_begin = sliced.count;
    struct deletion open = DELETION_NONE;
    for (; i < content->count; i++) {
        if (item_compare(fixture, &content->items[i], &slice->start) > 0)
            break;
        if (content->items[i].kind == UNFILTERED_BOUND)
            open = content->items[i].after;
    }
    if (open.timestamp_us != TIMESTAMP_NONE)
        sliced.items[sliced.count++] = bound_item(&slice->start, DELETION_NONE, open);
    for (; i < content->count; i++) {
        if (item_compare(fixture, &content->items[i], &slice->end) >= 0)
            break;
        sliced.items[sliced.count++] = content->items[i];
        if (content->items[i].kind == UNFILTERED_BOUND)
            open = content->items[i].after;
    }
    if (open.timestamp_us != TIMESTAMP_NONE)
        sliced.items[sliced.count++] = bound_item(&slice->end, open, DELETION_NONE);
    for (size_t a = rows_begin, b = sliced.count; slice->reversed && a + 1 < b; a++, b--) {
        struct unfiltered swapped = sliced.items[a];
        sliced.items[a] = sliced.items[b - 1];
        sliced.items[b - 1] = swapped;
    }
    for (size_t k = rows_begin; slice->reversed && k < sliced.count; k++) {
        struct deletion before = sliced.items[k].before;
        sliced.items[k].before = sliced.items[k].after;
        sliced.items[k].after = before;
    }
    return sliced;
}

static struct slice make_slice(struct fixture *fixture, uint64_t rows)
{
    struct slice slice = stream_slice_all();
    uint64_t spread = rows / 4 + 4;
    if (draw(fixture, 8) > 0) {
        slice.start = make_bound(fixture, spread);
        slice.end = make_bound(fixture, spread);
    }
    if (row_bound_compare(fixture->table, &slice.start, &slice.end) > 0) {
        struct bound start = slice.end;
        slice.end = slice.start;
        slice.start = start;
    }
    slice.reversed = draw(fixture, 2) == 0;
    slice.with_static = draw(fixture, 2) == 0;
    return slice;
}

/* ---- writing and reading ---- */

static void write_partition(struct fixture *fixture, struct row_segment_writer *writer,
                            int64_t token, struct bytes key, const struct content *content)
{
    struct stream *stream =
        stream_of_array(fixture->table, content->deletion, content->items, content->count);
    cr_assert_eq(row_segment_writer_partition(writer, token, key, stream, NULL), 0);
    stream_close(stream);
}

static struct bytes key_of(uint32_t partition, char text[32])
{
    int length = snprintf(text, 32, "key%05" PRIu32, partition);
    return bytes_of(text, (size_t)length);
}

/* Partition i has token i / 2. */
static void write_segment(struct fixture *fixture, const struct content *contents, uint32_t count,
                          struct segment_info *info_out)
{
    struct row_segment_writer *writer;
    char text[32];
    cr_assert_eq(row_segment_writer_open(ram_disk_world(fixture->ram), &row_info, &writer, NULL),
                 0);
    for (uint32_t i = 0; i < count; i++)
        write_partition(fixture, writer, i / 2, key_of(i, text), &contents[i]);
    cr_assert_eq(row_segment_writer_finish(writer, info_out, NULL), 0);
    row_segment_writer_close(writer);
}

/* Pull a slice: 0 when it is what the model says, the error if there is one; anything else fails
 * the test. */
static int read_slice(struct fixture *fixture, struct segment *segment, uint32_t partition,
                      const struct content *content, const struct slice *slice)
{
    char text[32];
    struct stream *stream;
    int rc = row_segment_stream(segment, fixture->table, partition / 2, key_of(partition, text),
                                slice, &stream, NULL);
    cr_assert_eq(rc, 0);
    bool is_empty = content->count == 0 && content->deletion.timestamp_us == TIMESTAMP_NONE;
    cr_assert_eq(stream == NULL, is_empty);
    if (is_empty)
        return 0;
    struct content expected = model_slice(fixture, content, slice);
    cr_assert_eq(stream->partition_deletion.timestamp_us, content->deletion.timestamp_us);
    struct buffer packed[2] = {{0}, {0}};
    struct unfiltered item;
    size_t count = 0;
    while ((rc = stream->next(stream, &item, NULL)) > 0) {
        cr_assert_lt(count, expected.count);
        buffer_clear(&packed[0]);
        buffer_clear(&packed[1]);
        row_unfiltered_pack(&item, &packed[0]);
        row_unfiltered_pack(&expected.items[count++], &packed[1]);
        cr_assert(bytes_equal(buffer_view(&packed[0]), buffer_view(&packed[1])));
    }
    cr_assert(rc < 0 || count == expected.count);
    buffer_release(&packed[0]);
    buffer_release(&packed[1]);
    stream_close(stream);
    return rc;
}

static struct segment *open_segment(struct fixture *fixture, const struct segment_info *info)
{
    struct segment *segment;
    cr_assert_eq(segment_open_alone(ram_disk_world(fixture->ram), info, &segment, NULL), 0);
    return segment;
}

/* Small and large partitions, with and without range deletions: every slice is the model's. */
Test(row_segment, slices_in_both_directions_are_what_the_model_says)
{
    enum { PARTITIONS = 60, SLICES = 40 };
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct fixture fixture;
        struct content contents[PARTITIONS];
        struct segment_info info;
        setup(&fixture, seed);
        for (uint32_t i = 0; i < PARTITIONS; i++) {
            bool large = draw(&fixture, 8) == 0;
            uint64_t rows = large ? 200 + draw(&fixture, 200) : draw(&fixture, 6);
            uint64_t bounds = draw(&fixture, 2) == 0 ? 0 : draw(&fixture, rows / 2 + 2);
            contents[i] = make_content(&fixture, rows, bounds, large ? 1000 : 50);
        }
        write_segment(&fixture, contents, PARTITIONS, &info);
        struct segment *segment = open_segment(&fixture, &info);
        for (uint32_t i = 0; i < PARTITIONS; i++) {
            struct slice all = stream_slice_all();
            cr_assert_eq(read_slice(&fixture, segment, i, &contents[i], &all), 0);
            for (uint32_t k = 0; k < SLICES; k++) {
                struct slice slice = make_slice(&fixture, contents[i].count);
                cr_assert_eq(read_slice(&fixture, segment, i, &contents[i], &slice), 0);
            }
        }
        segment_unref(segment);
        teardown(&fixture);
    }
}

/* Range deletions without rows between them also go over several pages. */
Test(row_segment, a_partition_of_bounds_alone_is_sliced_too)
{
    struct fixture fixture;
    struct segment_info info;
    setup(&fixture, 99);
    struct content content = make_content(&fixture, 0, 0, 0);
    enum { BOUNDS = 4000 };
    content.items = arena_alloc(fixture.arena, (BOUNDS + 2) * sizeof *content.items,
                                _Alignof(struct unfiltered));
    for (content.count = 0; content.count < BOUNDS; content.count++)
        content.items[content.count] =
            (struct unfiltered){.kind = UNFILTERED_BOUND, .bound = make_bound(&fixture, BOUNDS)};
    sort_items(&fixture, &content);
    join_bounds(&fixture, &content);
    write_segment(&fixture, &content, 1, &info);
    struct segment *segment = open_segment(&fixture, &info);
    cr_assert_gt(segment_page_count(segment), 1);
    for (uint32_t k = 0; k < 200; k++) {
        struct slice slice = make_slice(&fixture, 4 * BOUNDS);
        cr_assert_eq(read_slice(&fixture, segment, 0, &content, &slice), 0);
    }
    segment_unref(segment);
    teardown(&fixture);
}

/* The items a stream gives before it ends, and how it ends. */
static int read_hastily(struct fixture *fixture, struct segment *segment,
                        struct segment_read_budget *read_budget, size_t *count_out)
{
    char text[32];
    struct stream *stream;
    struct unfiltered item;
    struct slice all = stream_slice_all();
    struct bytes key = key_of(0, text);
    int rc = row_segment_stream(segment, fixture->table, 0, key, &all, &stream, NULL);
    cr_assert_eq(rc, 0);
    row_segment_stream_limit(stream, read_budget);
    for (*count_out = 0; (rc = stream->next(stream, &item, NULL)) > 0; (*count_out)++)
        ;
    stream_close(stream);
    return rc;
}

/* A segment of one partition, which takes several pages. */
static struct segment *large_segment(struct fixture *fixture, struct content *content_out)
{
    struct segment_info info;
    *content_out = make_content(fixture, 300, 0, 1000);
    write_segment(fixture, content_out, 1, &info);
    struct segment *segment = open_segment(fixture, &info);
    cr_assert_gt(segment_page_count(segment), 2);
    return segment;
}

Test(row_segment, who_must_not_wait_reads_the_pages_he_may_and_no_more)
{
    struct fixture fixture;
    struct content content;
    size_t count;
    setup(&fixture, 7);
    struct segment *segment = large_segment(&fixture, &content);
    uint32_t pages = segment_page_count(segment);
    struct segment_read_budget none = {0};
    cr_expect_eq(read_hastily(&fixture, segment, &none, &count), -EAGAIN);
    cr_expect_eq(count, 0);
    struct segment_read_budget one = {.pages_left = 1};
    cr_expect_eq(read_hastily(&fixture, segment, &one, &count), -EAGAIN);
    cr_expect(count > 0 && count < content.count, "%zu of %zu", count, content.count);
    struct segment_read_budget enough = {.pages_left = pages};
    cr_expect_eq(read_hastily(&fixture, segment, &enough, &count), 0);
    cr_expect_eq(count, content.count);
    cr_expect_eq(enough.pages_left, 0);
    /* A reader who may wait is not held up by one who came before. */
    struct slice all = stream_slice_all();
    cr_expect_eq(read_slice(&fixture, segment, 0, &content, &all), 0);
    segment_unref(segment);
    teardown(&fixture);
}

/* Pages that were expanded for him are kept, and count as if they were read; whoever goes through
 * all of a segment sees what is on the disk. */
Test(row_segment, who_must_not_wait_finds_pages_again_and_nobody_else_does)
{
    struct fixture fixture;
    struct content content;
    size_t count;
    char path[64];
    setup(&fixture, 8);
    struct segment *segment = large_segment(&fixture, &content);
    uint32_t pages = segment_page_count(segment);
    struct segment_read_budget enough = {.pages_left = 3 * pages};
    cr_expect_eq(read_hastily(&fixture, segment, &enough, &count), 0);
    segment_path(segment_info(segment)->id, path);
    struct buffer *file = ram_disk_content(fixture.ram, path);
    for (size_t at = SEGMENT_BLOCK; at < 8 * SEGMENT_BLOCK; at++) /* some pages */
        file->data[at] ^= 0xff;
    cr_expect_eq(read_hastily(&fixture, segment, &enough, &count), 0);
    cr_expect_eq(count, content.count);
    cr_expect_eq(enough.pages_left, pages);
    struct segment_read_budget none = {0};
    cr_expect_eq(read_hastily(&fixture, segment, &none, &count), -EAGAIN);
    struct slice all = stream_slice_all();
    cr_expect_eq(read_slice(&fixture, segment, 0, &content, &all), ERROR_CORRUPT);
    segment_unref(segment);
    teardown(&fixture);
}

Test(row_segment, small_partitions_share_pages_and_large_ones_do_not)
{
    enum { PARTITIONS = 101 };
    struct fixture fixture;
    struct content contents[PARTITIONS];
    struct segment_info info;
    setup(&fixture, 5);
    for (uint32_t i = 0; i < PARTITIONS; i++)
        contents[i] = make_content(&fixture, i == 50 ? 300 : 1, 0, i == 50 ? 1000 : 10);
    write_segment(&fixture, contents, PARTITIONS, &info);
    struct segment *segment = open_segment(&fixture, &info);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    const struct segment_partition *large = segment_directory_at(cursor, 50);
    cr_assert_eq(large->page_first, 1);
    cr_assert_eq(large->entry, 0);
    cr_assert_gt(large->page_count, 2);
    cr_assert_eq(segment_page_count(segment), large->page_count + 2);
    cr_assert_eq(segment_page_first(segment, 1).size, 0);
    cr_assert_gt(segment_page_first(segment, 2).size, 0);
    segment_cursor_give(segment, cursor);
    segment_unref(segment);
    teardown(&fixture);
}

/* What hides a partition must be kept when nothing else of it is; and the manifest's row count must
 * not say that the segment is empty. */
Test(row_segment, a_partition_deletion_alone_is_kept)
{
    struct fixture fixture;
    struct segment_info info;
    setup(&fixture, 1);
    struct content contents[] = {{.deletion = DELETION_NONE},
                                 {.deletion = {.timestamp_us = 17, .local_s = 2}}};
    write_segment(&fixture, contents, 2, &info);
    cr_assert_eq(info.rows, 1);
    cr_assert_eq(info.partitions, 1);
    cr_assert_eq(info.timestamp_max_us, 17);
    struct segment *segment = open_segment(&fixture, &info);
    struct slice all = stream_slice_all();
    cr_assert_eq(read_slice(&fixture, segment, 0, &contents[0], &all), 0);
    cr_assert_eq(read_slice(&fixture, segment, 1, &contents[1], &all), 0);
    segment_unref(segment);
    teardown(&fixture);
}

/* A reader of one row may leave a segment out only if the row is not in it. */
Test(row_segment, the_slice_of_every_row_meets_the_segment)
{
    enum { PARTITIONS = 20 };
    struct fixture fixture;
    struct content contents[PARTITIONS];
    struct segment_info info;
    setup(&fixture, 9);
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        contents[i] = make_content(&fixture, 1 + draw(&fixture, 5), 0, 10);
        contents[i].deletion = DELETION_NONE;
        if (contents[i].items[0].row.is_static) {
            contents[i].items++;
            contents[i].count--;
        }
    }
    write_segment(&fixture, contents, PARTITIONS, &info);
    struct segment *segment = open_segment(&fixture, &info);
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        for (size_t k = 0; k < contents[i].count; k++) {
            const struct clustering *clustering = &contents[i].items[k].row.clustering;
            const struct slice slice = {.start = {*clustering, BOUND_BEFORE},
                                        .end = {*clustering, BOUND_AFTER}};
            cr_assert(row_segment_may_meet(segment, fixture.table, &slice));
        }
    }
    struct buffer major = {0};
    type_value_put_int(&major, INT32_MAX);
    struct slice beyond = stream_slice_all();
    beyond.start.prefix = (struct clustering){.count = 1, .values = {buffer_view(&major)}};
    cr_assert_not(row_segment_may_meet(segment, fixture.table, &beyond));
    buffer_release(&major);
    segment_unref(segment);
    teardown(&fixture);
}

Test(row_segment, without_anything_in_it_there_is_no_file)
{
    struct fixture fixture;
    struct segment_info info;
    setup(&fixture, 1);
    struct content content = {.deletion = DELETION_NONE};
    write_segment(&fixture, &content, 1, &info);
    cr_assert_eq(info.rows, 0);
    cr_assert_eq(ram_disk_file_count(fixture.ram), 0);
    teardown(&fixture);
}

Test(row_segment, the_newest_write_timestamp_is_known)
{
    struct fixture fixture;
    struct segment_info info;
    setup(&fixture, 1);
    struct content content = make_content(&fixture, 3, 0, 3);
    struct cell cell = {.column_id = COLUMN_VALUE,
                        .timestamp_us = 123456,
                        .expiry_s = EXPIRY_NONE,
                        .value = bytes_text("v")};
    content.items[content.count - 1].row.cells = &cell;
    content.items[content.count - 1].row.cell_count = 1;
    write_segment(&fixture, &content, 1, &info);
    cr_assert_eq(info.timestamp_max_us, 123456);
    teardown(&fixture);
}

/* Two streams at a time, pulled in turn, which outlive the caller's reference of the segment. */
Test(row_segment, streams_of_one_segment_do_not_disturb_each_other)
{
    struct fixture fixture;
    struct segment_info info;
    char text[32];
    setup(&fixture, 3);
    struct content content = make_content(&fixture, 300, 0, 1000);
    write_segment(&fixture, &content, 1, &info);
    struct segment *segment = open_segment(&fixture, &info);
    struct slice all = stream_slice_all();
    struct stream *streams[2];
    for (size_t i = 0; i < 2; i++)
        cr_assert_eq(
            row_segment_stream(segment, fixture.table, 0, key_of(0, text), &all, &streams[i], NULL),
            0);
    segment_unref(segment);
    struct unfiltered items[2];
    for (size_t i = 0; i < content.count; i++) {
        for (size_t k = 0; k < 2; k++)
            cr_assert_eq(streams[k]->next(streams[k], &items[k], NULL), 1);
        cr_assert_eq(stream_position_compare(fixture.table, &items[0], &items[1]), 0);
        cr_assert_eq(stream_position_compare(fixture.table, &items[0], &content.items[i]), 0);
    }
    for (size_t k = 0; k < 2; k++) {
        cr_assert_eq(streams[k]->next(streams[k], &items[k], NULL), 0);
        cr_assert_eq(streams[k]->next(streams[k], &items[k], NULL), 0);
        stream_close(streams[k]);
    }
    teardown(&fixture);
}

/* ---- the format itself ---- */

/* The page that FORMATS.md "Narrow page" shows is the only page of the file shown in "Segment". */
enum { EXAMPLE_PAGE = 54 };

static const uint8_t example_index[] = {0x36, 0x00, 0x00, 0x00, 0xf3, 0x5b, 0x5f,
                                        0x09, 0x29, 0x50, 0x89, 0xe5, 0x00};

static struct unfiltered example_bound(struct bytes value, enum bound_side side,
                                       struct deletion before, struct deletion after)
{
    const struct bound bound = {.prefix = {1, {value}}, .side = side};
    return bound_item(&bound, before, after);
}

static void example_write(struct fixture *fixture, struct segment_info *info_out)
{
    static const uint8_t one[4] = {0, 0, 0, 1};
    static const uint8_t two[4] = {0, 0, 0, 2};
    const struct deletion range = {50, 2};
    const struct cell cell = {
        .column_id = 3, .timestamp_us = 1000, .expiry_s = EXPIRY_NONE, .value = bytes_text("x")};
    struct unfiltered row = {
        .kind = UNFILTERED_ROW, .before = DELETION_NONE, .after = DELETION_NONE};
    row.row = (struct row){.clustering = {1, {bytes_of(one, 4)}},
                           .deletion = DELETION_NONE,
                           .marker = {1000, 0, EXPIRY_NONE},
                           .cells = &cell,
                           .cell_count = 1};
    struct unfiltered bounds[2] = {
        example_bound(bytes_of(one, 4), BOUND_BEFORE, DELETION_NONE, range),
        example_bound(bytes_of(two, 4), BOUND_AFTER, range, DELETION_NONE)};
    const struct content contents[2] = {{&row, 1, DELETION_NONE}, {bounds, 2, {40, 1}}};
    const struct segment_info info = {.id = 0xa1,
                                      .table_id = 900,
                                      .kind = SEGMENT_ROW,
                                      .frame_first = 7,
                                      .frame_last = 19,
                                      .schema_version = 2};
    struct row_segment_writer *writer;
    cr_assert_eq(row_segment_writer_open(ram_disk_world(fixture->ram), &info, &writer, NULL), 0);
    write_partition(fixture, writer, -3, bytes_text("ad1"), &contents[0]);
    write_partition(fixture, writer, 5, bytes_text("ad2"), &contents[1]);
    cr_assert_eq(row_segment_writer_finish(writer, info_out, NULL), 0);
    row_segment_writer_close(writer);
}

Test(row_segment, the_example_of_the_format_is_written_byte_for_byte)
{
    struct fixture fixture;
    struct segment_info info;
    setup(&fixture, 1);
    example_write(&fixture, &info);
    cr_assert_eq(info.size, 12288);
    const uint8_t *file = ram_disk_content(fixture.ram, "segments/00000000000000a1.seg")->data;
    struct segment_footer footer;
    cr_assert_eq(segment_format_read_footer(file + 8192, info.size, &footer, NULL), 0);
    const struct segment_section *directory = &footer.sections[SECTION_DIRECTORY];
    const struct segment_section *index = &footer.sections[SECTION_INDEX];
    cr_assert_eq(directory->offset, 4096 + EXAMPLE_PAGE);
    formats_expect("Segment", bytes_of(file, info.size), 150);
    formats_expect("Narrow page", bytes_of(file + 4096, EXAMPLE_PAGE), EXAMPLE_PAGE);
    cr_assert_eq(index->size, sizeof example_index);
    cr_assert_arr_eq(file + index->offset, example_index, sizeof example_index);
    teardown(&fixture);
}

/* ---- damage ---- */

/* Open and read all of a damaged file: the error, or 0 when everything is right all the same. */
static int read_damaged(struct fixture *fixture, const struct segment_info *info,
                        const struct content *contents, uint32_t count)
{
    struct segment *segment;
    int rc = segment_open_alone(ram_disk_world(fixture->ram), info, &segment, NULL);
    struct slice slice = stream_slice_all();
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        slice.reversed = i % 2 > 0;
        rc = read_slice(fixture, segment, i, &contents[i], &slice);
    }
    segment_unref(segment);
    return rc;
}

Test(row_segment, damage_is_found_or_does_not_matter)
{
    enum { PARTITIONS = 4 };
    struct fixture fixture;
    struct content contents[PARTITIONS];
    struct segment_info info;
    setup(&fixture, 11);
    for (uint32_t i = 0; i < PARTITIONS; i++)
        contents[i] = make_content(&fixture, 1 + i, i, 20);
    write_segment(&fixture, contents, PARTITIONS, &info);
    struct buffer *content = ram_disk_content(fixture.ram, "segments/0000000000000001.seg");
    struct arena *kept = fixture.arena;
    fixture.arena = arena_new(1 << 16);
    for (size_t bit = 0; bit < content->size * 8; bit++) {
        content->data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        int rc = read_damaged(&fixture, &info, contents, PARTITIONS);
        cr_assert(rc == 0 || rc == ERROR_CORRUPT);
        content->data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        arena_reset(fixture.arena);
    }
    for (size_t size = content->size; content->size > 0; size--) {
        content->size = size - 1;
        cr_assert_eq(read_damaged(&fixture, &info, contents, PARTITIONS), ERROR_CORRUPT);
    }
    arena_free(fixture.arena);
    fixture.arena = kept;
    teardown(&fixture);
}

/* Decode all entries of a page that may be anything. */
static void decode_anything(struct bytes page, struct decompressor *decompressor,
                            struct arena *arena)
{
    struct buffer plain = {0};
    struct row_entry entry = {0};
    if (row_page_expand(page, decompressor, &plain) == 0) {
        for (uint32_t index = 0; index < 4; index++) {
            if (row_page_entry_decode(buffer_view(&plain), index, &entry) != 0)
                continue;
            for (uint32_t i = 0; i < entry.item_count; i++) {
                struct unfiltered item;
                arena_reset(arena);
                int rc = row_page_entry_unpack(&entry, i, arena, &item);
                cr_assert(rc == 0 || rc == ERROR_CORRUPT);
            }
        }
    }
    row_page_entry_release(&entry);
    buffer_release(&plain);
}

/* Without the segment's checksum: decoding stays inside the page whatever it holds. */
Test(row_segment, a_page_that_lies_is_decoded_without_harm)
{
    struct fixture fixture;
    setup(&fixture, 4);
    struct row_page_builder builder = {0};
    struct buffer scratch = {0}, items = {0}, page = {0};
    for (uint32_t entry = 0; entry < 4; entry++) {
        struct content content = make_content(&fixture, 3, 2, 10);
        buffer_clear(&items);
        for (size_t i = 0; i < content.count; i++)
            row_page_put_item(&content.items[i], &scratch, &items);
        struct deletion open = entry % 2 == 0 ? DELETION_NONE : make_deletion(&fixture);
        row_page_add(&builder, open, buffer_view(&items));
    }
    struct compressor *compressor = compressor_new(COMPRESS_LEVEL);
    struct decompressor *decompressor = decompressor_new();
    cr_assert_eq(row_page_encode(&builder, compressor, &page), 0);
    /* The plain page behind a head that says "stored": flips reach every field. */
    struct buffer stored = {0};
    buffer_put_u8(&stored, 0);
    buffer_put_u32(&stored, (uint32_t)builder.plain.size);
    buffer_append_bytes(&stored, buffer_view(&builder.plain));
    struct buffer *pages[] = {&page, &stored};
    for (size_t p = 0; p < 2; p++) {
        for (size_t bit = 0; bit < pages[p]->size * 8; bit++) {
            pages[p]->data[bit / 8] ^= (uint8_t)(1U << bit % 8);
            decode_anything(buffer_view(pages[p]), decompressor, fixture.arena);
            pages[p]->data[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
        for (size_t size = 0; size < pages[p]->size; size++)
            decode_anything(bytes_of(pages[p]->data, size), decompressor, fixture.arena);
    }
    buffer_release(&stored);
    buffer_release(&scratch);
    buffer_release(&items);
    buffer_release(&page);
    row_page_builder_release(&builder);
    compressor_free(compressor);
    decompressor_free(decompressor);
    teardown(&fixture);
}

/* Compressed, of zero bytes, and garbage: the first page that is ever expanded into a buffer. */
Test(row_segment, a_compressed_page_that_claims_no_bytes_is_refused)
{
    static const uint8_t page[] = {1, 0, 0, 0, 0, 0x0b, 0x28, 0x0f, 0x0f, 0x1d, 0x22};
    struct decompressor *decompressor = decompressor_new();
    struct buffer plain = {0};
    cr_assert_eq(row_page_expand(bytes_of(page, sizeof page), decompressor, &plain), ERROR_CORRUPT);
    buffer_release(&plain);
    decompressor_free(decompressor);
}

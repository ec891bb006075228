/* test_columnar_segment: what is written is read; a merge gives the partitions that one memtable
 * with all clicks in order would give, in bounded pieces. */
#include "storage/segment/columnar_segment.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "base/arena.h"
#include "base/murmur3.h"
#include "storage/memtable/columnar_memtable.h"
#include "storage/segment/columnar_dictionary.h"
#include "storage/segment/columnar_page.h"
#include "tests/lib/segment_alone.h"
#include "tests/sim/ram_disk.h"
#include "tests/unit/columnar_fixture.h"

enum { PARTITIONS = 6, RUNS_MAX = 4 };

struct fixture {
    struct schema *schema;
    const struct table *table;
    struct ram_disk *ram;
    struct world *world;
    struct click_model models[PARTITIONS];
    struct segment *runs[RUNS_MAX];
    uint32_t run_count;
    uint32_t page_rows; /* 0: as usual */
};

static void setup(struct fixture *fixture)
{
    *fixture = (struct fixture){.schema = columnar_schema(), .ram = ram_disk_new()};
    fixture->table = schema_table(fixture->schema, COLUMNAR_TABLE);
    fixture->world = ram_disk_world(fixture->ram);
}

static void teardown(struct fixture *fixture)
{
    for (uint32_t i = 0; i < fixture->run_count; i++)
        segment_unref(fixture->runs[i]);
    for (uint32_t i = 0; i < PARTITIONS; i++)
        model_release(&fixture->models[i]);
    ram_disk_free(fixture->ram);
    schema_unref(fixture->schema);
}

static struct segment_info run_info(uint64_t id)
{
    return (struct segment_info){.id = id,
                                 .table_id = COLUMNAR_TABLE,
                                 .kind = SEGMENT_COLUMNAR,
                                 .frame_first = id,
                                 .frame_last = id,
                                 .schema_version = 1};
}

static void partition_write(struct columnar_segment_writer *writer, int64_t token, struct bytes key,
                            const struct columnar_rows *rows)
{
    struct error err;
    cr_assert_eq(columnar_segment_writer_begin(writer, token, key, rows->rows, &err), 0);
    cr_assert_eq(columnar_segment_writer_rows(writer, rows, &err), 0);
    cr_assert_eq(columnar_segment_writer_end(writer, &err), 0);
}

static void memtable_write(struct fixture *fixture, struct columnar_memtable *memtable)
{
    struct error err;
    struct segment_info info = run_info(fixture->run_count + 1);
    struct columnar_segment_writer *writer;
    struct columnar_rows rows;
    columnar_rows_init(&rows, fixture->table);
    columnar_memtable_freeze(memtable);
    cr_assert_eq(columnar_segment_writer_open(fixture->world, fixture->table, &info,
                                              fixture->page_rows, &writer, &err),
                 0);
    for (uint32_t i = 0; i < columnar_memtable_partition_count(memtable); i++) {
        uint32_t number = columnar_memtable_order(memtable)[i];
        columnar_memtable_rows(memtable, number, UINT64_MAX, &rows);
        partition_write(writer, columnar_memtable_partition_token(memtable, number),
                        columnar_memtable_partition_key(memtable, number), &rows);
    }
    cr_assert_eq(columnar_segment_writer_finish(writer, &info, &err), 0);
    columnar_segment_writer_close(writer);
    cr_assert_eq(
        segment_open_alone(fixture->world, &info, &fixture->runs[fixture->run_count++], &err), 0);
    columnar_rows_release(&rows);
}

/* One more run of `count` clicks in partitions [first, last], written with timestamp 100 * run. */
static void run_add(struct fixture *fixture, uint32_t count, uint32_t times, uint32_t first,
                    uint32_t last)
{
    uint64_t state = fixture->run_count + 1;
    struct arena *arena = arena_new(1 << 16);
    struct columnar_memtable *memtable = columnar_memtable_new(fixture->table, arena);
    struct block *block = block_new(fixture->table, count);
    for (uint32_t i = 0; i < count; i++) {
        struct click click = click_make(&state, times, 50);
        uint32_t partition = first + (uint32_t)(click_random(&state) % (last - first + 1));
        block_add_click(block, partition, &click);
        model_append(&fixture->models[partition], &click);
    }
    for (uint32_t i = first; i <= last; i++)
        model_order(&fixture->models[i]);
    columnar_memtable_apply(memtable, block, 1, 100 * (int64_t)(fixture->run_count + 1));
    memtable_write(fixture, memtable);
    block_free(block);
    columnar_memtable_free(memtable);
    arena_free(arena);
}

static const struct segment_partition *partition_find(struct segment_cursor *cursor,
                                                      uint32_t partition)
{
    struct buffer key = {0};
    click_key(partition, &key);
    const struct segment_partition *found =
        segment_directory_find(cursor, murmur3_token(key.data, key.size), buffer_view(&key));
    buffer_release(&key);
    return found;
}

static void assert_models(struct fixture *fixture, struct segment *segment)
{
    struct error err;
    struct columnar_segment_reader *reader = columnar_segment_reader_new(segment, fixture->table);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    struct columnar_rows rows;
    columnar_rows_init(&rows, fixture->table);
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        const struct segment_partition *partition = partition_find(cursor, i);
        struct partition_stats stats = {0};
        if (fixture->models[i].count == 0) {
            cr_assert_null(partition);
            continue;
        }
        cr_assert_eq(columnar_segment_reader_rows(reader, partition, UINT32_MAX, &rows, &err), 0,
                     "%s", err.text);
        cr_assert(rows_are_model(&rows, &fixture->models[i]), "partition %u", i);
        model_stats(&fixture->models[i], &stats);
        cr_assert(stats_equal(partition->stats, &stats), "partition %u", i);
        stats_release(&stats);
    }
    columnar_rows_release(&rows);
    segment_cursor_give(segment, cursor);
    columnar_segment_reader_free(reader);
}

static struct segment *merge(struct fixture *fixture,
                             bool (*may_raise)(void *context, int64_t token, struct bytes key))
{
    const struct columnar_segment_rules rules = {.may_raise = may_raise};
    struct error err;
    struct segment *merged;
    struct segment_info info = run_info(100);
    cr_assert_eq(columnar_segment_merge(fixture->world, fixture->table, fixture->runs,
                                        fixture->run_count, &info, &rules, &info, &err),
                 0, "%s", err.text);
    cr_assert_eq(segment_open_alone(fixture->world, &info, &merged, &err), 0, "%s", err.text);
    return merged;
}

static bool raise_all(void *context, int64_t token, struct bytes key)
{
    (void)context;
    (void)token;
    (void)key;
    return true;
}

Test(columnar_segment, a_partition_larger_than_a_page_comes_back)
{
    struct fixture fixture;
    setup(&fixture);
    run_add(&fixture, COLUMNAR_PAGE_ROWS_MAX + 10000, 1000000, 2, 2);
    run_add(&fixture, 3000, 300, 0, PARTITIONS - 1);
    struct segment *merged = merge(&fixture, NULL);
    assert_models(&fixture, merged);
    segment_unref(merged);
    teardown(&fixture);
}

Test(columnar_segment, partitions_come_back)
{
    struct fixture fixture;
    setup(&fixture);
    run_add(&fixture, 2000, 300, 0, PARTITIONS - 1);
    assert_models(&fixture, fixture.runs[0]);
    cr_assert_eq(segment_info(fixture.runs[0])->timestamp_max_us, 100);
    teardown(&fixture);
}

Test(columnar_segment, without_rows_there_is_no_file)
{
    struct fixture fixture;
    struct error err;
    struct segment_info info = run_info(1);
    struct columnar_segment_writer *writer;
    setup(&fixture);
    cr_assert_eq(
        columnar_segment_writer_open(fixture.world, fixture.table, &info, 0, &writer, &err), 0);
    cr_assert_eq(columnar_segment_writer_finish(writer, &info, &err), 0);
    columnar_segment_writer_close(writer);
    cr_assert_eq(info.rows, 0);
    cr_assert_eq(info.partitions, 0);
    cr_assert_eq(ram_disk_file_count(fixture.ram), 0);
    teardown(&fixture);
}

/* Few times make equals across runs, whose order is that of the runs. */
Test(columnar_segment, a_merge_keeps_equals_in_the_order_of_the_runs)
{
    struct fixture fixture;
    setup(&fixture);
    run_add(&fixture, 500, 20, 0, 3);
    run_add(&fixture, 700, 20, 2, 5);
    run_add(&fixture, 1, 1, 5, 5);
    run_add(&fixture, 900, 20, 1, 4);
    struct segment *merged = merge(&fixture, NULL);
    assert_models(&fixture, merged);
    cr_assert_eq(segment_info(merged)->rows, 2101);
    segment_unref(merged);
    teardown(&fixture);
}

Test(columnar_segment, timestamps_stay_each_rows_own_unless_they_may_be_raised)
{
    struct fixture fixture;
    setup(&fixture);
    run_add(&fixture, 50, 1000, 0, 0);
    run_add(&fixture, 70, 1000, 0, 0);
    for (int raises = 0; raises < 2; raises++) {
        uint32_t counts[2] = {0};
        struct columnar_rows rows;
        struct segment *merged = merge(&fixture, raises ? raise_all : NULL);
        struct columnar_segment_reader *reader = columnar_segment_reader_new(merged, fixture.table);
        struct segment_cursor *cursor = segment_cursor_take(merged);
        columnar_rows_init(&rows, fixture.table);
        cr_assert_eq(columnar_segment_reader_rows(reader, segment_directory_at(cursor, 0), 1000,
                                                  &rows, NULL),
                     0);
        segment_cursor_give(merged, cursor);
        for (uint32_t row = 0; row < rows.rows; row++) {
            int64_t timestamp =
                rows.timestamps_us != NULL ? rows.timestamps_us[row] : rows.timestamp_us;
            counts[timestamp == 200]++;
            cr_assert(timestamp == 100 || timestamp == 200);
        }
        cr_assert_eq(counts[0], raises ? 0 : 50);
        cr_assert_eq(counts[1], raises ? 120 : 70);
        columnar_rows_release(&rows);
        columnar_segment_reader_free(reader);
        segment_unref(merged);
    }
    teardown(&fixture);
}

/* Clicks of one partition in order of time, so that the list needs no search: `step_ms` between. */
static void large_run_add(struct fixture *fixture, uint32_t count, int64_t start_ms,
                          int64_t step_ms)
{
    struct arena *arena = arena_new(1 << 20);
    struct columnar_memtable *memtable = columnar_memtable_new(fixture->table, arena);
    struct block *block = block_new(fixture->table, 1000);
    for (uint32_t done = 0; done < count; done += block->rows) {
        block_clear(block);
        for (uint32_t i = 0; i < 1000 && done + i < count; i++) {
            struct click click = {.time = start_ms + (int64_t)(done + i) * step_ms,
                                  .ad = (done + i) % 7,
                                  .amount = done + i,
                                  .scale = 2,
                                  .derived = 1};
            block_add_click(block, 0, &click);
        }
        columnar_memtable_apply(memtable, block, 1, 100 * (int64_t)(fixture->run_count + 1));
    }
    memtable_write(fixture, memtable);
    block_free(block);
    columnar_memtable_free(memtable);
    arena_free(arena);
}

/* Rows in order, the amounts of equal times in the order of the runs, nothing lost. */
static void assert_large(struct fixture *fixture, struct segment *segment, uint32_t rows_expected)
{
    struct error err;
    struct columnar_rows rows;
    struct columnar_segment_reader *reader = columnar_segment_reader_new(segment, fixture->table);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    const struct segment_partition *partition = segment_directory_at(cursor, 0);
    uint64_t total = 0;
    int64_t last = INT64_MAX;
    columnar_rows_init(&rows, fixture->table);
    cr_assert_eq(partition->rows, rows_expected);
    cr_assert_eq(columnar_segment_reader_rows(reader, partition, rows_expected - 1, &rows, &err),
                 ERROR_LIMIT);
    for (uint32_t piece = 0; piece < partition->page_count; piece++) {
        cr_assert_eq(columnar_segment_reader_piece(reader, partition, piece, &rows, &err), 0);
        cr_assert_leq(rows.rows, COLUMNAR_PAGE_ROWS_MAX);
        cr_assert_gt(segment_page_first(segment, partition->page_first + piece).size, 0);
        for (uint32_t row = 0; row < rows.rows; row++) {
            cr_assert_leq(rows.vectors[0].integers[row], last);
            last = rows.vectors[0].integers[row];
        }
        total += rows.rows;
    }
    cr_assert_eq(total, rows_expected);
    cr_assert_eq(columnar_segment_reader_rows(reader, partition, UINT32_MAX, &rows, &err), 0);
    cr_assert_eq(rows.rows, rows_expected);
    columnar_rows_release(&rows);
    segment_cursor_give(segment, cursor);
    columnar_segment_reader_free(reader);
}

Test(columnar_segment, a_partition_of_many_pages_is_merged_by_pages)
{
    struct fixture fixture;
    setup(&fixture);
    large_run_add(&fixture, 150000, 0, 2);
    large_run_add(&fixture, 100000, 50000, 3);
    large_run_add(&fixture, 10, 7, 1);
    struct segment_cursor *cursor = segment_cursor_take(fixture.runs[0]);
    cr_assert_eq(segment_directory_at(cursor, 0)->page_count, 3);
    segment_cursor_give(fixture.runs[0], cursor);
    struct segment *merged = merge(&fixture, raise_all);
    assert_large(&fixture, merged, 250010);
    segment_unref(merged);
    teardown(&fixture);
}

/* All rows at one time and few ads: equals fill pages, and the merge must read on to get past. */
Test(columnar_segment, equals_that_fill_pages_are_merged)
{
    struct fixture fixture;
    setup(&fixture);
    large_run_add(&fixture, 140000, 5, 0);
    large_run_add(&fixture, 70000, 5, 0);
    struct segment *merged = merge(&fixture, raise_all);
    assert_large(&fixture, merged, 210000);
    struct columnar_rows rows;
    struct columnar_segment_reader *reader = columnar_segment_reader_new(merged, fixture.table);
    struct segment_cursor *cursor = segment_cursor_take(merged);
    columnar_rows_init(&rows, fixture.table);
    cr_assert_eq(columnar_segment_reader_rows(reader, segment_directory_at(cursor, 0), UINT32_MAX,
                                              &rows, NULL),
                 0);
    segment_cursor_give(merged, cursor);
    /* Of each ad first the rows of the first run, as they came, then those of the second. */
    for (uint32_t row = 0; row < 20000 + 10000; row++) {
        int64_t expected = row < 20000 ? row * 7 : (row - 20000) * 7;
        cr_assert_eq(rows.vectors[2].integers[row], expected, "row %u", row);
    }
    columnar_rows_release(&rows);
    columnar_segment_reader_free(reader);
    segment_unref(merged);
    teardown(&fixture);
}

/* What a reader that shares reads of all partitions, by a table that may be newer than the pages
 * that earlier readers left. */
static void assert_shared(struct fixture *fixture, const struct table *table, bool has_note)
{
    struct segment *segment = fixture->runs[0];
    struct columnar_rows rows;
    struct error err;
    columnar_rows_init(&rows, table);
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        struct columnar_segment_reader *reader = columnar_segment_reader_new(segment, table);
        struct segment_cursor *cursor = segment_cursor_take(segment);
        const struct segment_partition *partition = partition_find(cursor, i);
        const struct click_model *model = &fixture->models[i];
        columnar_segment_reader_share(reader);
        cr_assert_eq(columnar_segment_reader_rows(reader, partition, UINT32_MAX, &rows, &err), 0);
        cr_assert_eq(rows.rows, model->count);
        for (uint32_t row = 0; row < rows.rows; row++) {
            struct click click = model->clicks[row];
            click.note = has_note ? click.note : 0;
            cr_assert(row_is_click(&rows, row, &click));
        }
        segment_cursor_give(segment, cursor);
        columnar_segment_reader_free(reader);
    }
    columnar_rows_release(&rows);
}

/* The schemas of pages in the pool are freed before the pages are used again. */
Test(columnar_segment, a_page_in_the_pool_is_read_by_the_table_of_its_reader)
{
    static const struct column_definition note = {9, "note", "text", COLUMN_REGULAR, false};
    static const struct column_definition other = {10, "other", "text", COLUMN_REGULAR, false};
    struct fixture fixture;
    struct error err;
    setup(&fixture);
    run_add(&fixture, 2000, 300, 0, PARTITIONS - 1);
    assert_shared(&fixture, fixture.table, true);
    struct schema *schema = schema_copy(fixture.schema);
    assert_shared(&fixture, schema_table(schema, COLUMNAR_TABLE), true);
    struct schema *dropped = schema_copy(schema);
    schema_unref(schema);
    cr_assert_eq(schema_drop_column(dropped, COLUMNAR_TABLE, "note", 1, &err), 0);
    cr_assert_eq(schema_add_columns(dropped, COLUMNAR_TABLE, &note, 1, &err), 0, "%s", err.text);
    assert_shared(&fixture, schema_table(dropped, COLUMNAR_TABLE), false);
    cr_assert_eq(schema_add_columns(dropped, COLUMNAR_TABLE, &other, 1, &err), 0);
    assert_shared(&fixture, schema_table(dropped, COLUMNAR_TABLE), false);
    schema_unref(dropped);
    assert_shared(&fixture, fixture.table, true);
    teardown(&fixture);
}

static void damage_pages(struct fixture *fixture)
{
    char path[64];
    segment_path(segment_info(fixture->runs[0])->id, path);
    struct buffer *content = ram_disk_content(fixture->ram, path);
    memset(content->data + 4096, 0x55, 64);
}

Test(columnar_segment, a_reader_that_does_not_share_reads_the_disk)
{
    struct fixture fixture;
    struct columnar_rows rows;
    struct error err;
    setup(&fixture);
    run_add(&fixture, 2000, 300, 0, PARTITIONS - 1);
    assert_shared(&fixture, fixture.table, true);
    damage_pages(&fixture);
    assert_shared(&fixture, fixture.table, true);
    struct columnar_segment_reader *reader =
        columnar_segment_reader_new(fixture.runs[0], fixture.table);
    struct segment_cursor *cursor = segment_cursor_take(fixture.runs[0]);
    columnar_rows_init(&rows, fixture.table);
    cr_expect_eq(columnar_segment_reader_rows(reader, segment_directory_at(cursor, 0), UINT32_MAX,
                                              &rows, &err),
                 ERROR_CORRUPT);
    columnar_rows_release(&rows);
    segment_cursor_give(fixture.runs[0], cursor);
    columnar_segment_reader_free(reader);
    teardown(&fixture);
}

static uint32_t reads;
static int64_t (*disk_read)(struct disk *disk, struct disk_file *file, uint64_t offset, void *data,
                            size_t size);

static int64_t counting_read(struct disk *disk, struct disk_file *file, uint64_t offset, void *data,
                             size_t size)
{
    reads++;
    return disk_read(disk, file, offset, data, size);
}

static void read_shared(struct fixture *fixture, uint32_t first, uint32_t last)
{
    struct segment_cursor *cursor = segment_cursor_take(fixture->runs[0]);
    struct columnar_segment_reader *reader =
        columnar_segment_reader_new(fixture->runs[0], fixture->table);
    struct columnar_rows rows;
    columnar_rows_init(&rows, fixture->table);
    columnar_segment_reader_share(reader);
    for (uint32_t i = first; i <= last; i++)
        cr_assert_eq(columnar_segment_reader_rows(reader, segment_directory_at(cursor, i),
                                                  UINT32_MAX, &rows, NULL),
                     0);
    columnar_rows_release(&rows);
    columnar_segment_reader_free(reader);
    segment_cursor_give(fixture->runs[0], cursor);
}

Test(columnar_segment, a_scan_leaves_the_pages_in_the_pool_that_it_found_there)
{
    struct fixture fixture;
    setup(&fixture);
    fixture.page_rows = 400;
    run_add(&fixture, 2000, 300, 0, PARTITIONS - 1);
    read_shared(&fixture, 2, 2);
    disk_read = fixture.world->disk->read;
    fixture.world->disk->read = counting_read;
    read_shared(&fixture, 2, 2);
    cr_assert_eq(reads, 0);
    read_shared(&fixture, 0, PARTITIONS - 1);
    cr_assert_gt(reads, 0);
    reads = 0;
    read_shared(&fixture, 2, 2);
    cr_expect_eq(reads, 0);
    fixture.world->disk->read = disk_read;
    teardown(&fixture);
}

/* A search that looked at all dictionaries would take this test a minute. */
Test(columnar_segment, of_very_many_dictionaries_each_is_found, .timeout = 10)
{
    enum { DICTIONARIES = 100000, COLUMNS = 2 };
    struct fixture fixture;
    struct segment_info info = run_info(9);
    struct segment_writer *writer;
    struct segment *segment;
    struct columnar_dictionary *dictionary;
    struct buffer index = {0};
    struct error err = {0};
    setup(&fixture);
    buffer_put_u8(&index, 1); /* the format */
    for (uint32_t i = 0; i < DICTIONARIES * COLUMNS; i++) {
        buffer_put_varint(&index, i / COLUMNS);
        buffer_put_varint(&index, 9 - i % COLUMNS); /* column */
        buffer_put_varint(&index, 0);               /* first page */
        buffer_put_varint(&index, 1);               /* pages */
        buffer_put_varint(&index, 1 + i % 2000);    /* strings */
    }
    cr_assert_eq(segment_writer_open(fixture.world, &info, &writer, &err), 0);
    cr_assert_eq(segment_writer_page(writer, bytes_text("page"), (struct bytes){0}, &err), 0);
    cr_assert_eq(segment_writer_extra(writer, buffer_view(&index), &err), 0);
    cr_assert_eq(segment_writer_finish(writer, &info, &err), 0);
    segment_writer_close(writer);
    cr_assert_eq(segment_open_alone(fixture.world, &info, &segment, &err), 0, "%s", err.text);
    cr_assert_eq(columnar_dictionary_open(segment, &dictionary, &err), 0, "%s", err.text);
    for (uint32_t i = 0; i < DICTIONARIES * COLUMNS; i++)
        cr_assert_eq(columnar_dictionary_count(dictionary, i / COLUMNS, 9 - i % COLUMNS),
                     1 + i % 2000);
    cr_assert_eq(columnar_dictionary_count(dictionary, 0, 10), 0);
    cr_assert_eq(columnar_dictionary_count(dictionary, DICTIONARIES, 9), 0);
    columnar_dictionary_close(dictionary);
    segment_unref(segment);
    buffer_release(&index);
    teardown(&fixture);
}

/* A disk that fails at any call fails the writer, which leaves no file behind. */
Test(columnar_segment, a_failing_disk_is_an_error)
{
    for (int calls = 0;; calls++) {
        struct fixture fixture;
        struct error err;
        struct segment_info info = run_info(9);
        const struct columnar_segment_rules rules = {0};
        setup(&fixture);
        run_add(&fixture, 300, 50, 0, 2);
        run_add(&fixture, 300, 50, 0, 2);
        ram_disk_fail_after(fixture.ram, calls);
        int rc = columnar_segment_merge(fixture.world, fixture.table, fixture.runs, 2, &info,
                                        &rules, &info, &err);
        teardown(&fixture);
        if (rc == 0)
            break;
        cr_assert_eq(rc, -EIO);
        cr_assert_lt(calls, 50);
    }
}

/* test_columnar_page: pages come back, and damage is noticed or harmless. */
#include "storage/segment/columnar_page.h"

#include <criterion/criterion.h>

#include "base/arena.h"
#include "storage/memtable/columnar_memtable.h"
#include "tests/lib/formats.h"
#include "tests/unit/columnar_fixture.h"

enum { PARTITIONS = 5 };

/* A page of some partitions, which came by way of a memtable; string numbers are its codes. */
struct fixture {
    struct schema *schema;
    const struct table *table;
    struct arena *arena;
    struct columnar_memtable *memtable;
    struct columnar_page_encoder *encoder;
    struct columnar_page page;
    struct columnar_page read;
    struct click_model models[PARTITIONS];
    struct buffer encoded;
};

static uint32_t number_of(void *context, uint32_t column, uint32_t code, struct bytes string)
{
    (void)context;
    (void)column;
    (void)string;
    return code;
}

static void page_add(struct fixture *fixture, const struct columnar_rows *rows)
{
    columnar_page_add(fixture->encoder, &fixture->page, rows, 0, rows->rows, number_of, NULL);
}

static void page_encode(struct fixture *fixture)
{
    columnar_page_encode(fixture->encoder, &fixture->page, &fixture->encoded);
}

static void setup(struct fixture *fixture, uint32_t rows)
{
    uint64_t state = 1;
    struct columnar_rows sorted;
    *fixture = (struct fixture){.schema = columnar_schema(), .arena = arena_new(1 << 16)};
    fixture->table = schema_table(fixture->schema, COLUMNAR_TABLE);
    fixture->memtable = columnar_memtable_new(fixture->table, fixture->arena);
    fixture->encoder = columnar_page_encoder_new();
    columnar_page_init(&fixture->page, fixture->table);
    columnar_page_init(&fixture->read, fixture->table);
    columnar_rows_init(&sorted, fixture->table);
    struct block *block = block_new(fixture->table, rows);
    for (uint32_t i = 0; i < rows; i++) {
        struct click click = click_make(&state, 500, 30);
        uint32_t partition = i < PARTITIONS ? i : (uint32_t)(click_random(&state) % PARTITIONS);
        block_add_click(block, partition, &click);
        model_add(&fixture->models[partition], &click);
    }
    columnar_memtable_apply(fixture->memtable, block, 1, 77);
    for (uint32_t i = 0; i < columnar_memtable_partition_count(fixture->memtable); i++) {
        columnar_memtable_rows(fixture->memtable, i, UINT64_MAX, &sorted);
        sorted.timestamp_us = 77 + i;
        if (i == 2) {
            columnar_rows_timestamps(&sorted);
            sorted.timestamps_us[0] = 5;
        }
        if (i == 3) {
            columnar_rows_ranks(&sorted);
            sorted.ranks[0] = 12;
        }
        page_add(fixture, &sorted);
    }
    page_encode(fixture);
    columnar_rows_release(&sorted);
    block_free(block);
}

static void teardown(struct fixture *fixture)
{
    for (uint32_t i = 0; i < PARTITIONS; i++)
        model_release(&fixture->models[i]);
    columnar_page_release(&fixture->page);
    columnar_page_release(&fixture->read);
    columnar_page_encoder_free(fixture->encoder);
    columnar_memtable_free(fixture->memtable);
    arena_free(fixture->arena);
    schema_unref(fixture->schema);
    buffer_release(&fixture->encoded);
}

/* The strings of an entry, as the reader of a segment puts them together. */
static struct bytes *entry_strings(const struct fixture *fixture, uint32_t column, uint32_t entry)
{
    const struct columnar_page_list *list = &fixture->read.lists[column];
    struct columnar_rows rows;
    columnar_rows_init(&rows, fixture->table);
    columnar_memtable_rows(fixture->memtable, 0, UINT64_MAX, &rows);
    const struct bytes *all = rows.vectors[column].strings;
    struct bytes *strings =
        memory_alloc((list->starts[entry + 1] - list->starts[entry] + 1) * sizeof *strings);
    for (uint32_t i = list->starts[entry]; i < list->starts[entry + 1]; i++) {
        cr_assert_lt(list->numbers[i], rows.vectors[column].string_count);
        strings[i - list->starts[entry]] = all[list->numbers[i]];
    }
    columnar_rows_release(&rows);
    return strings;
}

static void assert_same(struct fixture *fixture)
{
    cr_assert_eq(fixture->read.entry_count, fixture->page.entry_count);
    for (uint32_t i = 0; i < fixture->read.entry_count; i++) {
        const struct columnar_page_entry *entry = &fixture->read.entries[i];
        struct bytes *ads = entry_strings(fixture, 1, i);
        struct bytes *notes = entry_strings(fixture, 4, i);
        fixture->read.rows.vectors[1].strings = ads;
        fixture->read.rows.vectors[4].strings = notes;
        cr_assert_eq(entry->rows, fixture->models[i].count);
        for (uint32_t row = 0; row < entry->rows; row++)
            cr_assert(row_is_click(&fixture->read.rows, entry->first + row,
                                   &fixture->models[i].clicks[row]));
        memory_free(ads);
        memory_free(notes);
    }
}

Test(columnar_page, rows_come_back_in_their_entries)
{
    static const uint32_t sizes[] = {1, 5, 6, 300, 3000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct fixture fixture;
        struct error err;
        setup(&fixture, sizes[i]);
        for (int again = 0; again < 2; again++) {
            cr_assert_eq(columnar_page_decode(&fixture.read, buffer_view(&fixture.encoded), &err),
                         0, "%s", err.text);
            assert_same(&fixture);
        }
        teardown(&fixture);
    }
}

Test(columnar_page, timestamps_and_ranks_come_back)
{
    struct fixture fixture;
    setup(&fixture, 200);
    cr_assert_eq(columnar_page_decode(&fixture.read, buffer_view(&fixture.encoded), NULL), 0);
    const struct columnar_rows *rows = &fixture.read.rows;
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        const struct columnar_page_entry *entry = &fixture.read.entries[i];
        cr_assert_eq(rows->timestamps_us[entry->first], i == 2 ? 5 : 77 + (int64_t)i);
        cr_assert_eq(rows->timestamps_us[entry->first + entry->rows - 1], 77 + (int64_t)i);
        cr_assert_eq(rows->ranks[entry->first], i == 3 ? 12 : COLUMNAR_RANK_IMPLIED);
    }
    teardown(&fixture);
}

/* DROP of a column and ADD of another, after the page was written. */
Test(columnar_page, dropped_columns_are_left_out_and_new_ones_absent)
{
    struct fixture fixture;
    struct error err;
    setup(&fixture, 100);
    struct schema *altered = schema_copy(fixture.schema);
    cr_assert_eq(schema_drop_column(altered, COLUMNAR_TABLE, "note", 1, &err), 0);
    struct column_definition added = {.name = "more", .type = "text", .kind = COLUMN_REGULAR};
    cr_assert_eq(schema_add_columns(altered, COLUMNAR_TABLE, &added, 1, &err), 0);
    struct columnar_page page;
    columnar_page_init(&page, schema_table(altered, COLUMNAR_TABLE));
    cr_assert_eq(columnar_page_decode(&page, buffer_view(&fixture.encoded), &err), 0, "%s",
                 err.text);
    cr_assert_eq(page.rows.rows, 100);
    for (uint32_t i = 0; i < page.rows.column_count; i++) {
        const struct columnar_vector *vector = &page.rows.vectors[i];
        bool is_new = strcmp(vector->column->name, "more") == 0;
        cr_assert_neq(vector->column_id, 8);
        for (uint32_t row = 0; is_new && row < page.rows.rows; row++)
            cr_assert(vector->absent[row]);
    }
    columnar_page_release(&page);
    schema_unref(altered);
    teardown(&fixture);
}

Test(columnar_page, the_example_of_the_format_is_written_byte_for_byte)
{
    static const struct click clicks[] = {
        {.time = 1385654400123, .ad = 42, .amount = 5, .scale = 3, .derived = -1},
        {.time = 1385654400000, .ad = 7, .amount = 2, .scale = 2, .derived = -1},
        {.time = 1385654399000, .ad = 42, .amount = 5, .scale = 3, .derived = -1},
        {.time = 1385654401000, .ad = 42, .amount = 9, .scale = 2, .derived = -1}};
    struct fixture fixture;
    setup(&fixture, 0);
    struct block *block = block_new(fixture.table, 4);
    struct columnar_rows rows;
    columnar_rows_init(&rows, fixture.table);
    for (uint32_t i = 0; i < 4; i++)
        block_add_click(block, i / 3, &clicks[i]);
    columnar_memtable_apply(fixture.memtable, block, 1, 77);
    for (uint32_t i = 0; i < 2; i++) {
        columnar_memtable_rows(fixture.memtable, i, UINT64_MAX, &rows);
        page_add(&fixture, &rows);
    }
    buffer_clear(&fixture.encoded);
    page_encode(&fixture);
    formats_expect("Wide page", buffer_view(&fixture.encoded), fixture.encoded.size);
    columnar_rows_release(&rows);
    block_free(block);
    teardown(&fixture);
}

/* Column 1 is the ad, 2 the amount. */
Test(columnar_page, columns_that_are_wanted_come_back_alone)
{
    struct fixture fixture;
    struct columnar_page some;
    setup(&fixture, 3000);
    columnar_page_init(&some, fixture.table);
    some.wanted = 1 << 1 | 1 << 2;
    cr_assert_eq(columnar_page_decode(&fixture.read, buffer_view(&fixture.encoded), NULL), 0);
    cr_assert_eq(columnar_page_decode(&some, buffer_view(&fixture.encoded), NULL), 0);
    uint32_t rows = fixture.read.rows.rows;
    const struct columnar_vector *whole = fixture.read.rows.vectors;
    cr_assert(fixture.read.rows.timestamps_us != NULL && fixture.read.rows.ranks != NULL);
    cr_assert(some.rows.timestamps_us == NULL && some.rows.ranks == NULL);
    cr_assert_eq(some.rows.rows, rows);
    cr_assert_eq(some.entry_count, fixture.read.entry_count);
    cr_assert_arr_eq(some.rows.vectors[1].codes, whole[1].codes, rows * sizeof(uint32_t));
    cr_assert_arr_eq(some.rows.vectors[2].integers, whole[2].integers, rows * sizeof(int64_t));
    cr_assert_arr_eq(some.rows.vectors[2].scales, whole[2].scales, rows);
    for (uint32_t row = 0; row < rows; row++)
        cr_assert_eq(vector_is_absent(&some.rows.vectors[2], row),
                     vector_is_absent(&whole[2], row));
    cr_assert_arr_eq(some.lists[1].numbers, fixture.read.lists[1].numbers,
                     fixture.read.lists[1].count * sizeof(int64_t));
    columnar_page_release(&some);
    teardown(&fixture);
}

Test(columnar_page, truncated_at_every_byte_it_is_corrupt)
{
    static const uint64_t wanted[] = {COLUMNAR_PAGE_ALL, 1 << 2, 0};
    struct fixture fixture;
    setup(&fixture, 120);
    for (size_t size = 0; size < fixture.encoded.size; size++) {
        uint8_t *cut = memory_copy(fixture.encoded.data, size);
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            fixture.read.wanted = wanted[i];
            cr_assert_eq(columnar_page_decode(&fixture.read, bytes_of(cut, size), NULL),
                         ERROR_CORRUPT, "%zu", size);
            cr_assert_eq(fixture.read.rows.rows, 0);
        }
        memory_free(cut);
    }
    teardown(&fixture);
}

/* A page that decodes may be read without a check. */
static void assert_sound(const struct columnar_page *page)
{
    for (uint32_t i = 0; i < page->entry_count; i++) {
        const struct columnar_page_entry *entry = &page->entries[i];
        for (uint32_t row = entry->first; row < entry->first + entry->rows; row++) {
            cr_assert_lt(row, page->rows.rows);
            cr_assert_leq(page->rows.vectors[2].scales[row], BLOCK_SCALE_MAX);
            for (uint32_t column = 1; column < 5; column += 3) {
                const struct columnar_page_list *list = &page->lists[column];
                if (!vector_is_absent(&page->rows.vectors[column], row))
                    cr_assert_lt(page->rows.vectors[column].codes[row],
                                 list->starts[i + 1] - list->starts[i]);
            }
        }
    }
}

Test(columnar_page, every_bit_may_be_flipped)
{
    struct fixture fixture;
    setup(&fixture, 120);
    for (size_t bit = 0; bit < fixture.encoded.size * 8; bit++) {
        uint8_t *damaged = memory_copy(fixture.encoded.data, fixture.encoded.size);
        damaged[bit / 8] ^= (uint8_t)(1U << bit % 8);
        int rc = columnar_page_decode(&fixture.read, bytes_of(damaged, fixture.encoded.size), NULL);
        cr_assert(rc == 0 || rc == ERROR_CORRUPT);
        assert_sound(&fixture.read);
        fixture.read.wanted = 1 << 1 | 1 << 2 | 1 << 4;
        rc = columnar_page_decode(&fixture.read, bytes_of(damaged, fixture.encoded.size), NULL);
        cr_assert(rc == 0 || rc == ERROR_CORRUPT);
        assert_sound(&fixture.read);
        fixture.read.wanted = COLUMNAR_PAGE_ALL;
        memory_free(damaged);
    }
    teardown(&fixture);
}

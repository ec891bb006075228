/* test_block: blocks come back from the log as they were, and damage is noticed or harmless. */
#include "storage/cell/block.h"

#include <criterion/criterion.h>

#include "tests/unit/columnar_fixture.h"

static struct block *block_random(const struct schema *schema, uint32_t rows, uint32_t partitions)
{
    uint64_t state = 7;
    struct block *block = block_new(schema_table(schema, COLUMNAR_TABLE), 4);
    for (uint32_t i = 0; i < rows; i++) {
        struct click click = click_make(&state, 1000, 300);
        block_add_click(block, (uint32_t)(click_random(&state) % partitions), &click);
    }
    return block;
}

static bool dictionaries_equal(const struct block_dictionary *a, const struct block_dictionary *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!bytes_equal(block_dictionary_get(a, i), block_dictionary_get(b, i)))
            return false;
    return true;
}

static bool columns_equal(const struct block_column *a, const struct block_column *b, uint32_t rows)
{
    if (a->column_id != b->column_id || a->kind != b->kind ||
        !dictionaries_equal(&a->dictionary, &b->dictionary))
        return false;
    for (uint32_t i = 0; i < rows; i++) {
        bool absent_a = a->absent != NULL && a->absent[i];
        bool absent_b = b->absent != NULL && b->absent[i];
        if (absent_a != absent_b)
            return false;
        if (a->kind == VECTOR_CODE ? a->codes[i] != b->codes[i] : a->integers[i] != b->integers[i])
            return false;
        if (a->kind == VECTOR_DECIMAL && a->scales[i] != b->scales[i])
            return false;
    }
    return true;
}

static bool blocks_equal(const struct block *a, const struct block *b)
{
    if (a->table_id != b->table_id || a->rows != b->rows || a->column_count != b->column_count ||
        !dictionaries_equal(&a->partitions, &b->partitions))
        return false;
    for (uint32_t i = 0; i < a->rows; i++)
        if (a->partition_codes[i] != b->partition_codes[i])
            return false;
    for (uint32_t i = 0; i < a->column_count; i++)
        if (!columns_equal(&a->columns[i], &b->columns[i], a->rows))
            return false;
    return true;
}

Test(block, comes_back_from_its_serialized_form)
{
    static const uint32_t sizes[] = {0, 1, 2, 300, 2000};
    struct schema *schema = columnar_schema();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct block *block = block_random(schema, sizes[i], 300);
        struct block *read;
        struct buffer buffer = {0};
        struct error err;
        block_serialize(block, &buffer);
        struct reader reader = reader_of(buffer_view(&buffer));
        cr_assert_eq(block_deserialize(&reader, schema, &read, &err), 0, "%u rows", sizes[i]);
        cr_assert_eq(reader_left(&reader), 0);
        cr_assert(blocks_equal(block, read), "%u rows", sizes[i]);
        block_free(read);
        block_free(block);
        buffer_release(&buffer);
    }
    schema_unref(schema);
}

Test(block, cleared_it_is_filled_again)
{
    struct schema *schema = columnar_schema();
    struct block *block = block_random(schema, 100, 10);
    struct click click = {.time = 5, .ad = 1, .amount = 2, .scale = 2, .derived = 1, .note = 1};
    block_clear(block);
    cr_assert_eq(block->rows, 0);
    cr_assert_eq(block->partitions.count, 0);
    block_add_click(block, 3, &click);
    cr_assert_eq(block->columns[1].dictionary.count, 1);
    cr_assert_null(block->columns[4].absent);
    block_free(block);
    schema_unref(schema);
}

/* A block logged before a column was added is read after. */
static bool strings_at_equal(const struct block_dictionary *a, uint32_t code_a,
                             const struct block_dictionary *b, uint32_t code_b)
{
    if (a->count == 0 || b->count == 0)
        return a->count == b->count;
    return bytes_equal(block_dictionary_get(a, code_a), block_dictionary_get(b, code_b));
}

static bool values_equal(const struct block_column *a, uint32_t row_a, const struct block_column *b,
                         uint32_t row_b)
{
    bool absent_a = a->absent != NULL && a->absent[row_a] != 0;
    bool absent_b = b->absent != NULL && b->absent[row_b] != 0;
    if (absent_a || absent_b)
        return absent_a == absent_b;
    if (a->kind == VECTOR_CODE)
        return strings_at_equal(&a->dictionary, a->codes[row_a], &b->dictionary, b->codes[row_b]);
    return a->integers[row_a] == b->integers[row_b] &&
           (a->kind != VECTOR_DECIMAL || a->scales[row_a] == b->scales[row_b]);
}

/* Each entry of the dictionary is some row's. */
static bool all_are_used(const struct block_dictionary *dictionary, const uint32_t *codes,
                         uint32_t rows)
{
    uint32_t used = 0;
    uint8_t *is_used = memory_zeroed(dictionary->count, 1);
    for (uint32_t i = 0; i < rows && dictionary->count > 0; i++) {
        used += is_used[codes[i]] == 0;
        is_used[codes[i]] = 1;
    }
    memory_free(is_used);
    return used == dictionary->count;
}

static void expect_copied(const struct block *from, uint32_t first, uint32_t end)
{
    struct block *to = block_new_like(from);
    block_copy_rows(from, first, end, to);
    cr_assert_eq(to->rows, end - first);
    cr_assert(all_are_used(&to->partitions, to->partition_codes, to->rows));
    for (uint32_t i = 0; i < to->rows; i++)
        cr_assert(strings_at_equal(&from->partitions, from->partition_codes[first + i],
                                   &to->partitions, to->partition_codes[i]));
    for (uint32_t c = 0; c < to->column_count; c++) {
        const struct block_column *column = &to->columns[c];
        for (uint32_t i = 0; i < to->rows; i++)
            cr_assert(values_equal(&from->columns[c], first + i, column, i), "column %u, row %u", c,
                      i);
        cr_assert(column->kind != VECTOR_CODE || column->dictionary.count == 0 ||
                  all_are_used(&column->dictionary, column->codes, to->rows));
    }
    block_free(to);
}

Test(block, rows_are_copied_with_the_strings_that_they_use_and_no_others)
{
    static const uint32_t ends[] = {0, 1, 2, 300, 301, 1999, 2000};
    struct schema *schema = columnar_schema();
    struct block *block = block_random(schema, 2000, 300);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        for (size_t first = 0; first <= i; first++)
            expect_copied(block, ends[first], ends[i]);
    block_free(block);
    schema_unref(schema);
}

Test(block, a_column_added_later_is_absent_in_every_row)
{
    struct error err;
    struct schema *schema = columnar_schema();
    struct block *block = block_random(schema, 20, 3);
    struct buffer buffer = {0};
    block_serialize(block, &buffer);
    struct schema *altered = schema_copy(schema);
    struct column_definition added = {.name = "more", .type = "int", .kind = COLUMN_REGULAR};
    cr_assert_eq(schema_add_columns(altered, COLUMNAR_TABLE, &added, 1, &err), 0);
    struct reader reader = reader_of(buffer_view(&buffer));
    struct block *read;
    cr_assert_eq(block_deserialize(&reader, altered, &read, &err), 0);
    const struct column *column =
        schema_column_named(schema_table(altered, COLUMNAR_TABLE), bytes_text("more"));
    const struct block_column *more = block_column_at(read, column->id);
    for (uint32_t i = 0; i < read->rows; i++)
        cr_assert_eq(more->absent[i], 1);
    block_free(read);
    block_free(block);
    buffer_release(&buffer);
    schema_unref(altered);
    schema_unref(schema);
}

/* What consumers index by holds, whatever the bytes said. */
static void assert_sound(const struct block *block)
{
    for (uint32_t row = 0; row < block->rows; row++)
        cr_assert_lt(block->partition_codes[row], block->partitions.count);
    for (uint32_t i = 0; i < block->column_count; i++) {
        const struct block_column *column = &block->columns[i];
        for (uint32_t row = 0; row < block->rows; row++) {
            bool is_absent = column->absent != NULL && column->absent[row];
            if (column->kind == VECTOR_CODE && !is_absent)
                cr_assert_lt(column->codes[row], column->dictionary.count);
            if (column->kind == VECTOR_DECIMAL)
                cr_assert_leq(column->scales[row], BLOCK_SCALE_MAX);
        }
    }
}

Test(block, truncated_at_every_byte_it_is_corrupt)
{
    struct schema *schema = columnar_schema();
    struct block *block = block_random(schema, 40, 9);
    struct buffer buffer = {0};
    block_serialize(block, &buffer);
    for (size_t size = 0; size < buffer.size; size++) {
        uint8_t *cut = memory_copy(buffer.data, size);
        struct reader reader = reader_of(bytes_of(cut, size));
        struct block *read;
        cr_assert_eq(block_deserialize(&reader, schema, &read, NULL), ERROR_CORRUPT, "%zu", size);
        cr_assert_null(read);
        memory_free(cut);
    }
    block_free(block);
    buffer_release(&buffer);
    schema_unref(schema);
}

Test(block, every_bit_may_be_flipped)
{
    struct schema *schema = columnar_schema();
    struct block *block = block_random(schema, 40, 9);
    struct buffer buffer = {0};
    block_serialize(block, &buffer);
    for (size_t bit = 0; bit < buffer.size * 8; bit++) {
        uint8_t *damaged = memory_copy(buffer.data, buffer.size);
        damaged[bit / 8] ^= (uint8_t)(1U << bit % 8);
        struct reader reader = reader_of(bytes_of(damaged, buffer.size));
        struct block *read;
        int rc = block_deserialize(&reader, schema, &read, NULL);
        cr_assert(rc == 0 || rc == ERROR_CORRUPT);
        if (rc == 0)
            assert_sound(read);
        block_free(read);
        memory_free(damaged);
    }
    block_free(block);
    buffer_release(&buffer);
    schema_unref(schema);
}

struct value_case {
    enum type_kind kind;
    const char *value;
    size_t size;
    int rc;
    int64_t integer;
    uint8_t scale;
};

static const struct value_case value_cases[] = {
    {TYPE_BIGINT, "\xff\xff\xff\xff\xff\xff\xff\xfe", 8, 0, -2, 0},
    {TYPE_INT, "\xff\xff\xff\xfe", 4, 0, -2, 0},
    {TYPE_DATE, "\x80\x00\x00\x01", 4, 0, INT64_C(0x80000001), 0},
    {TYPE_SMALLINT, "\x80\x00", 2, 0, INT16_MIN, 0},
    {TYPE_TINYINT, "\x80", 1, 0, INT8_MIN, 0},
    {TYPE_BOOLEAN, "\x01", 1, 0, 1, 0},
    {TYPE_DECIMAL, "\x00\x00\x00\x02\xff\x7f", 6, 0, -129, 2},
    {TYPE_DECIMAL, "\x00\x00\x00\x13\x01", 5, ERROR_INVALID, 0, 0},
    {TYPE_DECIMAL, "\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", 13, ERROR_INVALID, 0, 0},
    {TYPE_BIGINT, "\x01", 1, ERROR_INVALID, 0, 0},
    {TYPE_TEXT, "12345678", 8, ERROR_INVALID, 0, 0},
};

Test(block, values_turn_into_vectors_and_back)
{
    for (size_t i = 0; i < sizeof value_cases / sizeof value_cases[0]; i++) {
        const struct value_case *c = &value_cases[i];
        struct buffer back = {0};
        int64_t integer;
        uint8_t scale;
        const struct type *type = type_builtin(c->kind);
        cr_assert_eq(block_vector_get(type, bytes_of(c->value, c->size), &integer, &scale), c->rc,
                     "case %zu", i);
        if (c->rc != 0)
            continue;
        cr_assert_eq(integer, c->integer, "case %zu", i);
        cr_assert_eq(scale, c->scale);
        block_vector_put(type, integer, scale, &back);
        cr_assert(bytes_equal(buffer_view(&back), bytes_of(c->value, c->size)), "case %zu", i);
        buffer_release(&back);
    }
}

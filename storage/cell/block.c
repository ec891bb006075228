/* block: columns that grow, and the serialized form in which the log keeps them.
 *
 * From any bytes block_deserialize makes either an error or a block that can be used without
 * checks.  In such a block codes are below the dictionary's count, offsets ascend within the text,
 * scales are 0 to 18, flags are 0 or 1.
 *
 * Numbers in a serialized vector take whole bytes, so that the compiler vectorizes the loops. */
#include "storage/cell/block.h"

#include <string.h>

#include "base/memory.h"
#include "storage/schema/type.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are written as they lie");

enum { BLOCK_FORMAT = 1 };

enum flag_form { FLAGS_CONSTANT = 0, FLAGS_VECTOR = 1 };

/* ---- columns and their values ---- */

enum vector_kind block_vector_kind(const struct type *type)
{
    switch ((int)type->kind) {
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP:
    case TYPE_TIME:
    case TYPE_INT:
    case TYPE_DATE:
    case TYPE_SMALLINT:
    case TYPE_TINYINT:
    case TYPE_BOOLEAN:
        return VECTOR_INTEGER;
    case TYPE_DECIMAL:
        return VECTOR_DECIMAL;
    default:
        return VECTOR_CODE;
    }
}

uint32_t block_column_count(const struct table *table)
{
    check(table->flags & TABLE_OF_EVENTS && table->clustering_count > 0);
    uint32_t keys = table->partition_count + table->clustering_count;
    return table->clustering_count - 1 + table->column_count - keys - table->static_count;
}

const struct column *block_column_of(const struct table *table, uint32_t index)
{
    uint32_t clustering = table->clustering_count - 1;
    if (index < clustering)
        return &table->columns[table->partition_count + index];
    return &table->columns[table->partition_count + table->clustering_count + table->static_count +
                           index - clustering];
}

void block_vector_put(const struct type *type, int64_t integer, uint8_t scale,
                      struct buffer *buffer)
{
    if (type->kind == TYPE_DECIMAL)
        decimal_serialize(buffer, decimal_from(integer, scale));
    else
        type_value_put_integer(buffer, type_fixed_size(type->kind), integer);
}

static int decimal_value_get(struct bytes value, int64_t *integer_out, uint8_t *scale_out)
{
    struct decimal decimal;
    return decimal_deserialize(value, &decimal) == 0 &&
                   decimal_split(decimal, BLOCK_SCALE_MAX, integer_out, scale_out)
               ? 0
               : ERROR_INVALID;
}

int block_vector_get(const struct type *type, struct bytes value, int64_t *integer_out,
                     uint8_t *scale_out)
{
    *integer_out = 0;
    *scale_out = 0;
    if (type->kind == TYPE_DECIMAL)
        return decimal_value_get(value, integer_out, scale_out);
    if (block_vector_kind(type) != VECTOR_INTEGER || value.size != type_fixed_size(type->kind))
        return ERROR_INVALID;
    if (type->kind == TYPE_BOOLEAN)
        *integer_out = value.data[0] != 0;
    else if (type->kind == TYPE_DATE)
        *integer_out = load_u32_be(value.data);
    else
        *integer_out = type_value_integer(value);
    return 0;
}

/* ---- dictionaries ---- */

static void dictionary_reserve(struct block_dictionary *dictionary, uint32_t more)
{
    check(more <= UINT32_MAX / 2 - dictionary->count);
    uint32_t needed = dictionary->count + more;
    if (needed <= dictionary->capacity && dictionary->offsets != NULL)
        return;
    uint32_t capacity = memory_grown(dictionary->capacity, needed);
    dictionary->offsets =
        memory_resize(dictionary->offsets, ((size_t)capacity + 1) * sizeof(uint32_t));
    dictionary->capacity = capacity;
    dictionary->offsets[dictionary->count] = (uint32_t)dictionary->text.size;
}

static void dictionary_clear(struct block_dictionary *dictionary)
{
    buffer_clear(&dictionary->text);
    dictionary->count = 0;
    if (dictionary->offsets != NULL)
        dictionary->offsets[0] = 0;
}

static void dictionary_release(struct block_dictionary *dictionary)
{
    buffer_release(&dictionary->text);
    memory_free(dictionary->offsets);
}

static inline void copy_short(uint8_t *to, struct bytes from)
{
    const uint8_t *data = from.data;
    size_t size = from.size;
    if (size >= 8 && size <= 32) {
        uint64_t first = load_u64(data);
        uint64_t last = load_u64(data + size - 8);
        if (size > 16) {
            store_u64(to + 8, load_u64(data + 8));
            store_u64(to + size - 16, load_u64(data + size - 16));
        }
        store_u64(to, first);
        store_u64(to + size - 8, last);
    } else if (size > 0) {
        memcpy(to, data, size);
    }
}

uint32_t block_dictionary_add(struct block_dictionary *dictionary, struct bytes text)
{
    check(text.size <= BLOCK_STRING_MAX && text.size <= UINT32_MAX - dictionary->text.size);
    if (dictionary->count >= dictionary->capacity)
        dictionary_reserve(dictionary, 64);
    /* One byte more than needed, because the text must not be NULL when its only string is
     * empty. */
    if (dictionary->text.capacity - dictionary->text.size <= text.size)
        buffer_reserve(&dictionary->text, text.size + 1);
    copy_short(dictionary->text.data + dictionary->text.size, text);
    dictionary->text.size += text.size;
    uint32_t code = dictionary->count++;
    dictionary->offsets[dictionary->count] = (uint32_t)dictionary->text.size;
    return code;
}

struct bytes block_dictionary_get(const struct block_dictionary *dictionary, uint32_t code)
{
    check(code < dictionary->count);
    uint32_t start = dictionary->offsets[code];
    return bytes_of(dictionary->text.data + start, dictionary->offsets[code + 1] - start);
}

/* ---- blocks ---- */

static struct block *block_of_columns(uint32_t table_id, uint32_t column_count)
{
    check(column_count <= BLOCK_COLUMNS_MAX);
    struct block *block = memory_zeroed(1, sizeof *block);
    block->table_id = table_id;
    block->column_count = column_count;
    block->columns = memory_zeroed(column_count, sizeof *block->columns);
    return block;
}

struct block *block_new(const struct table *table, uint32_t capacity)
{
    struct block *block = block_of_columns(table->id, block_column_count(table));
    for (uint32_t i = 0; i < block->column_count; i++) {
        const struct column *column = block_column_of(table, i);
        block->columns[i].column_id = column->id;
        block->columns[i].kind = block_vector_kind(column->type);
    }
    block_reserve(block, capacity);
    return block;
}

struct block *block_new_like(const struct block *block)
{
    struct block *like = block_of_columns(block->table_id, block->column_count);
    like->is_checked = block->is_checked;
    for (uint32_t i = 0; i < like->column_count; i++) {
        like->columns[i].column_id = block->columns[i].column_id;
        like->columns[i].kind = block->columns[i].kind;
    }
    return like;
}

static int check_strings(const struct table *table, const struct block_column *column,
                         struct error *err)
{
    const struct column *of = schema_column(table, column->column_id);
    if (of == NULL || column->kind != VECTOR_CODE)
        return 0;
    for (uint32_t i = 0; i < column->dictionary.count; i++)
        if (type_validate(of->type, block_dictionary_get(&column->dictionary, i), err) < 0) {
            error_wrap(err, "column %s", of->name);
            return ERROR_CORRUPT;
        }
    return 0;
}

int block_check(const struct block *block, const struct schema *schema, struct error *err)
{
    const struct table *table = schema_table(schema, block->table_id);
    if (table == NULL)
        return error_set(err, ERROR_CORRUPT, "block: no table has number %u", block->table_id);
    for (uint32_t i = 0; i < block->partitions.count; i++) {
        int rc = schema_check_key(table, block_dictionary_get(&block->partitions, i), err);
        if (rc < 0)
            return rc;
    }
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < block->column_count; i++)
        rc = check_strings(table, &block->columns[i], err);
    return rc;
}

void block_free(struct block *block)
{
    if (block == NULL)
        return;
    for (uint32_t i = 0; i < block->column_count; i++) {
        struct block_column *column = &block->columns[i];
        memory_free(column->integers);
        memory_free(column->scales);
        memory_free(column->codes);
        memory_free(column->absent);
        dictionary_release(&column->dictionary);
    }
    memory_free(block->columns);
    dictionary_release(&block->partitions);
    memory_free(block->partition_codes);
    memory_free(block);
}

void block_clear(struct block *block)
{
    block->rows = 0;
    dictionary_clear(&block->partitions);
    for (uint32_t i = 0; i < block->column_count; i++) {
        struct block_column *column = &block->columns[i];
        dictionary_clear(&column->dictionary);
        memory_free(column->absent);
        column->absent = NULL;
    }
}

static void column_resize(struct block_column *column, size_t rows, size_t capacity)
{
    if (column->kind == VECTOR_CODE) {
        column->codes = memory_resize(column->codes, capacity * sizeof *column->codes);
    } else {
        column->integers = memory_resize(column->integers, capacity * sizeof *column->integers);
        if (column->kind == VECTOR_DECIMAL)
            column->scales = memory_resize(column->scales, capacity);
    }
    if (column->absent != NULL) {
        column->absent = memory_resize(column->absent, capacity);
        memset(column->absent + rows, 0, capacity - rows);
    }
}

void block_reserve(struct block *block, uint32_t more)
{
    check(more <= BLOCK_ROWS_MAX && block->rows <= BLOCK_ROWS_MAX - more);
    uint32_t needed = block->rows + more;
    if (needed <= block->capacity)
        return;
    uint32_t capacity = memory_grown(block->capacity, needed);
    if (capacity > BLOCK_ROWS_MAX)
        capacity = BLOCK_ROWS_MAX;
    block->partition_codes =
        memory_resize(block->partition_codes, capacity * sizeof *block->partition_codes);
    for (uint32_t i = 0; i < block->column_count; i++)
        column_resize(&block->columns[i], block->rows, capacity);
    block->capacity = capacity;
}

struct block_column *block_column_at(struct block *block, uint32_t column_id)
{
    for (uint32_t i = 0; i < block->column_count; i++)
        if (block->columns[i].column_id == column_id)
            return &block->columns[i];
    return NULL;
}

void block_set_absent(struct block *block, struct block_column *column, uint32_t row)
{
    check(row < block->capacity);
    if (column->absent == NULL)
        column->absent = memory_zeroed(block->capacity, 1);
    column->absent[row] = 1;
    if (column->kind == VECTOR_CODE)
        column->codes[row] = 0;
    else
        column->integers[row] = 0;
    if (column->kind == VECTOR_DECIMAL)
        column->scales[row] = 0;
}

static void codes_copy(const struct block_dictionary *from, const uint32_t *codes, uint32_t rows,
                       struct block_dictionary *to, uint32_t *codes_out)
{
    uint32_t *known = memory_alloc(from->count * sizeof *known);
    memset(known, 0xFF, from->count * sizeof *known);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t *code = &known[codes[i]];
        if (*code == UINT32_MAX)
            *code = block_dictionary_add(to, block_dictionary_get(from, codes[i]));
        codes_out[i] = *code;
    }
    memory_free(known);
}

static void column_copy_rows(const struct block_column *from, uint32_t first, uint32_t rows,
                             struct block *block, struct block_column *to)
{
    if (from->kind == VECTOR_CODE && from->dictionary.count > 0)
        codes_copy(&from->dictionary, from->codes + first, rows, &to->dictionary, to->codes);
    else if (from->kind == VECTOR_CODE)
        memset(to->codes, 0, rows * sizeof *to->codes);
    else
        memcpy(to->integers, from->integers + first, rows * sizeof *to->integers);
    if (from->kind == VECTOR_DECIMAL)
        memcpy(to->scales, from->scales + first, rows);
    for (uint32_t i = 0; from->absent != NULL && i < rows; i++)
        if (from->absent[first + i] != 0)
            block_set_absent(block, to, i);
}

void block_copy_rows(const struct block *from, uint32_t first, uint32_t end, struct block *to)
{
    uint32_t rows = end - first;
    check(first <= end && end <= from->rows && to->rows == 0 && to->table_id == from->table_id &&
          to->column_count == from->column_count);
    if (rows == 0)
        return;
    block_reserve(to, rows);
    codes_copy(&from->partitions, from->partition_codes + first, rows, &to->partitions,
               to->partition_codes);
    for (uint32_t i = 0; i < from->column_count; i++)
        column_copy_rows(&from->columns[i], first, rows, to, &to->columns[i]);
    to->rows = rows;
}

static size_t dictionary_memory(const struct block_dictionary *dictionary)
{
    return dictionary->text.capacity + (size_t)dictionary->capacity * sizeof(uint32_t);
}

size_t block_memory(const struct block *block)
{
    size_t memory = sizeof *block + block->column_count * sizeof *block->columns +
                    block->capacity * sizeof *block->partition_codes +
                    dictionary_memory(&block->partitions);
    for (uint32_t i = 0; i < block->column_count; i++) {
        const struct block_column *column = &block->columns[i];
        size_t row = column->kind == VECTOR_CODE ? sizeof(uint32_t) : sizeof(int64_t);
        row += column->kind == VECTOR_DECIMAL ? 1 : 0;
        row += column->absent != NULL ? 1 : 0;
        memory += row * block->capacity + dictionary_memory(&column->dictionary);
    }
    return memory;
}

static size_t dictionary_bytes_max(const struct block_dictionary *dictionary)
{
    return 16 + dictionary->text.size + (size_t)dictionary->count * 10;
}

size_t block_bytes_max(const struct block *block)
{
    size_t bytes = 64 + dictionary_bytes_max(&block->partitions) + (size_t)4 * block->rows;
    for (uint32_t i = 0; i < block->column_count; i++) {
        const struct block_column *column = &block->columns[i];
        size_t row = column->kind == VECTOR_CODE ? 5 : 10;
        bytes += 64 + row * block->rows + dictionary_bytes_max(&column->dictionary);
    }
    return bytes;
}

/* ---- serialized: vectors of a width ---- */

/* Inlined, so that the compiler moves the choice by width out of loops. */
static inline uint64_t number_get(const uint8_t *vector, size_t width, size_t i)
{
    return width == 1   ? vector[i]
           : width == 2 ? load_u16(vector + 2 * i)
           : width == 4 ? load_u32(vector + 4 * i)
           : width == 8 ? load_u64(vector + 8 * i)
                        : 0;
}

static inline void number_put(uint8_t *vector, size_t width, size_t i, uint64_t number)
{
    if (width == 1)
        vector[i] = (uint8_t)number;
    else if (width == 2)
        store_u16(vector + 2 * i, (uint16_t)number);
    else if (width == 4)
        store_u32(vector + 4 * i, (uint32_t)number);
    else if (width == 8)
        store_u64(vector + 8 * i, number);
}

/* Append values as offsets from the least value, all in the same width of 0, 1, 2, 4 or 8 bytes:
 *
 *     base signed | width u8 | count * width bytes */
static void put_offsets(struct buffer *buffer, const int64_t *values, uint32_t count)
{
    int64_t least = count > 0 ? values[0] : 0;
    int64_t greatest = least;
    for (uint32_t i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    uint64_t base = (uint64_t)least;
    uint64_t range = (uint64_t)greatest - base;
    uint8_t width = range == 0            ? 0
                    : range <= UINT8_MAX  ? 1
                    : range <= UINT16_MAX ? 2
                    : range <= UINT32_MAX ? 4
                                          : 8;
    buffer_put_signed(buffer, least);
    buffer_put_u8(buffer, width);
    buffer_reserve(buffer, (size_t)count * width);
    uint8_t *to = buffer->data + buffer->size;
    for (uint32_t i = 0; i < count; i++)
        number_put(to, width, i, (uint64_t)values[i] - base);
    buffer->size += (size_t)count * width;
}

static void get_offsets(struct reader *reader, int64_t *values, uint32_t count)
{
    uint64_t base = (uint64_t)reader_signed(reader);
    uint8_t width = reader_u8(reader);
    if (width > 8 || (width & (width - 1)) != 0)
        reader->failed = true;
    struct bytes offsets = reader_bytes(reader, (size_t)count * width);
    if (reader->failed)
        return;
    for (uint32_t i = 0; i < count; i++)
        values[i] = (int64_t)(base + number_get(offsets.data, width, i));
}

/* Bytes of each code: the fewest of 1, 2 and 4 that hold all codes below `limit`. */
static uint32_t code_width(uint32_t limit)
{
    return limit <= 1U << 8 ? 1 : limit <= 1U << 16 ? 2 : 4;
}

static void put_codes(struct buffer *buffer, const uint32_t *codes, uint32_t count, uint32_t limit)
{
    uint32_t width = code_width(limit);
    buffer_reserve(buffer, (size_t)count * width);
    uint8_t *to = buffer->data + buffer->size;
    for (uint32_t i = 0; i < count; i++)
        number_put(to, width, i, codes[i]);
    buffer->size += (size_t)count * width;
}

static void get_codes(struct reader *reader, uint32_t *codes, uint32_t count, uint32_t limit)
{
    uint32_t width = code_width(limit);
    struct bytes from = reader_bytes(reader, (size_t)count * width);
    if (reader->failed)
        return;
    uint32_t greatest = 0;
    for (uint32_t i = 0; i < count; i++) {
        codes[i] = (uint32_t)number_get(from.data, width, i);
        greatest = codes[i] > greatest ? codes[i] : greatest;
    }
    if (count > 0 && greatest >= limit)
        reader->failed = true;
}

static void put_flags(struct buffer *buffer, const uint8_t *flags, uint32_t count)
{
    uint8_t first = flags != NULL && count > 0 ? flags[0] : 0;
    if (flags == NULL || count < 2 || memcmp(flags, flags + 1, count - 1) == 0) {
        buffer_put_u8(buffer, FLAGS_CONSTANT);
        buffer_put_u8(buffer, first);
        return;
    }
    buffer_put_u8(buffer, FLAGS_VECTOR);
    buffer_append(buffer, flags, count);
}

static void get_flags(struct reader *reader, uint8_t *flags, uint32_t count, uint8_t limit)
{
    uint8_t form = reader_u8(reader);
    struct bytes from = reader_bytes(reader, form == FLAGS_VECTOR ? count : 1);
    if (form != FLAGS_VECTOR && form != FLAGS_CONSTANT)
        reader->failed = true;
    if (reader->failed)
        return;
    uint8_t greatest = 0;
    for (uint32_t i = 0; i < count; i++) {
        flags[i] = from.data[form == FLAGS_VECTOR ? i : 0];
        greatest = flags[i] > greatest ? flags[i] : greatest;
    }
    if (greatest > limit)
        reader->failed = true;
}

/* ---- serialized: dictionaries, columns, blocks ---- */

static void put_dictionary(struct buffer *buffer, const struct block_dictionary *dictionary)
{
    buffer_put_varint(buffer, dictionary->count);
    for (uint32_t i = 0; i < dictionary->count; i++) {
        uint32_t size = dictionary->offsets[i + 1] - dictionary->offsets[i];
        if (size < 0x80)
            buffer_put_u8(buffer, (uint8_t)size);
        else
            buffer_put_varint(buffer, size);
    }
    buffer_append(buffer, dictionary->text.data, dictionary->text.size);
}

static void get_dictionary(struct reader *reader, struct block_dictionary *dictionary)
{
    uint64_t count = reader_count(reader, 1);
    if (count > BLOCK_ROWS_MAX)
        reader->failed = true;
    if (reader->failed)
        return;
    dictionary_reserve(dictionary, (uint32_t)count);
    uint64_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = reader_varint(reader);
        if (size > BLOCK_STRING_MAX || end + size > UINT32_MAX)
            reader->failed = true;
        if (reader->failed)
            return;
        end += size;
        dictionary->offsets[i + 1] = (uint32_t)end;
    }
    struct bytes text = reader_bytes(reader, end);
    if (reader->failed)
        return;
    buffer_append_bytes(&dictionary->text, text);
    dictionary->count = (uint32_t)count;
}

static void put_column(struct buffer *buffer, const struct block_column *column, uint32_t rows)
{
    buffer_put_varint(buffer, column->column_id);
    buffer_put_u8(buffer, (uint8_t)column->kind);
    put_flags(buffer, column->absent, rows);
    if (column->kind == VECTOR_CODE) {
        put_dictionary(buffer, &column->dictionary);
        put_codes(buffer, column->codes, rows, column->dictionary.count);
        return;
    }
    put_offsets(buffer, column->integers, rows);
    if (column->kind == VECTOR_DECIMAL)
        put_flags(buffer, column->scales, rows);
}

void block_serialize(const struct block *block, struct buffer *buffer)
{
    buffer_put_u8(buffer, BLOCK_FORMAT);
    buffer_put_varint(buffer, block->table_id);
    buffer_put_varint(buffer, block->rows);
    put_dictionary(buffer, &block->partitions);
    put_codes(buffer, block->partition_codes, block->rows, block->partitions.count);
    buffer_put_varint(buffer, block->column_count);
    for (uint32_t i = 0; i < block->column_count; i++)
        put_column(buffer, &block->columns[i], block->rows);
}

/* The code of an absent value is 0, even if the dictionary is empty. */
static void get_column_codes(struct reader *reader, struct block_column *column, uint32_t rows)
{
    get_dictionary(reader, &column->dictionary);
    uint32_t count = column->dictionary.count;
    get_codes(reader, column->codes, rows, count > 0 ? count : 1);
    for (uint32_t i = 0; count == 0 && !reader->failed && i < rows; i++)
        if (column->absent == NULL || !column->absent[i])
            reader->failed = true;
}

static void get_column(struct reader *reader, struct block *block, struct block_column *column)
{
    uint32_t rows = block->rows;
    column->absent = memory_zeroed(block->capacity, 1);
    get_flags(reader, column->absent, rows, 1);
    if (memchr(column->absent, 1, rows) == NULL) {
        memory_free(column->absent);
        column->absent = NULL;
    }
    if (column->kind == VECTOR_CODE) {
        get_column_codes(reader, column, rows);
        return;
    }
    get_offsets(reader, column->integers, rows);
    if (column->kind == VECTOR_DECIMAL)
        get_flags(reader, column->scales, rows, BLOCK_SCALE_MAX);
}

static int get_columns(struct reader *reader, const struct table *table, struct block *block)
{
    bool seen[BLOCK_COLUMNS_MAX] = {false};
    uint64_t count = reader_varint(reader);
    for (uint64_t i = 0; i < count && !reader->failed; i++) {
        struct block_column *column = block_column_at(block, reader_varint32(reader));
        uint8_t kind = reader_u8(reader);
        if (column == NULL || seen[column - block->columns] || kind != (uint8_t)column->kind)
            return ERROR_CORRUPT;
        seen[column - block->columns] = true;
        get_column(reader, block, column);
    }
    for (uint32_t i = 0; i < block->column_count && !reader->failed; i++) {
        if (!seen[i] && i < table->clustering_count - 1)
            return ERROR_CORRUPT;
        for (uint32_t row = 0; !seen[i] && row < block->rows; row++)
            block_set_absent(block, &block->columns[i], row);
    }
    return reader->failed ? ERROR_CORRUPT : 0;
}

int block_deserialize(struct reader *reader, const struct schema *schema, struct block **block_out,
                      struct error *err)
{
    *block_out = NULL;
    uint8_t format = reader_u8(reader);
    uint32_t table_id = reader_varint32(reader);
    uint64_t rows = reader_varint(reader);
    if (reader->failed || format != BLOCK_FORMAT || rows > BLOCK_ROWS_MAX)
        return error_set(err, ERROR_CORRUPT, "block: bad header");
    const struct table *table = schema_table(schema, table_id);
    if (table == NULL || !(table->flags & TABLE_OF_EVENTS))
        return error_set(err, ERROR_CORRUPT, "block: no ranked table has number %u", table_id);
    /* A row takes at least the byte of its partition's code. */
    if (rows > reader_left(reader))
        return error_set(err, ERROR_CORRUPT, "block: %u rows in %zu bytes", (unsigned)rows,
                         reader_left(reader));
    struct block *block = block_new(table, (uint32_t)rows);
    block->rows = (uint32_t)rows;
    get_dictionary(reader, &block->partitions);
    get_codes(reader, block->partition_codes, block->rows, block->partitions.count);
    if (reader->failed || get_columns(reader, table, block) != 0) {
        block_free(block);
        return error_set(err, ERROR_CORRUPT, "block of table %u: bad contents", table_id);
    }
    *block_out = block;
    return 0;
}

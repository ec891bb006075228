/* columnar_page: columns are encoded as vectors, and decoded.
 *
 * The decoder checks all numbers that are used as indexes.  It does not check string numbers; the
 * reader compares these with the dictionary's size. */
#include "storage/segment/columnar_page.h"

#include <string.h>

#include "base/memory.h"
#include "base/radix_sort.h"

enum { COLUMNAR_PAGE_FORMAT = 1 };

enum columnar_page_flag { PAGE_TIMESTAMPS = 1, PAGE_RANKS = 2 };

/* Written to disk. */
enum integer_form { INTEGERS_PLAIN = 0, INTEGERS_GAPS_UP = 1, INTEGERS_GAPS_DOWN = 2 };

/* ---- making and freeing ---- */

void columnar_page_init(struct columnar_page *page, const struct table *table)
{
    *page = (struct columnar_page){0};
    columnar_rows_init(&page->rows, table);
    page->wanted = COLUMNAR_PAGE_ALL;
    page->lists = memory_zeroed(page->rows.column_count, sizeof *page->lists);
}

void columnar_page_release(struct columnar_page *page)
{
    for (uint32_t i = 0; i < page->rows.column_count; i++) {
        memory_free(page->lists[i].numbers);
        memory_free(page->lists[i].starts);
    }
    memory_free(page->lists);
    memory_free(page->entries);
    columnar_page_trim(page);
    columnar_rows_release(&page->rows);
    *page = (struct columnar_page){0};
}

void columnar_page_trim(struct columnar_page *page)
{
    vector_codec_decoder_release(&page->vectors);
    memory_free(page->values);
    page->values = NULL;
    page->values_capacity = 0;
}

size_t columnar_page_bytes(const struct columnar_page *page)
{
    size_t bytes = columnar_rows_bytes(&page->rows) + page->entry_capacity * sizeof *page->entries;
    for (uint32_t i = 0; i < page->rows.column_count; i++) {
        const struct columnar_page_list *list = &page->lists[i];
        bytes += sizeof *list + list->capacity * sizeof *list->numbers;
        if (list->starts != NULL)
            bytes += ((size_t)page->entry_capacity + 1) * sizeof *list->starts;
    }
    return bytes;
}

void columnar_page_clear(struct columnar_page *page)
{
    columnar_rows_clear(&page->rows);
    page->dictionary = 0;
    page->entry_count = 0;
    for (uint32_t i = 0; i < page->rows.column_count; i++)
        page->lists[i].count = 0;
}

static void entries_reserve(struct columnar_page *page, uint32_t count)
{
    if (count <= page->entry_capacity)
        return;
    uint32_t capacity = memory_grown(page->entry_capacity, count);
    page->entries = memory_resize(page->entries, capacity * sizeof *page->entries);
    for (uint32_t i = 0; i < page->rows.column_count; i++) {
        struct columnar_page_list *list = &page->lists[i];
        if (page->rows.vectors[i].kind == VECTOR_CODE)
            list->starts = memory_resize(list->starts, (capacity + 1) * sizeof *list->starts);
    }
    page->entry_capacity = capacity;
}

static void list_reserve(struct columnar_page_list *list, uint32_t more)
{
    uint32_t needed = list->count + more;
    if (needed <= list->capacity)
        return;
    list->capacity = memory_grown(list->capacity, needed);
    list->numbers = memory_resize(list->numbers, list->capacity * sizeof *list->numbers);
}

/* ---- adding entries ---- */

struct columnar_page_adding {
    struct columnar_page *page;
    const struct columnar_rows *rows;
    uint32_t from;
    uint32_t count;
    columnar_page_number number;
    void *context;
};

struct columnar_page_encoder {
    struct vector_encoder *vectors;
    uint32_t *counts; /* by code; all zero between uses */
    uint32_t counts_capacity;
    uint32_t *distinct; /* codes of the entry that is added, or places of timestamps */
    uint64_t *items;    /* scratch of codes_by_count */
    uint64_t *items_other;
    int64_t *values;
};

struct columnar_page_encoder *columnar_page_encoder_new(void)
{
    struct columnar_page_encoder *encoder = memory_zeroed(1, sizeof *encoder);
    encoder->vectors = vector_codec_encoder_new();
    encoder->distinct = memory_alloc(COLUMNAR_PAGE_ROWS_MAX * sizeof *encoder->distinct);
    encoder->items = memory_alloc(COLUMNAR_PAGE_ROWS_MAX * sizeof *encoder->items);
    encoder->items_other = memory_alloc(COLUMNAR_PAGE_ROWS_MAX * sizeof *encoder->items_other);
    encoder->values = memory_alloc(COLUMNAR_PAGE_ROWS_MAX * sizeof *encoder->values);
    return encoder;
}

void columnar_page_encoder_free(struct columnar_page_encoder *encoder)
{
    if (encoder == NULL)
        return;
    vector_codec_encoder_free(encoder->vectors);
    memory_free(encoder->counts);
    memory_free(encoder->distinct);
    memory_free(encoder->items);
    memory_free(encoder->items_other);
    memory_free(encoder->values);
    memory_free(encoder);
}

/* All counts are zero here, so nothing is copied. */
static void counts_reserve(struct columnar_page_encoder *encoder, uint32_t count)
{
    if (count <= encoder->counts_capacity)
        return;
    encoder->counts_capacity = memory_grown(encoder->counts_capacity, count);
    memory_free(encoder->counts);
    encoder->counts = memory_zeroed(encoder->counts_capacity, sizeof *encoder->counts);
}

/* Returns how many codes are distinct; encoder->distinct has them in the order of their first
 * occurrence. */
static uint32_t codes_count(struct columnar_page_encoder *encoder,
                            const struct columnar_vector *vector, uint32_t from, uint32_t count)
{
    counts_reserve(encoder, vector->string_count);
    uint32_t distinct = 0;
    for (uint32_t row = from; row < from + count; row++) {
        if (vector->absent != NULL && vector->absent[row])
            continue;
        uint32_t code = vector->codes[row];
        check(code < vector->string_count);
        if (encoder->counts[code]++ == 0)
            encoder->distinct[distinct++] = code;
    }
    return distinct;
}

/* Sorts the distinct codes, the most frequent first.  The lower half of each returned item is a
 * code. */
static const uint64_t *codes_by_count(struct columnar_page_encoder *encoder, uint32_t distinct)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < distinct; i++) {
        uint32_t count = encoder->counts[encoder->distinct[i]];
        most = count > most ? count : most;
    }
    for (uint32_t i = 0; i < distinct; i++) {
        uint32_t code = encoder->distinct[i];
        encoder->items[i] = (uint64_t)(most - encoder->counts[code]) << 32 | code;
    }
    uint32_t bits = bit_length(most > 0 ? most - 1 : 0);
    return radix_sort(encoder->items, encoder->items_other, distinct, 32, bits);
}

/* Make the entry's list of a column, and replace the codes of its appended rows by places in the
 * list. */
static void codes_add(struct columnar_page_encoder *encoder,
                      const struct columnar_page_adding *adding, uint32_t index)
{
    struct columnar_page *page = adding->page;
    const struct columnar_vector *source = &adding->rows->vectors[index];
    struct columnar_page_list *list = &page->lists[index];
    struct columnar_vector *vector = &page->rows.vectors[index];
    uint32_t at = page->rows.rows - adding->count;
    uint32_t distinct = codes_count(encoder, source, adding->from, adding->count);
    const uint64_t *ordered = codes_by_count(encoder, distinct);
    list_reserve(list, distinct);
    list->starts[page->entry_count] = list->count;
    for (uint32_t place = 0; place < distinct; place++) {
        uint32_t code = (uint32_t)ordered[place];
        encoder->counts[code] = place;
        list->numbers[list->count++] =
            adding->number(adding->context, index, code, source->strings[code]);
    }
    list->starts[page->entry_count + 1] = list->count;
    for (uint32_t i = 0; i < adding->count; i++) {
        uint32_t row = adding->from + i;
        bool is_absent = source->absent != NULL && source->absent[row];
        vector->codes[at + i] = is_absent ? 0 : encoder->counts[source->codes[row]];
    }
    for (uint32_t place = 0; place < distinct; place++)
        encoder->counts[(uint32_t)ordered[place]] = 0;
}

static void timestamps_begin(struct columnar_page *page)
{
    if (page->rows.timestamps_us != NULL)
        return;
    columnar_rows_timestamps(&page->rows);
    for (uint32_t i = 0; i < page->entry_count; i++) {
        const struct columnar_page_entry *entry = &page->entries[i];
        for (uint32_t row = entry->first; row < entry->first + entry->rows; row++)
            page->rows.timestamps_us[row] = entry->timestamp_us;
    }
}

void columnar_page_add(struct columnar_page_encoder *encoder, struct columnar_page *page,
                       const struct columnar_rows *rows, uint32_t from, uint32_t count,
                       columnar_page_number number, void *context)
{
    const struct columnar_page_adding adding = {page, rows, from, count, number, context};
    uint32_t first = page->rows.rows;
    check(count > 0 && count <= COLUMNAR_PAGE_ROWS_MAX - first);
    entries_reserve(page, page->entry_count + 1);
    columnar_rows_reserve(&page->rows, first + count);
    if (rows->timestamps_us != NULL)
        timestamps_begin(page);
    else
        page->rows.timestamp_us = rows->timestamp_us;
    int rc = columnar_rows_append(&page->rows, rows, from, count);
    check(rc == 0);
    for (uint32_t i = 0; i < page->rows.column_count; i++)
        if (page->rows.vectors[i].kind == VECTOR_CODE)
            codes_add(encoder, &adding, i);
    page->entries[page->entry_count++] = (struct columnar_page_entry){
        .first = first, .rows = count, .timestamp_us = rows->timestamp_us};
}

/* ---- encoding: the parts of a page ---- */

static void put_flags(struct columnar_page_encoder *encoder, const uint8_t *flags, uint32_t rows,
                      struct buffer *target)
{
    for (uint32_t row = 0; row < rows; row++)
        encoder->values[row] = flags != NULL ? flags[row] : 0;
    vector_codec_encode(encoder->vectors, encoder->values, rows, target);
}

static void put_codes(struct columnar_page_encoder *encoder, const uint32_t *codes, uint32_t rows,
                      struct buffer *target)
{
    for (uint32_t row = 0; row < rows; row++)
        encoder->values[row] = codes[row];
    vector_codec_encode(encoder->vectors, encoder->values, rows, target);
}

static void put_entry_rows(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                           struct buffer *target)
{
    for (uint32_t i = 0; i < page->entry_count; i++)
        encoder->values[i] = page->entries[i].rows;
    vector_codec_encode(encoder->vectors, encoder->values, page->entry_count, target);
}

static void put_entry_timestamps(struct columnar_page_encoder *encoder,
                                 const struct columnar_page *page, struct buffer *target)
{
    for (uint32_t i = 0; i < page->entry_count; i++)
        encoder->values[i] = page->entries[i].timestamp_us;
    vector_codec_encode(encoder->vectors, encoder->values, page->entry_count, target);
}

/* If rows have timestamps of their own, write a table of them, and each row's place in it. */
static void put_timestamps(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                           struct buffer *target)
{
    const int64_t *timestamps = page->rows.timestamps_us;
    int64_t *table = encoder->values;
    uint32_t count = 0;
    if (timestamps == NULL)
        return;
    for (uint32_t row = 0; row < page->rows.rows; row++) {
        /* Rows of merged runs alternate between a few timestamps, so only the table's last ones are
         * searched.  A timestamp may be in the table twice. */
        uint32_t place = count;
        while (place > 0 && count - place < 64 && table[place - 1] != timestamps[row])
            place--;
        if (place == 0 || table[place - 1] != timestamps[row]) {
            table[count++] = timestamps[row];
            place = count;
        }
        encoder->distinct[row] = place - 1;
    }
    buffer_put_varint(target, count);
    vector_codec_encode(encoder->vectors, table, count, target);
    put_codes(encoder, encoder->distinct, page->rows.rows, target);
}

/* ---- encoding: the parts of a column ---- */

static void put_absent(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                       uint32_t column, struct buffer *target)
{
    const struct columnar_vector *vector = &page->rows.vectors[column];
    buffer_put_varint(target, vector->column_id);
    buffer_put_u8(target, (uint8_t)vector->kind);
    put_flags(encoder, vector->absent, page->rows.rows, target);
}

static void put_lists(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                      uint32_t column, struct buffer *target)
{
    const struct columnar_page_list *list = &page->lists[column];
    if (page->rows.vectors[column].kind != VECTOR_CODE)
        return;
    for (uint32_t i = 0; i < page->entry_count; i++)
        encoder->values[i] = list->starts[i + 1] - list->starts[i];
    vector_codec_encode(encoder->vectors, encoder->values, page->entry_count, target);
    vector_codec_encode(encoder->vectors, list->numbers, list->count, target);
}

/* Rows of an entry are sorted by the first clustering column, so its integers are stored as
 * gaps. */
static bool has_gaps(const struct columnar_rows *rows, uint32_t column)
{
    return column == 0 && rows->table->clustering_count > 1 && rows->vectors[0].kind != VECTOR_CODE;
}

static void put_firsts(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                       uint32_t column, struct buffer *target)
{
    const struct columnar_vector *vector = &page->rows.vectors[column];
    if (vector->kind == VECTOR_CODE)
        return;
    enum integer_form form = !has_gaps(&page->rows, column) ? INTEGERS_PLAIN
                             : vector->column->descending   ? INTEGERS_GAPS_DOWN
                                                            : INTEGERS_GAPS_UP;
    buffer_put_u8(target, (uint8_t)form);
    if (form == INTEGERS_PLAIN)
        return;
    for (uint32_t i = 0; i < page->entry_count; i++)
        encoder->values[i] = vector->integers[page->entries[i].first];
    vector_codec_encode(encoder->vectors, encoder->values, page->entry_count, target);
}

/* How far each row is from the row before, in the column's order; 0 for an entry's first row. */
static void put_gaps(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                     struct buffer *target)
{
    const int64_t *integers = page->rows.vectors[0].integers;
    bool descending = page->rows.vectors[0].column->descending;
    for (uint32_t i = 0; i < page->entry_count; i++) {
        const struct columnar_page_entry *entry = &page->entries[i];
        encoder->values[entry->first] = 0;
        for (uint32_t row = entry->first + 1; row < entry->first + entry->rows; row++) {
            uint64_t gap = (uint64_t)integers[row] - (uint64_t)integers[row - 1];
            encoder->values[row] = (int64_t)(descending ? 0 - gap : gap);
        }
    }
    vector_codec_encode(encoder->vectors, encoder->values, page->rows.rows, target);
}

static void put_column_values(struct columnar_page_encoder *encoder,
                              const struct columnar_page *page, uint32_t column,
                              struct buffer *target)
{
    const struct columnar_vector *vector = &page->rows.vectors[column];
    if (vector->kind == VECTOR_CODE)
        put_codes(encoder, vector->codes, page->rows.rows, target);
    else if (has_gaps(&page->rows, column))
        put_gaps(encoder, page, target);
    else
        vector_codec_encode(encoder->vectors, vector->integers, page->rows.rows, target);
}

static void put_scales(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                       uint32_t column, struct buffer *target)
{
    const struct columnar_vector *vector = &page->rows.vectors[column];
    if (vector->kind == VECTOR_DECIMAL)
        put_flags(encoder, vector->scales, page->rows.rows, target);
}

/* ---- encoding: a page ---- */

static void put_column(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                       uint32_t column, struct buffer *target)
{
    put_absent(encoder, page, column, target);
    put_lists(encoder, page, column, target);
    put_firsts(encoder, page, column, target);
    put_column_values(encoder, page, column, target);
    put_scales(encoder, page, column, target);
}

void columnar_page_encode(struct columnar_page_encoder *encoder, const struct columnar_page *page,
                          struct buffer *target)
{
    const struct columnar_rows *rows = &page->rows;
    int flags = (rows->timestamps_us != NULL ? PAGE_TIMESTAMPS : 0) |
                (rows->ranks != NULL ? PAGE_RANKS : 0);
    buffer_put_u8(target, COLUMNAR_PAGE_FORMAT);
    buffer_put_u8(target, (uint8_t)flags);
    buffer_put_varint(target, page->dictionary);
    buffer_put_varint(target, rows->rows);
    buffer_put_varint(target, page->entry_count);
    put_entry_rows(encoder, page, target);
    put_entry_timestamps(encoder, page, target);
    put_timestamps(encoder, page, target);
    if (rows->ranks != NULL)
        vector_codec_encode(encoder->vectors, rows->ranks, rows->rows, target);
    buffer_put_varint(target, rows->column_count);
    for (uint32_t i = 0; i < rows->column_count; i++)
        put_column(encoder, page, i, target);
}

/* ---- decoding ---- */

static int get_values(struct columnar_page *page, struct reader *reader, uint32_t count)
{
    if (count > page->values_capacity) {
        memory_free(page->values);
        page->values = memory_alloc(count * sizeof *page->values);
        page->values_capacity = count;
    }
    return vector_codec_decode(&page->vectors, reader, count, page->values);
}

/* Each value must be within [0, limit). */
static int get_limited(struct columnar_page *page, struct reader *reader, uint32_t count,
                       uint64_t limit)
{
    if (get_values(page, reader, count) != 0)
        return ERROR_CORRUPT;
    uint64_t greatest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = (uint64_t)page->values[i];
        greatest = value > greatest ? value : greatest;
    }
    return count > 0 && greatest >= limit ? ERROR_CORRUPT : 0;
}

static int get_entries(struct columnar_page *page, struct reader *reader)
{
    uint32_t rows = page->rows.rows;
    if (get_limited(page, reader, page->entry_count, (uint64_t)rows + 1) != 0)
        return ERROR_CORRUPT;
    uint64_t first = 0;
    for (uint32_t i = 0; i < page->entry_count; i++) {
        uint32_t count = (uint32_t)page->values[i];
        if (count == 0 || first + count > rows)
            return ERROR_CORRUPT;
        page->entries[i] = (struct columnar_page_entry){.first = (uint32_t)first, .rows = count};
        first += count;
    }
    if (first != rows || get_values(page, reader, page->entry_count) != 0)
        return ERROR_CORRUPT;
    for (uint32_t i = 0; i < page->entry_count; i++)
        page->entries[i].timestamp_us = page->values[i];
    return 0;
}

static int get_timestamps(struct columnar_page *page, struct reader *reader)
{
    uint64_t count = reader_varint(reader);
    if (reader->failed || count == 0 || count > page->rows.rows)
        return ERROR_CORRUPT;
    if (page->wanted != COLUMNAR_PAGE_ALL) {
        int skipped = vector_codec_skip(reader, (uint32_t)count);
        return skipped != 0 ? skipped : vector_codec_skip(reader, page->rows.rows);
    }
    int64_t *table = memory_alloc(count * sizeof *table);
    int rc = vector_codec_decode(&page->vectors, reader, (uint32_t)count, table);
    if (rc == 0)
        rc = get_limited(page, reader, page->rows.rows, count);
    if (rc == 0) {
        columnar_rows_timestamps(&page->rows);
        for (uint32_t row = 0; row < page->rows.rows; row++)
            page->rows.timestamps_us[row] = table[page->values[row]];
    }
    memory_free(table);
    return rc;
}

static int get_ranks(struct columnar_page *page, struct reader *reader)
{
    if (page->wanted != COLUMNAR_PAGE_ALL)
        return vector_codec_skip(reader, page->rows.rows);
    columnar_rows_ranks(&page->rows);
    return vector_codec_decode(&page->vectors, reader, page->rows.rows, page->rows.ranks);
}

static int get_flags(struct columnar_page *page, struct reader *reader, uint64_t limit,
                     uint8_t *flags)
{
    uint32_t rows = page->rows.rows;
    int64_t constant;
    if (vector_codec_get_constant(reader, rows, &constant)) {
        memset(flags, (int)constant, rows);
        return (uint64_t)constant < limit ? 0 : ERROR_CORRUPT;
    }
    if (get_limited(page, reader, rows, limit) != 0)
        return ERROR_CORRUPT;
    for (uint32_t row = 0; row < rows; row++)
        flags[row] = (uint8_t)page->values[row];
    return 0;
}

/* The vector gets no absence array when every row has a value. */
static int get_absent(struct columnar_page *page, struct reader *reader,
                      struct columnar_vector *vector)
{
    struct reader ahead = *reader;
    int64_t constant;
    if (vector_codec_get_constant(&ahead, page->rows.rows, &constant) && constant == 0) {
        *reader = ahead;
        return 0;
    }
    columnar_rows_absent(&page->rows, vector);
    return get_flags(page, reader, 2, vector->absent);
}

/* `first` has the first value of each entry. */
static void gaps_add_up(const struct columnar_page *page, const int64_t *first, bool descending,
                        int64_t *integers)
{
    for (uint32_t i = 0; i < page->entry_count; i++) {
        const struct columnar_page_entry *entry = &page->entries[i];
        uint64_t value = (uint64_t)first[i];
        for (uint32_t row = entry->first; row < entry->first + entry->rows; row++) {
            uint64_t gap = (uint64_t)integers[row];
            value += descending ? 0 - gap : gap;
            integers[row] = (int64_t)value;
        }
    }
}

static int get_integers(struct columnar_page *page, struct reader *reader, int64_t *integers)
{
    uint8_t form = reader_u8(reader);
    if (form == INTEGERS_PLAIN)
        return vector_codec_decode(&page->vectors, reader, page->rows.rows, integers);
    if (form != INTEGERS_GAPS_UP && form != INTEGERS_GAPS_DOWN)
        return ERROR_CORRUPT;
    if (get_values(page, reader, page->entry_count) != 0 ||
        vector_codec_decode(&page->vectors, reader, page->rows.rows, integers) != 0)
        return ERROR_CORRUPT;
    gaps_add_up(page, page->values, form == INTEGERS_GAPS_DOWN, integers);
    return 0;
}

static int get_lists(struct columnar_page *page, struct reader *reader,
                     struct columnar_page_list *list)
{
    if (get_limited(page, reader, page->entry_count, (uint64_t)page->rows.rows + 1) != 0)
        return ERROR_CORRUPT;
    list->starts[0] = 0;
    for (uint32_t i = 0; i < page->entry_count; i++) {
        if (page->values[i] > page->entries[i].rows)
            return ERROR_CORRUPT;
        list->starts[i + 1] = list->starts[i] + (uint32_t)page->values[i];
    }
    list->count = 0;
    list_reserve(list, list->starts[page->entry_count]);
    if (get_limited(page, reader, list->starts[page->entry_count], UINT32_MAX) != 0)
        return ERROR_CORRUPT;
    list->count = list->starts[page->entry_count];
    for (uint32_t i = 0; i < list->count; i++)
        list->numbers[i] = page->values[i];
    return 0;
}

/* Absent rows have place 0, even where the list is empty. */
static int places_check(const struct columnar_page *page, const struct columnar_page_list *list,
                        const struct columnar_vector *vector)
{
    for (uint32_t i = 0; i < page->entry_count; i++) {
        const struct columnar_page_entry *entry = &page->entries[i];
        uint32_t size = list->starts[i + 1] - list->starts[i];
        for (uint32_t row = entry->first; row < entry->first + entry->rows; row++) {
            uint64_t place = (uint64_t)page->values[row];
            bool is_absent = vector->absent != NULL && vector->absent[row];
            if (place >= size && !(is_absent && place == 0))
                return ERROR_CORRUPT;
            vector->codes[row] = (uint32_t)place;
        }
    }
    return 0;
}

static int get_codes(struct columnar_page *page, struct reader *reader, uint32_t index)
{
    struct columnar_page_list *list = &page->lists[index];
    if (get_lists(page, reader, list) != 0 || get_values(page, reader, page->rows.rows) != 0)
        return ERROR_CORRUPT;
    return places_check(page, list, &page->rows.vectors[index]);
}

static int skip_lists(struct columnar_page *page, struct reader *reader)
{
    if (get_limited(page, reader, page->entry_count, (uint64_t)page->rows.rows + 1) != 0)
        return ERROR_CORRUPT;
    uint64_t numbers = 0;
    for (uint32_t i = 0; i < page->entry_count; i++)
        numbers += (uint64_t)page->values[i];
    if (numbers > page->rows.rows || vector_codec_skip(reader, (uint32_t)numbers) != 0)
        return ERROR_CORRUPT;
    return vector_codec_skip(reader, page->rows.rows);
}

/* Read past a column that the table no longer has, or that is not wanted. */
static int skip_column(struct columnar_page *page, struct reader *reader, uint8_t kind)
{
    uint32_t rows = page->rows.rows;
    if (vector_codec_skip(reader, rows) != 0)
        return ERROR_CORRUPT;
    if (kind == VECTOR_CODE)
        return skip_lists(page, reader);
    uint8_t form = reader_u8(reader);
    if (form > INTEGERS_GAPS_DOWN ||
        (form != INTEGERS_PLAIN && vector_codec_skip(reader, page->entry_count) != 0) ||
        vector_codec_skip(reader, rows) != 0)
        return ERROR_CORRUPT;
    return kind == VECTOR_DECIMAL ? vector_codec_skip(reader, rows) : 0;
}

static bool column_is_wanted(const struct columnar_page *page, uint32_t index)
{
    return (page->wanted >> index & 1) != 0;
}

static int get_column(struct columnar_page *page, struct reader *reader, uint32_t index)
{
    struct columnar_vector *vector = &page->rows.vectors[index];
    int rc = get_absent(page, reader, vector);
    if (rc == 0 && vector->kind == VECTOR_CODE)
        rc = get_codes(page, reader, index);
    else if (rc == 0)
        rc = get_integers(page, reader, vector->integers);
    if (rc == 0 && vector->kind == VECTOR_DECIMAL)
        rc = get_flags(page, reader, BLOCK_SCALE_MAX + 1, vector->scales);
    return rc;
}

/* Fill a column that the page lacks, because the column was added to the table later. */
static void column_missing(struct columnar_page *page, uint32_t index)
{
    struct columnar_vector *vector = &page->rows.vectors[index];
    uint32_t rows = page->rows.rows;
    columnar_rows_absent(&page->rows, vector);
    memset(vector->absent, 1, rows);
    if (vector->kind == VECTOR_CODE) {
        memset(vector->codes, 0, rows * sizeof *vector->codes);
        memset(page->lists[index].starts, 0,
               ((size_t)page->entry_count + 1) * sizeof *page->lists[index].starts);
    } else {
        memset(vector->integers, 0, rows * sizeof *vector->integers);
    }
    if (vector->kind == VECTOR_DECIMAL)
        memset(vector->scales, 0, rows);
}

static uint32_t column_find(const struct columnar_page *page, uint64_t column_id)
{
    for (uint32_t i = 0; i < page->rows.column_count; i++)
        if (page->rows.vectors[i].column_id == column_id)
            return i;
    return UINT32_MAX;
}

static int get_columns(struct columnar_page *page, struct reader *reader)
{
    bool seen[BLOCK_COLUMNS_MAX] = {false};
    uint64_t count = reader_varint(reader);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t column_id = reader_varint(reader);
        uint8_t kind = reader_u8(reader);
        uint32_t index = column_find(page, column_id);
        if (reader->failed || kind > VECTOR_DECIMAL)
            return ERROR_CORRUPT;
        if (index != UINT32_MAX && (seen[index] || kind != page->rows.vectors[index].kind))
            return ERROR_CORRUPT;
        bool is_wanted = index != UINT32_MAX && column_is_wanted(page, index);
        int rc = is_wanted ? get_column(page, reader, index) : skip_column(page, reader, kind);
        if (rc != 0)
            return rc;
        if (index != UINT32_MAX)
            seen[index] = true;
    }
    for (uint32_t i = 0; i < page->rows.column_count; i++) {
        if (!seen[i] && i < page->rows.table->clustering_count - 1)
            return ERROR_CORRUPT;
        if (!seen[i] && column_is_wanted(page, i))
            column_missing(page, i);
    }
    return reader->failed || reader_left(reader) > 0 ? ERROR_CORRUPT : 0;
}

static int get_page(struct columnar_page *page, struct reader *reader)
{
    uint8_t format = reader_u8(reader);
    uint8_t flags = reader_u8(reader);
    page->dictionary = reader_varint32(reader);
    uint64_t rows = reader_varint(reader);
    uint64_t entries = reader_varint(reader);
    if (reader->failed || format != COLUMNAR_PAGE_FORMAT ||
        flags > (PAGE_TIMESTAMPS | PAGE_RANKS) || rows > COLUMNAR_PAGE_ROWS_MAX || entries > rows)
        return ERROR_CORRUPT;
    page->entry_count = (uint32_t)entries;
    entries_reserve(page, page->entry_count + 1);
    columnar_rows_reserve(&page->rows, (uint32_t)rows);
    page->rows.rows = (uint32_t)rows;
    if (get_entries(page, reader) != 0)
        return ERROR_CORRUPT;
    if (flags & PAGE_TIMESTAMPS && get_timestamps(page, reader) != 0)
        return ERROR_CORRUPT;
    if (flags & PAGE_RANKS && get_ranks(page, reader) != 0)
        return ERROR_CORRUPT;
    return get_columns(page, reader);
}

int columnar_page_decode(struct columnar_page *page, struct bytes encoded, struct error *err)
{
    columnar_page_clear(page);
    struct reader reader = reader_of(encoded);
    if (get_page(page, &reader) == 0)
        return 0;
    columnar_page_clear(page);
    return error_set(err, ERROR_CORRUPT, "wide page of %zu bytes: bad contents near byte %zu",
                     encoded.size, reader.offset);
}

/* columnar_dictionary: string tables are written as pages, and read back page by page.
 *
 * A number identifies a string only together with the dictionary and the column.
 *
 * Strings get numbers partition by partition, so that a reader of one partition loads few pages. */
#include "storage/segment/columnar_dictionary.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "storage/cell/block.h"
#include "storage/cell/string_table.h"
#include "storage/segment/vector_codec.h"

enum {
    DICTIONARY_FORMAT = 1,
    PAGE_STRINGS_MAX = 2048,
    PAGE_TEXT_MAX = 64 << 10, /* bytes; a page ends with the string that reaches this */
    PAGE_TEXT_LIMIT = PAGE_TEXT_MAX + UINT16_MAX,
    ARENA_CHUNK = 1 << 20,
    KEPT_MAX = 64 << 20,    /* bytes; if loaded pages take more, a trim frees them */
    KEPT_IDLE_MAX = 4 << 20 /* the same when they are left in the pool */
};

/* ---- writing ---- */

struct columnar_dictionary_writer {
    const struct table *table;
    uint32_t column_count;
    uint32_t current;
    struct arena *arena;
    struct string_table **strings;
    struct vector_encoder *vectors;
    struct buffer text;
    struct buffer page;
    struct buffer index; /* a record for each dictionary and column */
};

static void tables_begin(struct columnar_dictionary_writer *writer)
{
    for (uint32_t i = 0; i < writer->column_count; i++) {
        string_table_free(writer->strings[i]);
        writer->strings[i] = string_table_new(writer->arena);
    }
}

struct columnar_dictionary_writer *columnar_dictionary_writer_new(const struct table *table)
{
    struct columnar_dictionary_writer *writer = memory_zeroed(1, sizeof *writer);
    writer->table = table;
    writer->column_count = block_column_count(table);
    writer->arena = arena_new(ARENA_CHUNK);
    writer->strings = memory_zeroed(writer->column_count, sizeof *writer->strings);
    writer->vectors = vector_codec_encoder_new();
    buffer_put_u8(&writer->index, DICTIONARY_FORMAT);
    tables_begin(writer);
    return writer;
}

void columnar_dictionary_writer_free(struct columnar_dictionary_writer *writer)
{
    if (writer == NULL)
        return;
    for (uint32_t i = 0; i < writer->column_count; i++)
        string_table_free(writer->strings[i]);
    memory_free(writer->strings);
    arena_free(writer->arena);
    vector_codec_encoder_free(writer->vectors);
    buffer_release(&writer->text);
    buffer_release(&writer->page);
    buffer_release(&writer->index);
    memory_free(writer);
}

uint32_t columnar_dictionary_add(struct columnar_dictionary_writer *writer, uint32_t column,
                                 struct bytes string)
{
    check(column < writer->column_count);
    return string_table_add(writer->strings[column], string);
}

const struct bytes *columnar_dictionary_strings(const struct columnar_dictionary_writer *writer,
                                                uint32_t column, uint32_t *count_out)
{
    check(column < writer->column_count);
    *count_out = string_table_count(writer->strings[column]);
    return string_table_strings(writer->strings[column]);
}

bool columnar_dictionary_is_full(const struct columnar_dictionary_writer *writer)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < writer->column_count; i++)
        count += string_table_count(writer->strings[i]);
    return count >= COLUMNAR_DICTIONARY_STRINGS_MAX ||
           arena_used(writer->arena) >= COLUMNAR_DICTIONARY_MEMORY_MAX;
}

uint32_t columnar_dictionary_current(const struct columnar_dictionary_writer *writer)
{
    return writer->current;
}

static uint32_t page_fill(struct columnar_dictionary_writer *writer, const struct bytes *strings,
                          uint32_t start, uint32_t end)
{
    int64_t sizes[PAGE_STRINGS_MAX];
    uint32_t count = 0;
    buffer_clear(&writer->text);
    while (start + count < end && count < PAGE_STRINGS_MAX && writer->text.size < PAGE_TEXT_MAX) {
        struct bytes string = strings[start + count];
        sizes[count++] = (int64_t)string.size;
        buffer_append_bytes(&writer->text, string);
    }
    struct buffer *page = &writer->page;
    buffer_clear(page);
    buffer_put_u8(page, DICTIONARY_FORMAT);
    buffer_put_varint(page, count);
    vector_codec_encode(writer->vectors, sizes, count, page);
    vector_codec_put_text(writer->vectors, buffer_view(&writer->text), page);
    return count;
}

static int column_write(struct columnar_dictionary_writer *writer, struct segment_writer *segment,
                        uint32_t column, struct error *err)
{
    uint32_t count;
    const struct bytes *strings = columnar_dictionary_strings(writer, column, &count);
    if (count == 0)
        return 0;
    struct buffer pages = {0};
    uint32_t first = segment_writer_page_next(segment);
    int rc = 0;
    for (uint32_t start = 0; rc == 0 && start < count;) {
        uint32_t filled = page_fill(writer, strings, start, count);
        rc = segment_writer_page(segment, buffer_view(&writer->page), (struct bytes){0}, err);
        buffer_put_varint(&pages, filled);
        start += filled;
    }
    buffer_put_varint(&writer->index, writer->current);
    buffer_put_varint(&writer->index, block_column_of(writer->table, column)->id);
    buffer_put_varint(&writer->index, first);
    buffer_put_varint(&writer->index, segment_writer_page_next(segment) - first);
    buffer_append_bytes(&writer->index, buffer_view(&pages));
    buffer_release(&pages);
    return rc;
}

int columnar_dictionary_write(struct columnar_dictionary_writer *writer,
                              struct segment_writer *segment, struct error *err)
{
    for (uint32_t i = 0; i < writer->column_count; i++) {
        int rc = column_write(writer, segment, i, err);
        if (rc != 0)
            return rc;
    }
    writer->current++;
    arena_reset(writer->arena);
    tables_begin(writer);
    return 0;
}

struct bytes columnar_dictionary_index(const struct columnar_dictionary_writer *writer)
{
    return buffer_view(&writer->index);
}

/* ---- reading ---- */

/* A page of one column's dictionary: numbers [first, first + count). */
struct dictionary_page {
    uint32_t page;
    uint32_t first;
    uint32_t count;
    struct bytes *strings; /* NULL until it is loaded */
    struct buffer text;
};

struct dictionary_column {
    uint32_t dictionary;
    uint32_t column_id;
    uint32_t count;
    struct dictionary_page *pages;
    uint32_t page_count;
};

struct columnar_dictionary {
    struct reader_spare base; /* while it lies in the pool */
    struct segment *segment;
    struct dictionary_column *columns; /* by dictionary and column id */
    uint32_t column_count;
    uint32_t column_capacity;
    struct vector_decoder vectors;
    struct buffer page;
    size_t kept;
};

static int index_column(struct reader *reader, uint32_t segment_pages,
                        struct dictionary_column *column)
{
    column->dictionary = reader_varint32(reader);
    column->column_id = reader_varint32(reader);
    uint64_t first = reader_varint(reader);
    uint64_t page_count = reader_count(reader, 1);
    if (reader->failed || page_count == 0 || page_count > segment_pages ||
        first > segment_pages - page_count)
        return ERROR_CORRUPT;
    column->page_count = (uint32_t)page_count;
    column->pages = memory_zeroed(page_count, sizeof *column->pages);
    for (uint32_t i = 0; i < page_count; i++) {
        uint64_t count = reader_varint(reader);
        if (reader->failed || count == 0 || count > PAGE_STRINGS_MAX ||
            count > UINT32_MAX - column->count)
            return ERROR_CORRUPT;
        column->pages[i].page = (uint32_t)first + i;
        column->pages[i].first = column->count;
        column->pages[i].count = (uint32_t)count;
        column->count += (uint32_t)count;
    }
    return 0;
}

static int column_order(const void *a, const void *b)
{
    const struct dictionary_column *left = a;
    const struct dictionary_column *right = b;
    if (left->dictionary != right->dictionary)
        return left->dictionary < right->dictionary ? -1 : 1;
    return (left->column_id > right->column_id) - (left->column_id < right->column_id);
}

static int index_parse(struct columnar_dictionary *dictionary)
{
    struct reader reader = reader_of(segment_extra(dictionary->segment));
    if (reader_u8(&reader) != DICTIONARY_FORMAT || reader.failed)
        return ERROR_CORRUPT;
    while (reader_left(&reader) > 0) {
        dictionary->columns =
            memory_make_room(dictionary->columns, dictionary->column_count,
                             &dictionary->column_capacity, sizeof *dictionary->columns);
        struct dictionary_column *column = &dictionary->columns[dictionary->column_count++];
        *column = (struct dictionary_column){0};
        if (index_column(&reader, segment_page_count(dictionary->segment), column) != 0)
            return ERROR_CORRUPT;
    }
    if (dictionary->column_count > 0)
        qsort(dictionary->columns, dictionary->column_count, sizeof *dictionary->columns,
              column_order);
    return 0;
}

int columnar_dictionary_open(struct segment *segment, struct columnar_dictionary **out,
                             struct error *err)
{
    struct columnar_dictionary *dictionary = memory_zeroed(1, sizeof *dictionary);
    dictionary->segment = segment;
    *out = dictionary;
    if (index_parse(dictionary) == 0)
        return 0;
    columnar_dictionary_close(dictionary);
    *out = NULL;
    return error_set(err, ERROR_CORRUPT, "segment %llu: bad index of dictionaries",
                     (unsigned long long)segment_info(segment)->id);
}

/* Includes the array of views, which takes more than the text if strings are short. */
static size_t page_bytes(const struct dictionary_page *page)
{
    return page->count * sizeof *page->strings + page->text.capacity;
}

static void page_forget(struct columnar_dictionary *dictionary, struct dictionary_page *page)
{
    if (page->strings == NULL)
        return;
    dictionary->kept -= page_bytes(page);
    memory_free(page->strings);
    page->strings = NULL;
    buffer_release(&page->text);
}

static void pages_forget(struct columnar_dictionary *dictionary)
{
    for (uint32_t i = 0; i < dictionary->column_count; i++)
        for (uint32_t page = 0; page < dictionary->columns[i].page_count; page++)
            page_forget(dictionary, &dictionary->columns[i].pages[page]);
}

void columnar_dictionary_close(struct columnar_dictionary *dictionary)
{
    if (dictionary == NULL)
        return;
    pages_forget(dictionary);
    for (uint32_t i = 0; i < dictionary->column_count; i++)
        memory_free(dictionary->columns[i].pages);
    memory_free(dictionary->columns);
    vector_codec_decoder_release(&dictionary->vectors);
    buffer_release(&dictionary->page);
    memory_free(dictionary);
}

struct columnar_dictionary *columnar_dictionary_take(struct segment *segment)
{
    return (struct columnar_dictionary *)reader_pool_take(segment_readers(segment),
                                                          segment_scratch(segment));
}

static void spare_free(struct reader_spare *spare)
{
    columnar_dictionary_close((struct columnar_dictionary *)spare);
}

void columnar_dictionary_give(struct columnar_dictionary *dictionary)
{
    struct segment *segment = dictionary->segment;
    size_t bytes = sizeof *dictionary + dictionary->column_capacity * sizeof *dictionary->columns;
    for (uint32_t i = 0; i < dictionary->column_count; i++)
        bytes += dictionary->columns[i].page_count * sizeof *dictionary->columns[i].pages;
    if (dictionary->kept > KEPT_IDLE_MAX)
        pages_forget(dictionary);
    vector_codec_decoder_release(&dictionary->vectors);
    buffer_release(&dictionary->page);
    dictionary->base = (struct reader_spare){
        .free = spare_free, .bytes = bytes + dictionary->kept, .is_large = true};
    reader_pool_give(segment_readers(segment), segment_scratch(segment), &dictionary->base);
}

void columnar_dictionary_trim(struct columnar_dictionary *dictionary)
{
    if (dictionary->kept > KEPT_MAX)
        pages_forget(dictionary);
}

static int page_decode(struct columnar_dictionary *dictionary, struct dictionary_page *page)
{
    int64_t sizes[PAGE_STRINGS_MAX];
    struct reader reader = reader_of(buffer_view(&dictionary->page));
    uint8_t format = reader_u8(&reader);
    uint64_t count = reader_varint(&reader);
    if (reader.failed || format != DICTIONARY_FORMAT || count != page->count ||
        vector_codec_decode(&dictionary->vectors, &reader, page->count, sizes) != 0)
        return ERROR_CORRUPT;
    uint64_t total = 0;
    for (uint32_t i = 0; i < page->count; i++) {
        if (sizes[i] < 0 || sizes[i] > BLOCK_STRING_MAX)
            return ERROR_CORRUPT;
        total += (uint64_t)sizes[i];
    }
    if (total > PAGE_TEXT_LIMIT ||
        vector_codec_get_text(&dictionary->vectors, &reader, total, &page->text) != 0)
        return ERROR_CORRUPT;
    page->strings = memory_alloc(page->count * sizeof *page->strings);
    size_t offset = 0;
    for (uint32_t i = 0; i < page->count; i++) {
        page->strings[i] = bytes_of(page->text.data + offset, (size_t)sizes[i]);
        offset += (size_t)sizes[i];
    }
    dictionary->kept += page_bytes(page);
    return 0;
}

static int page_load(struct columnar_dictionary *dictionary, struct dictionary_page *page,
                     struct error *err)
{
    int rc = segment_read_page(dictionary->segment, page->page, NULL, &dictionary->page, err);
    if (rc != 0)
        return rc;
    if (page_decode(dictionary, page) == 0)
        return 0;
    buffer_release(&page->text);
    return error_set(err, ERROR_CORRUPT, "segment %llu: page %u is no page of a dictionary",
                     (unsigned long long)segment_info(dictionary->segment)->id,
                     (unsigned)page->page);
}

static struct dictionary_page *page_of(const struct dictionary_column *column, uint32_t number)
{
    uint32_t low = 0;
    uint32_t high = column->page_count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (column->pages[middle].first <= number)
            low = middle;
        else
            high = middle - 1;
    }
    return &column->pages[low];
}

static const struct dictionary_column *column_find(const struct columnar_dictionary *dictionary,
                                                   uint32_t which, uint32_t column_id)
{
    const struct dictionary_column key = {.dictionary = which, .column_id = column_id};
    return dictionary->column_count == 0
               ? NULL
               : bsearch(&key, dictionary->columns, dictionary->column_count,
                         sizeof *dictionary->columns, column_order);
}

uint32_t columnar_dictionary_count(const struct columnar_dictionary *dictionary, uint32_t which,
                                   uint32_t column_id)
{
    const struct dictionary_column *column = column_find(dictionary, which, column_id);
    return column != NULL ? column->count : 0;
}

int columnar_dictionary_get(struct columnar_dictionary *dictionary, uint32_t which,
                            uint32_t column_id, uint64_t number, struct bytes *string_out,
                            struct error *err)
{
    const struct dictionary_column *column = column_find(dictionary, which, column_id);
    if (column != NULL && number < column->count) {
        struct dictionary_page *page = page_of(column, (uint32_t)number);
        if (page->strings == NULL) {
            int rc = page_load(dictionary, page, err);
            if (rc != 0)
                return rc;
        }
        *string_out = page->strings[number - page->first];
        return 0;
    }
    return error_set(err, ERROR_CORRUPT, "segment %llu: dictionary %u has no string %llu",
                     (unsigned long long)segment_info(dictionary->segment)->id, (unsigned)which,
                     (unsigned long long)number);
}

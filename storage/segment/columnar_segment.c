/* columnar_segment: partitions are read back.
 *
 * A partition's rows are in one entry of its first page, which the directory names, and in entry 0
 * of each further page.  Codes are places in the list of their entry; a read converts them to
 * places in one array for all entries.
 *
 * Many small partitions lie in one page, which takes about a millisecond to decode.  So readers
 * that share leave the page for the next reader.  A page that is not in the pool is decoded into
 * the memory of the page that this reader decoded before, so that a scan adds one page to the pool.
 * A page that came from the pool goes back there unchanged. */
#include "storage/segment/columnar_segment.h"

#include "base/memory.h"
#include "storage/segment/columnar_dictionary.h"
#include "storage/segment/columnar_page.h"

/* The strings of one column of the rows read last, by code. */
struct reader_strings {
    struct bytes *strings;
    uint32_t count;
    uint32_t capacity;
};

struct decoded_page {
    struct reader_spare base; /* while it lies in the pool */
    uint32_t index;           /* UINT32_MAX: nothing is decoded */
    bool is_from_pool;
    struct columnar_page page;
};

struct columnar_segment_reader {
    struct segment *segment;
    const struct table *table;
    bool shares;
    struct columnar_dictionary *dictionary;
    struct decoded_page *decoded; /* NULL: none yet */
    struct buffer encoded;
    struct reader_strings *strings;
};

struct columnar_segment_reader *columnar_segment_reader_new(struct segment *segment,
                                                            const struct table *table)
{
    struct columnar_segment_reader *reader = memory_zeroed(1, sizeof *reader);
    reader->segment = segment_ref(segment);
    reader->table = table;
    reader->strings = memory_zeroed(block_column_count(table), sizeof *reader->strings);
    return reader;
}

void columnar_segment_reader_share(struct columnar_segment_reader *reader)
{
    reader->shares = true;
}

static void decoded_free(struct reader_spare *base)
{
    struct decoded_page *decoded = (struct decoded_page *)base;
    columnar_page_release(&decoded->page);
    memory_free(decoded);
}

static void decoded_leave(struct columnar_segment_reader *reader)
{
    struct decoded_page *decoded = reader->decoded;
    reader->decoded = NULL;
    if (decoded == NULL)
        return;
    if (!reader->shares || decoded->index == UINT32_MAX) {
        decoded_free(&decoded->base);
        return;
    }
    columnar_page_trim(&decoded->page);
    decoded->base =
        (struct reader_spare){.free = decoded_free,
                              .bytes = sizeof *decoded + columnar_page_bytes(&decoded->page),
                              .is_large = true};
    reader_pool_give(segment_readers(reader->segment),
                     segment_page_place(reader->segment, decoded->index), &decoded->base);
}

static bool decoded_take(struct columnar_segment_reader *reader, uint32_t page)
{
    struct decoded_page *taken = (struct decoded_page *)reader_pool_take(
        segment_readers(reader->segment), segment_page_place(reader->segment, page));
    if (taken == NULL)
        return false;
    if (taken->index != page || !columnar_rows_adopt(&taken->page.rows, reader->table)) {
        decoded_free(&taken->base);
        return false;
    }
    decoded_leave(reader);
    reader->decoded = taken;
    taken->is_from_pool = true;
    return true;
}

void columnar_segment_reader_free(struct columnar_segment_reader *reader)
{
    if (reader == NULL)
        return;
    for (uint32_t i = 0; i < block_column_count(reader->table); i++)
        memory_free(reader->strings[i].strings);
    memory_free(reader->strings);
    decoded_leave(reader);
    if (reader->shares && reader->dictionary != NULL)
        columnar_dictionary_give(reader->dictionary);
    else
        columnar_dictionary_close(reader->dictionary);
    buffer_release(&reader->encoded);
    segment_unref(reader->segment);
    memory_free(reader);
}

static int corrupt(const struct columnar_segment_reader *reader, uint32_t page, const char *what,
                   struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "segment %llu: page %u: %s",
                     (unsigned long long)segment_info(reader->segment)->id, (unsigned)page, what);
}

static int page_load(struct columnar_segment_reader *reader, uint32_t page, struct error *err)
{
    if (reader->decoded != NULL && reader->decoded->index == page)
        return 0;
    if (reader->shares && decoded_take(reader, page))
        return 0;
    if (reader->decoded != NULL && reader->decoded->is_from_pool)
        decoded_leave(reader);
    if (reader->decoded == NULL) {
        reader->decoded = memory_zeroed(1, sizeof *reader->decoded);
        columnar_page_init(&reader->decoded->page, reader->table);
    }
    reader->decoded->index = UINT32_MAX;
    int rc = segment_read_page(reader->segment, page, NULL, &reader->encoded, err);
    if (rc == 0)
        rc = columnar_page_decode(&reader->decoded->page, buffer_view(&reader->encoded), err);
    if (rc != 0) {
        error_wrap(err, "segment %llu, page %u",
                   (unsigned long long)segment_info(reader->segment)->id, (unsigned)page);
        return rc;
    }
    reader->decoded->index = page;
    return 0;
}

/* The strings of the previous read become invalid. */
static int read_begin(struct columnar_segment_reader *reader, struct columnar_rows *rows,
                      struct error *err)
{
    columnar_rows_clear(rows);
    if (reader->dictionary == NULL && reader->shares)
        reader->dictionary = columnar_dictionary_take(reader->segment);
    if (reader->dictionary == NULL) {
        int rc = columnar_dictionary_open(reader->segment, &reader->dictionary, err);
        if (rc != 0)
            return rc;
    }
    columnar_dictionary_trim(reader->dictionary);
    for (uint32_t i = 0; i < rows->column_count; i++)
        reader->strings[i].count = 0;
    return 0;
}

static int strings_add(struct columnar_segment_reader *reader, uint32_t column, uint32_t entry,
                       struct error *err)
{
    const struct columnar_page *page = &reader->decoded->page;
    const struct columnar_page_list *list = &page->lists[column];
    struct reader_strings *strings = &reader->strings[column];
    uint32_t count = list->starts[entry + 1] - list->starts[entry];
    check(count <= UINT32_MAX / 2 - strings->count);
    if (strings->count + count > strings->capacity) {
        strings->capacity = (strings->count + count) * 2;
        strings->strings =
            memory_resize(strings->strings, strings->capacity * sizeof *strings->strings);
    }
    for (uint32_t i = 0; i < count; i++) {
        int rc = columnar_dictionary_get(reader->dictionary, page->dictionary,
                                         page->rows.vectors[column].column_id,
                                         (uint64_t)list->numbers[list->starts[entry] + i],
                                         &strings->strings[strings->count], err);
        if (rc != 0)
            return rc;
        strings->count++;
    }
    return 0;
}

static bool ranks_are_implied(const int64_t *ranks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (ranks[i] != COLUMNAR_RANK_IMPLIED)
            return false;
    return true;
}

static int entry_append(struct columnar_segment_reader *reader, uint32_t index,
                        struct columnar_rows *rows, struct error *err)
{
    const struct columnar_page *page = &reader->decoded->page;
    if (index >= page->entry_count)
        return corrupt(reader, reader->decoded->index, "no such entry", err);
    const struct columnar_page_entry *entry = &page->entries[index];
    struct columnar_rows source = page->rows;
    source.timestamp_us = entry->timestamp_us;
    if (source.ranks != NULL && ranks_are_implied(source.ranks + entry->first, entry->rows))
        source.ranks = NULL;
    uint32_t at = rows->rows;
    int rc = columnar_rows_append(rows, &source, entry->first, entry->rows);
    if (rc != 0)
        return error_set(err, rc, "too many rows to read at once");
    for (uint32_t i = 0; i < rows->column_count; i++) {
        struct columnar_vector *vector = &rows->vectors[i];
        if (vector->kind != VECTOR_CODE)
            continue;
        uint32_t base = reader->strings[i].count;
        for (uint32_t row = at; base > 0 && row < rows->rows; row++)
            vector->codes[row] += base;
        rc = strings_add(reader, i, index, err);
        if (rc != 0)
            return rc;
        vector->strings = reader->strings[i].strings;
        vector->string_count = reader->strings[i].count;
    }
    return 0;
}

static int piece_append(struct columnar_segment_reader *reader,
                        const struct segment_partition *partition, uint32_t piece,
                        struct columnar_rows *rows, struct error *err)
{
    int rc = page_load(reader, partition->page_first + piece, err);
    return rc != 0 ? rc : entry_append(reader, piece == 0 ? partition->entry : 0, rows, err);
}

int columnar_segment_reader_rows(struct columnar_segment_reader *reader,
                                 const struct segment_partition *partition, uint32_t row_limit,
                                 struct columnar_rows *rows, struct error *err)
{
    int rc = read_begin(reader, rows, err);
    if (rc != 0)
        return rc;
    if (partition->rows > row_limit)
        return error_set(err, ERROR_LIMIT, "a partition of %llu rows, over the limit of %u",
                         (unsigned long long)partition->rows, (unsigned)row_limit);
    columnar_rows_reserve(rows, (uint32_t)partition->rows);
    for (uint32_t piece = 0;
         rc == 0 && piece < partition->page_count && rows->rows <= partition->rows; piece++)
        rc = piece_append(reader, partition, piece, rows, err);
    if (rc == 0 && rows->rows != partition->rows)
        rc = corrupt(reader, partition->page_first, "rows do not add up", err);
    if (rc != 0)
        columnar_rows_clear(rows);
    return rc;
}

int columnar_segment_reader_piece(struct columnar_segment_reader *reader,
                                  const struct segment_partition *partition, uint32_t piece,
                                  struct columnar_rows *rows, struct error *err)
{
    check(piece < partition->page_count);
    int rc = read_begin(reader, rows, err);
    if (rc == 0)
        rc = piece_append(reader, partition, piece, rows, err);
    if (rc != 0)
        columnar_rows_clear(rows);
    return rc;
}

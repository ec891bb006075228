/* columnar_segment_writer: writes partitions into pages, and strings into the dictionary.
 *
 * A partition that does not fit begins a new page; the page of its last rows takes further
 * partitions.  The dictionary is written after the pages that use it; its index is the segment's
 * extra section.
 *
 *     page: p1 p2 p3 | page: p4 (first) | page: p4 (last) p5 | dictionary pages | extra: index
 *
 * The directory names pages by number before they are written, so the open page must get the
 * segment's next number. */
#include "storage/segment/columnar_segment.h"

#include "base/memory.h"
#include "storage/cell/row.h"
#include "storage/segment/columnar_dictionary.h"
#include "storage/segment/columnar_page.h"

/* For a column whose strings all partitions of a memtable share (strings_shared): by code, the
 * number in the current dictionary plus one; 0: not looked up. */
struct known_codes {
    const struct bytes *strings;
    uint32_t string_count;
    uint32_t *numbers;
    uint32_t capacity;
};

struct columnar_segment_writer {
    struct segment_writer *file;
    struct columnar_page_encoder *encoder;
    struct columnar_page page;
    struct columnar_dictionary_writer *dictionary;
    struct known_codes *known;
    struct columnar_rows pending; /* rows of pieces that are in no page yet; codes are numbers */
    uint32_t page_rows;
    struct buffer encoded;
    struct buffer label; /* the clustering of the open page's first row */
    bool is_labelled;    /* the page gets the label, because its partition has other pages */
    bool is_open;
    bool has_entries;
    int64_t token;
    struct buffer key;
    struct partition_stats stats;
    uint32_t page_first;
    uint32_t entry;
};

int columnar_segment_writer_open(struct world *world, const struct table *table,
                                 const struct segment_info *info, uint32_t page_rows,
                                 struct columnar_segment_writer **writer_out, struct error *err)
{
    check(page_rows <= COLUMNAR_PAGE_ROWS_MAX);
    *writer_out = NULL;
    struct segment_writer *file;
    int rc = segment_writer_open(world, info, &file, err);
    if (rc != 0)
        return rc;
    struct columnar_segment_writer *writer = memory_zeroed(1, sizeof *writer);
    writer->file = file;
    writer->page_rows = page_rows > 0 ? page_rows : COLUMNAR_PAGE_ROWS_MAX;
    writer->encoder = columnar_page_encoder_new();
    columnar_page_init(&writer->page, table);
    columnar_rows_init(&writer->pending, table);
    writer->dictionary = columnar_dictionary_writer_new(table);
    writer->known = memory_zeroed(block_column_count(table), sizeof *writer->known);
    *writer_out = writer;
    return 0;
}

void columnar_segment_writer_close(struct columnar_segment_writer *writer)
{
    if (writer == NULL)
        return;
    segment_writer_close(writer->file);
    columnar_page_encoder_free(writer->encoder);
    columnar_dictionary_writer_free(writer->dictionary);
    for (uint32_t i = 0; i < writer->page.rows.column_count; i++)
        memory_free(writer->known[i].numbers);
    memory_free(writer->known);
    columnar_page_release(&writer->page);
    columnar_rows_release(&writer->pending);
    buffer_release(&writer->encoded);
    buffer_release(&writer->label);
    buffer_release(&writer->key);
    stats_release(&writer->stats);
    memory_free(writer);
}

/* ---- strings ---- */

static void known_clear(struct known_codes *known, const struct columnar_vector *vector)
{
    known->strings = vector->strings;
    known->string_count = vector->string_count;
    if (vector->string_count > known->capacity) {
        known->capacity = vector->string_count;
        memory_free(known->numbers);
        known->numbers = memory_alloc(known->capacity * sizeof *known->numbers);
    }
    for (uint32_t i = 0; i < vector->string_count; i++)
        known->numbers[i] = 0;
}

static void known_begin(struct columnar_segment_writer *writer, const struct columnar_rows *rows)
{
    for (uint32_t i = 0; i < rows->column_count; i++) {
        const struct columnar_vector *vector = &rows->vectors[i];
        struct known_codes *known = &writer->known[i];
        if (vector->strings_shared &&
            (known->strings != vector->strings || known->string_count != vector->string_count))
            known_clear(known, vector);
    }
}

struct adding {
    struct columnar_segment_writer *writer;
    const struct columnar_rows *rows;
};

static uint32_t number_of(void *context, uint32_t column, uint32_t code, struct bytes string)
{
    const struct adding *adding = context;
    struct columnar_segment_writer *writer = adding->writer;
    if (adding->rows == &writer->pending)
        return code;
    if (!adding->rows->vectors[column].strings_shared)
        return columnar_dictionary_add(writer->dictionary, column, string);
    uint32_t *known = &writer->known[column].numbers[code];
    if (*known == 0)
        *known = columnar_dictionary_add(writer->dictionary, column, string) + 1;
    return *known - 1;
}

uint32_t columnar_segment_writer_number(struct columnar_segment_writer *writer, uint32_t column,
                                        struct bytes string)
{
    check(writer->is_open);
    return columnar_dictionary_add(writer->dictionary, column, string);
}

void columnar_segment_writer_strings(const struct columnar_segment_writer *writer,
                                     struct columnar_rows *rows)
{
    for (uint32_t i = 0; i < rows->column_count; i++) {
        struct columnar_vector *vector = &rows->vectors[i];
        if (vector->kind == VECTOR_CODE)
            vector->strings =
                columnar_dictionary_strings(writer->dictionary, i, &vector->string_count);
    }
}

/* ---- pages ---- */

/* The label is the packed clustering of a row, without the rank. */
static void label_set(struct columnar_segment_writer *writer, const struct columnar_rows *rows,
                      uint32_t row)
{
    struct buffer values = {0};
    struct clustering clustering;
    buffer_reserve(&values, CLUSTERING_MAX * COLUMNAR_VALUE_MAX);
    columnar_rows_clustering(rows, row, &values, &clustering);
    buffer_clear(&writer->label);
    row_clustering_pack(&clustering, &writer->label);
    buffer_release(&values);
}

static int page_write(struct columnar_segment_writer *writer, struct error *err)
{
    struct bytes label = writer->is_labelled ? buffer_view(&writer->label) : (struct bytes){0};
    if (writer->page.rows.rows == 0)
        return 0;
    writer->page.dictionary = columnar_dictionary_current(writer->dictionary);
    buffer_clear(&writer->encoded);
    columnar_page_encode(writer->encoder, &writer->page, &writer->encoded);
    int rc = segment_writer_page(writer->file, buffer_view(&writer->encoded), label, err);
    if (rc != 0)
        return rc;
    writer->is_labelled = false;
    columnar_page_clear(&writer->page);
    return 0;
}

static void entry_add(struct columnar_segment_writer *writer, const struct columnar_rows *rows,
                      uint32_t from, uint32_t count)
{
    struct adding adding = {writer, rows};
    /* Pending rows go into a page when they fill one, or when they are the partition's last. */
    bool is_part = writer->has_entries ||
                   (rows == &writer->pending ? count == writer->page_rows : count < rows->rows);
    if (!writer->has_entries) {
        writer->has_entries = true;
        writer->page_first = segment_writer_page_next(writer->file);
        writer->entry = writer->page.entry_count;
    }
    if (writer->page.entry_count == 0 && is_part) {
        label_set(writer, rows, from);
        writer->is_labelled = true;
    }
    columnar_page_add(writer->encoder, &writer->page, rows, from, count, number_of, &adding);
}

/* Add the rows to pages: those that fill whole pages, and the rest if `all`.  *count_out is how
 * many of the first rows were added. */
static int rows_add(struct columnar_segment_writer *writer, const struct columnar_rows *rows,
                    bool all, uint32_t *count_out, struct error *err)
{
    int rc = 0;
    *count_out = 0;
    for (uint32_t left; rc == 0 && (left = rows->rows - *count_out) > 0;) {
        uint32_t count = left < writer->page_rows ? left : writer->page_rows;
        if (count < writer->page_rows && !all)
            break;
        if (count > writer->page_rows - writer->page.rows.rows)
            rc = page_write(writer, err);
        if (rc == 0)
            entry_add(writer, rows, *count_out, count);
        *count_out += count;
    }
    return rc;
}

static int pending_add(struct columnar_segment_writer *writer, bool all, struct error *err)
{
    uint32_t count;
    columnar_segment_writer_strings(writer, &writer->pending);
    int rc = rows_add(writer, &writer->pending, all, &count, err);
    columnar_rows_drop(&writer->pending, count);
    return rc;
}

static int partition_write(struct columnar_segment_writer *writer, struct error *err)
{
    writer->is_open = false;
    if (writer->stats.rows == 0)
        return 0;
    uint32_t page_end = segment_writer_page_next(writer->file) + 1;
    struct segment_partition partition = {.token = writer->token,
                                          .key = buffer_view(&writer->key),
                                          .rows = writer->stats.rows,
                                          .page_first = writer->page_first,
                                          .page_count = page_end - writer->page_first,
                                          .entry = writer->entry,
                                          .deletion = {.timestamp_us = TIMESTAMP_NONE},
                                          .stats = &writer->stats};
    return segment_writer_partition(writer->file, &partition, err);
}

static int dictionary_write(struct columnar_segment_writer *writer, struct error *err)
{
    int rc = page_write(writer, err);
    if (rc == 0)
        rc = columnar_dictionary_write(writer->dictionary, writer->file, err);
    for (uint32_t i = 0; i < writer->page.rows.column_count; i++)
        writer->known[i].strings = NULL;
    return rc;
}

/* ---- partitions ---- */

int columnar_segment_writer_begin(struct columnar_segment_writer *writer, int64_t token,
                                  struct bytes key, uint64_t rows, struct error *err)
{
    int rc = 0;
    check(!writer->is_open);
    if (columnar_dictionary_is_full(writer->dictionary))
        rc = dictionary_write(writer, err);
    else if (rows > writer->page_rows - writer->page.rows.rows)
        rc = page_write(writer, err);
    if (rc != 0)
        return rc;
    writer->is_open = true;
    writer->has_entries = false;
    writer->token = token;
    buffer_clear(&writer->key);
    buffer_append_bytes(&writer->key, key);
    stats_release(&writer->stats);
    columnar_rows_clear(&writer->pending);
    return 0;
}

static void timestamps_note(struct columnar_segment_writer *writer,
                            const struct columnar_rows *rows)
{
    int64_t newest = rows->timestamps_us != NULL ? TIMESTAMP_NONE : rows->timestamp_us;
    for (uint32_t i = 0; rows->timestamps_us != NULL && i < rows->rows; i++)
        newest = rows->timestamps_us[i] > newest ? rows->timestamps_us[i] : newest;
    segment_writer_timestamp(writer->file, newest);
}

int columnar_segment_writer_rows(struct columnar_segment_writer *writer,
                                 const struct columnar_rows *rows, struct error *err)
{
    uint32_t count;
    check(writer->is_open && !writer->has_entries && rows != &writer->pending);
    known_begin(writer, rows);
    columnar_rows_stats(rows, &writer->stats);
    timestamps_note(writer, rows);
    return rows_add(writer, rows, true, &count, err);
}

int columnar_segment_writer_append(struct columnar_segment_writer *writer,
                                   const struct columnar_rows *rows, struct error *err)
{
    if (rows->rows == 0)
        return 0;
    check(writer->is_open);
    int rc = columnar_rows_append(&writer->pending, rows, 0, rows->rows);
    if (rc != 0)
        return error_set(err, rc, "too many rows in one piece of a partition");
    columnar_rows_stats(rows, &writer->stats);
    timestamps_note(writer, rows);
    return pending_add(writer, false, err);
}

int columnar_segment_writer_end(struct columnar_segment_writer *writer, struct error *err)
{
    check(writer->is_open);
    int rc = pending_add(writer, true, err);
    return rc == 0 ? partition_write(writer, err) : rc;
}

int columnar_segment_writer_finish(struct columnar_segment_writer *writer,
                                   struct segment_info *info_out, struct error *err)
{
    check(!writer->is_open);
    if (segment_writer_is_empty(writer->file, info_out))
        return 0;
    int rc = dictionary_write(writer, err);
    if (rc == 0)
        rc = segment_writer_extra(writer->file, columnar_dictionary_index(writer->dictionary), err);
    if (rc == 0)
        rc = segment_writer_finish(writer->file, info_out, err);
    return rc;
}

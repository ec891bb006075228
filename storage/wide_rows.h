/* wide_rows: rows of one partition of a ranked table as sorted columns: the unit in which fresh
 * runs are read, merged, checked and written.
 *
 * Vectors are those of block.h; codes point into `strings`, which whoever filled the rows keeps
 * alive (a memtable's, a decoded page's).  Sorted by the clustering columns in the table's order;
 * equals stand in the order of their frames, which is their rank unless `ranks` says otherwise. */
#ifndef DAYBOOK_STORAGE_WIDE_ROWS_H
#define DAYBOOK_STORAGE_WIDE_ROWS_H

#include "storage/base/bytes.h"
#include "storage/block.h"
#include "storage/stats.h"
#include "storage/stream.h"

struct wide_vector {
    uint32_t column_id;
    enum vector_kind kind;
    int64_t *integers;
    uint8_t *scales;
    uint32_t *codes;
    uint8_t *absent;                   /* NULL: all present */
    const struct bytes *strings;       /* by code; borrowed */
};

struct wide_rows {
    const struct table *table;
    uint32_t rows;
    uint32_t capacity;
    uint32_t column_count;             /* clustering columns without the rank, then regular ones */
    struct wide_vector *vectors;
    int64_t *timestamps_us;            /* by row; NULL: all are timestamp_us */
    int64_t timestamp_us;
    int64_t *ranks;                    /* NULL: implied by order */
};

void wide_rows_init(struct wide_rows *rows, const struct table *table);
void wide_rows_release(struct wide_rows *rows);
void wide_rows_clear(struct wide_rows *rows);
void wide_rows_reserve(struct wide_rows *rows, uint32_t capacity);
/* Clustering order of two rows, the rank left out. */
int wide_rows_compare(const struct wide_rows *a, uint32_t row_a, const struct wide_rows *b,
                      uint32_t row_b);
/* Add every row to `stats` (cleared by the caller). */
void wide_rows_stats(const struct wide_rows *rows, struct partition_stats *stats);

/* Stable merge of several, given in the order of their frames; ranks become explicit where an input
 * has explicit ones.  `merged` borrows the inputs' strings through `strings` (cleared and refilled;
 * owned by the caller, outlives `merged`). */
struct wide_strings;
struct wide_strings *wide_strings_new(void);
void wide_strings_free(struct wide_strings *strings);
void wide_rows_merge(const struct wide_rows *const *inputs, uint32_t input_count,
                     struct wide_strings *strings, struct wide_rows *merged);

/* The rows as a stream of the generic cell model, ranks filled in, cut to `slice`.  `rows` must
 * outlive it. */
struct stream *wide_rows_stream(const struct wide_rows *rows, const struct slice *slice);
#endif

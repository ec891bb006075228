/* columnar_rows: rows of one partition of an event table as sorted columns with the vectors of
 * block.h.
 *
 * Codes are indexes into `strings`, which belong to the source of the rows and must outlive the
 * rows.  Rows are sorted by the clustering columns in the table's order.  Rows with the same
 * clustering (*equals*) are in the order of their frames in the commit log; the rank of a row is
 * its place among its equals, from 0, unless `ranks` has another. */
#ifndef DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_H
#define DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_H

#include "base/buffer.h"
#include "storage/cell/block.h"
#include "storage/cell/stats.h"
#include "storage/cell/stream.h"

/* In `ranks`: one above the rank of the equal before the row, or 0 if there is none. */
#define COLUMNAR_RANK_IMPLIED INT64_MIN

struct columnar_vector {
    uint32_t column_id;
    enum vector_kind kind;
    const struct column *column;
    int64_t *integers;
    uint8_t *scales;
    uint32_t *codes;
    uint8_t *absent;                   /* 1: no value; NULL: all rows have one */
    const struct bytes *strings;       /* by code; borrowed.  Two codes may have the same string */
    uint32_t string_count;
    bool strings_shared;               /* all partitions of the source have the same `strings` */
    uint8_t *absent_memory;            /* private */
};

struct columnar_rows {
    const struct table *table;
    uint32_t rows;
    uint32_t capacity;
    uint32_t column_count;
    struct columnar_vector *vectors;
    int64_t *timestamps_us;            /* NULL: all are timestamp_us */
    int64_t timestamp_us;
    int64_t *ranks;                    /* NULL: all are COLUMNAR_RANK_IMPLIED */
    int64_t *timestamps_memory;
    int64_t *ranks_memory;
};

void columnar_rows_init(struct columnar_rows *rows, const struct table *table);
void columnar_rows_release(struct columnar_rows *rows);
void columnar_rows_clear(struct columnar_rows *rows);  /* keeps the memory */
void columnar_rows_reserve(struct columnar_rows *rows, uint32_t capacity);
size_t columnar_rows_bytes(const struct columnar_rows *rows);  /* memory for its capacity */
/* Let the rows point to `table`, which may be their table in a newer schema.  False: it has other
 * columns, and nothing was changed. */
must_check bool columnar_rows_adopt(struct columnar_rows *rows, const struct table *table);
/* Make an optional array, with the values that all rows have while it is NULL. */
void columnar_rows_absent(struct columnar_rows *rows, struct columnar_vector *vector);
void columnar_rows_timestamps(struct columnar_rows *rows);
void columnar_rows_ranks(struct columnar_rows *rows);

/* Codes are copied unchanged; a vector without strings gets the strings of `source`.  ERROR_LIMIT
 * past UINT32_MAX rows. */
must_check int columnar_rows_append(struct columnar_rows *rows, const struct columnar_rows *source,
                                    uint32_t from, uint32_t count);

/* How many arrays with a value for each row there can be, and each of them by its index; NULL: the
 * rows do not have it.  *size_out: bytes of a value. */
static inline uint32_t columnar_rows_arrays(const struct columnar_rows *rows)
{
    return rows->column_count * 3 + 2;
}
void *columnar_rows_array(const struct columnar_rows *rows, uint32_t index, size_t *size_out);

void columnar_rows_drop(struct columnar_rows *rows, uint32_t count);

/* Remove the rows with a nonzero byte in `gone`.  The other rows keep their ranks.  All equals of a
 * removed row must be among the rows. */
void columnar_rows_remove(struct columnar_rows *rows, const uint8_t *gone);

/* ---- columnar_rows_order.c ---- */

/* The number of clustering columns with a vector: the rank, the last one, has none. */
static inline uint32_t columnar_rows_clustering_columns(const struct columnar_rows *rows)
{
    return rows->table->clustering_count - 1;
}

/* Compare the clusterings of two rows without the rank. */
int columnar_rows_compare(const struct columnar_rows *a, uint32_t row_a,
                          const struct columnar_rows *b, uint32_t row_b);
/* Put the rows into clustering order; equals keep their order. */
void columnar_rows_sort(struct columnar_rows *rows);

/* ---- columnar_rows.c ---- */

void columnar_rows_stats(const struct columnar_rows *rows, struct partition_stats *stats);
/* The index of the decimal column that has stats; UINT32_MAX: none. */
uint32_t columnar_rows_stats_column(const struct table *table);

/* Merge inputs, given in the order of their frames, into `merged`, which is cleared first.  If an
 * input has explicit ranks, all ranks of `merged` are explicit.  `strings` is cleared, too.
 * `strings` and the inputs must outlive `merged`.  ERROR_LIMIT past UINT32_MAX rows. */
struct columnar_strings;
struct columnar_strings *columnar_rows_strings_new(void);
void columnar_rows_strings_free(struct columnar_strings *strings);
must_check int columnar_rows_merge(const struct columnar_rows *const *inputs, uint32_t input_count,
                                   struct columnar_strings *strings, struct columnar_rows *merged);

/* The clustering of a row without the rank: views of its strings, and of numbers that are appended
 * to `values`.  `values` must have space for COLUMNAR_VALUE_MAX bytes for each value. */
enum { COLUMNAR_VALUE_MAX = 16 };
void columnar_rows_clustering(const struct columnar_rows *rows, uint32_t row, struct buffer *values,
                              struct clustering *clustering_out);

/* The rows within `slice`, each with a marker.  `rows` must outlive the stream. */
struct stream *columnar_rows_stream(const struct columnar_rows *rows, const struct slice *slice);
#endif

/* columnar_rows: rows of one partition of an event table as sorted columns, the unit in which
 * append-only runs are read, merged, checked and written.
 *
 * Vectors are those of block.h.  Codes are indexes into `strings`.  The strings belong to the
 * source of the rows (a memtable, a decoded page) and must outlive the rows.  Rows are sorted by
 * the clustering columns in the table's order.  Rows with the same clustering (*equals*) are in the
 * order of their frames in the commit log; the rank of a row is its place among its equals, from 0,
 * unless `ranks` has another. */
#ifndef DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_H
#define DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_H

#include "base/buffer.h"
#include "storage/cell/block.h"
#include "storage/cell/stats.h"
#include "storage/cell/stream.h"

/* In `ranks`: the rank is one above that of the equal before the row, or 0 if there is none. */
#define COLUMNAR_RANK_IMPLIED INT64_MIN

struct columnar_vector {
    uint32_t column_id;
    enum vector_kind kind;
    const struct column *column;
    int64_t *integers;
    uint8_t *scales;
    uint32_t *codes;
    uint8_t *absent;                   /* 1: the row has no value; NULL: all have one.  Made by
                                        * columnar_rows_absent */
    const struct bytes *strings;       /* by code; borrowed.  Two codes may have the same string */
    uint32_t string_count;
    bool strings_shared;               /* all partitions of the source have the same array, so what
                                        * was computed for a code stays right while `strings` is the
                                        * same pointer */
    uint8_t *absent_memory;            /* private: kept while `absent` is NULL */
};

struct columnar_rows {
    const struct table *table;
    uint32_t rows;
    uint32_t capacity;
    uint32_t column_count;             /* clustering columns without the rank, then regular ones */
    struct columnar_vector *vectors;
    int64_t *timestamps_us;            /* by row; NULL: all are timestamp_us */
    int64_t timestamp_us;
    int64_t *ranks;                    /* NULL: all are COLUMNAR_RANK_IMPLIED */
    int64_t *timestamps_memory;        /* private, as in columnar_vector */
    int64_t *ranks_memory;
};

void columnar_rows_init(struct columnar_rows *rows, const struct table *table);
void columnar_rows_release(struct columnar_rows *rows);
void columnar_rows_clear(struct columnar_rows *rows);  /* keeps the memory */
void columnar_rows_reserve(struct columnar_rows *rows, uint32_t capacity);
/* Make an optional array, with the values that all rows have while it is NULL. */
void columnar_rows_absent(struct columnar_rows *rows, struct columnar_vector *vector);
void columnar_rows_timestamps(struct columnar_rows *rows);
void columnar_rows_ranks(struct columnar_rows *rows);

/* Append rows [from, from + count) of `source`, each with its timestamp.  Codes are copied
 * unchanged; a vector without strings gets those of `source`.  ERROR_LIMIT past UINT32_MAX rows. */
must_check int columnar_rows_append(struct columnar_rows *rows, const struct columnar_rows *source,
                                    uint32_t from, uint32_t count);

/* The arrays with a value for each row, by index: three for each column (integers or codes, scales,
 * absence), and then timestamps and ranks.  NULL: the rows do not have that array.  `size_out` is
 * the size of a value in bytes. */
static inline uint32_t columnar_rows_arrays(const struct columnar_rows *rows)
{
    return rows->column_count * 3 + 2;
}
void *columnar_rows_array(const struct columnar_rows *rows, uint32_t index, size_t *size_out);

/* Remove the first `count` rows. */
void columnar_rows_drop(struct columnar_rows *rows, uint32_t count);

/* Remove the rows that are marked in `gone`, one byte for each row.  The other rows keep their
 * ranks: the first equal behind a removed row gets an explicit rank.  All equals of a removed row
 * must be among the rows. */
void columnar_rows_remove(struct columnar_rows *rows, const uint8_t *gone);

/* ---- columnar_rows_order.c ---- */

/* How many of the vectors are clustering columns.  The rank, which is the last clustering column,
 * has no vector. */
static inline uint32_t columnar_rows_clustering_columns(const struct columnar_rows *rows)
{
    return rows->table->clustering_count - 1;
}

/* The order of two rows by their clustering without the rank. */
int columnar_rows_compare(const struct columnar_rows *a, uint32_t row_a,
                          const struct columnar_rows *b, uint32_t row_b);
/* Put the rows into clustering order; equals keep their order. */
void columnar_rows_sort(struct columnar_rows *rows);

/* ---- columnar_rows.c ---- */

/* Add every row to `stats`. */
void columnar_rows_stats(const struct columnar_rows *rows, struct partition_stats *stats);
/* The index in `vectors` of the decimal column of which stats are kept; UINT32_MAX: none. */
uint32_t columnar_rows_stats_column(const struct table *table);

/* Merge several inputs, given in the order of their frames, into `merged`, which is cleared first.
 * Equals keep that order.  If an input has explicit ranks, all ranks of `merged` are explicit; if
 * timestamps differ, each row has its own.  `strings` belongs to the caller and is cleared, too.
 * It gets views of the inputs' strings, and `merged` uses these views.  So `strings` and the inputs
 * must outlive `merged`.  ERROR_LIMIT past UINT32_MAX rows. */
struct columnar_strings;
struct columnar_strings *columnar_rows_strings_new(void);
void columnar_rows_strings_free(struct columnar_strings *strings);
must_check int columnar_rows_merge(const struct columnar_rows *const *inputs, uint32_t input_count,
                                   struct columnar_strings *strings, struct columnar_rows *merged);

/* The clustering of a row without the rank: views of its strings and, for numbers, of their
 * serialized values, which are appended to `values`.  `values` must have space for
 * COLUMNAR_VALUE_MAX more bytes for each value, so that it does not move. */
enum { COLUMNAR_VALUE_MAX = 16 };
void columnar_rows_clustering(const struct columnar_rows *rows, uint32_t row, struct buffer *values,
                              struct clustering *clustering_out);

/* The rows within `slice` as a stream: each has its rank, a marker, and a cell for each regular
 * column in which it has a value.  `rows` must outlive the stream. */
struct stream *columnar_rows_stream(const struct columnar_rows *rows, const struct slice *slice);
#endif

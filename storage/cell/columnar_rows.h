/* columnar_rows: rows of one partition of an event table as sorted columns: the unit in which
 * append-only runs are read, merged, checked and written.
 *
 * Vectors are those of block.h; codes point into `strings`, which whoever filled the rows keeps
 * alive (a memtable's, a decoded page's).  Sorted by the clustering columns in the table's order;
 * equals stand in the order of their frames, which is their rank unless `ranks` says otherwise. */
#ifndef DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_H
#define DAYBOOK_STORAGE_CELL_COLUMNAR_ROWS_H

#include "base/buffer.h"
#include "storage/cell/block.h"
#include "storage/cell/stats.h"
#include "storage/cell/stream.h"

/* Before equals of several runs are brought together: one above the rank of the equal before. */
#define COLUMNAR_RANK_IMPLIED INT64_MIN

/* Long work on rows comes in steps of so many, each some ten microseconds long, so that a thread
 * can do something else in between. */
enum { COLUMNAR_STEP_ROWS = 1 << 13 };

struct columnar_vector {
    uint32_t column_id;
    enum vector_kind kind;
    const struct column *column;
    int64_t *integers;
    uint8_t *scales;
    uint32_t *codes;
    uint8_t *absent;                   /* NULL: all present; made by columnar_rows_absent */
    const struct bytes *strings;       /* by code, `string_count` of them; borrowed.  Two codes may
                                        * have the same string */
    uint32_t string_count;
    bool strings_shared;               /* the array serves all partitions of its source, so what
                                        * is known of a code holds while the pointer is the same */
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
    int64_t *ranks;                    /* NULL: implied by order, as COLUMNAR_RANK_IMPLIED is */
    int64_t *timestamps_memory;        /* private, as in columnar_vector */
    int64_t *ranks_memory;
};

void columnar_rows_init(struct columnar_rows *rows, const struct table *table);
void columnar_rows_release(struct columnar_rows *rows);
void columnar_rows_clear(struct columnar_rows *rows);  /* keeps the memory */
void columnar_rows_reserve(struct columnar_rows *rows, uint32_t capacity);
/* Turn the optional vectors on, with what they stand for while they are off. */
void columnar_rows_absent(struct columnar_rows *rows, struct columnar_vector *vector);
void columnar_rows_timestamps(struct columnar_rows *rows);
void columnar_rows_ranks(struct columnar_rows *rows);

/* Append rows [from, from + count) of `source`: codes as they are (rows that have no strings take
 * over those of `source`), each row with its own timestamp.  ERROR_LIMIT past UINT32_MAX rows. */
must_check int columnar_rows_append(struct columnar_rows *rows, const struct columnar_rows *source,
                                    uint32_t from, uint32_t count);

/* The arrays that have a value for each row, by index: three of each column, and two of all.  NULL:
 * the rows have no such one.  `size_out` is the bytes of a value. */
static inline uint32_t columnar_rows_arrays(const struct columnar_rows *rows)
{
    return rows->column_count * 3 + 2;
}
void *columnar_rows_array(const struct columnar_rows *rows, uint32_t index, size_t *size_out);

/* Remove the first `count` rows. */
void columnar_rows_drop(struct columnar_rows *rows, uint32_t count);

/* Remove the rows that are marked in `gone`, one byte a row.  The others keep their ranks: behind
 * one that goes they become explicit.  All equals of a row that goes must be there. */
void columnar_rows_remove(struct columnar_rows *rows, const uint8_t *gone);

/* ---- columnar_rows_order.c ---- */

/* How many of the vectors are clustering columns: all of the table's but the rank. */
static inline uint32_t columnar_rows_clustering_columns(const struct columnar_rows *rows)
{
    return rows->table->clustering_count - 1;
}

/* Clustering order of two rows, the rank left out. */
int columnar_rows_compare(const struct columnar_rows *a, uint32_t row_a,
                          const struct columnar_rows *b, uint32_t row_b);
/* Put the rows into clustering order; equals stay in the order they are in.  In steps:
 * columnar_rows_order.h. */
void columnar_rows_sort(struct columnar_rows *rows);

/* ---- columnar_rows.c ---- */

/* Add every row to `stats` (cleared by the caller). */
void columnar_rows_stats(const struct columnar_rows *rows, struct partition_stats *stats);
/* The regular decimal column that stats are kept of: its index in `vectors`, or UINT32_MAX. */
uint32_t columnar_rows_stats_column(const struct table *table);

/* Stable merge of several, given in the order of their frames; ranks become explicit where an input
 * has explicit ones, timestamps where they differ.  `merged` (cleared first) borrows the inputs'
 * strings through `strings` (cleared and refilled; owned by the caller, outlives `merged`).
 * ERROR_LIMIT past UINT32_MAX rows. */
struct columnar_strings;
struct columnar_strings *columnar_rows_strings_new(void);
void columnar_rows_strings_free(struct columnar_strings *strings);
must_check int columnar_rows_merge(const struct columnar_rows *const *inputs, uint32_t input_count,
                                   struct columnar_strings *strings, struct columnar_rows *merged);

/* The serialized value of a row that is present: a view of its string, or a number appended to
 * `values`, which has room for COLUMNAR_VALUE_MAX bytes and therefore does not move. */
enum { COLUMNAR_VALUE_MAX = 16 };
struct bytes columnar_rows_vector_value(const struct columnar_vector *vector, uint32_t row,
                                        struct buffer *values);

/* The rows as a stream of the generic cell model, ranks filled in, cut to `slice`: a row has a
 * marker and a cell for each regular column that is present.  `rows` must outlive it. */
struct stream *columnar_rows_stream(const struct columnar_rows *rows, const struct slice *slice);
#endif

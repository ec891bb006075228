/* row: rows, cells and deletions of a partition, their order, how versions of a row merge, and
 * their packed form.
 *
 * A partition is: a partition deletion, a static row, and a sequence of unfiltereds in clustering
 * order, each a row or a bound of a range deletion.  A row is a marker (INSERT's liveness), a row
 * deletion, and cells; a cell has its own timestamp, TTL and expiry, and in a complex column a
 * path; a complex column has a deletion of its own.  Every marker, deletion and cell has its write
 * timestamp in microseconds.  The higher timestamp wins; ties are settled as in Cassandra
 * (row_merge.c has the table).
 *
 * These structs are views: the bytes they point to belong to a page, a memtable or an arena. */
#ifndef DAYBOOK_STORAGE_CELL_ROW_H
#define DAYBOOK_STORAGE_CELL_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/reader.h"
#include "storage/schema/schema.h"

#define TIMESTAMP_NONE INT64_MIN       /* no marker, no deletion */
#define EXPIRY_NONE INT64_MAX          /* as an expiry_s: there is no expiry */

struct liveness {
    int64_t timestamp_us;              /* TIMESTAMP_NONE: there is none */
    int32_t ttl_s;                     /* 0: none */
    int64_t expiry_s;                  /* seconds since 1970 from which it is not live; EXPIRY_NONE
                                        * unless ttl_s > 0 */
};

#define LIVENESS_NONE ((struct liveness){TIMESTAMP_NONE, 0, EXPIRY_NONE})

struct deletion {
    int64_t timestamp_us;              /* hides everything written at or before it */
    int64_t local_s;                   /* seconds since 1970: when it was made */
};

#define DELETION_NONE ((struct deletion){TIMESTAMP_NONE, 0})

enum cell_flag {
    CELL_TOMBSTONE = 1,                /* no value, no TTL; expiry_s is when it was made, or
                                        * EXPIRY_NONE */
    CELL_COUNTER = 2                   /* value is a valid counter cell, counters/counter_cell.h */
};

struct cell {
    uint32_t column_id;
    uint8_t flags;
    int64_t timestamp_us;              /* never TIMESTAMP_NONE */
    int32_t ttl_s;                     /* 0: none */
    int64_t expiry_s;                  /* seconds since 1970 from which it is not live; EXPIRY_NONE:
                                        * it does not expire */
    struct bytes path;                 /* data NULL in simple columns, never in complex ones */
    struct bytes value;                /* size 0 is an empty value */
};

struct complex_deletion {
    uint32_t column_id;
    struct deletion deletion;
};

/* The values of the clustering columns, in key order.  A bound may have only the first few. */
enum { CLUSTERING_MAX = SCHEMA_CLUSTERING_MAX };
struct clustering {
    uint32_t count;
    struct bytes values[CLUSTERING_MAX];
};

struct row {
    bool is_static;
    struct clustering clustering;      /* empty for the static row */
    struct liveness marker;
    struct deletion deletion;
    const struct complex_deletion *complex;      /* sorted by column id */
    uint32_t complex_count;
    const struct cell *cells;          /* sorted by (column id, path in the path type's order) */
    uint32_t cell_count;
};

/* The place where a range deletion or a slice begins or ends: before all rows that begin with the
 * prefix, or after them.  An inclusive start and an exclusive end are BOUND_BEFORE. */
enum bound_side { BOUND_BEFORE = -1, BOUND_AFTER = 1 };
struct bound {
    struct clustering prefix;          /* count 0: the partition's start (BEFORE) or end (AFTER) */
    enum bound_side side;
};

enum unfiltered_kind { UNFILTERED_ROW = 1, UNFILTERED_BOUND = 2 };

/* A row, or a bound: a place in the stream at which the range deletion in force changes. */
struct unfiltered {
    enum unfiltered_kind kind;
    union {                            /* by kind */
        struct row row;
        struct bound bound;
    };
    struct deletion before;            /* of a bound: in force up to it; TIMESTAMP_NONE: none */
    struct deletion after;             /* of a bound: in force from it on; TIMESTAMP_NONE: none */
};

/* Compare in clustering order, in which DESC columns descend; the result is <0, 0 or >0. */
int row_clustering_compare(const struct table *table, const struct clustering *a,
                           const struct clustering *b);
int row_bound_compare(const struct table *table, const struct bound *a, const struct bound *b);
int row_bound_compare_clustering(const struct table *table, const struct bound *bound,
                                 const struct clustering *clustering);

/* Whether `a` is the stronger of two deletions: it has the higher timestamp, or the same one and
 * was made later. */
bool row_deletion_supersedes(struct deletion a, struct deletion b);
/* Whether the deletion hides what was written at `timestamp_us`. */
bool row_deletion_hides(struct deletion deletion, int64_t timestamp_us);

/* Which of two markers wins, or which of two cells of the same column and path: <0 `a`, >0 `b`, 0:
 * they are the same.  Two counter cells are merged instead (row_merge). */
int row_liveness_reconcile(struct liveness a, struct liveness b);
int row_cell_reconcile(const struct cell *a, const struct cell *b);

/* Merge versions of one row, which have the same clustering.  `range` is the strongest range or
 * partition deletion that covers the row; it does not become part of `merged_out`.  Cells that a
 * deletion hides are dropped, and so are cells of columns that the table does not have; tombstones
 * stay.  The result does not depend on the order or the grouping of merges.  Arrays and merged
 * counters are allocated in `arena`; all other bytes belong to the versions. */
struct arena;
void row_merge(const struct table *table, const struct row *const *versions, uint32_t version_count,
               struct deletion range, struct arena *arena, struct row *merged_out);

/* Give what a reader sees of a merged row at `now_s`, seconds since 1970: its live marker and
 * cells, without deletions and without counters that were reset and not incremented since.  False:
 * nothing is left, so the row does not exist.  `live_out` may be `row`. */
bool row_live(const struct table *table, const struct row *row, int64_t now_s, struct arena *arena,
              struct row *live_out);

/* Give what a compaction keeps of a merged row, when nothing outside the merge was written before
 * `before_us`.  It keeps what a reader sees.  It also keeps deletions, tombstones, and an expired
 * marker or expired cells if their timestamp is `before_us` or later, because these may still hide
 * something.  False: nothing is left. */
bool row_purge(const struct table *table, const struct row *row, int64_t now_s, int64_t before_us,
               struct arena *arena, struct row *kept_out);
/* Whether the row has no marker, deletion or cell. */
static inline bool row_is_empty(const struct row *row)
{
    return row->marker.timestamp_us == TIMESTAMP_NONE &&
           row->deletion.timestamp_us == TIMESTAMP_NONE && row->complex_count == 0 &&
           row->cell_count == 0;
}

/* The deletion if its timestamp is `before_us` or later, else DELETION_NONE. */
struct deletion row_deletion_purge(struct deletion deletion, int64_t before_us);

/* A copy whose bytes are in `arena`. */
struct clustering row_clustering_copy(const struct clustering *from, struct arena *arena);
/* Copy a clustering.  Its bytes, row_clustering_bytes of them, are copied to `*to`, and `*to` is
 * moved behind them.  `copy_out` may be `from`. */
void row_clustering_put(const struct clustering *from, uint8_t **to, struct clustering *copy_out);
size_t row_clustering_bytes(const struct clustering *clustering);
/* Copy a row with its arrays and all their bytes to `arena`. */
void row_copy(const struct row *from, struct arena *arena, struct row *copy_out);
size_t row_memory(const struct row *row);      /* bytes that row_copy takes from the arena */

/* Packed form, for memtables, pages and log: FORMATS.md "Row". */
void row_deletion_pack(struct deletion deletion, struct buffer *buffer);
struct deletion row_deletion_unpack(struct reader *reader);   /* fails the reader on damage */
void row_clustering_pack(const struct clustering *clustering, struct buffer *buffer);
/* Values are views of the reader's bytes.  Fails the reader when its bytes are no clustering. */
void row_clustering_unpack(struct reader *reader, struct clustering *clustering_out);
void row_unfiltered_pack(const struct unfiltered *unfiltered, struct buffer *buffer);
/* Pack an INSERT without TTL in pieces: row_pack_insert, then row_pack_insert_cell `cell_count`
 * times.  All cells have the timestamp of the marker; `path` has data only in a complex column, and
 * `value` is NULL for a tombstone. */
void row_pack_insert(const struct clustering *clustering, int64_t timestamp_us, uint32_t cell_count,
                     struct buffer *buffer);
void row_pack_insert_cell(uint32_t column_id, struct bytes path, const struct bytes *value,
                          struct buffer *buffer);
/* Append a copy of a packed row that row_pack_insert began, with `timestamp_us` as its
 * timestamp. */
void row_pack_at(struct bytes packed, int64_t timestamp_us, struct buffer *buffer);
/* Whether merging two packed rows is known to give `newer` unchanged: both are INSERTs of simple
 * values without TTL and of the same clustering, `newer` has the later timestamp, and it has every
 * column of `older`.  The bytes must be sound. */
bool row_packed_replaces(struct bytes newer, struct bytes older);
/* Whether `newer` has the clustering of `older` and a later timestamp; both were begun by
 * row_pack_insert.  If so, and if neither has cells of complex columns, `newer` replaces `older`
 * when it has every column of `older`. */
bool row_packed_follows(struct bytes newer, struct bytes older);
/* Read only the clustering of a packed row that is not static. */
void row_unfiltered_unpack_clustering(struct reader *reader, struct clustering *clustering_out);
/* Read a row or bound as views of the reader's bytes, with arrays from `arena`.  ERROR_CORRUPT if
 * the bytes are no packed row or bound.  The order of cell paths is not checked here, because it
 * depends on the table; mutation_check checks it. */
must_check int row_unfiltered_unpack(struct reader *reader, struct arena *arena,
                                     struct unfiltered *unfiltered_out);
#endif

/* row: the cell model: what a partition holds besides plain values, and how versions merge.
 *
 * A partition is: a partition deletion, a static row, and a sequence of unfiltereds in clustering
 * order, each a row or a bound of a range deletion.  A row is a marker (INSERT's liveness), a row
 * deletion, and cells; a cell has its own timestamp, TTL and expiry, and in a complex column a
 * path; a complex column has a deletion of its own.  Everything carries the write timestamp in
 * microseconds; the higher one wins, and ties are settled as in Cassandra (row_merge.c has the
 * table).
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
#define EXPIRY_NONE INT64_MAX          /* seconds since 1970 */

struct liveness {
    int64_t timestamp_us;              /* TIMESTAMP_NONE: there is none */
    int32_t ttl_s;                     /* 0: none */
    int64_t expiry_s;                  /* gone from this second on; EXPIRY_NONE unless ttl_s > 0 */
};

#define LIVENESS_NONE ((struct liveness){TIMESTAMP_NONE, 0, EXPIRY_NONE})

struct deletion {
    int64_t timestamp_us;              /* hides everything written at or before it */
    int64_t local_s;                   /* when it was made, for purging */
};

#define DELETION_NONE ((struct deletion){TIMESTAMP_NONE, 0})

enum cell_flag {
    CELL_TOMBSTONE = 1,                /* no value, no TTL; expiry_s is when it was made */
    CELL_COUNTER = 2                   /* value is a valid counter cell, counters/counter_cell.h */
};

struct cell {
    uint32_t column_id;
    uint8_t flags;
    int64_t timestamp_us;              /* never TIMESTAMP_NONE */
    int32_t ttl_s;                     /* 0: none */
    int64_t expiry_s;                  /* gone from this second on; EXPIRY_NONE if it never is */
    struct bytes path;                 /* data NULL in simple columns, never in complex ones */
    struct bytes value;                /* size 0 is an empty value */
};

struct complex_deletion {
    uint32_t column_id;
    struct deletion deletion;
};

/* Clustering values in key order; a prefix for bounds.  At most CLUSTERING_MAX. */
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
    const struct complex_deletion *complex;      /* by column id */
    uint32_t complex_count;
    const struct cell *cells;          /* by (column id, path in the path type's order) */
    uint32_t cell_count;
};

/* Where a range deletion begins or ends, or where a slice does.  `before` all rows that have the
 * prefix, or after them: inclusive start and exclusive end are BOUND_BEFORE. */
enum bound_side { BOUND_BEFORE = -1, BOUND_AFTER = 1 };
struct bound {
    struct clustering prefix;          /* count 0: the partition's start (BEFORE) or end (AFTER) */
    enum bound_side side;
};

enum unfiltered_kind { UNFILTERED_ROW = 1, UNFILTERED_BOUND = 2 };

/* A bound changes which range deletion is in force from there on in stream order. */
struct unfiltered {
    enum unfiltered_kind kind;
    union {                            /* by kind */
        struct row row;
        struct bound bound;
    };
    struct deletion before;            /* in force up to the bound; TIMESTAMP_NONE: none */
    struct deletion after;             /* in force from the bound on */
};

/* Order of clusterings, rows against bounds included, DESC columns turned; <0, 0, >0. */
int row_clustering_compare(const struct table *table, const struct clustering *a,
                           const struct clustering *b);
int row_bound_compare(const struct table *table, const struct bound *a, const struct bound *b);
int row_bound_compare_clustering(const struct table *table, const struct bound *bound,
                                 const struct clustering *clustering);

/* Whether `a` hides more than `b`: it is younger, or as young and made later. */
bool row_deletion_supersedes(struct deletion a, struct deletion b);
/* Whether what was written at `timestamp_us` is hidden. */
bool row_deletion_hides(struct deletion deletion, int64_t timestamp_us);

/* Which of two markers stands, and which of two cells of the same column and path: <0 `a`, >0 `b`,
 * 0 they are the same.  Two counter cells are merged instead (row_merge). */
int row_liveness_reconcile(struct liveness a, struct liveness b);
int row_cell_reconcile(const struct cell *a, const struct cell *b);

/* Merge versions of one row (same clustering) into one, with `range` the strongest range or
 * partition deletion that covers it, which does not become part of the row.  What is shadowed is
 * dropped, and so are cells that the table has no column for; tombstones stay.  The order and the
 * grouping of merges do not matter.  Arrays and merged counters from `arena`, other bytes are the
 * versions'. */
struct arena;
void row_merge(const struct table *table, const struct row *const *versions, uint32_t version_count,
               struct deletion range, struct arena *arena, struct row *merged_out);

/* What a reader sees at `now_s` of a merged row: its live marker and cells, no deletions; counters
 * that were reset and not incremented since are gone too.  False when nothing is left (the row does
 * not exist).  `live_out` may be `row`. */
bool row_live(const struct table *table, const struct row *row, int64_t now_s, struct arena *arena,
              struct row *live_out);

/* What compaction keeps of a merged row when nothing outside the merge was written before
 * `before_us`: what a reader sees, and the deletions and expired cells from `before_us` on, for
 * they may still hide something.  False when nothing is left. */
bool row_purge(const struct table *table, const struct row *row, int64_t now_s, int64_t before_us,
               struct arena *arena, struct row *kept_out);
/* The deletion, if it is from `before_us` on. */
struct deletion row_deletion_purge(struct deletion deletion, int64_t before_us);

/* The same with every byte it points to in `arena`; of the clustering's values those that count. */
struct clustering row_clustering_copy(const struct clustering *from, struct arena *arena);
void row_copy(const struct row *from, struct arena *arena, struct row *copy_out);
size_t row_memory(const struct row *row);                    /* bytes that such a copy takes */

/* Packed form, for memtables, pages and log: FORMATS.md "Row". */
void row_deletion_pack(struct deletion deletion, struct buffer *buffer);
struct deletion row_deletion_unpack(struct reader *reader);   /* fails the reader if it is none */
void row_clustering_pack(const struct clustering *clustering, struct buffer *buffer);
/* Or fails it. */
void row_clustering_unpack(struct reader *reader, struct clustering *clustering_out);
void row_unfiltered_pack(const struct unfiltered *unfiltered, struct buffer *buffer);
/* An INSERT without TTL in pieces: its beginning, and then its cells, so many, which have the
 * marker's timestamp: `path` without data in a simple column, `value` NULL for a tombstone. */
void row_pack_insert(const struct clustering *clustering, int64_t timestamp_us, uint32_t cell_count,
                     struct buffer *buffer);
void row_pack_insert_cell(uint32_t column_id, struct bytes path, const struct bytes *value,
                          struct buffer *buffer);
/* Such a row at another timestamp. */
void row_pack_at(struct bytes packed, int64_t timestamp_us, struct buffer *buffer);
/* Whether merging the two packed rows of one clustering gives `newer` as it is, as far as can be
 * told at a glance: both are whole INSERTs of simple values, and every column of `older` was
 * written later in `newer`.  Both were written by row_unfiltered_pack. */
bool row_packed_replaces(struct bytes newer, struct bytes older);
/* The same of two that were packed by row_pack_insert, as far as it is not their columns: the same
 * clustering, written later. */
bool row_packed_follows(struct bytes newer, struct bytes older);
/* Only the clustering of a packed row that is not static. */
void row_unfiltered_unpack_clustering(struct reader *reader, struct clustering *clustering_out);
/* Views into the reader's bytes, arrays from `arena`.  ERROR_CORRUPT if it is none.  What comes out
 * is sound but for the order of paths, which only the table knows. */
must_check int row_unfiltered_unpack(struct reader *reader, struct arena *arena,
                                     struct unfiltered *unfiltered_out);
#endif

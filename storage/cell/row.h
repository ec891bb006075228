/* row: rows, cells and deletions of a partition, their order, how versions of a row merge, and
 * their packed form.
 *
 * A partition has a partition deletion, a static row, and unfiltereds in clustering order.  The
 * higher write timestamp wins; ties are settled as in Cassandra (row_merge.c).
 *
 * The structs are views of bytes of a page, a memtable or an arena. */
#ifndef DAYBOOK_STORAGE_CELL_ROW_H
#define DAYBOOK_STORAGE_CELL_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/reader.h"
#include "storage/schema/schema.h"

#define TIMESTAMP_NONE INT64_MIN       /* no marker, no deletion */
#define EXPIRY_NONE INT64_MAX          /* as an expiry_s: none */

struct liveness {
    int64_t timestamp_us;              /* TIMESTAMP_NONE: none */
    int32_t ttl_s;                     /* 0: none */
    int64_t expiry_s;                  /* seconds since 1970; EXPIRY_NONE unless ttl_s > 0 */
};

#define LIVENESS_NONE ((struct liveness){TIMESTAMP_NONE, 0, EXPIRY_NONE})

struct deletion {
    int64_t timestamp_us;              /* everything written up to then is hidden */
    int64_t local_s;                   /* when the deletion was made, in seconds since 1970 */
};

#define DELETION_NONE ((struct deletion){TIMESTAMP_NONE, 0})

enum cell_flag {
    CELL_TOMBSTONE = 1,                /* expiry_s: when the tombstone was made, or EXPIRY_NONE */
    CELL_COUNTER = 2
};

struct cell {
    uint32_t column_id;
    uint8_t flags;
    int64_t timestamp_us;              /* never TIMESTAMP_NONE */
    int32_t ttl_s;
    int64_t expiry_s;                  /* seconds since 1970; EXPIRY_NONE: never */
    struct bytes path;                 /* key in a complex column (type.h); else data is NULL */
    struct bytes value;                /* size 0 is an empty value */
};

struct complex_deletion {
    uint32_t column_id;
    struct deletion deletion;
};

/* Values in key order; a bound may have only the first few. */
enum { CLUSTERING_MAX = SCHEMA_CLUSTERING_MAX };
struct clustering {
    uint32_t count;
    struct bytes values[CLUSTERING_MAX];
};

struct row {
    bool is_static;
    struct clustering clustering;      /* empty for the static row */
    struct liveness marker;            /* of an INSERT: the row exists even without cells */
    struct deletion deletion;
    const struct complex_deletion *complex;      /* sorted by column id */
    uint32_t complex_count;
    const struct cell *cells;          /* sorted by (column id, path) */
    uint32_t cell_count;
};

/* A place before or after all rows that begin with the prefix.  An inclusive start and an exclusive
 * end are BOUND_BEFORE. */
enum bound_side { BOUND_BEFORE = -1, BOUND_AFTER = 1 };
struct bound {
    struct clustering prefix;          /* count 0: the partition's start (BEFORE) or end (AFTER) */
    enum bound_side side;
};

enum unfiltered_kind { UNFILTERED_ROW = 1, UNFILTERED_BOUND = 2 };

struct unfiltered {
    enum unfiltered_kind kind;
    union {
        struct row row;
        struct bound bound;
    };
    struct deletion before;            /* of a bound: in force up to it */
    struct deletion after;             /* of a bound: in force from it on */
};

/* Compare in clustering order, in which DESC columns descend. */
int row_clustering_compare(const struct table *table, const struct clustering *a,
                           const struct clustering *b);
int row_bound_compare(const struct table *table, const struct bound *a, const struct bound *b);
int row_bound_compare_clustering(const struct table *table, const struct bound *bound,
                                 const struct clustering *clustering);

/* Whether `a` is stronger: by timestamp, then local_s. */
bool row_deletion_supersedes(struct deletion a, struct deletion b);
bool row_deletion_hides(struct deletion deletion, int64_t timestamp_us);

/* Which of two markers, or of two cells of one column and path, wins: <0 `a`, >0 `b`, 0: they are
 * the same.  Counter cells are merged instead (row_merge). */
int row_liveness_reconcile(struct liveness a, struct liveness b);
int row_cell_reconcile(const struct cell *a, const struct cell *b);

/* Merge versions of one row.  `range`, the strongest range or partition deletion over the row, does
 * not become part of `merged_out`.  Hidden cells and cells of unknown columns are dropped;
 * tombstones stay.  The result does not depend on the order or the grouping of merges.  Arrays and
 * merged counters are in `arena`; all other bytes belong to the versions. */
struct arena;
void row_merge(const struct table *table, const struct row *const *versions, uint32_t version_count,
               struct deletion range, struct arena *arena, struct row *merged_out);

/* What a reader sees of a merged row at `now_s`, seconds since 1970: its live marker and cells.
 * False: the row does not exist.  `live_out` may be `row`. */
bool row_live(const struct table *table, const struct row *row, int64_t now_s, struct arena *arena,
              struct row *live_out);

/* What a compaction keeps of a merged row, when nothing outside the merge was written before
 * `before_us`.  Besides what a reader sees, it keeps everything that may still hide something:
 * deletions, tombstones and expired values from `before_us` on.  False: nothing is left. */
bool row_purge(const struct table *table, const struct row *row, int64_t now_s, int64_t before_us,
               struct arena *arena, struct row *kept_out);
static inline bool row_is_empty(const struct row *row)
{
    return row->marker.timestamp_us == TIMESTAMP_NONE &&
           row->deletion.timestamp_us == TIMESTAMP_NONE && row->complex_count == 0 &&
           row->cell_count == 0;
}

/* Gives DELETION_NONE if the deletion is older than `before_us`, else the deletion. */
struct deletion row_deletion_purge(struct deletion deletion, int64_t before_us);

struct clustering row_clustering_copy(const struct clustering *from, struct arena *arena);
/* Copy a clustering.  Its bytes are copied to *to, and *to is moved behind them.  `copy_out` may be
 * `from`. */
void row_clustering_put(const struct clustering *from, uint8_t **to, struct clustering *copy_out);
size_t row_clustering_bytes(const struct clustering *clustering);
/* Copy a row with its arrays and all their bytes to `arena`. */
void row_copy(const struct row *from, struct arena *arena, struct row *copy_out);
size_t row_memory(const struct row *row);

/* docs/FORMATS.md "Row" has the packed form. */
void row_deletion_pack(struct deletion deletion, struct buffer *buffer);
struct deletion row_deletion_unpack(struct reader *reader);   /* fails the reader on damage */
void row_clustering_pack(const struct clustering *clustering, struct buffer *buffer);
/* Values are views of the reader's bytes.  Fails the reader on damage. */
void row_clustering_unpack(struct reader *reader, struct clustering *clustering_out);
void row_unfiltered_pack(const struct unfiltered *unfiltered, struct buffer *buffer);
/* Pack an INSERT without TTL in pieces: row_pack_insert, then row_pack_insert_cell `cell_count`
 * times.  All cells have the timestamp of the marker; `path` has data only in a complex column, and
 * `value` is NULL for a tombstone. */
void row_pack_insert(const struct clustering *clustering, int64_t timestamp_us, uint32_t cell_count,
                     struct buffer *buffer);
void row_pack_insert_cell(uint32_t column_id, struct bytes path, const struct bytes *value,
                          struct buffer *buffer);
/* Append a copy of a row that row_pack_insert made, with `timestamp_us` as its timestamp. */
void row_pack_at(struct bytes packed, int64_t timestamp_us, struct buffer *buffer);
/* True: merging the two packed rows gives `newer` unchanged.  False: perhaps not.  The bytes must
 * be undamaged. */
bool row_packed_replaces(struct bytes newer, struct bytes older);
/* Whether `newer` has the clustering of `older` and a later timestamp; row_pack_insert must have
 * made both.  If neither has complex columns, and `newer` has every column of `older`, then `newer`
 * replaces `older`. */
bool row_packed_follows(struct bytes newer, struct bytes older);
/* Read only the clustering of a packed row that is not static. */
void row_unfiltered_unpack_clustering(struct reader *reader, struct clustering *clustering_out);
/* Read a row or bound as views of the reader's bytes, with arrays from `arena`.  ERROR_CORRUPT if
 * the bytes are no packed row or bound.  The order of cell paths is not checked (mutation_check
 * does). */
must_check int row_unfiltered_unpack(struct reader *reader, struct arena *arena,
                                     struct unfiltered *unfiltered_out);
#endif

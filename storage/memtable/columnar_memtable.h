/* columnar_memtable: the appended rows of one event table, as columns by partition, in arrival
 * order.
 *
 * Blocks are appended: strings are mapped to the memtable's own codes once a block, then every
 * column is scattered into its partitions' chunks (4 rows, then more), which never move.  The
 * rows that a reader at a frame may see are a prefix of the partition, and with it go the stats:
 * (rows, stats, write timestamp) are kept as of the newest frame, and as they were before each of
 * the last two (columnar_partitions.h), which is enough because at most two frames are not durable
 * (the one being written and the open one).  So `frame` below is never older than the last durable
 * one at the time of the call: one that cannot be told any more is a bug, and checked.
 *
 * Write timestamps are not kept by row: rows are read with the newest one of those visible, as if
 * all of a partition's rows had been written then.  That changes nothing that last write wins could
 * see as long as no overwrite or deletion has a timestamp between them: the engine seals the
 * memtable before such a mutation hits a partition that has rows in it.
 *
 * The engine thread writes it; once frozen any thread may read it. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_MEMTABLE_H
#define DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_MEMTABLE_H

#include "storage/cell/block.h"
#include "storage/cell/columnar_rows.h"
#include "storage/cell/stats.h"
#include "storage/cell/stream.h"

struct arena;
struct chunk;
struct columnar_memtable;
struct columnar_partition;

/* Memory comes from `arena`, which outlives it.  `table` lives as long. */
struct columnar_memtable *columnar_memtable_new(const struct table *table, struct arena *arena);
void columnar_memtable_free(struct columnar_memtable *memtable);

/* Append a block's rows, written by `frame` (not older than the frame before) with write timestamp
 * `timestamp_us`.  The block has the columns of the memtable's table: after the table was altered,
 * blocks go to a new memtable. */
void columnar_memtable_apply(struct columnar_memtable *memtable, const struct block *block,
                             uint64_t frame, int64_t timestamp_us);

/* The memtable's code of each string of a block's dictionary column, as mapped by the last apply:
 * the key to whatever the caller keeps per string (counter slots).  Valid until the next; NULL if
 * the column is none. */
const uint32_t *columnar_memtable_mapped_codes(const struct columnar_memtable *memtable,
                                               uint32_t column_id);

/* Which partitions the last apply touched: for the block's partition code p, the memtable's
 * partition number; and for a number its key and how many rows it has. */
const uint32_t *columnar_memtable_mapped_partitions(const struct columnar_memtable *memtable);
uint32_t columnar_memtable_partition_count(const struct columnar_memtable *memtable);
struct bytes columnar_memtable_partition_key(const struct columnar_memtable *memtable,
                                             uint32_t partition);
int64_t columnar_memtable_partition_token(const struct columnar_memtable *memtable,
                                          uint32_t partition);

/* UINT32_MAX when it is not there. */
uint32_t columnar_memtable_find(const struct columnar_memtable *memtable, struct bytes key);
/* Stats as of `frame` (UINT64_MAX: as applied); a view, valid until the next apply, not to be
 * released. */
struct partition_stats columnar_memtable_stats(const struct columnar_memtable *memtable,
                                               uint32_t partition, uint64_t frame);

/* No more writes; sorts the partitions by (token, key).  Engine thread. */
void columnar_memtable_freeze(struct columnar_memtable *memtable);
/* Partition numbers in (token, key) order; frozen only. */
const uint32_t *columnar_memtable_order(const struct columnar_memtable *memtable);

/* The partition's rows as of `frame`, sorted by clustering (equals in arrival order), into `rows`
 * (cleared first; codes are the memtable's).  Engine thread while open, any once frozen. */
void columnar_memtable_rows(const struct columnar_memtable *memtable, uint32_t partition,
                            uint64_t frame, struct columnar_rows *rows);

/* The same without the sorting (columnar_rows_order.h), in steps of some COLUMNAR_STEP_ROWS rows:
 * they are in arrival order.  In the caller's memory; private. */
struct columnar_memtable_fill {
    const struct columnar_memtable *memtable;
    const struct columnar_partition *partition;
    const struct chunk *chunk;         /* the next */
    uint32_t left;                     /* rows */
    struct columnar_rows *rows;
};
void columnar_memtable_fill_begin(struct columnar_memtable_fill *fill,
                                  const struct columnar_memtable *memtable, uint32_t partition,
                                  uint64_t frame, struct columnar_rows *rows);
/* False: all rows are there. */
bool columnar_memtable_fill_step(struct columnar_memtable_fill *fill);

uint64_t columnar_memtable_row_count(const struct columnar_memtable *memtable);
size_t columnar_memtable_bytes(const struct columnar_memtable *memtable); /* beside the arena's */
#endif

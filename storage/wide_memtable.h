/* wide_memtable: the fresh rows of one ranked table, as columns by partition, in arrival order.
 *
 * Blocks are appended: strings are mapped to the memtable's own codes once a block, then every
 * column is scattered into its partitions' chunks (8, 32, then 256 rows), which never move.  The
 * rows that a reader at a frame may see are a prefix of the partition, and with it go the stats:
 * each partition keeps (rows, stats) as of the last three frames that touched it, which is enough
 * because at most two frames are not durable (the one being written and the open one).
 *
 * The engine thread writes it; once frozen any thread may read it. */
#ifndef DAYBOOK_STORAGE_WIDE_MEMTABLE_H
#define DAYBOOK_STORAGE_WIDE_MEMTABLE_H

#include "storage/block.h"
#include "storage/stats.h"
#include "storage/stream.h"
#include "storage/wide_rows.h"

struct arena;
struct wide_memtable;

/* Memory comes from `arena`, which outlives it.  `table` lives as long. */
struct wide_memtable *wide_memtable_new(const struct table *table, struct arena *arena);
void wide_memtable_free(struct wide_memtable *memtable);

/* Append a block's rows; `timestamp_us` is their write timestamp.  Afterwards codes_out[c] (may be
 * NULL) gives for the block's column `dictionary_column` the memtable's code of each block code:
 * the key to whatever the caller keeps per string (counter slots). */
void wide_memtable_apply(struct wide_memtable *memtable, const struct block *block, uint64_t frame,
                         int64_t timestamp_us);

/* The memtable's code of each string of a block's dictionary column, as mapped by the last apply;
 * valid until the next.  NULL if the column is none. */
const uint32_t *wide_memtable_mapped_codes(const struct wide_memtable *memtable,
                                           uint32_t column_id);

/* Which partitions the last apply touched: for the block's partition code p, the memtable's
 * partition number; and for a number its key and how many rows it has. */
const uint32_t *wide_memtable_mapped_partitions(const struct wide_memtable *memtable);
uint32_t wide_memtable_partition_count(const struct wide_memtable *memtable);
struct bytes wide_memtable_partition_key(const struct wide_memtable *memtable, uint32_t partition);
int64_t wide_memtable_partition_token(const struct wide_memtable *memtable, uint32_t partition);

/* UINT32_MAX when it is not there. */
uint32_t wide_memtable_find(const struct wide_memtable *memtable, struct bytes key);
/* Stats as of `frame` (UINT64_MAX: as applied); a view, valid until the next apply. */
const struct partition_stats *wide_memtable_stats(const struct wide_memtable *memtable,
                                                  uint32_t partition, uint64_t frame);

/* No more writes; sorts the partitions by (token, key).  Engine thread. */
void wide_memtable_freeze(struct wide_memtable *memtable);
/* Partition numbers in (token, key) order; frozen only. */
const uint32_t *wide_memtable_order(const struct wide_memtable *memtable);

/* The partition's rows as of `frame`, sorted by clustering (equals in arrival order), into `rows`
 * (cleared first; codes are the memtable's).  Engine thread while open, any once frozen. */
void wide_memtable_rows(const struct wide_memtable *memtable, uint32_t partition, uint64_t frame,
                        struct wide_rows *rows);

uint64_t wide_memtable_row_count(const struct wide_memtable *memtable);
#endif

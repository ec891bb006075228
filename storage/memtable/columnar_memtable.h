/* columnar_memtable: keeps the appended rows of one event table, as columns by partition, in
 * arrival order.
 *
 * Blocks are appended.  The strings of a block are mapped to the memtable's own codes once; then
 * each column is scattered into chunks of its rows' partitions.  A chunk never moves.  A reader at
 * a frame sees the first rows of a partition, up to a number of rows.  This number, the partition's
 * stats and its write timestamp are kept as of the newest frame and as they were before each of the
 * last two frames (columnar_partitions.h).  That is enough because at most two frames are not
 * durable: the one that is being written and the open one.  So the functions that read as of
 * `frame` must not be called with a frame that is older than the newest durable one; such a call is
 * a bug, and a check finds it.
 *
 * Write timestamps are not kept by row.  All visible rows of a partition are read with the newest
 * of their timestamps.  This does not change which write wins as long as no overwrite or deletion
 * has a timestamp between the oldest and the newest: the engine freezes the memtable before such a
 * mutation is applied to a partition that has rows in it.
 *
 * The engine thread writes it; once it is frozen any thread may read it. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_MEMTABLE_H
#define DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_MEMTABLE_H

#include "storage/cell/block.h"
#include "storage/cell/columnar_rows.h"
#include "storage/cell/stats.h"

struct arena;
struct chunk;
struct columnar_memtable;
struct columnar_partition;

/* Memory comes from `arena`.  `arena` and `table` outlive the memtable. */
struct columnar_memtable *columnar_memtable_new(const struct table *table, struct arena *arena);
void columnar_memtable_free(struct columnar_memtable *memtable);

/* Append a block's rows, which `frame` (not less than the frame of the last call) writes with write
 * timestamp `timestamp_us`.  The block has the columns of the memtable's table: after the table was
 * altered, blocks go to a new memtable. */
void columnar_memtable_apply(struct columnar_memtable *memtable, const struct block *block,
                             uint64_t frame, int64_t timestamp_us);

/* Returns, for each code of the column's dictionary in the block that was applied last, the
 * memtable's code of the same string.  A caller uses the memtable's codes to find its data for a
 * string (counter slots).  Valid until the next apply.  NULL: the table has no such column, or the
 * column has no strings. */
const uint32_t *columnar_memtable_mapped_codes(const struct columnar_memtable *memtable,
                                               uint32_t column_id);

/* Which partitions the last apply wrote to: for each of the block's partition codes, the memtable's
 * partition number. */
const uint32_t *columnar_memtable_mapped_partitions(const struct columnar_memtable *memtable);
uint32_t columnar_memtable_partition_count(const struct columnar_memtable *memtable);
struct bytes columnar_memtable_partition_key(const struct columnar_memtable *memtable,
                                             uint32_t partition);
int64_t columnar_memtable_partition_token(const struct columnar_memtable *memtable,
                                          uint32_t partition);

/* The number of the partition; UINT32_MAX: there is none. */
uint32_t columnar_memtable_find(const struct columnar_memtable *memtable, struct bytes key);
/* The partition's stats as of `frame` (UINT64_MAX: as applied); a view, valid until the next apply,
 * not to be released. */
struct partition_stats columnar_memtable_stats(const struct columnar_memtable *memtable,
                                               uint32_t partition, uint64_t frame);

/* End all writes, and sort the partitions by (token, key).  Called on the engine thread. */
void columnar_memtable_freeze(struct columnar_memtable *memtable);
/* Partition numbers in (token, key) order, of a frozen memtable. */
const uint32_t *columnar_memtable_order(const struct columnar_memtable *memtable);

/* Read the partition's rows as of `frame`, sorted by clustering (equals in arrival order), into
 * `rows`, which is cleared first; codes are the memtable's.  The engine thread may call this while
 * the memtable is open, any thread once it is frozen. */
void columnar_memtable_rows(const struct columnar_memtable *memtable, uint32_t partition,
                            uint64_t frame, struct columnar_rows *rows);

uint64_t columnar_memtable_row_count(const struct columnar_memtable *memtable);
/* Bytes of memory, without the arena's. */
size_t columnar_memtable_bytes(const struct columnar_memtable *memtable);
#endif

/* columnar_memtable: keeps the appended rows of one event table, as columns by partition, in
 * arrival order.
 *
 * A reader at a frame sees the first rows of a partition: those that frames up to this one wrote.
 * Their number, the partition's stats and its write timestamp are kept as they are after the newest
 * frame, and as they were before each of the last two frames (columnar_partitions.h).  That is
 * enough because at most two frames are not durable.  So the `frame` of a reader must not be older
 * than the newest durable one; a check stops the program otherwise.
 *
 * Write timestamps are not kept by row.  All visible rows of a partition are read with the newest
 * of their timestamps.  So no overwrite or deletion may have a timestamp between the oldest and the
 * newest.  Therefore the engine freezes the memtable before it applies an overwrite or a deletion
 * to a partition with rows.
 *
 * The engine thread writes the memtable.  Once the memtable is frozen, any thread may read it. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_MEMTABLE_H
#define DAYBOOK_STORAGE_MEMTABLE_COLUMNAR_MEMTABLE_H

#include "storage/cell/block.h"
#include "storage/cell/columnar_rows.h"
#include "storage/cell/stats.h"

struct arena;
struct chunk;
struct columnar_memtable;
struct columnar_partition;

/* Memory comes from `arena`.  `arena` and `table` must outlive the memtable. */
struct columnar_memtable *columnar_memtable_new(const struct table *table, struct arena *arena);
void columnar_memtable_free(struct columnar_memtable *memtable);

/* Append a block's rows, written by `frame` (not less than in the last call) with write timestamp
 * `timestamp_us`.  The block must have the columns of the memtable's table. */
void columnar_memtable_apply(struct columnar_memtable *memtable, const struct block *block,
                             uint64_t frame, int64_t timestamp_us);

/* For each code of the column's dictionary in the block that was applied last, the memtable's code
 * of the same string.  Valid until the next apply.  NULL: the table has no such column, or the
 * column has no strings. */
const uint32_t *columnar_memtable_mapped_codes(const struct columnar_memtable *memtable,
                                               uint32_t column_id);

/* Partition numbers, by partition code of the block that was applied last. */
const uint32_t *columnar_memtable_mapped_partitions(const struct columnar_memtable *memtable);
uint32_t columnar_memtable_partition_count(const struct columnar_memtable *memtable);
struct bytes columnar_memtable_partition_key(const struct columnar_memtable *memtable,
                                             uint32_t partition);
int64_t columnar_memtable_partition_token(const struct columnar_memtable *memtable,
                                          uint32_t partition);

/* The number of the partition with this key; UINT32_MAX: there is none. */
uint32_t columnar_memtable_find(const struct columnar_memtable *memtable, struct bytes key);
/* The partition's stats as of `frame` (UINT64_MAX: as applied): a view, valid until the next apply,
 * not to be released. */
struct partition_stats columnar_memtable_stats(const struct columnar_memtable *memtable,
                                               uint32_t partition, uint64_t frame);

/* End all writes, and sort the partitions by (token, key); engine thread. */
void columnar_memtable_freeze(struct columnar_memtable *memtable);
/* Partition numbers in (token, key) order, of a frozen memtable. */
const uint32_t *columnar_memtable_order(const struct columnar_memtable *memtable);

/* Replace `rows` by the partition's rows as of `frame`, sorted by clustering (rows with equal
 * clustering in arrival order); codes are the memtable's.  Engine thread; once the memtable is
 * frozen, any thread. */
void columnar_memtable_rows(const struct columnar_memtable *memtable, uint32_t partition,
                            uint64_t frame, struct columnar_rows *rows);

uint64_t columnar_memtable_row_count(const struct columnar_memtable *memtable);
/* Bytes of memory, without the arena's. */
size_t columnar_memtable_bytes(const struct columnar_memtable *memtable);
#endif

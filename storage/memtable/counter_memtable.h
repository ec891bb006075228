/* counter_memtable: keeps the counters of a memtable.  Each is in a slot, which has the counter's
 * sums after the last three frames that changed it (counters/counter_slot.h). */
#ifndef DAYBOOK_STORAGE_MEMTABLE_COUNTER_MEMTABLE_H
#define DAYBOOK_STORAGE_MEMTABLE_COUNTER_MEMTABLE_H

#include "storage/cell/stream.h"
#include "storage/memtable/memtable_partitions.h"

struct counter_memtable;
struct counter_slot;

struct counter_memtable *counter_memtable_new(struct arena *arena);
void counter_memtable_free(struct counter_memtable *memtable);

/* Returns the number of the counter's slot.  The slot is made if the counter is new, and exists as
 * long as the memtable.  `clustering` is packed (row.h); it is empty for static columns and in
 * tables without clustering. */
uint32_t counter_memtable_slot(struct counter_memtable *memtable, const struct table *table,
                               struct bytes key, struct bytes clustering, uint32_t column_id);
/* As counter_memtable_slot, for counters of one column without clustering values; a key may occur
 * twice. */
void counter_memtable_slots(struct counter_memtable *memtable, const struct table *table,
                            const struct bytes *keys, uint32_t count, uint32_t column_id,
                            uint32_t *slots_out);
/* Bytes of memory, without the arena's. */
size_t counter_memtable_bytes(const struct counter_memtable *memtable);
/* The caller counts in the slot with the functions of counter_slot.h, with the memtable's arena and
 * with frames that never decrease. */
struct counter_slot *counter_memtable_at(const struct counter_memtable *memtable, uint32_t slot);

/* One partition of a counter table as of `frame` (UINT64_MAX: everything), as rows of counter
 * cells.  NULL: the partition has no counters.  Each cell has one shard, whose clock is the last
 * frame up to `frame` that changed the slot.  The shard's id is the higher of `shard_id` and the
 * slot's generation (counter_slot.h).  After a DELETE a cell has no shard until it is incremented
 * again.  `frame` must not be less than the frame that was durable at the last write, because a
 * slot keeps three sums only.  Only the engine thread may use the stream; once the memtable is
 * frozen, any thread may.  The slice's bytes must outlive the stream. */
struct stream *counter_memtable_stream(const struct counter_memtable *memtable,
                                       const struct table *table, struct bytes key,
                                       const struct slice *slice, uint64_t frame,
                                       uint64_t shard_id);

const struct memtable_partitions *
counter_memtable_partitions(const struct counter_memtable *memtable);
#endif

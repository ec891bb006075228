/* counter_memtable: keeps the counters of a memtable, each in a slot.
 *
 * Counting is the most frequent write.  A slot has a number, so that a caller looks a counter up
 * once and then adds to its slot by the number.  What a slot is, and which of its sums a reader at
 * a frame sees, is in counters/counter_slot.h.  This module finds the slot of a counter and reads
 * slots as rows. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_COUNTER_MEMTABLE_H
#define DAYBOOK_STORAGE_MEMTABLE_COUNTER_MEMTABLE_H

#include "storage/cell/stream.h"
#include "storage/memtable/memtable_partitions.h"

struct counter_memtable;
struct counter_slot;

struct counter_memtable *counter_memtable_new(struct arena *arena);
void counter_memtable_free(struct counter_memtable *memtable);

/* The slot of a counter, made if it is new.  `clustering` is packed (row.h); it is empty in tables
 * without clustering columns and for static columns.  Slot numbers stay for the memtable's life. */
uint32_t counter_memtable_slot(struct counter_memtable *memtable, const struct table *table,
                               struct bytes key, struct bytes clustering, uint32_t column_id);
/* The slots of many counters of one column, without clustering values; a key may occur more than
 * once. */
void counter_memtable_slots(struct counter_memtable *memtable, const struct table *table,
                            const struct bytes *keys, uint32_t count, uint32_t column_id,
                            uint32_t *slots_out);
/* Bytes of memory, without the arena's. */
size_t counter_memtable_bytes(const struct counter_memtable *memtable);
/* The slot with that number.  The caller counts in it by counter_slot.h, with the memtable's arena
 * and with frames that never decrease. */
struct counter_slot *counter_memtable_at(const struct counter_memtable *memtable, uint32_t slot);

/* One partition of a counter table as of `frame` (UINT64_MAX: everything), as rows of counter
 * cells; NULL: it has no counters.  Each cell has one shard.  The shard's id is `shard_id`, or the
 * slot's generation (counter_slot.h) if that is higher, and its clock is the slot's last frame up
 * to `frame`.  After a DELETE a cell has no shard until it is incremented again.  `frame` is not
 * less than the frame that was durable at the last write: a slot keeps three sums, and for an
 * earlier frame the oldest of them is given.  Opening the stream and pulling a row each cost a
 * search at most, and a step over each counter that no frame up to `frame` has incremented.  The
 * stream is used on the engine thread or, once no slot is made any more, on any thread.  The
 * slice's bytes must outlive the stream. */
struct stream *counter_memtable_stream(const struct counter_memtable *memtable,
                                       const struct table *table, struct bytes key,
                                       const struct slice *slice, uint64_t frame,
                                       uint64_t shard_id);

/* The partitions of all tables, in order. */
const struct memtable_partitions *
counter_memtable_partitions(const struct counter_memtable *memtable);
#endif

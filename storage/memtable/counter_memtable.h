/* counter_memtable: a generation's counter increments, by slot number: the hot path is an add.
 *
 * What a slot is, and which of its sums a reader at a frame sees: counters/counter_slot.h.  Here
 * are the slots of a memtable, found by what counter each is, and read as rows. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_COUNTER_MEMTABLE_H
#define DAYBOOK_STORAGE_MEMTABLE_COUNTER_MEMTABLE_H

#include "base/arena.h"
#include "storage/cell/stream.h"
#include "storage/memtable/memtable_partitions.h"

struct counter_memtable;
struct counter_slot;

struct counter_memtable *counter_memtable_new(struct arena *arena);
void counter_memtable_free(struct counter_memtable *memtable);

/* The slot of a counter, made if it is new.  `clustering` is packed (row.h), empty for tables
 * without clustering columns.  Slot numbers stay for the memtable's life. */
uint32_t counter_memtable_slot(struct counter_memtable *memtable, uint32_t table_id,
                               struct bytes key, struct bytes clustering, uint32_t column_id);
/* The same of many counters of one column, without clustering; keys may come more than once. */
void counter_memtable_slots(struct counter_memtable *memtable, uint32_t table_id,
                            const struct bytes *keys, uint32_t count, uint32_t column_id,
                            uint32_t *slots_out);
size_t counter_memtable_bytes(const struct counter_memtable *memtable);    /* beside the arena's */
/* The slot, to count in by counter_slot.h and with the memtable's arena; frames never decrease.
 * counter_slot_reset is also the way to give a new slot the generation that older runs have of its
 * counter: increments of a lower generation are lost. */
struct counter_slot *counter_memtable_at(const struct counter_memtable *memtable, uint32_t slot);

/* One partition of a counter table as of `frame`, as rows whose cells are counter cells of one
 * shard: id `shard_id`, clock the slot's last frame up to `frame`; or of none after a reset.  NULL:
 * nothing there.  The slice's bytes outlive the stream.  `frame` is at least the durable one at the
 * last write (UINT64_MAX: everything); a reader further behind sees the oldest of the three. */
struct stream *counter_memtable_stream(const struct counter_memtable *memtable,
                                       const struct table *table, struct bytes key,
                                       const struct slice *slice, uint64_t frame,
                                       uint64_t shard_id);

/* As in row_memtable.h. */
const struct memtable_partitions *
counter_memtable_partitions(const struct counter_memtable *memtable);
#endif

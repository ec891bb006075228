/* counter_slot: the sum of one counter in memory, as of the last three frames that changed it.
 *
 * A frame is a group of writes that become durable together.  At most two frames are not durable:
 * the one being written, and the open one, which still takes writes.  So one of the three is
 * the sum as of the last durable frame, and no reader sees an increment that a crash could take
 * back.
 *
 * SET and DELETE raise the slot's generation (a write timestamp) and begin a new sum.  The shards
 * that older runs have of lower generations are dropped by the merge (counter_cell.h). */
#ifndef DAYBOOK_COUNTERS_COUNTER_SLOT_H
#define DAYBOOK_COUNTERS_COUNTER_SLOT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

enum { COUNTER_SLOT_FRAMES = 3 };

#define COUNTER_SLOT_NEVER UINT64_MAX  /* no frame */

/* A generation, which a SET or DELETE in `frame` began. */
struct counter_slot_generation {
    struct counter_slot_generation *older;
    uint64_t frame;
    int64_t generation;
    uint64_t frame_counted;            /* the frame since which the counter has a value again;
                                        * COUNTER_SLOT_NEVER: not since the DELETE */
};

/* With all members zero: a counter that was never incremented. */
struct counter_slot {
    _Alignas(64) uint64_t frames[COUNTER_SLOT_FRAMES]; /* newest first; 0: none */
    int64_t sums[COUNTER_SLOT_FRAMES]; /* each as it was at the end of its frame */
    struct counter_slot_generation *generation;        /* newest; NULL: no SET or DELETE */
};

_Static_assert(sizeof(struct counter_slot) == 64, "a slot is a cache line");

/* Make sums[0] the sum as of `frame`.  A new sum begins with the value of the sum before.  `frame`
 * is never less than in an earlier call. */
static inline void counter_slot_turn(struct counter_slot *slot, uint64_t frame)
{
    if (slot->frames[0] == frame)
        return;
    check(frame > slot->frames[0]);
    slot->frames[2] = slot->frames[1];
    slot->sums[2] = slot->sums[1];
    slot->frames[1] = slot->frames[0];
    slot->sums[1] = slot->sums[0];
    slot->frames[0] = frame;
}

static inline void counter_slot_add(struct counter_slot *slot, int64_t delta, uint64_t frame)
{
    counter_slot_turn(slot, frame);
    slot->sums[0] = (int64_t)((uint64_t)slot->sums[0] + (uint64_t)delta);
    if (slot->generation != NULL && slot->generation->frame_counted == COUNTER_SLOT_NEVER)
        slot->generation->frame_counted = frame;
}

/* SET: the counter is `value`, whatever its value was in lower generations.  No effect if the slot
 * has a higher generation already.  Memory comes from `arena`, which outlives the slot. */
void counter_slot_set(struct counter_slot *slot, struct arena *arena, int64_t value,
                      int64_t generation, uint64_t frame);
/* DELETE: the counter does not exist until it is incremented again.  No effect if the slot has a
 * higher generation already. */
void counter_slot_reset(struct counter_slot *slot, struct arena *arena, int64_t generation,
                        uint64_t frame);

/* The index of the sum that a reader at `frame` sees: the newest sum at or before `frame`.  -1: the
 * slot was not changed at or before `frame`.  If all three sums are newer, a reader sees the oldest
 * of them. */
int counter_slot_visible(const struct counter_slot *slot, uint64_t frame);
/* Append the counter cell of a slot that is visible at `frame`.  It has one shard, whose id is
 * `shard_id` or the generation if that is higher; after a DELETE it has no shard.  Returns the
 * cell's generation, which is its write timestamp. */
int64_t counter_slot_write(const struct counter_slot *slot, uint64_t frame, uint64_t shard_id,
                           struct buffer *cell);
#endif

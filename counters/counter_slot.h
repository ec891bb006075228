/* counter_slot: the sum of one counter in memory, as of the last three frames that changed it.
 *
 * At most two frames are ever not durable (the one being written and the open one), so one of the
 * three sums is what a reader at the durable frame may see; no reader sees an increment that a
 * crash could take back.
 *
 * SET and DELETE raise the slot's generation (the write timestamp) and begin a new sum; what older
 * runs hold of lower generations is forgotten by the merge (counter_cell.h). */
#ifndef DAYBOOK_COUNTERS_COUNTER_SLOT_H
#define DAYBOOK_COUNTERS_COUNTER_SLOT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

enum { COUNTER_SLOT_FRAMES = 3 };

#define COUNTER_SLOT_NEVER UINT64_MAX  /* no frame */

/* What SET or DELETE began. */
struct counter_slot_generation {
    struct counter_slot_generation *older;
    uint64_t frame;
    int64_t generation;
    uint64_t frame_counted;            /* since when it has a value; COUNTER_SLOT_NEVER: reset
                                        * only */
};

/* Zeroed: a counter that was never incremented. */
struct counter_slot {
    _Alignas(64) uint64_t frames[COUNTER_SLOT_FRAMES]; /* newest first; 0: none */
    int64_t sums[COUNTER_SLOT_FRAMES]; /* each as it was at the end of its frame */
    struct counter_slot_generation *generation;        /* NULL: 0, since ever */
};

_Static_assert(sizeof(struct counter_slot) == 64, "a slot is a cache line");

/* Make sums[0] the sum of `frame`; it begins with that of the frame before.  Frames never
 * decrease. */
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

/* SET: the counter is `value`, whatever lower generations hold.  A generation below the slot's own
 * has lost to it already and is ignored.  Memory comes from `arena`, which outlives the slot. */
void counter_slot_set(struct counter_slot *slot, struct arena *arena, int64_t value,
                      int64_t generation, uint64_t frame);
/* DELETE: the counter does not exist until it is incremented again. */
void counter_slot_reset(struct counter_slot *slot, struct arena *arena, int64_t generation,
                        uint64_t frame);

/* Which of the sums a reader at `frame` sees; -1: the slot was not there yet.  A reader further
 * behind than the durable frame sees the oldest of the three. */
int counter_slot_visible(const struct counter_slot *slot, uint64_t frame);
/* Append the counter cell of a slot that is visible at `frame`: of one shard, whose id is
 * `shard_id`, or of none after a reset.  Returns the cell's generation, which is its timestamp. */
int64_t counter_slot_write(const struct counter_slot *slot, uint64_t frame, uint64_t shard_id,
                           struct buffer *cell);
#endif

/* counter_slot: the sum of one counter in memory, as of the last three frames that changed it.
 *
 * At most two frames are not durable, so the sum as of the last durable frame is one of the three.
 *
 * SET and DELETE raise the slot's generation (a write timestamp) and begin a new sum. */
#ifndef DAYBOOK_COUNTERS_COUNTER_SLOT_H
#define DAYBOOK_COUNTERS_COUNTER_SLOT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

enum { COUNTER_SLOT_FRAMES = 3 };

#define COUNTER_SLOT_NEVER UINT64_MAX

/* A SET or DELETE in `frame` began the generation. */
struct counter_slot_generation {
    struct counter_slot_generation *older;
    uint64_t frame;
    int64_t generation;
    uint64_t frame_counted;            /* the frame from which on there is a value;
                                        * COUNTER_SLOT_NEVER: none since DELETE */
};

/* All-zero: a counter that was never incremented. */
struct counter_slot {
    _Alignas(64) uint64_t frames[COUNTER_SLOT_FRAMES]; /* newest first; 0: none */
    int64_t sums[COUNTER_SLOT_FRAMES]; /* at the end of their frames */
    struct counter_slot_generation *generation;        /* newest; NULL: none */
};

_Static_assert(sizeof(struct counter_slot) == 64, "a slot is a cache line");

/* Begin a sum for `frame`, if it is a new one.  `frame` must not decrease from call to call. */
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

/* There is no effect if the slot has a higher generation.  `arena` must outlive the slot. */
void counter_slot_set(struct counter_slot *slot, struct arena *arena, int64_t value,
                      int64_t generation, uint64_t frame);
/* From now on the counter does not exist until its next increment.  There is no effect if the slot
 * has a higher generation. */
void counter_slot_reset(struct counter_slot *slot, struct arena *arena, int64_t generation,
                        uint64_t frame);

/* The index of the newest sum at or before `frame`, or of the oldest sum if all three are newer.
 * -1: the slot did not change up to `frame`. */
int counter_slot_visible(const struct counter_slot *slot, uint64_t frame);
/* Append the cell of a slot that is visible at `frame`, and return its generation.  The shard's id
 * is the larger of `shard_id` and the generation. */
int64_t counter_slot_write(const struct counter_slot *slot, uint64_t frame, uint64_t shard_id,
                           struct buffer *cell);
#endif

/* counter_slot: each of the three sums has all increments up to its frame.  Each new frame moves
 * the sums back by one (+1 @7 is an increment by 1 in frame 7; 7: 1 is the sum up to frame 7):
 *
 *     +1 @7    7: 1
 *     +5 @9    9: 6    7: 1
 *     +1 @9    9: 7    7: 1
 *     +2 @10  10: 9    9: 7    7: 1       a reader at 8 sees 1, at 9 sees 7
 *     +1 @12  12: 10  10: 9    9: 7       at 11 sees 9; the durable frame is at least 10
 *
 * When frame 12 is open, at most frame 11 is being written, so 10 is durable, and the third sum is
 * not newer than that. */
#include "counters/counter_slot.h"

#include "counters/counter_cell.h"

static void slot_begin(struct counter_slot *slot, struct arena *arena, int64_t value,
                       int64_t generation, uint64_t frame, uint64_t frame_counted)
{
    if (generation < (slot->generation != NULL ? slot->generation->generation : 0))
        return;
    struct counter_slot_generation *begun =
        arena_alloc(arena, sizeof *begun, _Alignof(struct counter_slot_generation));
    *begun = (struct counter_slot_generation){slot->generation, frame, generation, frame_counted};
    slot->generation = begun;
    counter_slot_turn(slot, frame);
    slot->sums[0] = value;
}

void counter_slot_set(struct counter_slot *slot, struct arena *arena, int64_t value,
                      int64_t generation, uint64_t frame)
{
    slot_begin(slot, arena, value, generation, frame, frame);
}

void counter_slot_reset(struct counter_slot *slot, struct arena *arena, int64_t generation,
                        uint64_t frame)
{
    slot_begin(slot, arena, 0, generation, frame, COUNTER_SLOT_NEVER);
}

int counter_slot_visible(const struct counter_slot *slot, uint64_t frame)
{
    for (int i = 0; i < COUNTER_SLOT_FRAMES; i++)
        if (slot->frames[i] != 0 && slot->frames[i] <= frame)
            return i;
    /* If there are three sums, all newer than `frame`, the oldest is durable (see above).  If there
     * are fewer, the slot did not change up to `frame`. */
    return slot->frames[COUNTER_SLOT_FRAMES - 1] != 0 ? COUNTER_SLOT_FRAMES - 1 : -1;
}

int64_t counter_slot_write(const struct counter_slot *slot, uint64_t frame, uint64_t shard_id,
                           struct buffer *cell)
{
    int seen = counter_slot_visible(slot, frame);

    check(seen >= 0);
    const struct counter_slot_generation *generation = slot->generation;
    while (generation != NULL && generation->frame > slot->frames[seen])
        generation = generation->older;
    int64_t number = generation != NULL ? generation->generation : 0;
    if (generation != NULL && generation->frame_counted > slot->frames[seen]) {
        counter_cell_write_reset(cell, number);
        return number;
    }
    uint64_t id = number > 0 && (uint64_t)number > shard_id ? (uint64_t)number : shard_id;
    counter_cell_write_single(cell, number,
                              (struct counter_shard){id, slot->frames[seen], slot->sums[seen]});
    return number;
}

/* sim_seen: open addressing, at most half full. */
#include "tests/sim/sim_seen.h"

#include <string.h>

#include "base/memory.h"

enum { SEEN_CAPACITY_MIN = 1 << 10 };

static bool slots_add(uint64_t *slots, size_t capacity, uint64_t hash)
{
    size_t at = (size_t)hash & (capacity - 1);
    while (slots[at] != 0 && slots[at] != hash)
        at = (at + 1) & (capacity - 1);
    bool is_new = slots[at] == 0;
    slots[at] = hash;
    return is_new;
}

static void seen_grow(struct sim_seen *seen)
{
    size_t capacity = seen->capacity > 0 ? 2 * seen->capacity : SEEN_CAPACITY_MIN;
    uint64_t *slots = memory_zeroed(capacity, sizeof *slots);
    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->slots[i] != 0)
            slots_add(slots, capacity, seen->slots[i]);
    memory_free(seen->slots);
    seen->slots = slots;
    seen->capacity = capacity;
}

bool sim_seen_add(struct sim_seen *seen, uint64_t hash)
{
    if (2 * seen->count >= seen->capacity)
        seen_grow(seen);
    bool is_new = slots_add(seen->slots, seen->capacity, hash != 0 ? hash : 1);
    seen->count += is_new;
    return is_new;
}

void sim_seen_clear(struct sim_seen *seen)
{
    if (seen->count > 0)
        memset(seen->slots, 0, seen->capacity * sizeof *seen->slots);
    seen->count = 0;
}

void sim_seen_release(struct sim_seen *seen)
{
    memory_free(seen->slots);
    *seen = (struct sim_seen){0};
}

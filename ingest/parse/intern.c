/* intern: see intern.h. */
#include "ingest/parse/intern.h"

#include "base/hash128.h"
#include "base/memory.h"

enum {
    INTERN_SLOTS_MIN = 64,
    INTERN_SLOTS_KEPT_MAX = 1 << 17 /* intern_clear frees a larger table */
};

#define MASK(size)                                                                                 \
    ((size) <= 0 ? 0 : (size) >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * ((size)&7)) - 1)
#define MASKS(size)                                                                                \
    {                                                                                              \
        MASK(size), MASK((size)-8)                                                                 \
    }

const struct intern_mask intern_masks[INTERN_SHORT_MAX + 1] = {
    MASKS(0), MASKS(1),  MASKS(2),  MASKS(3),  MASKS(4),  MASKS(5),  MASKS(6),  MASKS(7), MASKS(8),
    MASKS(9), MASKS(10), MASKS(11), MASKS(12), MASKS(13), MASKS(14), MASKS(15), MASKS(16)};

static void intern_allocate(struct intern *intern, uint32_t slots)
{
    intern->slots = memory_zeroed(slots, sizeof *intern->slots);
    intern->mask = slots - 1;
    intern->epoch = 1;
}

void intern_init(struct intern *intern, uint64_t seed, struct block_dictionary *dictionary)
{
    *intern = (struct intern){.seed = seed, .dictionary = dictionary};
    intern_allocate(intern, INTERN_SLOTS_MIN);
}

void intern_release(struct intern *intern)
{
    memory_free(intern->slots);
    *intern = (struct intern){0};
}

void intern_clear(struct intern *intern)
{
    intern->count = 0;
    if (intern->epoch == UINT32_MAX || intern->mask >= INTERN_SLOTS_KEPT_MAX) {
        memory_free(intern->slots);
        intern_allocate(intern, INTERN_SLOTS_MIN);
        return;
    }
    intern->epoch++;
}

size_t intern_bytes(const struct intern *intern)
{
    return ((size_t)intern->mask + 1) * sizeof *intern->slots;
}

struct intern_key intern_key_long(struct bytes text)
{
    struct hash128 hash = hash128(text.data, text.size);

    return (struct intern_key){
        .low = hash.low,
        .high = hash.high,
        .size = (uint32_t)text.size,
    };
}

static void intern_place(struct intern *intern, struct intern_key key, uint32_t code)
{
    uint32_t at = intern_slot_of(intern, key);

    while (intern->slots[at].epoch == intern->epoch)
        at = (at + 1) & intern->mask;
    intern->slots[at] = (struct intern_slot){
        .low = key.low,
        .high = key.high,
        .size = key.size,
        .epoch = intern->epoch,
        .code = code,
    };
}

static void intern_grow(struct intern *intern)
{
    struct intern_slot *old = intern->slots;
    uint32_t old_slots = intern->mask + 1;
    uint32_t old_epoch = intern->epoch;

    intern_allocate(intern, old_slots * 2);
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i].epoch == old_epoch)
            intern_place(intern,
                         (struct intern_key){
                             .low = old[i].low,
                             .high = old[i].high,
                             .size = old[i].size,
                         },
                         old[i].code);
    memory_free(old);
}

uint32_t intern_add(struct intern *intern, struct intern_key key, struct bytes text)
{
    uint32_t code = block_dictionary_add(intern->dictionary, text);

    if (++intern->count > intern->mask / 2)
        intern_grow(intern);
    intern_place(intern, key, code);
    return code;
}

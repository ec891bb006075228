/* intern: finds the code of a string in a dictionary, in a few nanoseconds.
 *
 * An id of up to 16 bytes is compared as two integers and never looked up in the dictionary's text;
 * a longer one is found by its hash and then compared.  Clearing is a step of the epoch, so that a
 * small batch does not pay for the table a large one has made. */
#ifndef DAYBOOK_INGEST_PARSE_INTERN_H
#define DAYBOOK_INGEST_PARSE_INTERN_H

#include <stdint.h>

#include "storage/cell/block.h"

enum {
    INTERN_SHORT_MAX = 16,
    INTERN_NONE = -1,                  /* a code that is none; codes are below BLOCK_ROWS_MAX */
    INTERN_PADDING = 16                /* bytes that must be readable after a string's start */
};

struct intern_slot {
    uint64_t low, high;                /* the bytes, zero-filled; of a long one its hash */
    uint32_t size;
    uint32_t epoch;                    /* another one than the table's: empty */
    uint32_t code;
    uint32_t unused;
};

struct intern {
    struct intern_slot *slots;
    uint32_t mask;                     /* number of slots - 1 */
    uint32_t count;
    uint32_t epoch;
    uint64_t seed;                     /* random, so that no client can choose ids of one slot */
    struct block_dictionary *dictionary;
};

/* `dictionary` outlives it and is cleared by its owner together with intern_clear. */
void intern_init(struct intern *intern, uint64_t seed, struct block_dictionary *dictionary);
void intern_release(struct intern *intern);
void intern_clear(struct intern *intern);
size_t intern_bytes(const struct intern *intern);      /* of memory, without the dictionary */

/* The part of a string that is compared first.  INTERN_PADDING bytes from `text.data` on are
 * readable. */
struct intern_key {
    uint64_t low, high;
    uint32_t size;
};

static inline struct intern_key intern_key_of(struct bytes text);
struct intern_key intern_key_long(struct bytes text);

/* The code of a string that is there already, or INTERN_NONE. */
static inline int32_t intern_find(const struct intern *intern, struct intern_key key,
                                  struct bytes text);
/* Add a string that is not there. */
uint32_t intern_add(struct intern *intern, struct intern_key key, struct bytes text);

/* ---- inline, because a line is two of them ---- */

/* The bytes of a key that are a string's of up to INTERN_SHORT_MAX bytes, by its size. */
struct intern_mask {
    uint64_t low, high;
};
extern const struct intern_mask intern_masks[INTERN_SHORT_MAX + 1];

static inline struct intern_key intern_key_of(struct bytes text)
{
    uint64_t size = text.size;

    if (size > INTERN_SHORT_MAX)
        return intern_key_long(text);
    return (struct intern_key){
        .low = load_u64(text.data) & intern_masks[size].low,
        .high = load_u64(text.data + 8) & intern_masks[size].high,
        .size = (uint32_t)size,
    };
}

static inline uint32_t intern_slot_of(const struct intern *intern, struct intern_key key)
{
    uint128 product = (uint128)(key.low ^ intern->seed) *
                      ((key.high + key.size) ^ UINT64_C(0xD6E8FEB86659FD93));

    return (uint32_t)((uint64_t)product ^ (uint64_t)(product >> 64)) & intern->mask;
}

static inline int32_t intern_find(const struct intern *intern, struct intern_key key,
                                  struct bytes text)
{
    for (uint32_t at = intern_slot_of(intern, key);; at = (at + 1) & intern->mask) {
        const struct intern_slot *slot = &intern->slots[at];

        if (slot->epoch != intern->epoch)
            return INTERN_NONE;
        if (slot->low == key.low && slot->high == key.high && slot->size == key.size &&
            (key.size <= INTERN_SHORT_MAX ||
             bytes_equal(block_dictionary_get(intern->dictionary, slot->code), text)))
            return (int32_t)slot->code;
    }
}
#endif

/* intern: finds the code of a string, its number in a dictionary, in a few nanoseconds.
 *
 * It is a hash table with open addressing and linear probing, at most half full.  A string of up to
 * 16 bytes is compared as two integers.  A longer string is found by its hash and then compared.
 * A slot whose epoch is not the table's is free; so clearing only increments the table's epoch. */
#ifndef DAYBOOK_INGEST_PARSE_INTERN_H
#define DAYBOOK_INGEST_PARSE_INTERN_H

#include <stdint.h>

#include "storage/cell/block.h"

enum {
    INTERN_SHORT_MAX = 16,
    INTERN_NONE = -1,                  /* no code: codes are below BLOCK_ROWS_MAX */
    INTERN_PADDING = 16,               /* bytes that must be readable after a string's start */
    INTERN_APART = 1 << 30             /* marks the size of a separate key (intern_key_apart) */
};

struct intern_slot {
    uint64_t low, high;                /* the bytes of the string, then zeros; or a long string's
                                        * hash */
    uint32_t size;                     /* with INTERN_APART: of a separate key */
    uint32_t epoch;
    uint32_t code;
    uint32_t unused;
};

struct intern {
    struct intern_slot *slots;
    uint32_t mask;
    uint32_t count;
    uint32_t epoch;
    uint64_t seed;                     /* random, so that clients cannot make ids collide */
    struct block_dictionary *dictionary;
};

/* `dictionary` outlives the table.  The caller of intern_clear also clears the dictionary, except
 * row_builder_part_ads. */
void intern_init(struct intern *intern, uint64_t seed, struct block_dictionary *dictionary);
void intern_release(struct intern *intern);
void intern_clear(struct intern *intern);
size_t intern_bytes(const struct intern *intern);

struct intern_key {
    uint64_t low, high;
    uint32_t size;
};

/* INTERN_PADDING bytes from `text.data` on must be readable. */
static inline struct intern_key intern_key_of(struct bytes text);
struct intern_key intern_key_long(struct bytes text);
/* A separate key for the string of `key`.  A separate key finds only strings that were added with a
 * separate key, and an ordinary key does not find them.  Separate keys are slower, because the text
 * is compared, too. */
static inline struct intern_key intern_key_apart(struct intern_key key);

static inline int32_t intern_find(const struct intern *intern, struct intern_key key,
                                  struct bytes text);
/* Add a string that the table does not have. */
uint32_t intern_add(struct intern *intern, struct intern_key key, struct bytes text);

/* ---- inline functions ---- */

/* By a string's size: the bits of its key that are the string's own bytes. */
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

/* A size above INTERN_SHORT_MAX makes intern_find compare the text. */
static inline struct intern_key intern_key_apart(struct intern_key key)
{
    key.size |= INTERN_APART;
    return key;
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

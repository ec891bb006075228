/* key_places: a hash table from keys to their numbers; the caller stores the keys themselves.
 *
 *     uint32_t tag = ..., number;
 *     struct key_probe probe = key_probe_begin(places, tag);
 *     while ((number = key_probe_next(places, &probe)) != KEY_PLACES_NONE)
 *         if (key number `number` is the one that is looked for)
 *             return number;
 *     key_places_add(places, tag, new number);
 *
 * The table has open addressing with linear probing, and is at most three quarters full.  A tag is
 * 32 bits of the key's hash.
 *
 * The table grows in steps, because one long step would make requests wait. */
#ifndef DAYBOOK_BASE_KEY_PLACES_H
#define DAYBOOK_BASE_KEY_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct arena;

#define KEY_PLACES_NONE UINT32_MAX

struct key_place {
    uint32_t tag;
    uint32_t number;                   /* the key's number plus one; 0: the place is free */
};

/* Private. */
struct key_places {
    struct arena *arena;
    struct key_place *places;
    uint64_t mask;
    uint64_t count;
    struct key_place *old;             /* the array before the last growth; NULL: all copied */
    uint64_t old_mask;
    uint64_t old_moved;
};

/* `arena` must outlive the table.  An array that the table has outgrown stays allocated there. */
void key_places_init(struct key_places *places, struct arena *arena);
/* `number` is below KEY_PLACES_NONE, and not in the table with this tag. */
void key_places_add(struct key_places *places, uint32_t tag, uint32_t number);
/* Copy old places ahead, so that later additions are faster. */
void key_places_move(struct key_places *places);

struct key_probe {
    const struct key_place *places;
    uint64_t mask;
    uint64_t at;
    uint32_t tag;
};

static inline struct key_probe key_probe_begin(const struct key_places *places, uint32_t tag)
{
    return (struct key_probe){places->places, places->mask, tag & places->mask, tag};
}

/* Returns the next number with the tag, or KEY_PLACES_NONE after the last.  While the table grows,
 * a number may be returned twice. */
static inline uint32_t key_probe_next(const struct key_places *places, struct key_probe *probe)
{
    for (;;) {
        struct key_place place = probe->places[probe->at];
        probe->at = (probe->at + 1) & probe->mask;
        if (place.number != 0 && place.tag == probe->tag)
            return place.number - 1;
        if (place.number != 0)
            continue;
        if (probe->places == places->old || places->old == NULL)
            return KEY_PLACES_NONE;
        *probe = (struct key_probe){places->old, places->old_mask, probe->tag & places->old_mask,
                                    probe->tag};
    }
}

static inline void key_places_prefetch(const struct key_places *places, uint32_t tag)
{
    __builtin_prefetch(&places->places[tag & places->mask]);
    if (places->old != NULL)
        __builtin_prefetch(&places->old[tag & places->old_mask]);
}

/* Look at one place only.  Returns the number that a search would probably find, or
 * KEY_PLACES_NONE. */
static inline uint32_t key_places_guess(const struct key_places *places, uint32_t tag)
{
    struct key_place place = places->places[tag & places->mask];
    return place.tag == tag ? place.number - 1 : KEY_PLACES_NONE;
}

/* Call key_places_guess for each tag, and write the results that are not KEY_PLACES_NONE to
 * `numbers_out`, which has room for `count`.  Returns how many were written. */
static inline uint32_t key_places_guess_all(const struct key_places *places, const uint32_t *tags,
                                            uint32_t count, uint32_t *numbers_out)
{
    uint32_t guesses = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = key_places_guess(places, tags[i]);
        if (number != KEY_PLACES_NONE)
            numbers_out[guesses++] = number;
    }
    return guesses;
}
#endif

/* key_places: a hash table of the numbers of keys; the caller has the keys.
 *
 *     uint32_t tag = ..., number;
 *     struct key_probe probe = key_probe_begin(places, tag);
 *     while ((number = key_probe_next(places, &probe)) != KEY_PLACES_NONE)
 *         if (key number `number` is the one that is looked for)
 *             return number;
 *     key_places_add(places, tag, new number);
 *
 * The table has open addressing with linear probing, and is at most three quarters full.  A place
 * has 8 bytes: a number, and 32 bits of the key's hash, the tag.  So nearly every number that is
 * found belongs to the right key.
 *
 * The table grows in steps, because requests wait while the engine thread is busy.  The new places
 * begin empty, and each addition copies some of the old places.  Until all are copied, a search
 * that finds nothing among the new places continues among the old ones. */
#ifndef DAYBOOK_BASE_KEY_PLACES_H
#define DAYBOOK_BASE_KEY_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct arena;

#define KEY_PLACES_NONE UINT32_MAX

struct key_place {
    uint32_t tag;                      /* its low bits are where the search begins */
    uint32_t number;                   /* the key's number plus one; 0: the place is free */
};

/* Private; the functions below are inline. */
struct key_places {
    struct arena *arena;
    struct key_place *places;
    uint64_t mask;                     /* places - 1 */
    uint64_t count;
    struct key_place *old;             /* before the last growth; NULL: all were copied */
    uint64_t old_mask;
    uint64_t old_moved;                /* how many of the old places were copied, from the first */
};

/* Places are allocated in `arena`, which outlives the table.  The places before each growth stay
 * allocated; all of those together are fewer than the present places. */
void key_places_init(struct key_places *places, struct arena *arena);
/* Add a number below KEY_PLACES_NONE that is not in the table with this tag. */
void key_places_add(struct key_places *places, uint32_t tag, uint32_t number);
/* Copy more of the old places now, so that the additions that follow take less time. */
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

/* The next number with the tag; a number may be returned twice.  KEY_PLACES_NONE: there are no
 * more. */
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

/* Fetch into the cache the places where a search for the tag begins. */
static inline void key_places_prefetch(const struct key_places *places, uint32_t tag)
{
    __builtin_prefetch(&places->places[tag & places->mask]);
    if (places->old != NULL)
        __builtin_prefetch(&places->old[tag & places->old_mask]);
}

/* The number that a search for the tag probably finds, so that its key can be fetched, too. */
static inline uint32_t key_places_guess(const struct key_places *places, uint32_t tag)
{
    struct key_place place = places->places[tag & places->mask];
    return place.tag == tag ? place.number - 1 : KEY_PLACES_NONE;
}

/* Guess the numbers of `count` tags.  Those that are not KEY_PLACES_NONE are written to
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

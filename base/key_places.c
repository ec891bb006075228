/* key_places: how the table grows.
 *
 * What must hold: a place of the old array never changes, because searches go on there.  All its n
 * places must be copied before the table grows again, which is after 3n/4 additions, so MOVES must
 * be at least 2. */
#include "base/key_places.h"

#include "base/arena.h"
#include "base/error.h"

enum {
    PLACES_FIRST = 64,
    MOVES = 8,         /* old places that each addition copies */
    MOVES_MANY = 1024, /* old places that each key_places_move copies */
    CACHE_LINE = 64
};

static struct key_place *places_new(struct arena *arena, uint64_t count)
{
    return arena_alloc_zeroed(arena, count * sizeof(struct key_place), CACHE_LINE);
}

void key_places_init(struct key_places *places, struct arena *arena)
{
    *places = (struct key_places){
        .arena = arena, .places = places_new(arena, PLACES_FIRST), .mask = PLACES_FIRST - 1};
}

static void place_put(struct key_places *places, struct key_place place)
{
    uint64_t at = place.tag & places->mask;
    while (places->places[at].number != 0)
        at = (at + 1) & places->mask;
    places->places[at] = place;
}

static void places_move(struct key_places *places, uint64_t count)
{
    if (places->old == NULL)
        return;
    uint64_t left = places->old_mask + 1 - places->old_moved;
    uint64_t end = places->old_moved + (count < left ? count : left);
    for (uint64_t i = places->old_moved; i < end; i++)
        if (places->old[i].number != 0)
            place_put(places, places->old[i]);
    places->old_moved = end;
    if (end > places->old_mask)
        places->old = NULL;
}

void key_places_move(struct key_places *places)
{
    places_move(places, MOVES_MANY);
}

static void places_grow(struct key_places *places)
{
    check(places->old == NULL);
    places->old = places->places;
    places->old_mask = places->mask;
    places->old_moved = 0;
    places->mask = places->mask * 2 + 1;
    places->places = places_new(places->arena, places->mask + 1);
}

void key_places_add(struct key_places *places, uint32_t tag, uint32_t number)
{
    check(number < KEY_PLACES_NONE);
    place_put(places, (struct key_place){tag, number + 1});
    places_move(places, MOVES);
    if (++places->count * 4 > (places->mask + 1) * 3)
        places_grow(places);
}

/* test_key_places: numbers under tags that many of them share, while the table grows. */
#include "base/key_places.h"

#include <criterion/criterion.h>

#include "base/arena.h"

enum { NUMBERS = 20000 };

/* How often the search of a tag gives the number. */
static uint32_t times_found(const struct key_places *places, uint32_t tag, uint32_t number)
{
    struct key_probe probe = key_probe_begin(places, tag);
    uint32_t times = 0;
    uint32_t found;
    while ((found = key_probe_next(places, &probe)) != KEY_PLACES_NONE)
        times += found == number;
    return times;
}

/* Tags by number: all different; a hundred to each; far apart by one bit; next to one another at
 * the end of the table, so that searches go round. */
static uint32_t tag_of(uint32_t way, uint32_t number)
{
    switch (way) {
    case 0:
        return number * UINT32_C(0x9E3779B1);
    case 1:
        return number / 100 * UINT32_C(0x9E3779B1);
    case 2:
        return number << 16;
    default:
        return UINT32_MAX - number % 50;
    }
}

Test(key_places, every_number_is_found_under_its_tag_at_every_step_of_growth)
{
    for (uint32_t way = 0; way < 4; way++) {
        struct arena *arena = arena_new(1 << 16);
        struct key_places places;
        uint32_t numbers = way < 2 ? NUMBERS : NUMBERS / 50;
        key_places_init(&places, arena);
        for (uint32_t number = 0; number < numbers; number++) {
            cr_assert_eq(times_found(&places, tag_of(way, number), number), 0);
            key_places_add(&places, tag_of(way, number), number);
            if (number % 1000 == 999)
                key_places_move(&places);
            /* The newest, the oldest, and one that may just have been moved. */
            const uint32_t looked_at[] = {number, 0, number / 2, number - number / 3};
            for (uint32_t i = 0; i < 4; i++) {
                uint32_t times = times_found(&places, tag_of(way, looked_at[i]), looked_at[i]);
                cr_assert(times == 1 || times == 2, "way %u, %u of %u", way, looked_at[i], number);
            }
        }
        for (uint32_t number = 0; number < numbers; number++)
            cr_assert_geq(times_found(&places, tag_of(way, number), number), 1);
        arena_free(arena);
    }
}

Test(key_places, a_tag_that_is_not_there_has_no_numbers)
{
    struct arena *arena = arena_new(1 << 16);
    struct key_places places;
    key_places_init(&places, arena);
    for (uint32_t number = 0; number < 1000; number++)
        key_places_add(&places, number * 2, number);
    for (uint32_t tag = 1; tag < 4000; tag += 2) {
        struct key_probe probe = key_probe_begin(&places, tag);
        cr_assert_eq(key_probe_next(&places, &probe), KEY_PLACES_NONE);
        key_places_prefetch(&places, tag);
        cr_assert_eq(key_places_guess(&places, tag), KEY_PLACES_NONE);
    }
    arena_free(arena);
}

Test(key_places, guesses_are_numbers_of_their_tags_in_the_tags_order)
{
    enum { TAGS = 2000 };
    struct arena *arena = arena_new(1 << 16);
    struct key_places places;
    static uint32_t tags[TAGS], guesses[TAGS];
    uint32_t last = 0;
    key_places_init(&places, arena);
    for (uint32_t number = 0; number < TAGS / 2; number++)
        key_places_add(&places, number * UINT32_C(0x9E3779B1), number);
    for (uint32_t i = 0; i < TAGS; i++)
        tags[i] = i * UINT32_C(0x9E3779B1);
    uint32_t count = key_places_guess_all(&places, tags, TAGS, guesses);
    cr_assert(count > TAGS / 4 && count <= TAGS / 2, "%u", count);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(guesses[i] < TAGS / 2 && (i == 0 || guesses[i] > last), "%u", guesses[i]);
        last = guesses[i];
    }
    arena_free(arena);
}

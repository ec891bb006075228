/* What readers of segments leave for the next ones: all together within a limit. */
#include <criterion/criterion.h>

#include "base/memory.h"
#include "storage/segment/reader_pool.h"

enum { PLACES = 4, SPARE_BYTES = 100 };

/* A spare that counts how many are left of its kind. */
struct counted {
    struct reader_spare spare;
    int *alive;
    int number;
};

static void counted_free(struct reader_spare *spare)
{
    struct counted *counted = (struct counted *)(void *)spare;
    --*counted->alive;
    memory_free(counted);
}

static struct reader_spare *counted_new(int *alive, int number)
{
    struct counted *counted = memory_zeroed(1, sizeof *counted);
    counted->spare = (struct reader_spare){.free = counted_free, .bytes = SPARE_BYTES};
    counted->alive = alive;
    counted->number = number;
    ++*alive;
    return &counted->spare;
}

static int number_of(struct reader_spare *spare)
{
    return spare == NULL ? -1 : ((struct counted *)(void *)spare)->number;
}

Test(reader_pool, what_was_left_longest_ago_goes_where_all_is_over_the_limit)
{
    struct reader_pool *pool = reader_pool_new(2 * SPARE_BYTES);
    struct reader_spare *places[PLACES] = {0};
    int alive = 0;
    for (int i = 0; i < 2; i++)
        reader_pool_give(pool, &places[i], counted_new(&alive, i));
    /* Read again: the other one is now the one left longest ago. */
    struct reader_spare *again = reader_pool_take(pool, &places[0]);
    cr_expect_eq(number_of(again), 0);
    cr_expect_eq(reader_pool_bytes(pool), SPARE_BYTES);
    reader_pool_give(pool, &places[0], again);
    reader_pool_give(pool, &places[2], counted_new(&alive, 2));
    cr_expect_eq(alive, 2);
    cr_expect_null(reader_pool_take(pool, &places[1]));
    cr_expect_eq(number_of(places[0]), 0);
    cr_expect_eq(number_of(places[2]), 2);
    cr_expect_eq(reader_pool_bytes(pool), 2 * SPARE_BYTES);
    reader_pool_close(pool, places, PLACES);
    cr_expect_eq(alive, 0);
    cr_expect_eq(reader_pool_bytes(pool), 0);
    reader_pool_unref(pool);
}

Test(reader_pool, a_place_has_one_spare_and_the_last_one_given_stays_whatever_it_takes)
{
    struct reader_pool *pool = reader_pool_new(SPARE_BYTES / 2);
    struct reader_spare *places[2] = {0};
    int alive = 0;
    reader_pool_give(pool, &places[0], counted_new(&alive, 0));
    reader_pool_give(pool, &places[0], counted_new(&alive, 1));
    cr_expect_eq(alive, 1);
    cr_expect_eq(number_of(places[0]), 1);
    reader_pool_give(pool, &places[1], counted_new(&alive, 2));
    cr_expect_null(places[0]);
    cr_expect_eq(number_of(places[1]), 2);
    reader_pool_close(pool, places, 2);
    cr_expect_eq(alive, 0);
    reader_pool_unref(pool);
}

static struct reader_spare *large_new(int *alive, int number)
{
    struct reader_spare *spare = counted_new(alive, number);
    spare->is_large = true;
    return spare;
}

static int count_left(struct reader_spare *const *places, int count)
{
    int left = 0;
    for (int i = 0; i < count; i++)
        left += places[i] != NULL;
    return left;
}

/* Whoever gives a small spare must not free a large one, which may take a millisecond. */
Test(reader_pool, small_spares_take_what_large_ones_leave)
{
    struct reader_pool *pool = reader_pool_new(8 * SPARE_BYTES);
    struct reader_spare *small[20] = {0}, *large[20] = {0};
    int alive = 0;
    for (int i = 0; i < 20; i++)
        reader_pool_give(pool, &small[i], counted_new(&alive, i));
    cr_expect_eq(count_left(small, 20), 8);
    for (int i = 0; i < 20; i++)
        reader_pool_give(pool, &large[i], large_new(&alive, i));
    cr_expect_eq(count_left(large, 20), 6);
    cr_expect_eq(number_of(large[14]), 14);
    cr_expect_eq(count_left(small, 20), 2);
    for (int i = 0; i < 20; i++)
        reader_pool_give(pool, &small[i], counted_new(&alive, i));
    cr_expect_eq(count_left(large, 20), 6);
    cr_expect_eq(count_left(small, 20), 2);
    cr_expect_eq(number_of(small[18]), 18);
    cr_expect_eq(reader_pool_bytes(pool), 8 * SPARE_BYTES);
    reader_pool_close(pool, small, 20);
    reader_pool_close(pool, large, 20);
    reader_pool_unref(pool);
    cr_expect_eq(alive, 0);
}

Test(reader_pool, a_large_spare_over_the_limit_is_not_kept)
{
    struct reader_pool *pool = reader_pool_new(SPARE_BYTES);
    struct reader_spare *place = NULL;
    int alive = 0;
    reader_pool_give(pool, &place, large_new(&alive, 0));
    cr_expect_null(place);
    cr_expect_eq(alive, 0);
    reader_pool_unref(pool);
}

Test(reader_pool, large_spares_of_a_closed_segment_are_freed_when_the_next_large_one_is_given)
{
    struct reader_pool *pool = reader_pool_new(10 * SPARE_BYTES);
    struct reader_spare *places[PLACES] = {0};
    struct reader_spare *other = NULL;
    int alive = 0;
    for (int i = 0; i < 3; i++)
        reader_pool_give(pool, &places[i], large_new(&alive, i));
    reader_pool_give(pool, &places[3], counted_new(&alive, 3));
    reader_pool_close(pool, places, PLACES);
    cr_expect_eq(alive, 3);
    cr_expect_eq(reader_pool_bytes(pool), 3 * SPARE_BYTES);
    cr_expect_null(reader_pool_take(pool, &places[0]));
    reader_pool_give(pool, &other, counted_new(&alive, 4));
    cr_expect_eq(alive, 4);
    reader_pool_give(pool, &other, large_new(&alive, 5));
    cr_expect_eq(alive, 1);
    cr_expect_eq(reader_pool_bytes(pool), SPARE_BYTES);
    reader_pool_close(pool, &other, 1);
    reader_pool_unref(pool);
    cr_expect_eq(alive, 0);
}

Test(reader_pool, a_workspace_is_lent_again_and_not_with_a_large_page)
{
    struct reader_pool *pool = reader_pool_ref(reader_pool_new(0));
    struct reader_workspace *first = reader_pool_borrow(pool);
    struct reader_workspace *second = reader_pool_borrow(pool);
    cr_expect_neq(first, second);
    buffer_reserve(&first->page, 1 << 20);
    reader_pool_give_back(pool, second);
    reader_pool_give_back(pool, first);
    cr_expect_eq(reader_pool_borrow(pool), first);
    cr_expect_eq(first->page.capacity, 0);
    reader_pool_give_back(pool, first);
    reader_pool_unref(pool);
    reader_pool_unref(pool);
}

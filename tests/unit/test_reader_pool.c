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
    for (int i = 0; i < PLACES; i++)
        reader_pool_give(pool, &places[i], NULL);
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
    reader_pool_give(pool, &places[1], NULL);
    cr_expect_eq(alive, 0);
    reader_pool_unref(pool);
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

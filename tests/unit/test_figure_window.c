/* test_figure_window: what is taken in any order is given in the order of numbers, digit for digit,
 * and never takes more than it may. */
#include "rollup/days/figure_window.h"

#include <criterion/criterion.h>

#include "rollup/days/figure.h"
#include "base/calendar.h"

static uint32_t below(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 33) % limit;
}

static struct decimal number(uint64_t *state)
{
    struct decimal value = {.scale = (int32_t)below(state, 161) - 40};
    uint32_t limbs = below(state, 5);
    for (uint32_t i = 0; i < limbs; i++)
        value.limb[i] = *state * (i + 1);
    if (below(state, 4) == 0)
        value = decimal_from(-(int64_t)below(state, 1000), 2);
    return value;
}

/* The same for the same reseller and place among his days. */
static struct day_figure figure_of(uint32_t reseller, uint32_t place)
{
    uint64_t state = reseller * UINT64_C(1000003) + place;
    struct day_figure figure = {.day = DAY_MAX - (int32_t)(place * (1 + below(&state, 3))),
                                .clicks = below(&state, 2) == 0 ? UINT64_MAX : below(&state, 9),
                                .gross = number(&state),
                                .is_priced = below(&state, 2) == 0,
                                .state = (enum day_state)below(&state, DAY_SEALED + 1)};
    if (place == 0)
        figure.day = below(&state, 2) == 0 ? DAY_MIN : DAY_MAX;
    if (figure.is_priced) {
        figure.rate = number(&state);
        figure.amount = number(&state);
    }
    return figure;
}

static void expect_figure(const struct day_figure *given, const struct day_figure *wanted)
{
    cr_assert_eq(given->day, wanted->day);
    cr_assert(figure_identical(given, wanted), "day %d", wanted->day);
}

enum { RESELLERS = 500, DAYS = 8 };

/* 7 has no divisor in common with 500, so that everybody comes once, in another order. */
static void add_all(struct figure_window *window, uint32_t first)
{
    for (uint32_t i = 0; i < RESELLERS; i++) {
        uint32_t reseller = i * 7 % RESELLERS;
        for (uint32_t place = 0; reseller >= first && place < reseller % DAYS; place++) {
            struct day_figure figure = figure_of(reseller, place);
            figure_window_add(window, reseller - first, &figure);
        }
    }
}

/* Everybody's from `first` to the window's end; returns how many resellers that are. */
static uint32_t expect_given(struct figure_window *window, uint32_t first)
{
    struct day_figure given;
    uint32_t reseller;
    uint32_t last = 0;
    uint32_t place = 0;
    uint64_t count = 0;
    uint64_t wanted_count = 0;
    while (figure_window_next(window, &reseller, &given)) {
        cr_assert_geq(reseller, last);
        place = reseller == last && count > 0 ? place : 0;
        last = reseller;
        count++;
        const struct day_figure wanted = figure_of(first + reseller, place++);
        expect_figure(&given, &wanted);
    }
    for (uint32_t i = 0; i < figure_window_end(window); i++)
        wanted_count += (first + i) % DAYS;
    cr_assert_eq(count, wanted_count);
    return figure_window_end(window);
}

Test(figure_window, gives_by_number_what_came_in_any_order)
{
    struct quota room = {.limit = 1 << 20};
    struct figure_window *window = figure_window_new(&room);
    for (int round = 0; round < 2; round++) {
        figure_window_begin(window, RESELLERS);
        add_all(window, 0);
        cr_assert_eq(expect_given(window, 0), RESELLERS);
    }
    figure_window_free(window);
}

Test(figure_window, drops_the_upper_ones_where_there_is_no_room_and_takes_them_the_next_time)
{
    struct quota room = {.limit = RESELLERS * sizeof(struct bytes) + 4000};
    struct figure_window *window = figure_window_new(&room);
    uint32_t first = 0;
    uint32_t rounds = 0;
    for (; first < RESELLERS; rounds++) {
        figure_window_begin(window, RESELLERS - first);
        add_all(window, first);
        uint32_t end = expect_given(window, first);
        cr_assert_gt(end, 0);
        first += end;
    }
    cr_assert_gt(rounds, 5);
    cr_assert_lt(rounds, 100);
    figure_window_free(window);
}

Test(figure_window, one_reseller_is_kept_whole)
{
    enum { MANY = 1000 };
    struct quota room = {.limit = 100};
    struct figure_window *window = figure_window_new(&room);
    uint32_t reseller;
    figure_window_begin(window, 3);
    for (uint32_t i = 3; i-- > 0;) {
        for (uint32_t place = 1; place < MANY; place++) {
            struct day_figure figure = figure_of(i, place);
            figure_window_add(window, i, &figure);
        }
    }
    for (uint32_t place = 1; place < MANY; place++) {
        struct day_figure given;
        const struct day_figure wanted = figure_of(0, place);
        cr_assert(figure_window_next(window, &reseller, &given));
        cr_assert_eq(reseller, 0);
        expect_figure(&given, &wanted);
    }
    struct day_figure none;
    cr_assert_not(figure_window_next(window, &reseller, &none));
    cr_assert_eq(figure_window_end(window), 1);
    figure_window_free(window);
}

/* The second takes more than is left, and no less than each may have. */
Test(figure_window, several_share_their_room_and_give_it_back)
{
    enum { LISTS = 2 * RESELLERS * sizeof(struct bytes), WINDOW_MIN = 1000 };
    struct quota room = {.limit = LISTS + 12000, .little = WINDOW_MIN};
    struct figure_window *first = figure_window_new(&room);
    struct figure_window *second = figure_window_new(&room);
    figure_window_begin(first, RESELLERS);
    figure_window_begin(second, RESELLERS);
    cr_expect_eq(room.taken, LISTS);
    add_all(first, 0);
    size_t alone = room.taken;
    add_all(second, 0);
    uint32_t end = expect_given(second, 0);
    cr_expect_lt(end, RESELLERS);
    cr_expect_gt(end, 1);
    cr_expect_leq(room.taken, room.limit + WINDOW_MIN);
    cr_expect_eq(expect_given(first, 0), figure_window_end(first));
    figure_window_free(second);
    cr_expect_leq(room.taken, alone);
    figure_window_free(first);
    cr_expect_eq(room.taken, 0);
}

Test(figure_window, an_empty_one_gives_nothing)
{
    struct quota room = {.limit = 100};
    struct figure_window *window = figure_window_new(&room);
    struct day_figure figure;
    uint32_t reseller;
    figure_window_begin(window, 0);
    cr_assert_not(figure_window_next(window, &reseller, &figure));
    figure_window_begin(window, 5);
    cr_assert_not(figure_window_next(window, &reseller, &figure));
    cr_assert_eq(figure_window_end(window), 5);
    figure_window_free(window);
}

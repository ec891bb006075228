/* test_quota: what is taken counts all the way up, and is taken everywhere or nowhere; what
 * waits gets it in turn. */
#include "base/quota.h"

#include <criterion/criterion.h>
#include <string.h>

Test(quota, what_is_taken_counts_at_the_parent_too)
{
    struct quota all = {.limit = 100};
    struct quota one = {.parent = &all, .limit = 80};
    struct quota other = {.parent = &all, .limit = 80};
    cr_assert(quota_take(&one, 60));
    cr_assert(quota_take(&other, 40));
    cr_assert_eq(all.taken, 100);
    cr_assert_not(quota_take(&other, 1));
    cr_assert_eq(other.taken, 40);
    quota_give(&one, 60);
    cr_assert_eq(all.taken, 40);
    cr_assert_eq(quota_left(&other), 40);
    cr_assert_eq(quota_left(&one), 60);
}

Test(quota, a_child_is_bounded_by_its_own_limit)
{
    struct quota all = {.limit = 100};
    struct quota one = {.parent = &all, .limit = 10};
    cr_assert_not(quota_take(&one, 11));
    cr_assert_eq(all.taken, 0);
    cr_assert(quota_take(&one, 10));
    cr_assert_not(quota_take(&one, 1));
}

Test(quota, the_reserve_is_for_children_that_hold_little)
{
    struct quota all = {.limit = 100, .reserve = 25, .little = 5};
    struct quota large = {.parent = &all, .limit = 100};
    struct quota small = {.parent = &all, .limit = 100};
    cr_assert_not(quota_take(&large, 76));
    cr_assert(quota_take(&large, 75));
    cr_assert_not(quota_take(&large, 1));
    cr_assert(quota_take(&small, 5));
    cr_assert_not(quota_take(&small, 1), "it holds more than little now");
}

Test(quota, what_cannot_be_refused_is_counted_over_the_limit)
{
    struct quota all = {.limit = 10};
    quota_take_over(&all, 30);
    cr_assert_eq(quota_left(&all), 0);
    cr_assert_not(quota_take(&all, 1));
    quota_give(&all, 30);
    cr_assert(quota_take(&all, 1));
}

/* ---- waiters: three parts of one account, as the control socket has them ---- */

struct bench {
    struct quota all; /* the three below */
    struct quota room, answers, kept;
    char order[16]; /* who was granted */
};

struct guest {
    struct quota_waiter waiter; /* first */
    struct bench *bench;
    char name;
    bool is_brief; /* gives back at once */
};

static void granted(struct quota_waiter *waiter)
{
    struct guest *guest = (struct guest *)waiter;
    strncat(guest->bench->order, &guest->name, 1);
    if (guest->is_brief)
        quota_give(&guest->bench->room, waiter->bytes);
}

static void bench_init(struct bench *bench)
{
    struct quota part = {.parent = &bench->all, .limit = 100};
    *bench =
        (struct bench){.all = {.limit = SIZE_MAX}, .room = part, .answers = part, .kept = part};
}

static struct guest guest_of(struct bench *bench, char name, size_t bytes)
{
    return (struct guest){{.bytes = bytes, .granted = granted}, bench, name, false};
}

Test(quota, grants_in_the_order_in_which_they_came_the_large_not_passed_over)
{
    struct bench bench;
    bench_init(&bench);
    struct guest a = guest_of(&bench, 'a', 60);
    struct guest b = guest_of(&bench, 'b', 50);
    struct guest c = guest_of(&bench, 'c', 10);
    quota_wait(&bench.room, &a.waiter);
    quota_wait(&bench.room, &b.waiter);
    quota_wait(&bench.room, &c.waiter);
    cr_expect_str_eq(bench.order, "a");
    quota_give(&bench.room, 60);
    cr_expect_str_eq(bench.order, "abc");
    cr_expect_eq(bench.all.taken, 60);
}

Test(quota, one_who_goes_lets_those_behind_him_in)
{
    struct bench bench;
    bench_init(&bench);
    struct guest a = guest_of(&bench, 'a', 60);
    struct guest b = guest_of(&bench, 'b', 50);
    struct guest c = guest_of(&bench, 'c', 10);
    quota_wait(&bench.room, &a.waiter);
    quota_wait(&bench.room, &b.waiter);
    quota_wait(&bench.room, &c.waiter);
    quota_forget(&bench.room, &b.waiter);
    cr_expect_str_eq(bench.order, "ac");
    quota_forget(&bench.room, &b.waiter);
    cr_expect_eq(bench.all.taken, 70);
}

Test(quota, those_who_give_back_at_once_let_all_behind_them_in)
{
    struct bench bench;
    struct guest guests[5];
    bench_init(&bench);
    struct guest first = guest_of(&bench, '-', 100);
    quota_wait(&bench.room, &first.waiter);
    for (int i = 0; i < 5; i++) {
        guests[i] = guest_of(&bench, (char)('a' + i), 80);
        guests[i].is_brief = true;
        quota_wait(&bench.room, &guests[i].waiter);
    }
    cr_expect_str_eq(bench.order, "-");
    quota_give(&bench.room, 100);
    cr_expect_str_eq(bench.order, "-abcde");
    cr_expect_eq(bench.all.taken, 0);
}

/* They are made before it is known how long they are. */
Test(quota, answers_past_their_part_leave_nothing_and_keep_no_command_from_running)
{
    struct bench bench;
    bench_init(&bench);
    struct guest a = guest_of(&bench, 'a', 100);
    size_t held = 0;
    quota_charge(&bench.answers, &held, 130);
    cr_expect_eq(quota_left(&bench.answers), 0);
    quota_wait(&bench.room, &a.waiter);
    cr_expect_str_eq(bench.order, "a");
    quota_charge(&bench.answers, &held, 60);
    cr_expect_eq(held, 60);
    cr_expect_eq(quota_left(&bench.answers), 40);
    cr_expect_eq(bench.all.taken, 160);
}

Test(quota, what_is_kept_has_room_of_its_own_and_is_refused_past_it)
{
    struct bench bench;
    bench_init(&bench);
    struct guest a = guest_of(&bench, 'a', 100);
    cr_expect(quota_take(&bench.kept, 90));
    cr_expect_not(quota_take(&bench.kept, 11));
    cr_expect(quota_take(&bench.kept, 10));
    cr_expect_not(quota_take(&bench.kept, 1));
    quota_wait(&bench.room, &a.waiter);
    cr_expect_str_eq(bench.order, "a");
    quota_give(&bench.kept, 100);
    cr_expect(quota_take(&bench.kept, 100));
    cr_expect_eq(bench.all.taken, 200);
}

Test(quota, what_is_more_than_the_limit_waits_for_ever)
{
    struct bench bench;
    bench_init(&bench);
    struct guest a = guest_of(&bench, 'a', 101);
    quota_wait(&bench.room, &a.waiter);
    cr_expect(a.waiter.is_waiting);
    quota_forget(&bench.room, &a.waiter);
    cr_expect_str_eq(bench.order, "");
}

Test(quota, one_of_many_holders_stops_at_half_of_what_is_left)
{
    struct quota all = {.limit = 100};
    size_t one = 0;
    size_t other = 0;
    cr_expect(quota_is_fair(&all, 49));
    cr_expect_not(quota_is_fair(&all, 50));
    quota_charge(&all, &one, 40);
    cr_expect_not(quota_is_fair(&all, one), "it has more than half of the 60 that are left");
    cr_expect(quota_is_fair(&all, other));
    quota_charge(&all, &other, 70);
    cr_expect_not(quota_is_fair(&all, 0), "nothing is left");
    quota_charge(&all, &one, 0);
    quota_charge(&all, &other, 0);
    cr_expect_eq(all.taken, 0);
}

Test(quota, what_was_past_a_mark_stays_so_down_to_half_of_it)
{
    struct quota all = {.limit = 100};
    quota_take_over(&all, 80);
    cr_expect_not(quota_is_past(&all, 80, false));
    quota_take_over(&all, 1);
    cr_expect(quota_is_past(&all, 80, false));
    quota_give(&all, 40);
    cr_expect(quota_is_past(&all, 80, true));
    quota_give(&all, 1);
    cr_expect_not(quota_is_past(&all, 80, true));
}

Test(quota, an_account_elsewhere_is_told_of_each_change_once)
{
    struct quota all = {.limit = 100};
    quota_take_over(&all, 80);
    cr_expect_eq(quota_unreported(&all), 80);
    cr_expect_eq(quota_unreported(&all), 0);
    quota_give(&all, 30);
    quota_take_over(&all, 10);
    cr_expect_eq(quota_unreported(&all), -20);
}

/* test_quota: what is taken counts all the way up, and is taken everywhere or nowhere. */
#include "base/quota.h"

#include <criterion/criterion.h>

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

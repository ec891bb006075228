/* test_refresh_list: what each kind of waiter waits for, and in which order they are called. */
#include "rollup/days/refresh_list.h"

#include <criterion/criterion.h>

#include "rollup/days/rate.h"

struct told {
    int calls;
    int status;
};

static void tell(void *context, int status, const struct error *err)
{
    struct told *told = context;
    (void)err;
    told->calls++;
    told->status = status;
}

static struct dirty_day *mark(struct dirty_set *set, const char *reseller, int32_t day)
{
    struct buffer key = {0};
    struct dirty_mark *new_mark;
    dirty_put_key(&key, bytes_text(reseller), day);
    struct dirty_day *marked = dirty_set_mark(set, buffer_view(&key), dirty_hash(buffer_view(&key)),
                                              CAUSE_LATE_CLICKS, NULL, 100, &new_mark);
    buffer_release(&key);
    return marked;
}

static void add(struct refresh_list *list, struct dirty_set *set, struct refresh_waiter waiter,
                struct told *told)
{
    waiter.done = tell;
    waiter.context = told;
    refresh_list_add(list, &waiter, dirty_set_order(set));
}

/* As the work does between chunks, with all batches durable. */
static void look(struct refresh_list *list, struct dirty_set *set)
{
    refresh_list_note_worked(list, set, 1);
    refresh_list_call(list, 1);
}

Test(refresh_list, waits_for_what_was_queued_before_and_for_nothing_later)
{
    struct refresh_list list = {0};
    struct dirty_set *set = dirty_set_new();
    struct told told = {0};
    struct dirty_day *before = mark(set, "r", 10);
    add(&list, set, (struct refresh_waiter){0}, &told);
    mark(set, "r", 11);
    look(&list, set);
    cr_assert_eq(told.calls, 0);
    dirty_set_wait(set, before);
    look(&list, set);
    cr_assert_eq(told.calls, 1, "day 11 came later");
    cr_assert_eq(told.status, 0);
    cr_assert(refresh_list_is_idle(&list));
    dirty_set_free(set);
}

Test(refresh_list, what_is_worked_off_waits_until_it_is_durable)
{
    struct refresh_list list = {0};
    struct dirty_set *set = dirty_set_new();
    struct told told = {0};
    add(&list, set, (struct refresh_waiter){0}, &told);
    refresh_list_note_worked(&list, set, 7);
    refresh_list_call(&list, 6);
    cr_assert_eq(told.calls, 0);
    refresh_list_note_worked(&list, set, 8); /* a later batch is not its own */
    refresh_list_call(&list, 7);
    cr_assert_eq(told.calls, 1);
    dirty_set_free(set);
}

Test(refresh_list, of_rates_waits_for_ranges_alone)
{
    struct refresh_list list = {0};
    struct dirty_set *set = dirty_set_new();
    const struct dirty_mark rate = {.cause = CAUSE_RATE};
    struct told told = {0};
    mark(set, "r", 10);
    struct dirty_range *range = dirty_set_add_range(set, bytes_text("r"), 10, RATE_DAY_END, &rate);
    add(&list, set, (struct refresh_waiter){.is_of_rates = true}, &told);
    look(&list, set);
    cr_assert_eq(told.calls, 0);
    dirty_set_clear_range(set, range);
    look(&list, set);
    cr_assert_eq(told.calls, 1, "a queued day is none of its concern");
    dirty_set_free(set);
}

Test(refresh_list, of_days_waits_for_these_alone)
{
    struct refresh_list list = {0};
    struct dirty_set *set = dirty_set_new();
    struct told told = {0};
    const struct refresh_waiter of_days = {.reseller = bytes_text("r"), .from = 10, .to = 12};
    mark(set, "another", 11);
    mark(set, "r", 13);
    struct dirty_day *own = mark(set, "r", 12);
    add(&list, set, of_days, &told);
    cr_assert_eq(refresh_list_day(set, list.first), own);
    look(&list, set);
    cr_assert_eq(told.calls, 0);
    dirty_set_wait(set, own);
    look(&list, set);
    cr_assert_eq(told.calls, 1);
    dirty_set_free(set);
}

/* A full store: days went back to the end of the queue, behind others. */
Test(refresh_list, waits_longer_for_days_that_went_back)
{
    struct refresh_list list = {0};
    struct dirty_set *set = dirty_set_new();
    struct told told = {0};
    struct dirty_day *day = mark(set, "r", 10);
    add(&list, set, (struct refresh_waiter){.publishes = true}, &told);
    cr_assert(refresh_list_is_publishing(&list));
    dirty_set_wait(set, day);
    dirty_set_queue(set, day);
    refresh_list_wait_longer(&list, dirty_set_order(set));
    look(&list, set);
    cr_assert_eq(told.calls, 0);
    dirty_set_wait(set, day);
    refresh_list_note_worked(&list, set, 1);
    cr_assert_not(refresh_list_is_publishing(&list), "it is worked off, though not durable");
    refresh_list_call(&list, 1);
    cr_assert_eq(told.calls, 1);
    dirty_set_free(set);
}

Test(refresh_list, a_failure_is_told_to_all)
{
    struct refresh_list list = {0};
    struct dirty_set *set = dirty_set_new();
    struct told first = {0};
    struct told second = {0};
    mark(set, "r", 10);
    add(&list, set, (struct refresh_waiter){0}, &first);
    add(&list, set, (struct refresh_waiter){.is_of_rates = true}, &second);
    refresh_list_fail(&list, &(const struct error){.code = ERROR_FAILED});
    cr_assert_eq(first.status, ERROR_FAILED);
    cr_assert_eq(second.status, ERROR_FAILED);
    cr_assert(refresh_list_is_idle(&list));
    dirty_set_free(set);
}

/* What could not be worked off is queued again: whoever waits for it is told, and nobody else. */
Test(refresh_list, tells_a_failure_to_those_who_wait_for_it)
{
    struct refresh_list list = {0};
    struct dirty_set *set = dirty_set_new();
    struct told all = {0}, other = {0}, rates = {0}, later = {0};
    const struct dirty_mark cause = {.cause = CAUSE_RATE};
    struct error err = {0};
    struct dirty_range *range = dirty_set_add_range(set, bytes_text("r"), 10, RATE_DAY_END, &cause);
    add(&list, set, (struct refresh_waiter){0}, &all);
    add(&list, set, (struct refresh_waiter){.reseller = bytes_text("s"), .from = 0, .to = 99},
        &other);
    add(&list, set, (struct refresh_waiter){.is_of_rates = true}, &rates);
    error_set(&err, ERROR_CORRUPT, "a page");
    dirty_set_postpone_range(set, range);
    refresh_list_note_failed(&list, bytes_text("r"), 10, 12, &cause, &err);
    look(&list, set);
    cr_expect(all.calls == 1 && all.status == ERROR_CORRUPT);
    cr_expect(other.calls == 1 && other.status == 0);
    cr_expect(rates.calls == 1 && rates.status == ERROR_CORRUPT);
    add(&list, set, (struct refresh_waiter){0}, &later);
    look(&list, set);
    cr_expect(later.calls == 0 && range->order < refresh_list_range_order(&list),
              "the range is before it");
    refresh_list_wait_longer(&list, dirty_set_order(set));
    dirty_set_postpone_range(set, range);
    refresh_list_wait_longer(&list, dirty_set_order(set));
    cr_expect_geq(range->order, refresh_list_range_order(&list), "it was tried again");
    look(&list, set);
    cr_expect(later.calls == 1 && later.status == 0);
    cr_expect_eq(refresh_list_range_order(&list), 0);
    dirty_set_free(set);
}

/* test_dirty: marks, the order of work, and ranges. */
#include "rollup/days/dirty.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "rollup/days/figure.h"
#include "rollup/days/rate.h"
#include "base/calendar.h"

static struct buffer key_of(const char *reseller, int32_t day)
{
    struct buffer key = {0};
    dirty_put_key(&key, bytes_text(reseller), day);
    return key;
}

static struct dirty_day *mark(struct dirty_set *set, const char *reseller, int32_t day,
                              enum dirty_cause cause, const uint8_t *change, bool *is_new_out)
{
    struct buffer key = key_of(reseller, day);
    struct dirty_mark *new_mark;
    struct dirty_day *marked = dirty_set_mark(set, buffer_view(&key), dirty_hash(buffer_view(&key)),
                                              cause, change, 100, &new_mark);
    *is_new_out = new_mark != NULL;
    buffer_release(&key);
    return marked;
}

Test(dirty, only_the_first_mark_of_a_kind_is_new_but_each_queues_the_day)
{
    struct dirty_set *set = dirty_set_new();
    uint8_t change[UUID_SIZE] = {1};
    bool is_new;
    struct dirty_day *day = mark(set, "r", 10, CAUSE_LATE_CLICKS, NULL, &is_new);
    cr_assert(is_new);
    dirty_set_wait(set, day);
    cr_assert_eq(mark(set, "r", 10, CAUSE_LATE_CLICKS, NULL, &is_new), day);
    cr_assert_not(is_new);
    cr_assert(day->is_queued);
    mark(set, "r", 10, CAUSE_LATE_CLICKS, change, &is_new);
    cr_assert(is_new);
    mark(set, "r", 10, CAUSE_VOID, change, &is_new);
    cr_assert(is_new);
    mark(set, "r", 10, CAUSE_VOID, change, &is_new);
    cr_assert_not(is_new);
    cr_assert_eq(day->mark_count, 3);
    cr_assert(bytes_equal(dirty_day_reseller(day), bytes_text("r")));
    cr_assert_eq(day->day, 10);
    dirty_set_free(set);
}

Test(dirty, a_day_that_is_loaded_was_last_marked_when_it_had_been)
{
    struct dirty_set *set = dirty_set_new();
    const struct dirty_mark late = {.cause = CAUSE_LATE_CLICKS, .id = {1}};
    const struct dirty_mark empty = {.cause = CAUSE_VOID, .id = {2}};
    const struct dirty_mark rate = {.cause = CAUSE_RATE, .id = {3}};
    const struct dirty_day *day = dirty_set_load(set, bytes_text("r"), 10, &late, 100);
    cr_assert_eq(day->last_us, 100);
    dirty_set_load(set, bytes_text("r"), 10, &empty, 200);
    cr_expect_eq(day->last_us, 200);
    dirty_set_load(set, bytes_text("r"), 10, &rate, 300);
    cr_expect_eq(day->last_us, 200);
    cr_expect_eq(day->first_us, 100);
    dirty_set_free(set);
}

Test(dirty, changes_beyond_the_limit_go_unnamed)
{
    struct dirty_set *set = dirty_set_new();
    struct dirty_day *day = NULL;
    bool is_new;
    for (uint32_t i = 0; i < 3 * DIRTY_MARKS_MAX; i++) {
        uint8_t change[UUID_SIZE] = {(uint8_t)i, (uint8_t)(i >> 8), 1};
        day = mark(set, "r", 10, CAUSE_RATE, change, &is_new);
    }
    cr_assert_eq(day->mark_count, DIRTY_MARKS_MAX + 1);
    cr_assert_not(day->marks[DIRTY_MARKS_MAX].has_change);
    dirty_set_free(set);
}

Test(dirty, days_are_queued_in_the_order_they_were_marked_in)
{
    struct dirty_set *set = dirty_set_new();
    bool is_new;
    struct dirty_day *first = mark(set, "b", 1, CAUSE_LATE_CLICKS, NULL, &is_new);
    struct dirty_day *second = mark(set, "a", 1, CAUSE_LATE_CLICKS, NULL, &is_new);
    mark(set, "b", 1, CAUSE_LATE_CLICKS, NULL, &is_new);
    cr_assert_eq(dirty_set_first_queued(set), first);
    cr_assert_eq(TAILQ_NEXT(first, link), second);
    uint64_t order = dirty_set_order(set);
    dirty_set_wait(set, first);
    cr_assert_eq(dirty_set_first_queued(set), second);
    cr_assert_eq(dirty_set_first_waiting(set), first);
    cr_assert_eq(dirty_set_queued(set), 1);
    mark(set, "b", 1, CAUSE_LATE_CLICKS, NULL, &is_new);
    cr_assert_not(is_new, "a waiting day has its row already");
    cr_assert_eq(TAILQ_NEXT(second, link), first);
    cr_assert_geq(first->order, order);
    cr_assert_null(dirty_set_first_waiting(set));
    dirty_set_clear(set, second, 0);
    cr_assert_eq(dirty_set_first_queued(set), first);
    dirty_set_clear(set, first, 0);
    cr_assert_eq(dirty_set_count(set), 0);
    dirty_set_free(set);
}

Test(dirty, a_row_is_behind_until_the_batch_that_has_it_is_durable)
{
    struct dirty_set *set = dirty_set_new();
    bool is_new;
    struct dirty_day *day = mark(set, "r", 1, CAUSE_LATE_CLICKS, NULL, &is_new);
    cr_assert(dirty_day_is_behind(day, UINT64_MAX - 1), "queued");
    dirty_set_wait(set, day);
    cr_assert(dirty_day_is_behind(day, UINT64_MAX - 1), "being worked out");
    day->order = 5;
    cr_assert(dirty_day_is_behind(day, 4), "written");
    cr_assert_not(dirty_day_is_behind(day, 5), "durable");
    mark(set, "r", 1, CAUSE_LATE_CLICKS, NULL, &is_new);
    cr_assert(dirty_day_is_behind(day, UINT64_MAX - 1), "marked again");
    dirty_set_wait(set, day);
    dirty_set_clear(set, day, 7);
    cr_assert(dirty_day_is_behind(day, 7), "leaving");
    dirty_set_free(set);
}

/* Of one reseller, those that leave left out. */
static uint32_t count_peers(const struct dirty_set *set, const char *reseller)
{
    uint32_t count = 0;
    for (const struct dirty_day *day = dirty_set_first_of(set, bytes_text(reseller)); day != NULL;
         day = day->peer_next) {
        cr_assert(bytes_equal(dirty_day_reseller(day), bytes_text(reseller)));
        count += !day->is_leaving;
    }
    return count;
}

static uint32_t count_there(const bool *is_there, uint32_t days, uint32_t reseller)
{
    uint32_t count = 0;
    for (uint32_t i = reseller; i < days; i += 7)
        count += is_there[i];
    return count;
}

static void count_reseller(void *context, struct bytes reseller)
{
    (void)reseller;
    ++*(uint32_t *)context;
}

/* Readers see a cleared day until its batch is durable; a mark that comes before is a new one. */
Test(dirty, a_cleared_day_leaves_with_its_batch)
{
    struct dirty_set *set = dirty_set_new();
    uint32_t resellers = 0;
    bool is_new;
    struct dirty_day *first = mark(set, "r", 1, CAUSE_LATE_CLICKS, NULL, &is_new);
    struct dirty_day *second = mark(set, "r", 2, CAUSE_LATE_CLICKS, NULL, &is_new);
    struct dirty_day *third = mark(set, "s", 3, CAUSE_LATE_CLICKS, NULL, &is_new);
    dirty_set_wait(set, first);
    dirty_set_clear(set, first, 5);
    dirty_set_clear(set, second, 5);
    dirty_set_clear(set, third, 6);
    cr_assert_eq(dirty_set_count(set), 0);
    cr_assert_eq(dirty_set_queued(set), 0);
    cr_assert_null(dirty_set_first_waiting(set));
    cr_assert_null(dirty_set_find(set, dirty_day_key(first)));
    cr_assert_not_null(dirty_set_first_of(set, bytes_text("r")));
    cr_assert_eq(mark(set, "r", 1, CAUSE_LATE_CLICKS, NULL, &is_new), first);
    cr_assert(is_new, "its mark is deleted by the batch it left with");
    cr_assert_eq(first->mark_count, 1);
    dirty_set_forget(set, 5);
    cr_assert_eq(dirty_set_first_of(set, bytes_text("r")), first);
    cr_assert_null(first->peer_next, "the second is gone");
    cr_assert_eq(dirty_set_first_of(set, bytes_text("s")), third);
    dirty_set_forget(set, 6);
    cr_assert_null(dirty_set_first_of(set, bytes_text("s")));
    dirty_set_each_reseller(set, count_reseller, &resellers);
    cr_assert_eq(resellers, 1);
    cr_assert_eq(dirty_set_first_queued(set), first);
    dirty_set_free(set);
}

/* Marks and clears at random, checked against an array. */
Test(dirty, the_set_is_right_under_many_additions_and_removals)
{
    enum { DAYS = 3000, STEPS = 60000 };
    struct dirty_set *set = dirty_set_new();
    static bool is_there[DAYS];
    uint32_t count = 0;
    uint64_t state = 12345;
    for (int step = 0; step < STEPS; step++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        uint32_t which = (uint32_t)(state >> 33) % DAYS;
        char reseller[16];
        bool is_new;
        snprintf(reseller, sizeof(reseller), "r%u", which % 7);
        struct buffer key = key_of(reseller, (int32_t)(which / 7));
        uint32_t place = which;
        struct dirty_day *found = dirty_set_find(set, buffer_view(&key));
        cr_assert_eq(found != NULL, is_there[place]);
        if (found != NULL && (state >> 20) % 2 == 0) {
            dirty_set_clear(set, found, (uint64_t)step);
            is_there[place] = false;
            count--;
        } else {
            mark(set, reseller, (int32_t)(which / 7), CAUSE_LATE_CLICKS, NULL, &is_new);
            cr_assert_eq(is_new, !is_there[place]);
            count += is_new;
            is_there[place] = true;
        }
        if (step % 50 == 0)
            dirty_set_forget(set, (uint64_t)step - 20);
        cr_assert_eq(dirty_set_count(set), count);
        cr_assert_eq(count_peers(set, reseller), count_there(is_there, DAYS, which % 7));
        buffer_release(&key);
    }
    dirty_set_free(set);
}

Test(dirty, a_key_that_is_no_day_is_not_marked)
{
    struct dirty_set *set = dirty_set_new();
    struct dirty_mark *new_mark;
    struct buffer key = key_of("r", 10);
    for (size_t size = 0; size < key.size; size++)
        cr_assert_null(
            dirty_set_mark(set, bytes_of(key.data, size), size, CAUSE_VOID, NULL, 1, &new_mark));
    key.data[key.size - 2] = 'x';
    cr_assert_null(dirty_set_mark(set, buffer_view(&key), 1, CAUSE_VOID, NULL, 1, &new_mark));
    cr_assert_eq(dirty_set_count(set), 0);
    buffer_release(&key);
    dirty_set_free(set);
}

Test(dirty, ranges_come_in_order_and_share_the_days_sequence)
{
    struct dirty_set *set = dirty_set_new();
    struct dirty_mark rate = {.cause = CAUSE_RATE};
    bool is_new;
    struct dirty_range *first = dirty_set_add_range(set, bytes_text("r"), 5, RATE_DAY_END, &rate);
    struct dirty_day *day = mark(set, "r", 7, CAUSE_LATE_CLICKS, NULL, &is_new);
    struct dirty_range *second = dirty_set_add_range(set, bytes_text("s"), 1, 2, &rate);
    cr_assert_lt(first->order, day->order);
    cr_assert_lt(day->order, second->order);
    cr_assert_eq(dirty_set_first_range(set), first);
    cr_assert(bytes_equal(first->reseller, bytes_text("r")));
    dirty_set_clear_range(set, first);
    cr_assert_eq(dirty_set_first_range(set), second);
    dirty_set_clear_range(set, second);
    cr_assert_null(dirty_set_first_range(set));
    dirty_set_free(set);
}

Test(dirty, a_range_goes_from_any_place_and_the_others_stay_in_order)
{
    enum { RANGES = 3 };
    struct dirty_mark rate = {.cause = CAUSE_RATE};
    for (int32_t gone = 0; gone < RANGES; gone++) {
        struct dirty_set *set = dirty_set_new();
        struct dirty_range *ranges[RANGES + 1];
        for (int32_t day = 0; day < RANGES; day++)
            ranges[day] = dirty_set_add_range(set, bytes_text("r"), day, day + 1, &rate);
        dirty_set_clear_range(set, ranges[gone]);
        ranges[RANGES] = dirty_set_add_range(set, bytes_text("r"), RANGES, RANGES + 1, &rate);
        for (int32_t day = 0; day <= RANGES; day++) {
            if (day == gone)
                continue;
            struct dirty_range *first = dirty_set_first_range(set);
            cr_assert_eq(first, ranges[day]);
            cr_assert_eq(first->from, day);
            dirty_set_clear_range(set, first);
        }
        cr_assert_null(dirty_set_first_range(set));
        dirty_set_free(set);
    }
}

Test(dirty, causes_have_names_that_read_back)
{
    for (uint32_t i = 0; i < CAUSE_COUNT; i++) {
        enum dirty_cause cause;
        const char *name = dirty_cause_name((enum dirty_cause)i);
        cr_assert(dirty_cause_parse(bytes_text(name), &cause));
        cr_assert_eq(cause, i);
    }
    enum dirty_cause cause;
    cr_assert_not(dirty_cause_parse(bytes_text("weather"), &cause));
}

/* A figure of an open day as its row has it. */
static struct day_figure open_figure(const struct dirty_day *day, struct decimal gross,
                                     const struct rate *rate)
{
    struct day_figure figure = {.reseller = dirty_day_reseller(day),
                                .day = day->day,
                                .clicks = 3,
                                .gross = gross,
                                .is_priced = rate != NULL,
                                .state = DAY_OPEN};
    if (rate != NULL) {
        figure.rate = rate->rate;
        cr_assert_eq(decimal_multiply(gross, rate->rate, &figure.amount), 0);
    }
    return figure;
}

Test(dirty, a_row_that_is_kept_comes_back_digit_for_digit_or_not_at_all)
{
    const struct rate rate = {.rate = decimal_from(2500, 4)};
    const struct {
        struct decimal gross;
        const struct rate *rate;
        bool fits;
    } cases[] = {
        {decimal_from(1250, 2), &rate, true},
        {decimal_from(1250, 2), NULL, true},
        {decimal_from(0, 0), &rate, true},
        {decimal_from(INT64_MIN, 18), &rate, true},
        {decimal_from((int128)INT64_MAX + 1, 2), &rate, false},
        {decimal_from(1, -1), NULL, false},
    };
    struct dirty_set *set = dirty_set_new();
    bool is_new;
    struct dirty_day *day = mark(set, "r", 10, CAUSE_LATE_CLICKS, NULL, &is_new);
    struct day_figure found;
    cr_assert_not(dirty_day_row(day, &found));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct day_figure figure = open_figure(day, cases[i].gross, cases[i].rate);
        dirty_day_keep_row(day, &figure);
        cr_assert_eq(dirty_day_row(day, &found), cases[i].fits, "case %zu", i);
        if (cases[i].fits)
            cr_assert(figure_identical(&found, &figure), "case %zu", i);
    }
    struct day_figure wrong = open_figure(day, decimal_from(1, 1), &rate);
    wrong.amount = decimal_from(7, 1);
    dirty_day_keep_row(day, &wrong);
    cr_assert_not(dirty_day_row(day, &found), "an amount that is no product cannot be made again");
    dirty_set_free(set);
}

Test(dirty, a_set_knows_what_it_takes_of_memory_and_gives_it_back)
{
    enum { DAYS = 3000, CHANGES = 5 };
    struct dirty_set *set = dirty_set_new();
    bool is_new;
    size_t empty = dirty_set_bytes(set);
    for (int32_t i = 0; i < DAYS; i++)
        mark(set, "r", i, CAUSE_LATE_CLICKS, NULL, &is_new);
    cr_assert_lt(dirty_set_bytes(set), empty + (size_t)DAYS * 250);
    size_t one_mark = dirty_set_bytes(set);
    for (uint8_t i = 0; i < CHANGES; i++) {
        uint8_t change[UUID_SIZE] = {i};
        mark(set, "r", 0, CAUSE_VOID, change, &is_new);
    }
    cr_assert_geq(dirty_set_bytes(set), one_mark + (CHANGES + 1) * sizeof(struct dirty_mark));
    while (dirty_set_first_queued(set) != NULL)
        dirty_set_clear(set, dirty_set_first_queued(set), 1);
    dirty_set_forget(set, 1);
    cr_assert_leq(dirty_set_bytes(set), one_mark - (size_t)DAYS * sizeof(struct dirty_day));
    dirty_set_free(set);
}

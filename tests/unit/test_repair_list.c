/* test_repair_list: what a verification notes is kept, in order, whatever becomes of the caller's
 * bytes. */
#include "rollup/verify/repair_list.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct click_stream_counter per_ad = {CLICKS_OF_AD, 4, 2};

Test(repair_list, is_empty_until_a_day_or_a_counter_is_noted)
{
    struct repair_list *of_days = repair_list_new();
    struct repair_list *of_counters = repair_list_new();
    cr_assert(repair_list_is_empty(of_days));
    repair_list_note_day(of_days, bytes_text("r"), 100);
    repair_list_note_counter(of_counters, &per_ad, bytes_text("ad"), 0);
    cr_assert_not(repair_list_is_empty(of_days));
    cr_assert_not(repair_list_is_empty(of_counters));
    repair_list_free(of_days);
    repair_list_free(of_counters);
    repair_list_free(NULL);
}

/* The bytes that are noted change right after, and there are more of them than the list begins
 * with room for. */
Test(repair_list, keeps_copies_in_the_order_in_which_they_were_noted)
{
    enum { NOTED = 200 };
    struct repair_list *list = repair_list_new();
    char name[24];
    for (int i = 0; i < NOTED; i++) {
        snprintf(name, sizeof(name), "reseller %d", i);
        repair_list_note_day(list, bytes_text(name), i);
        snprintf(name, sizeof(name), "ad %d", i);
        repair_list_note_counter(list, &per_ad, bytes_text(name), -i);
    }
    cr_assert_eq(list->day_count, NOTED);
    cr_assert_eq(list->counter_count, NOTED);
    for (int i = 0; i < NOTED; i++) {
        snprintf(name, sizeof(name), "reseller %d", i);
        cr_assert(bytes_equal(list->days[i].reseller, bytes_text(name)));
        cr_assert_eq(list->days[i].day, i);
        snprintf(name, sizeof(name), "ad %d", i);
        cr_assert(bytes_equal(list->counters[i].key, bytes_text(name)));
        cr_assert_eq(list->counters[i].delta, -i);
        cr_assert_eq(list->counters[i].of, &per_ad);
    }
    repair_list_free(list);
}

/* Days of partitions and the rows of each. */
#include <criterion/criterion.h>

#include "base/calendar.h"
#include "storage/segment/segment_days.h"

/* The last component of the key, where it is a day, and nothing else. */
Test(segment_days, a_partition_has_the_day_of_its_key)
{
    static const struct {
        const char *text;
        bool is_day;
    } cases[] = {{"2013-11-28", true}, {"1970-01-01", true}, {"2013-02-30", false},
                 {"2013-11-2", false}, {"", false},          {"2013-11-28 ", false}};
    const struct column columns[2] = {{.kind = COLUMN_PARTITION}, {.kind = COLUMN_PARTITION}};
    const struct table table = {.columns = columns, .column_count = 2, .partition_count = 2};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer key = {0};
        int32_t day = DAY_NONE;
        type_key_put_component(&key, 2, bytes_text("2001-01-01"));
        type_key_put_component(&key, 2, bytes_text(cases[i].text));
        cr_expect_eq(calendar_day_parse(bytes_text(cases[i].text), &day), cases[i].is_day);
        cr_expect_eq(segment_days_of_key(&table, buffer_view(&key)),
                     cases[i].is_day ? day : DAY_NONE, "%s", cases[i].text);
        buffer_release(&key);
    }
}

/* In any order they are added, days ascend and rows add. */
Test(segment_days, rows_add_by_day)
{
    static const int32_t days[] = {5, 3, 9, 3, 5, 1, DAY_NONE, 9, 9};
    static const struct day_rows sums[] = {{DAY_NONE, 64}, {1, 32}, {3, 10}, {5, 17}, {9, 388}};
    struct segment_days all = {0};
    struct segment_days other = {0};
    for (uint32_t i = 0; i < sizeof days / sizeof days[0]; i++)
        segment_days_add(&all, days[i], UINT64_C(1) << i);
    cr_assert_eq(all.count, 5);
    for (uint32_t i = 0; i < all.count; i++) {
        cr_expect_eq(all.days[i].day, sums[i].day);
        cr_expect_eq(all.days[i].rows, sums[i].rows);
        cr_expect_eq(segment_days_find(&all, sums[i].day), &all.days[i]);
    }
    cr_expect_null(segment_days_find(&all, 4));
    segment_days_add(&other, 4, 1);
    segment_days_add(&other, 8, 1);
    cr_expect_not(segment_days_meet(&all, &other));
    segment_days_add(&other, 9, 1);
    cr_expect(segment_days_meet(&all, &other) && segment_days_meet(&other, &all));
    segment_days_release(&all);
    segment_days_release(&other);
}

/* test_report_sum: days, priced and not, add up exactly. */
#include "query/report/report_sum.h"

#include <criterion/criterion.h>

static struct day_figure figure_of(uint64_t clicks, int64_t cents, bool is_priced)
{
    struct day_figure figure = {
        .clicks = clicks, .gross = decimal_from(cents, 2), .is_priced = is_priced};
    if (is_priced)
        figure.amount = decimal_from(cents, 3);
    return figure;
}

static void add_day(struct report_sum *sum, struct day_figure figure)
{
    const struct report_sum day = report_sum_of_day(&figure);
    cr_assert_eq(report_sum_add(sum, &day), 0);
}

Test(report_sum, days_without_a_rate_count_in_clicks_and_gross_alone)
{
    struct report_sum sum = {0};
    add_day(&sum, figure_of(3, 150, true));
    add_day(&sum, figure_of(2, 75, false));
    cr_expect_eq(sum.clicks, 5);
    cr_expect_eq(decimal_compare(sum.gross, decimal_from(225, 2)), 0);
    cr_expect_eq(decimal_compare(sum.amount, decimal_from(150, 3)), 0);
    cr_expect_eq(sum.unpriced_days, 1);
    cr_expect_eq(decimal_compare(sum.unpriced_gross, decimal_from(75, 2)), 0);
}

Test(report_sum, a_day_without_clicks_lacks_no_rate)
{
    struct report_sum sum = {0};
    add_day(&sum, figure_of(0, 0, false));
    cr_expect_eq(sum.unpriced_days, 0);
    cr_expect_eq(sum.clicks, 0);
}

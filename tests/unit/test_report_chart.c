/* test_report_chart: a picture is XML, whatever bytes the names and the currency have. */
#include "query/report/report_chart.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_pieces(enum report_by by, const char *const *pieces, size_t count)
{
    static const char reseller[] = {'<', 'a', '>', '\0', 'b'};
    const struct report_options options = {.by = by, .day_from = DAY_MIN, .day_to = DAY_MAX};
    const struct report_row row = {
        .reseller = bytes_of(reseller, sizeof(reseller)),
        .ad = bytes_text("ad"),
        .period = 0,
        .sum = {.clicks = 1, .gross = decimal_from(5, 1), .amount = decimal_from(25, 2)}};
    struct report_chart *chart = report_chart_new(&options, "R&D<", NULL);
    struct buffer svg = {0};
    struct error err = {0};
    cr_assert_eq(report_chart_add(chart, &row, &err), 0);
    report_chart_draw(chart, &svg);
    buffer_put_u8(&svg, 0);
    const char *at = (const char *)svg.data;
    cr_expect_eq(strlen(at), svg.size - 1, "there is a NUL in the picture");
    for (size_t i = 0; i < count; i++) {
        cr_assert_not_null(strstr(at, pieces[i]), "no %s, or not in its place:\n%s", pieces[i], at);
        at = strstr(at, pieces[i]);
    }
    buffer_release(&svg);
    report_chart_free(chart);
}

Test(report_chart, of_bars_has_the_whole_name_and_the_currency_as_text)
{
    static const char *const pieces[] = {
        ">0.25 R&amp;D&lt; of gross 0.5, 1 click</text>", ">&lt;a&gt;?b ad</text>",
        "<title>&lt;a&gt;?b ad: 0.25 R&amp;D&lt;; 1 click, gross 0.5</title>",
        ">0.25 R&amp;D&lt;</text>"};
    expect_pieces(BY_AD, pieces, 4);
}

Test(report_chart, of_days_has_the_whole_name_and_the_currency_as_text)
{
    static const char *const pieces[] = {
        ">&lt;a&gt;?b</text>", ">0.25 R&amp;D&lt;</text>",
        "<title>1970-01-01: 0.25 R&amp;D&lt;; 1 click, gross 0.5</title>"};
    expect_pieces(BY_DAY, pieces, 3);
}

Test(report_chart, of_one_ad_says_which)
{
    const struct report_options options = {.by = BY_DAY,
                                           .day_from = DAY_MIN,
                                           .day_to = DAY_MAX,
                                           .ad = "<an ad with a name that is too long>"};
    struct report_chart *chart = report_chart_new(&options, "", NULL);
    struct buffer svg = {0};

    report_chart_draw(chart, &svg);
    buffer_put_u8(&svg, 0);
    cr_expect_not_null(
        strstr((const char *)svg.data,
               "<title>Amount of ad &lt;an ad with a name that is too … by day</title>"),
        "%s", (const char *)svg.data);
    buffer_release(&svg);
    report_chart_free(chart);
}

/* test_rate: which rate is in effect on a day, and which texts are rates. */
#include "rollup/days/rate.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/calendar.h"
#include "base/memory.h"

static int32_t day_of(const char *text)
{
    int32_t day;
    cr_assert(calendar_day_parse(bytes_text(text), &day));
    return day;
}

static void expect_rate(const struct rate_table *table, const char *reseller, const char *day,
                        const char *expected)
{
    const struct rate *rate = rate_table_at(table, bytes_text(reseller), day_of(day));
    char text[DECIMAL_TEXT_MAX] = "none";
    if (rate != NULL)
        decimal_format(rate->rate, text);
    cr_expect_str_eq(text, expected, "%s %s", reseller, day);
}

Test(rate, the_latest_rate_not_after_the_day_is_in_effect)
{
    struct rate_table *table = rate_table_new();
    struct bytes reseller = bytes_text("9E");
    expect_rate(table, "9E", "2013-01-01", "none");
    cr_assert(rate_table_set(table, reseller, day_of("2013-05-01"), decimal_from(25, 2)));
    cr_assert(rate_table_set(table, reseller, day_of("2013-01-01"), decimal_from(2, 1)));
    expect_rate(table, "9E", "2012-12-31", "none");
    expect_rate(table, "9E", "2013-01-01", "0.2");
    expect_rate(table, "9E", "2013-04-30", "0.2");
    expect_rate(table, "9E", "2013-05-01", "0.25");
    expect_rate(table, "9E", "9999-12-31", "0.25");
    expect_rate(table, "AA", "2013-05-01", "none");
    cr_assert_eq(rate_table_next(table, reseller, day_of("2012-01-01")), day_of("2013-01-01"));
    cr_assert_eq(rate_table_next(table, reseller, day_of("2013-01-01")), day_of("2013-05-01"));
    cr_assert_eq(rate_table_next(table, reseller, day_of("2013-05-01")), RATE_DAY_END);
    rate_table_free(table);
}

Test(rate, setting_the_same_digits_again_changes_nothing)
{
    struct rate_table *table = rate_table_new();
    cr_assert(rate_table_set(table, bytes_text("a"), 10, decimal_from(25, 2)));
    cr_assert_not(rate_table_set(table, bytes_text("a"), 10, decimal_from(25, 2)));
    cr_assert(rate_table_set(table, bytes_text("a"), 10, decimal_from(250, 3)));
    cr_assert(rate_table_set(table, bytes_text("a"), 10, decimal_from(26, 2)));
    rate_table_free(table);
}

Test(rate, removed_rates_leave_the_one_before_in_effect)
{
    struct rate_table *table = rate_table_new();
    struct bytes reseller = bytes_text("a");
    for (int32_t day = 0; day < 100; day += 10)
        cr_assert(rate_table_set(table, reseller, day, decimal_from(day, 3)));
    cr_assert(rate_table_remove(table, reseller, 20, 41));
    cr_assert_not(rate_table_remove(table, reseller, 20, 41));
    cr_assert_not(rate_table_remove(table, bytes_text("b"), 20, 41));
    cr_assert_eq(rate_table_at(table, reseller, 45)->since, 10);
    cr_assert_eq(rate_table_at(table, reseller, 50)->since, 50);
    cr_assert(rate_table_remove(table, reseller, INT32_MIN, RATE_DAY_END));
    cr_assert_null(rate_table_at(table, reseller, 1000));
    rate_table_free(table);
}

/* An insertion that moved all later rates would take this test a minute. */
Test(rate, very_many_rates_are_set_and_removed_in_any_order, .timeout = 10)
{
    enum { DAYS = 150000, STEP = 7919 }; /* no divisor in common */
    struct bytes reseller = bytes_text("a");
    uint32_t count;
    for (int order = 0; order < 3; order++) {
        struct rate_table *table = rate_table_new();
        for (int64_t i = 0; i < DAYS; i++) {
            int32_t day = (int32_t)(order == 0 ? i : order == 1 ? DAYS - 1 - i : i * STEP % DAYS);
            cr_assert(rate_table_set(table, reseller, day * 2, decimal_from(day, 6)));
        }
        struct rate *rates = rate_table_rates(table, reseller, &count);
        cr_assert_eq(count, DAYS);
        for (int32_t i = 0; i < DAYS; i++)
            cr_assert(rates[i].since == 2 * i && rates[i].rate.limb[0] == (uint32_t)i);
        memory_free(rates);
        for (int32_t i = 0; i < DAYS; i++) {
            cr_assert_eq(rate_table_at(table, reseller, 2 * i + 1)->since, 2 * i);
            cr_assert_eq(rate_table_next(table, reseller, 2 * i - 1), 2 * i);
        }
        cr_assert_null(rate_table_at(table, reseller, -1));
        cr_assert_eq(rate_table_next(table, reseller, 2 * DAYS - 2), RATE_DAY_END);
        cr_assert(rate_table_remove(table, reseller, 1001, 200000));
        cr_assert_eq(rate_table_at(table, reseller, 200000 - 1)->since, 1000);
        cr_assert_eq(rate_table_next(table, reseller, 1000), 200000);
        for (int64_t i = 0; i < DAYS; i++) {
            int32_t since = (int32_t)(i * STEP % DAYS) * 2;
            bool was_removed = since > 1000 && since < 200000;
            cr_assert_eq(rate_table_remove(table, reseller, since, since + 1), !was_removed);
        }
        cr_assert_null(rate_table_rates(table, reseller, &count));
        cr_assert_eq(count, 0);
        rate_table_free(table);
    }
}

Test(rate, many_resellers_keep_their_own_rates_and_are_listed_in_order)
{
    struct rate_table *table = rate_table_new();
    char name[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "r%03d", (i * 7) % 1000);
        cr_assert(rate_table_set(table, bytes_text(name), 1, decimal_from((i * 7) % 1000, 4)));
    }
    uint32_t count;
    struct bytes *resellers = rate_table_resellers(table, &count);
    cr_assert_eq(count, 1000);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "r%03d", (int)i);
        cr_assert(bytes_equal(resellers[i], bytes_text(name)));
        cr_assert_eq(rate_table_at(table, resellers[i], 5)->rate.limb[0], i);
    }
    memory_free(resellers);
    rate_table_free(table);
}

Test(rate, fractions_and_percent_signs_are_read_exactly)
{
    static const char *const cases[][2] = {
        {"0.25", "0.25"},     {"25%", "0.25"}, {"12.5%", "0.125"}, {"100%", "1.00"},
        {"0", "0"},           {"0%", "0.00"},  {"0.205", "0.205"}, {"0.999999999999999999", NULL},
        {"0.001%", "0.00001"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decimal rate;
        struct error err;
        char text[DECIMAL_TEXT_MAX];
        cr_assert_eq(rate_parse(bytes_text(cases[i][0]), &rate, &err), 0, "%s", cases[i][0]);
        decimal_format(rate, text);
        cr_expect_str_eq(text, cases[i][1] != NULL ? cases[i][1] : cases[i][0]);
    }
}

Test(rate, a_refusal_says_what_was_probably_meant)
{
    static const char *const cases[][2] = {
        {"25", "rate 25 is not clear; did you mean 25% (that is 0.25)?"},
        {"1", "rate 1 is not clear; write 100% for the whole amount, or 1%"},
        {"100", "rate 100 is not clear; did you mean 100% (that is 1.00)?"},
        {"250", "rate 250 is more than the whole amount (1)"},
        {"101%", "rate 101% is more than the whole amount (100%)"},
        {"-0.2", "rate \"-0.2\" is negative; a rate is 0 to 1"},
        {"0,25", "rate \"0,25\" has a comma; write the point: 0.25"},
        {"", "\"\" is no rate; write a fraction (0.25) or percent (25%)"},
        {"%", "\"%\" is no rate; write a fraction (0.25) or percent (25%)"},
        {"2e-1", "\"2e-1\" is no rate; write a fraction (0.25) or percent (25%)"},
        {"0.1234567890123456789", "rate \"0.1234567890123456789\" has over 18 digits"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct decimal rate;
        struct error err;
        cr_assert_eq(rate_parse(bytes_text(cases[i][0]), &rate, &err), ERROR_INVALID, "%s",
                     cases[i][0]);
        cr_expect_str_eq(err.text, cases[i][1]);
    }
}

/* A field of no bytes may be a view of nothing at all. */
Test(rate, an_empty_view_without_memory_is_refused_like_an_empty_text)
{
    struct decimal rate;
    struct error err;
    cr_assert_eq(rate_parse(bytes_of(NULL, 0), &rate, &err), ERROR_INVALID);
    cr_expect_str_eq(err.text, "\"\" is no rate; write a fraction (0.25) or percent (25%)");
}

Test(rate, a_day_in_another_spelling_is_refused_with_the_right_one)
{
    static const char *const cases[][2] = {
        {"2013-4-1", "\"2013-4-1\" is no day; did you mean 2013-04-01?"},
        {"2013/04/01", "\"2013/04/01\" is no day; did you mean 2013-04-01?"},
        {"2013-02-30", "\"2013-02-30\" is no day; write YYYY-MM-DD"},
        {"tomorrow", "\"tomorrow\" is no day; write YYYY-MM-DD"},
        {"", "\"\" is no day; write YYYY-MM-DD"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int32_t day;
        struct error err;
        cr_assert_eq(rate_parse_day(bytes_text(cases[i][0]), &day, &err), ERROR_INVALID);
        cr_expect_str_eq(err.text, cases[i][1]);
    }
}

Test(rate, printed_rates_load_again_and_read_as_percent)
{
    static const struct {
        int64_t unscaled;
        int32_t scale;
        const char *text;
        const char *percent;
    } cases[] = {{25, 2, "0.25", "25%"},   {125, 3, "0.125", "12.5%"}, {1, 0, "100%", "100%"},
                 {100, 2, "100%", "100%"}, {2, 1, "0.2", "20%"},       {0, 0, "0", "0%"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer text = {0};
        struct decimal rate = decimal_from(cases[i].unscaled, cases[i].scale);
        rate_append_text(&text, rate);
        cr_expect(bytes_equal(buffer_view(&text), bytes_text(cases[i].text)));
        struct decimal back;
        cr_expect_eq(rate_parse(buffer_view(&text), &back, NULL), 0);
        cr_expect_eq(decimal_compare(rate, back), 0);
        buffer_clear(&text);
        rate_append_percent(&text, rate);
        cr_expect(bytes_equal(buffer_view(&text), bytes_text(cases[i].percent)), "%.*s",
                  (int)text.size, (const char *)text.data);
        buffer_release(&text);
    }
}

/* Rates of a user's table may have been written before a stream was defined over it. */
Test(rate, a_rate_of_too_many_digits_is_shown_as_a_fraction)
{
    static const char *const cases[][2] = {
        {"-45", "-4500%"},
        {"5e38", "50000000000000000000000000000000000000000%"},
        {"0.50000000000000000000000000000000000000000000000000000000000000000000000000",
         "50.000000000000000000000000000000000000000000000000000000000000000000000000%"},
        {"5800000000000000000000000000000000000000000000000000000000000000000000000000",
         "5800000000000000000000000000000000000000000000000000000000000000000000000000"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buffer text = {0};
        struct decimal rate;
        cr_assert_eq(decimal_parse(bytes_text(cases[i][0]), &rate), 0, "%s", cases[i][0]);
        rate_append_percent(&text, rate);
        cr_expect(bytes_equal(buffer_view(&text), bytes_text(cases[i][1])), "%.*s", (int)text.size,
                  (const char *)text.data);
        buffer_release(&text);
    }
}

/* test_rollup: from clicks and rates to figures, publication and restatements, on the real engine
 * in the simulated world. */
#include "rollup/days/rollup.h"

#include <errno.h>
#include <criterion/criterion.h>
#include <stdio.h>

#include "rollup/days/rollup_private.h"
#include "tests/lib/rollup_fixture.h"

static const struct click paper[] = {
    {"supaboobs", "2013-11-28", 1385605012000, "890_567_234", "0.005"},
    {"supaboobs", "2013-11-28", 1385623055000, "890_567_234", "0.005"},
    {"supaboobs", "2013-11-29", 1385745531000, "890_567_211", "0.0075"},
    {"supaboobs", "2013-11-29", 1385763637000, "890_567_211", "0.0075"},
    {"supaboobs", "2013-11-30", 1385810516000, "890_567_234", "0.005"},
    {"supaboobs", "2013-12-01", 1385900519000, "890_567_010", "0.01"},
};

static void put_paper(struct rollup_fixture *fixture)
{
    rollup_fixture_rate(fixture, "supaboobs", "2011-02-13", "0.2", true);
    rollup_fixture_rate(fixture, "supaboobs", "2013-11-29", "0.25", true);
    rollup_fixture_clicks(fixture, paper, 6);
}

Test(rollup, figures_are_clicks_times_the_rate_in_effect)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    put_paper(&fixture);
    rollup_fixture_click(&fixture, "another", "2013-11-28", "0.10");
    cr_assert_eq(rollup_dirty_count(fixture.rollup), 5);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    cr_assert_eq(rollup_dirty_count(fixture.rollup), 0);
    rollup_fixture_expect_figures(&fixture, "another 2013-11-28 1 0.10 - - open\n"
                                            "supaboobs 2013-12-01 1 0.01 0.25 0.0025 open\n"
                                            "supaboobs 2013-11-30 1 0.005 0.25 0.00125 open\n"
                                            "supaboobs 2013-11-29 2 0.0150 0.25 0.003750 open\n"
                                            "supaboobs 2013-11-28 2 0.010 0.2 0.0020 open\n");
    rollup_fixture_stop(&fixture);
}

/* The day's first ledger row is its publication; what comes later names old, new and cause. */
Test(rollup, a_published_day_that_changes_is_restated_with_its_cause)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    put_paper(&fixture);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_click(&fixture, "supaboobs", "2013-11-28", "1.00");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_rate(&fixture, "supaboobs", "2013-11-29", "0.5", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_void(&fixture, "supaboobs", "2013-11-30");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_expect_ledger(&fixture, "supaboobs",
                                 "2013-11-28 published - - 2 - 0.010 - 0.2 - 0.0020\n"
                                 "2013-11-28 late_clicks - 2 3 0.010 1.010 0.2 0.2 0.0020 0.2020\n"
                                 "2013-11-29 published - - 2 - 0.0150 - 0.25 - 0.003750\n"
                                 "2013-11-29 rate + 2 2 0.0150 0.0150 0.25 0.5 0.003750 0.00750\n"
                                 "2013-11-30 published - - 1 - 0.005 - 0.25 - 0.00125\n"
                                 "2013-11-30 rate + 1 1 0.005 0.005 0.25 0.5 0.00125 0.0025\n"
                                 "2013-11-30 void - 1 0 0.005 0 0.5 0.5 0.0025 0.0\n"
                                 "2013-12-01 published - - 1 - 0.01 - 0.25 - 0.0025\n"
                                 "2013-12-01 rate + 1 1 0.01 0.01 0.25 0.5 0.0025 0.005\n");
    rollup_fixture_expect_figures(&fixture, "supaboobs 2013-12-01 1 0.01 0.5 0.005 published\n"
                                            "supaboobs 2013-11-30 0 0 0.5 0.0 published\n"
                                            "supaboobs 2013-11-29 2 0.0150 0.5 0.00750 published\n"
                                            "supaboobs 2013-11-28 3 1.010 0.2 0.2020 published\n");
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_stop(&fixture);
}

/* Without a server a day is published by the next rollup; a day that has not ended is not. */
Test(rollup, a_day_is_published_only_when_it_has_ended_and_an_hour_has_passed)
{
    struct rollup_fixture fixture = {.start_time = "2013-11-29T00:30:00Z"};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_expect_figures(&fixture, "r 2013-11-28 1 0.10 - - open\n");
    rollup_fixture_expect_ledger(&fixture, "r", "");
    cr_assert_eq(rollup_fixture_marks(&fixture), 1, "an open day keeps its mark");
    rollup_fixture_advance(&fixture, 1801);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_expect_ledger(&fixture, "r", "2013-11-28 published - - 1 - 0.10 - - - -\n");
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_stop(&fixture);
}

Test(rollup, the_day_ends_in_the_streams_zone)
{
    struct rollup_fixture fixture = {.start_time = "2013-11-29T05:30:00Z",
                                     .zone = "America/New_York"};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_expect_ledger(&fixture, "r", "");
    rollup_fixture_advance(&fixture, 1801);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_expect_ledger(&fixture, "r", "2013-11-28 published - - 1 - 0.10 - - - -\n");
    rollup_fixture_stop(&fixture);
}

/* A changed rate takes a settled day's clicks from its row, and a marked one's from its clicks, of
 * one reseller or of two; the marked one is restated once. */
Test(rollup, a_changed_rate_counts_the_clicks_that_are_not_yet_worked_off)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    put_paper(&fixture);
    rollup_fixture_click(&fixture, "another", "2013-11-29", "0.10");
    rollup_fixture_rate(&fixture, "another", "2013-11-28", "0.1", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_click(&fixture, "supaboobs", "2013-11-29", "1");
    rollup_fixture_void(&fixture, "supaboobs", "2013-12-01");
    rollup_fixture_rate(&fixture, "supaboobs", "2013-11-29", "0.5", true);
    rollup_fixture_rate(&fixture, "another", "2013-11-29", "0.3", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_expect_figures(&fixture, "another 2013-11-29 1 0.10 0.3 0.030 published\n"
                                            "supaboobs 2013-12-01 0 0 0.5 0.0 published\n"
                                            "supaboobs 2013-11-30 1 0.005 0.5 0.0025 published\n"
                                            "supaboobs 2013-11-29 3 1.0150 0.5 0.50750 published\n"
                                            "supaboobs 2013-11-28 2 0.010 0.2 0.0020 published\n");
    rollup_fixture_expect_ledger(&fixture, "another",
                                 "2013-11-29 published - - 1 - 0.10 - 0.1 - 0.010\n"
                                 "2013-11-29 rate + 1 1 0.10 0.10 0.1 0.3 0.010 0.030\n");
    rollup_fixture_expect_ledger(
        &fixture, "supaboobs",
        "2013-11-28 published - - 2 - 0.010 - 0.2 - 0.0020\n"
        "2013-11-29 published - - 2 - 0.0150 - 0.25 - 0.003750\n"
        "2013-11-29 late_clicks,rate + 2 3 0.0150 1.0150 0.25 0.5 0.003750 0.50750\n"
        "2013-11-30 published - - 1 - 0.005 - 0.25 - 0.00125\n"
        "2013-11-30 rate + 1 1 0.005 0.005 0.25 0.5 0.00125 0.0025\n"
        "2013-12-01 published - - 1 - 0.01 - 0.25 - 0.0025\n"
        "2013-12-01 rate,void + 1 0 0.01 0 0.25 0.5 0.0025 0.0\n");
    rollup_fixture_stop(&fixture);
}

/* A rate governs from its day up to before the next one, however they are entered. */
Test(rollup, rates_entered_in_any_order_price_the_same_days)
{
    static const char *const days[] = {"2013-11-01", "2013-11-10", "2013-11-20"};
    static const char *const rates[] = {"0.1", "0.2", "0.3"};
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}};
    for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
        struct rollup_fixture fixture = {.seed = o};
        rollup_fixture_start(&fixture);
        rollup_fixture_click(&fixture, "r", "2013-10-31", "1");
        rollup_fixture_click(&fixture, "r", "2013-11-09", "1");
        rollup_fixture_click(&fixture, "r", "2013-11-10", "1");
        rollup_fixture_click(&fixture, "r", "2013-11-20", "1");
        for (int i = 0; i < 3; i++) {
            rollup_fixture_rate(&fixture, "r", days[orders[o][i]], rates[orders[o][i]], false);
            cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
        }
        rollup_fixture_expect_figures(&fixture, "r 2013-11-20 1 1 0.3 0.3 open\n"
                                                "r 2013-11-10 1 1 0.2 0.2 open\n"
                                                "r 2013-11-09 1 1 0.1 0.1 open\n"
                                                "r 2013-10-31 1 1 - - open\n");
        rollup_fixture_rate(&fixture, "r", "2013-11-10", NULL, false);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
        rollup_fixture_expect_figures(&fixture, "r 2013-11-20 1 1 0.3 0.3 open\n"
                                                "r 2013-11-10 1 1 0.1 0.1 open\n"
                                                "r 2013-11-09 1 1 0.1 0.1 open\n"
                                                "r 2013-10-31 1 1 - - open\n");
        rollup_fixture_stop(&fixture);
    }
}

/* More days than fit a chunk or a page of a range. */
Test(rollup, a_rate_reaches_all_of_many_days)
{
    enum { DAYS = 700 };
    struct rollup_fixture fixture = {0};
    static struct click clicks[DAYS];
    static char names[DAYS][DAY_TEXT_SIZE + 1];
    rollup_fixture_start(&fixture);
    for (int i = 0; i < DAYS; i++) {
        int32_t day = 15000 + i;
        calendar_day_format(day, names[i]);
        clicks[i] = (struct click){"r", names[i], day * DAY_MS, "ad", "0.5"};
    }
    rollup_fixture_clicks(&fixture, clicks, DAYS);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_flush(&fixture);
    rollup_fixture_rate(&fixture, "r", "2000-01-01", "0.5", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    struct buffer text = rollup_fixture_figures(&fixture);
    size_t priced = 0;
    for (const char *at = (const char *)text.data; (at = strstr(at, "1 0.5 0.5 0.25 published\n"));
         at++)
        priced++;
    cr_assert_eq(priced, DAYS);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    buffer_release(&text);
    text = rollup_fixture_ledger(&fixture, "r");
    size_t restated = 0;
    for (const char *at = (const char *)text.data; (at = strstr(at, " rate + ")); at++)
        restated++;
    cr_assert_eq(restated, DAYS);
    buffer_release(&text);
    rollup_fixture_stop(&fixture);
}

/* The order of a chunk whose days are all open is that of their marks; what it writes reads back
 * from the log. */
Test(rollup, open_days_that_come_in_any_order_are_there_after_a_crash)
{
    static const char *const days[] = {"2013-12-08", "2013-12-10", "2013-12-09", "2013-12-10",
                                       "2013-12-08"};
    struct rollup_fixture fixture = {.is_automatic = true, .start_time = "2013-12-10T12:00:00Z"};
    rollup_fixture_start(&fixture);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++)
            rollup_fixture_click(&fixture, "r", days[i], "1");
        rollup_fixture_advance(&fixture, 1);
    }
    rollup_fixture_crash(&fixture, 1);
    rollup_fixture_expect_figures(&fixture, "r 2013-12-10 4 4 - - open\n"
                                            "r 2013-12-09 2 2 - - open\n"
                                            "r 2013-12-08 4 4 - - open\n");
    rollup_fixture_stop(&fixture);
}

/* ---- rates of many resellers ---- */

enum { MANY = 20, MANY_DAYS_MAX = 70 };

/* Reseller i has so many days with clicks: none, a few, or more than a chunk takes of a range. */
static uint32_t many_days(uint32_t i)
{
    static const uint32_t days[] = {3, 0, 31, 32, 33, 1, MANY_DAYS_MAX};
    return days[i % (sizeof(days) / sizeof(days[0]))];
}

static void put_many(struct rollup_fixture *fixture)
{
    static struct click clicks[MANY_DAYS_MAX];
    static char names[MANY_DAYS_MAX][DAY_TEXT_SIZE + 1];
    for (uint32_t i = 0; i < MANY; i++) {
        char reseller[16];
        snprintf(reseller, sizeof(reseller), "r%02u", i);
        for (uint32_t d = 0; d < many_days(i); d++) {
            int32_t day = 15000 + (int32_t)d;
            calendar_day_format(day, names[d]);
            clicks[d] = (struct click){reseller, names[d], day * DAY_MS, "ad", "0.5"};
        }
        rollup_fixture_clicks(fixture, clicks, many_days(i));
    }
}

/* Two for everybody, both over all days. */
static void put_many_rates(struct rollup_fixture *fixture)
{
    for (uint32_t i = 0; i < 2 * MANY; i++) {
        char reseller[16];
        snprintf(reseller, sizeof(reseller), "r%02u", i % MANY);
        rollup_fixture_rate(fixture, reseller, i < MANY ? "2000-01-01" : "2000-01-02",
                            i < MANY ? "0.1" : "0.4", true);
    }
}

static uint32_t count_of(struct buffer text, const char *line)
{
    uint32_t count = 0;
    for (const char *at = (const char *)text.data; (at = strstr(at, line)); at++)
        count++;
    buffer_release(&text);
    return count;
}

static uint64_t rows_written(const struct rollup_fixture *fixture)
{
    const struct metric *metric = metrics_first(fixture->metrics);
    while (strcmp(metric->name, "daybook_rollup_figures_written_total") != 0)
        metric = metric->next;
    return (uint64_t)metric->value;
}

static void expect_many(struct rollup_fixture *fixture, uint64_t written_before)
{
    uint32_t days = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        char reseller[16];
        snprintf(reseller, sizeof(reseller), "r%02u", i);
        cr_expect_eq(count_of(rollup_fixture_ledger(fixture, reseller),
                              " rate + 1 1 0.5 0.5 - 0.4 - 0.20\n"),
                     many_days(i), "%s", reseller);
        days += many_days(i);
    }
    cr_expect_eq(count_of(rollup_fixture_figures(fixture), " 1 0.5 0.4 0.20 published\n"), days);
    cr_expect_eq(rollup_fixture_marks(fixture), 0);
    cr_expect_eq(rows_written(fixture) - written_before, days);
}

/* Ranges of many resellers are worked off side by side, and two of one reseller are not: each day
 * is written and restated once. */
Test(rollup, rates_of_many_resellers_restate_every_day_once)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        rollup_fixture_start(&fixture);
        put_many(&fixture);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
        if (seed % 2 == 0)
            rollup_fixture_flush(&fixture);
        put_many_rates(&fixture);
        if (seed >= 2)
            rollup_fixture_crash(&fixture, seed);
        uint64_t written = rows_written(&fixture);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
        expect_many(&fixture, written);
        rollup_fixture_stop(&fixture);
    }
}

Test(rollup, an_open_day_without_clicks_has_no_figure)
{
    struct rollup_fixture fixture = {.start_time = "2013-11-28T12:00:00Z"};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_void(&fixture, "r", "2013-11-28");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_expect_figures(&fixture, "");
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_stop(&fixture);
}

/* ---- a server ---- */

Test(rollup, a_server_is_never_more_than_a_second_behind)
{
    struct rollup_fixture fixture = {.is_automatic = true, .start_time = "2013-11-28T12:00:00Z"};
    rollup_fixture_start(&fixture);
    for (int i = 1; i <= 5; i++) {
        char expected[64];
        rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
        rollup_fixture_advance(&fixture, 1);
        snprintf(expected, sizeof(expected), "r 2013-11-28 %d 0.%d0 - - open\n", i, i);
        rollup_fixture_expect_figures(&fixture, expected);
    }
    cr_assert_eq(rollup_fixture_marks(&fixture), 1);
    rollup_fixture_stop(&fixture);
}

Test(rollup, a_server_publishes_today_an_hour_after_its_end)
{
    struct rollup_fixture fixture = {.is_automatic = true, .start_time = "2013-11-28T23:00:00Z"};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    rollup_fixture_advance(&fixture, 7199);
    rollup_fixture_expect_ledger(&fixture, "r", "");
    rollup_fixture_advance(&fixture, 2);
    rollup_fixture_expect_ledger(&fixture, "r", "2013-11-28 published - - 1 - 0.10 - - - -\n");
    rollup_fixture_stop(&fixture);
}

/* Old clicks that come over hours are one publication, an hour after the last. */
Test(rollup, a_backfill_is_published_once_it_is_quiet)
{
    struct rollup_fixture fixture = {.is_automatic = true};
    rollup_fixture_start(&fixture);
    for (int i = 0; i < 10; i++) {
        rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
        rollup_fixture_advance(&fixture, 1800);
    }
    rollup_fixture_expect_ledger(&fixture, "r", "");
    rollup_fixture_restart(&fixture);
    rollup_fixture_advance(&fixture, 3700);
    rollup_fixture_expect_ledger(&fixture, "r", "2013-11-28 published - - 10 - 1.00 - - - -\n");
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_stop(&fixture);
}

/* Late clicks for a published day move its figure at once and the ledger after a quiet minute. */
Test(rollup, late_clicks_are_gathered_into_one_restatement)
{
    struct rollup_fixture fixture = {.is_automatic = true};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    for (int i = 0; i < 5; i++) {
        rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
        rollup_fixture_advance(&fixture, 30);
    }
    rollup_fixture_expect_figures(&fixture, "r 2013-11-28 6 0.60 - - published\n");
    rollup_fixture_expect_ledger(&fixture, "r", "2013-11-28 published - - 1 - 0.10 - - - -\n");
    rollup_fixture_advance(&fixture, 40);
    rollup_fixture_expect_ledger(&fixture, "r",
                                 "2013-11-28 published - - 1 - 0.10 - - - -\n"
                                 "2013-11-28 late_clicks - 1 6 0.10 0.60 - - - -\n");
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_stop(&fixture);
}

/* At most for publish_after, though they never stop; and a changed rate does not wait. */
Test(rollup, gathering_ends_after_an_hour_or_with_a_command)
{
    struct rollup_fixture fixture = {.is_automatic = true};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "1");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    for (int i = 0; i < 121; i++) {
        rollup_fixture_click(&fixture, "r", "2013-11-28", "1");
        rollup_fixture_advance(&fixture, 30);
    }
    struct buffer text = rollup_fixture_ledger(&fixture, "r");
    const char *first = strstr((const char *)text.data, "late_clicks");
    cr_assert_not_null(first);
    cr_assert_null(strstr(first + 1, "late_clicks"));
    buffer_release(&text);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "1");
    rollup_fixture_rate(&fixture, "r", "2013-11-01", "0.5", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    text = rollup_fixture_ledger(&fixture, "r");
    cr_assert_not_null(strstr((const char *)text.data, "late_clicks,rate + "), "%s",
                       (const char *)text.data);
    buffer_release(&text);
    rollup_fixture_stop(&fixture);
}

/* ---- crashes, restarts, readers ---- */

/* What was dirty when the power went is worked off after it, whatever the disk kept. */
Test(rollup, after_a_crash_the_same_figures_come_out)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        rollup_fixture_start(&fixture);
        put_paper(&fixture);
        if (seed % 3 == 0)
            cr_assert_eq(rollup_fixture_refresh_now(&fixture, seed % 2 == 0), 0);
        rollup_fixture_rate(&fixture, "supaboobs", "2013-11-30", "0.5", true);
        if (seed % 5 == 0)
            rollup_fixture_flush(&fixture);
        rollup_fixture_crash(&fixture, seed);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
        rollup_fixture_expect_figures(&fixture,
                                      "supaboobs 2013-12-01 1 0.01 0.5 0.005 published\n"
                                      "supaboobs 2013-11-30 1 0.005 0.5 0.0025 published\n"
                                      "supaboobs 2013-11-29 2 0.0150 0.25 0.003750 published\n"
                                      "supaboobs 2013-11-28 2 0.010 0.2 0.0020 published\n");
        cr_assert_eq(rollup_fixture_marks(&fixture), 0);
        rollup_fixture_stop(&fixture);
    }
}

/* The day is published, so nothing but the mark of the rate's days is left to be worked off. */
Test(rollup, a_server_works_a_rate_off_that_it_was_given_before_a_crash)
{
    struct rollup_fixture fixture = {.is_automatic = true};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "1");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_rate(&fixture, "r", "2013-11-01", "0.5", true);
    rollup_fixture_crash(&fixture, 1);
    rollup_fixture_advance(&fixture, 2);
    rollup_fixture_expect_figures(&fixture, "r 2013-11-28 1 1 0.5 0.5 published\n");
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_stop(&fixture);
}

/* A restatement owed when the server was stopped names its cause after the restart. */
Test(rollup, marks_keep_their_causes_over_a_restart)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    put_paper(&fixture);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_rate(&fixture, "supaboobs", "2013-12-01", "0.5", true);
    rollup_fixture_void(&fixture, "supaboobs", "2013-11-28");
    rollup_fixture_restart(&fixture);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    struct buffer text = rollup_fixture_ledger(&fixture, "supaboobs");
    cr_assert_not_null(strstr((const char *)text.data, "2013-11-28 void - 2 0 "));
    cr_assert_not_null(strstr((const char *)text.data, "2013-12-01 rate + 1 1 "));
    buffer_release(&text);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_stop(&fixture);
}

/* A reader without a server sees the figures as they would be, and writes nothing. */
Test(rollup, a_reader_works_dirty_days_out_in_memory)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    put_paper(&fixture);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_rate(&fixture, "supaboobs", "2013-11-30", "0.5", true);
    rollup_fixture_click(&fixture, "another", "2013-11-28", "0.10");
    rollup_fixture_click(&fixture, "supaboobs", "2013-11-27", "0.10");
    fixture.is_read_only = true;
    rollup_fixture_restart(&fixture);
    static const char *const expected = "another 2013-11-28 1 0.10 - - open\n"
                                        "supaboobs 2013-12-01 1 0.01 0.5 0.005 published\n"
                                        "supaboobs 2013-11-30 1 0.005 0.5 0.0025 published\n"
                                        "supaboobs 2013-11-29 2 0.0150 0.25 0.003750 published\n"
                                        "supaboobs 2013-11-28 2 0.010 0.2 0.0020 published\n"
                                        "supaboobs 2013-11-27 1 0.10 0.2 0.020 open\n";
    rollup_fixture_expect_figures(&fixture, expected);
    rollup_fixture_restart(&fixture);
    rollup_fixture_expect_figures(&fixture, expected);
    fixture.is_read_only = false;
    rollup_fixture_restart(&fixture);
    cr_assert_eq(rollup_dirty_count(fixture.rollup), 2);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_expect_figures(&fixture, expected);
    rollup_fixture_stop(&fixture);
}

/* The disk refuses any one read: the days that do not need it get their new rate, and the others
 * get it when they can be read. */
Test(rollup, a_read_that_fails_holds_up_no_other_reseller)
{
    static const char *const resellers[] = {"r1", "r2", "r3"};
    uint32_t most = 0;
    int rc = -EIO;
    for (uint64_t number = 1; rc < 0; number++) {
        struct rollup_fixture fixture = {.seed = 1};
        uint32_t count = 0;
        rollup_fixture_start(&fixture);
        for (int i = 0; i < 3; i++)
            rollup_fixture_click(&fixture, resellers[i], "2013-11-28", "1");
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
        rollup_fixture_flush(&fixture);
        rollup_fixture_restart(&fixture);
        for (int i = 0; i < 3; i++)
            rollup_fixture_rate(&fixture, resellers[i], "2013-11-01", "0.5", true);
        sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, number, -EIO, false);
        rc = rollup_fixture_refresh_now(&fixture, false);
        sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, 1, 0, false);
        for (int i = 0; i < 3; i++) {
            struct buffer entries = rollup_fixture_ledger(&fixture, resellers[i]);
            count += strstr((const char *)entries.data, "rate") != NULL;
            buffer_release(&entries);
        }
        cr_expect_eq(count == 3, rc == 0);
        most = rc < 0 && count > most ? count : most;
        cr_expect_eq(rollup_fixture_refresh_now(&fixture, false), 0);
        cr_expect_eq(rollup_fixture_marks(&fixture), 0);
        rollup_fixture_expect_figures(&fixture, "r1 2013-11-28 1 1 0.5 0.5 published\n"
                                                "r2 2013-11-28 1 1 0.5 0.5 published\n"
                                                "r3 2013-11-28 1 1 0.5 0.5 published\n");
        rollup_fixture_stop(&fixture);
    }
    cr_expect_eq(most, 2);
}

struct ended {
    bool is_ended;
    int status;
};

static void note_end(void *context, int status, const struct error *err)
{
    struct ended *ended = context;
    (void)err;
    *ended = (struct ended){true, status};
}

static void grant(void *context)
{
    (void)context;
}

/* A chunk that is read again because the store was full fails only if it fails then. */
Test(rollup, a_read_that_fails_in_vain_is_told_to_nobody)
{
    struct rollup_fixture fixture = {.seed = 1};
    struct store_write_lock lock = {.granted = grant};
    struct ended ended = {0};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r1", "2013-11-28", "1");
    rollup_fixture_click(&fixture, "r2", "2013-11-28", "1");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_flush(&fixture);
    rollup_fixture_restart(&fixture);
    rollup_fixture_rate(&fixture, "r1", "2013-11-01", "0.5", true);
    rollup_fixture_rate(&fixture, "r2", "2013-11-01", "0.5", true);
    store_write_lock(fixture.store, &lock);
    sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, 1, -EIO, false);
    rollup_refresh_now(fixture.rollup, false, note_end, &ended);
    rollup_fixture_advance(&fixture, 1);
    cr_assert(!ended.is_ended);
    store_write_unlock(fixture.store, &lock);
    rollup_fixture_step_until(&fixture, &ended.is_ended);
    cr_expect_eq(ended.status, 0);
    cr_expect_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_stop(&fixture);
}

/* ---- a reseller that can never be read ---- */

/* Its row of the day has no number of clicks. */
static void put_damaged_row(struct rollup_fixture *fixture, const char *reseller, const char *day)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_AMOUNT_BY_DAY);
    const struct column_value values[] = {{AMOUNT_RESELLER_ID, false, bytes_text(reseller)},
                                          {AMOUNT_DAY, false, bytes_text(day)},
                                          {AMOUNT_STATE, false, bytes_text("published")}};
    write_batch_insert(batch, table, values, 3);
    cr_assert_eq(rollup_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static void pass_over(void *context, const struct day_figure *figure)
{
    (void)context;
    (void)figure;
}

/* A refresh of very many days goes on after the range failed; a changed rate of another reseller
 * need not wait for its end. */
Test(rollup, a_range_that_fails_holds_up_no_later_rate)
{
    struct rollup_fixture fixture = {.seed = 1};
    const struct figure_watch watch = {.each = pass_over};
    struct ended all = {0}, rates[3] = {{0}};
    rollup_fixture_start(&fixture);
    put_many(&fixture);
    put_damaged_row(&fixture, "r", "2013-11-27");
    rollup_fixture_rate(&fixture, "r", "2013-11-01", "0.5", true);
    rollup_refresh_now(fixture.rollup, false, note_end, &all);
    struct dirty_range *range = dirty_set_first_range(fixture.rollup->marks.dirty);
    cr_assert_not_null(range);
    while (range->failed_in == 0)
        cr_assert(fixture.world->executor->step(fixture.world->executor));
    for (int i = 0; i < 3; i++) {
        rollup_fixture_rate(&fixture, "r01", "2013-11-01", i == 0 ? "0.5" : "0.25", true);
        rollup_refresh_rates_now(fixture.rollup, &watch, note_end, &rates[i]);
        rollup_fixture_step_until(&fixture, &rates[i].is_ended);
        cr_expect_eq(rates[i].status, 0);
        cr_expect(!all.is_ended && fixture.rollup->progress.refreshes == 1);
    }
    rollup_fixture_step_until(&fixture, &all.is_ended);
    cr_expect_lt(all.status, 0);
    rollup_fixture_stop(&fixture);
}

static int refresh_day(struct rollup_fixture *fixture, int32_t day)
{
    struct ended ended = {0};
    rollup_refresh_days_now(fixture->rollup, bytes_text("r"), day, day, note_end, &ended);
    rollup_fixture_step_until(fixture, &ended.is_ended);
    return ended.status;
}

/* Who waits for the day after the range is not told of its failure. */
Test(rollup, a_range_that_fails_is_none_of_the_day_after_it)
{
    struct rollup_fixture fixture = {.seed = 1};
    int32_t day;
    cr_assert(calendar_day_parse(bytes_text("2013-11-27"), &day));
    rollup_fixture_start(&fixture);
    rollup_fixture_rate(&fixture, "r", "2013-11-28", "0.5", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    put_damaged_row(&fixture, "r", "2013-11-27");
    rollup_fixture_rate(&fixture, "r", "2013-11-27", "0.25", true);
    cr_expect_lt(refresh_day(&fixture, day), 0);
    cr_expect_eq(refresh_day(&fixture, day + 1), 0);
    cr_expect_eq(refresh_day(&fixture, day - 1), 0);
    rollup_fixture_stop(&fixture);
}

/* ---- days without a rate ---- */

static int64_t unpriced_days(const struct rollup_fixture *fixture)
{
    return metrics_find(fixture->metrics, "daybook_rollup_unpriced_figures")->value;
}

static void count_unpriced(struct rollup_fixture *fixture)
{
    rollup_count_unpriced(fixture->rollup);
    sim_world_run_us(fixture->sim, 100000);
}

Test(rollup, days_without_a_rate_are_counted_once_and_then_followed)
{
    struct rollup_fixture fixture = {.is_automatic = true};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "a", "2013-11-28", "1");
    rollup_fixture_click(&fixture, "a", "2013-11-29", "1");
    rollup_fixture_click(&fixture, "b", "2013-11-28", "1");
    rollup_fixture_rate(&fixture, "b", "2013-11-01", "0.5", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_restart(&fixture);
    cr_expect_eq(unpriced_days(&fixture), METRIC_UNKNOWN);
    count_unpriced(&fixture);
    cr_expect_eq(unpriced_days(&fixture), 2);
    rollup_fixture_click(&fixture, "c", "2013-11-28", "1");
    rollup_fixture_click(&fixture, "a", "2013-11-29", "1");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    cr_expect_eq(unpriced_days(&fixture), 3);
    rollup_fixture_rate(&fixture, "a", "2013-11-29", "0.5", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    cr_expect_eq(unpriced_days(&fixture), 2, "one day of a has a rate now");
    rollup_fixture_rate(&fixture, "b", "2013-11-01", NULL, true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    cr_expect_eq(unpriced_days(&fixture), 3, "b has lost its rate");
    rollup_fixture_void(&fixture, "c", "2013-11-28");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    cr_expect_eq(unpriced_days(&fixture), 2, "c has no click left");
    rollup_fixture_stop(&fixture);
}

/* A count reads what is durable, and what is on its way to the disk is no part of it. */
Test(rollup, days_without_a_rate_are_not_counted_beside_a_change_of_their_number)
{
    struct rollup_fixture fixture = {.is_automatic = true};
    struct ended ended = {0};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "a", "2013-11-28", "1");
    sim_world_stall(fixture.sim, LANE_LOG, true);
    rollup_refresh_now(fixture.rollup, false, note_end, &ended);
    sim_world_run_us(fixture.sim, 1000);
    count_unpriced(&fixture);
    cr_expect_eq(unpriced_days(&fixture), METRIC_UNKNOWN, "its row is not durable");
    sim_world_stall(fixture.sim, LANE_LOG, false);
    rollup_fixture_step_until(&fixture, &ended.is_ended);
    rollup_fixture_flush(&fixture);

    sim_world_stall(fixture.sim, LANE_READ, true);
    rollup_count_unpriced(fixture.rollup);
    rollup_fixture_click(&fixture, "b", "2013-11-28", "1");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    sim_world_stall(fixture.sim, LANE_READ, false);
    sim_world_run_us(fixture.sim, 100000);
    cr_expect_eq(unpriced_days(&fixture), METRIC_UNKNOWN, "b came while rows were read");
    count_unpriced(&fixture);
    cr_expect_eq(unpriced_days(&fixture), 2);
    rollup_fixture_stop(&fixture);
}

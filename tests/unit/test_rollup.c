/* test_rollup: from clicks and rates to figures, publication and restatements, on the real engine
 * in the simulated world. */
#include "rollup/rollup.h"

#include <criterion/criterion.h>
#include <stdio.h>

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
    cr_assert_eq(rollup_fixture_settle(&fixture, false), 0);
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
    cr_assert_eq(rollup_fixture_settle(&fixture, true), 0);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_click(&fixture, "supaboobs", "2013-11-28", "1.00");
    cr_assert_eq(rollup_fixture_settle(&fixture, false), 0);
    rollup_fixture_rate(&fixture, "supaboobs", "2013-11-29", "0.5", true);
    cr_assert_eq(rollup_fixture_settle(&fixture, false), 0);
    rollup_fixture_void(&fixture, "supaboobs", "2013-11-30");
    cr_assert_eq(rollup_fixture_settle(&fixture, false), 0);
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

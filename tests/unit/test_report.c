/* test_report: reports and counters as a person asks for them, to the byte; and slow readers. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "program/control/control.h"
#include "base/cli/command_parse.h"
#include "query/commands/query_commands.h"
#include "query/query.h"
#include "query/status_report.h"
#include "base/memory.h"
#include "tests/lib/rollup_fixture.h"

/* What a command printed on each stream, and a reader who takes only what he is given time for. */
struct answer {
    struct command_output output;
    struct buffer out;
    struct buffer err;
    bool is_slow; /* everything stays queued until the reader reads */
    size_t queued;
    size_t queued_max;
    uint32_t steps; /* of the loop */
    bool is_finished;
    int exit_status;
};

static void take_text(struct command_output *output, enum command_stream stream, struct bytes bytes)
{
    struct answer *answer = (struct answer *)output;
    buffer_append_bytes(stream == COMMAND_OUT ? &answer->out : &answer->err, bytes);
    answer->queued += answer->is_slow ? bytes.size : 0;
    answer->queued_max = answer->queued > answer->queued_max ? answer->queued : answer->queued_max;
}

static bool text_is_full(struct command_output *output)
{
    return ((struct answer *)output)->queued >= CONTROL_QUEUED_MAX;
}

static void take_exit(struct command_output *output, int exit_status)
{
    struct answer *answer = (struct answer *)output;
    answer->is_finished = true;
    answer->exit_status = exit_status;
}

enum { WORDS_MAX = 16 };

static int split(char *text, char **words)
{
    int count = 1;
    words[0] = text;
    for (char *c = text; *c != '\0'; c++) {
        if (*c == ' ' && count < WORDS_MAX) {
            *c = '\0';
            words[count++] = c + 1;
        }
    }
    words[count] = NULL;
    return count;
}

static const struct command *find_command(const char *name)
{
    uint32_t index = 0;
    while (strcmp(query_commands_at(index)->name, name) != 0)
        index++;
    return query_commands_at(index);
}

/* Until it is finished or waits for its reader. */
static void step(struct rollup_fixture *fixture, struct answer *answer)
{
    for (; !answer->is_finished && answer->output.drained == NULL; answer->steps++)
        cr_assert(fixture->world->executor->step(fixture->world->executor) || answer->is_finished ||
                  answer->output.drained != NULL);
}

/* Words apart by single spaces.  A slow reader reads whenever the command waits for him. */
static void run(struct rollup_fixture *fixture, struct answer *answer, const char *line)
{
    static const uint8_t id[16];
    struct query query = {.store = fixture->store,
                          .streams = fixture->streams,
                          .metrics = fixture->metrics,
                          .directory_id = id,
                          .zone = "UTC",
                          .currency = "EUR",
                          .version = "1"};
    char *text = memory_string(line);
    char *words[WORDS_MAX + 1];
    int word_count = split(text, words);
    const struct command *command = find_command(words[0]);
    void *options;
    int rc = command_parse(command, word_count, words, false, NULL, &options, NULL);
    answer->output =
        (struct command_output){.write = take_text, .is_full = text_is_full, .finish = take_exit};
    if (rc != 0) {
        answer->exit_status = EXIT_WRONG_USAGE;
    } else {
        struct command_request request = {.options = options,
                                          .is_read_only = fixture->is_read_only,
                                          .door = "command",
                                          .actor = "tester",
                                          .text = line};
        command->run(&query, &request, &answer->output);
        for (step(fixture, answer); !answer->is_finished; step(fixture, answer)) {
            answer->queued = 0;
            answer->output.drained(answer->output.drained_context);
        }
    }
    buffer_put_u8(&answer->out, 0);
    buffer_put_u8(&answer->err, 0);
    memory_free(options);
    memory_free(text);
}

static void answer_release(struct answer *answer)
{
    buffer_release(&answer->out);
    buffer_release(&answer->err);
}

static void expect(struct rollup_fixture *fixture, const char *line, const char *expected)
{
    struct answer answer = {0};
    run(fixture, &answer, line);
    cr_expect_eq(answer.exit_status, EXIT_DONE, "%s: %s", line, (const char *)answer.err.data);
    cr_expect_str_eq((const char *)answer.out.data, expected, "%s:\n%s", line,
                     (const char *)answer.out.data);
    answer_release(&answer);
}

static void expect_refused(const char *line)
{
    struct rollup_fixture fixture = {0};
    struct answer answer = {0};
    run(&fixture, &answer, line);
    cr_expect_eq(answer.exit_status, EXIT_WRONG_USAGE, "%s", line);
    answer_release(&answer);
}

/* The paper's clicks and rates, and a reseller without a rate. */
static void start_paper(struct rollup_fixture *fixture)
{
    static const struct click clicks[] = {
        {"supaboobs", "2013-11-28", 1385605012000, "890_567_234", "0.005"},
        {"supaboobs", "2013-11-28", 1385623055000, "890_567_234", "0.005"},
        {"supaboobs", "2013-11-29", 1385745531000, "890_567_211", "0.0075"},
        {"supaboobs", "2013-11-29", 1385763637000, "890_567_211", "0.0075"},
        {"supaboobs", "2013-11-30", 1385810516000, "890_567_234", "0.005"},
        {"supaboobs", "2013-12-01", 1385900519000, "890_567_010", "0.01"},
        {"anna", "2013-12-01", 1385900519000, "890_567_234", "1.5"},
    };
    rollup_fixture_start(fixture);
    rollup_fixture_clicks(fixture, clicks, sizeof(clicks) / sizeof(clicks[0]));
    rollup_fixture_rate(fixture, "supaboobs", "2012-01-22", "0.25", true);
    rollup_fixture_rate(fixture, "supaboobs", "2013-11-30", "0.3", true);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, false), 0);
}

Test(report, is_by_day_with_nothing_where_a_day_is_unpriced)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "report --format csv",
           "reseller_id,day,clicks,gross,rate,amount\n"
           "anna,2013-12-01,1,1.5,,\n"
           "supaboobs,2013-12-01,1,0.01,0.3,0.003\n"
           "supaboobs,2013-11-30,1,0.005,0.3,0.0015\n"
           "supaboobs,2013-11-29,2,0.0150,0.25,0.003750\n"
           "supaboobs,2013-11-28,2,0.010,0.25,0.00250\n");
    rollup_fixture_stop(&fixture);
}

Test(report, has_the_clicks_that_were_acknowledged_before_it)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    rollup_fixture_click(&fixture, "anna", "2013-12-01", "0.25");
    cr_assert_eq(rollup_dirty_count(fixture.rollup), 1);
    expect(&fixture, "report --reseller anna --format csv",
           "reseller_id,day,clicks,gross,rate,amount\n"
           "anna,2013-12-01,2,1.75,,\n");
    rollup_fixture_stop(&fixture);
}

Test(report, has_percent_signs_and_the_currency_for_people)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    rollup_fixture_rate(&fixture, "anna", "2013-12-01", "0.125", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    expect(&fixture, "report --from 2013-12-01",
           "reseller_id  day         clicks  gross EUR   rate  amount EUR\n"
           "anna         2013-12-01       1        1.5  12.5%      0.1875\n"
           "supaboobs    2013-12-01       1       0.01    30%       0.003\n");
    rollup_fixture_stop(&fixture);
}

Test(report, groups_neighbours_and_tells_what_is_unpriced)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "report --by month --format csv",
           "reseller_id,month,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "anna,2013-12,1,1.5,0,1,1.5\n"
           "supaboobs,2013-12,1,0.01,0.003,0,0\n"
           "supaboobs,2013-11,5,0.0300,0.007750,0,0\n");
    expect(&fixture, "report --by reseller --format csv",
           "reseller_id,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "anna,1,1.5,0,1,1.5\n"
           "supaboobs,6,0.0400,0.010750,0,0\n");
    expect(&fixture, "report --by total --format csv",
           "clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "7,1.5400,0.010750,1,1.5\n");
    rollup_fixture_stop(&fixture);
}

Test(report, tells_months_of_different_years_apart)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2012-11-30", "0.1");
    rollup_fixture_click(&fixture, "r", "2013-11-30", "0.2");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    expect(&fixture, "report --by month --format csv",
           "reseller_id,month,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "r,2013-11,1,0.2,0,1,0.2\n"
           "r,2012-11,1,0.1,0,1,0.1\n");
    rollup_fixture_stop(&fixture);
}

Test(report, groups_weeks_also_over_the_end_of_a_year)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    rollup_fixture_click(&fixture, "anna", "2014-01-01", "0.5");
    rollup_fixture_click(&fixture, "anna", "2013-12-30", "0.25");
    expect(&fixture, "report --by week --format csv",
           "reseller_id,week,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "anna,2014-W01,2,0.75,0,2,0.75\n"
           "anna,2013-W48,1,1.5,0,1,1.5\n"
           "supaboobs,2013-W48,6,0.0400,0.010750,0,0\n");
    rollup_fixture_stop(&fixture);
}

Test(report, has_the_hours_and_minutes_of_each_day)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "report --by hour --format csv",
           "reseller_id,day,at,clicks,gross,rate,amount\n"
           "anna,2013-12-01,2013-12-01T12:00Z,1,1.5,,\n"
           "supaboobs,2013-12-01,2013-12-01T12:00Z,1,0.01,0.3,0.003\n"
           "supaboobs,2013-11-30,2013-11-30T11:00Z,1,0.005,0.3,0.0015\n"
           "supaboobs,2013-11-29,2013-11-29T22:00Z,1,0.0075,0.25,0.001875\n"
           "supaboobs,2013-11-29,2013-11-29T17:00Z,1,0.0075,0.25,0.001875\n"
           "supaboobs,2013-11-28,2013-11-28T07:00Z,1,0.005,0.25,0.00125\n"
           "supaboobs,2013-11-28,2013-11-28T02:00Z,1,0.005,0.25,0.00125\n");
    expect(&fixture, "report --by minute --format csv --to 2013-11-28 --round 2",
           "reseller_id,day,at,clicks,gross,rate,amount\n"
           "supaboobs,2013-11-28,2013-11-28T07:17Z,1,0.00,0.25,0.00\n"
           "supaboobs,2013-11-28,2013-11-28T02:16Z,1,0.00,0.25,0.00\n");
    expect(&fixture, "report --by hour --format csv --reseller nobody",
           "reseller_id,day,at,clicks,gross,rate,amount\n");
    rollup_fixture_void(&fixture, "supaboobs", "2013-11-29");
    expect(&fixture, "report --by hour -r supaboobs --from 2013-11-29 --to 2013-11-30",
           "reseller_id  day         at                 clicks  gross EUR  rate  amount EUR\n"
           "supaboobs    2013-11-30  2013-11-30T11:00Z       1      0.005   30%      0.0015\n");
    rollup_fixture_stop(&fixture);
}

Test(report, adds_resellers_up_in_each_period)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "report --total --format csv",
           "day,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "2013-12-01,2,1.51,0.003,1,1.5\n"
           "2013-11-30,1,0.005,0.0015,0,0\n"
           "2013-11-29,2,0.0150,0.003750,0,0\n"
           "2013-11-28,2,0.010,0.00250,0,0\n");
    expect(&fixture, "report --total --by hour --from 2013-11-30 --format csv",
           "day,at,clicks,gross,amount,unpriced_gross\n"
           "2013-12-01,2013-12-01T12:00Z,2,1.51,0.003,1.5\n"
           "2013-11-30,2013-11-30T11:00Z,1,0.005,0.0015,0\n");
    rollup_fixture_click(&fixture, "anna", "2013-12-01", "0.5");
    expect(&fixture, "report --total --by hour --from 2013-12-01 --format csv",
           "day,at,clicks,gross,amount,unpriced_gross\n"
           "2013-12-01,2013-12-01T12:00Z,2,1.51,0.003,1.5\n"
           "2013-12-01,2013-12-01T01:00Z,1,0.5,0,0.5\n");
    rollup_fixture_void(&fixture, "anna", "2013-12-01");
    rollup_fixture_click(&fixture, "anna", "2013-12-01", "1.5");
    expect(&fixture, "report --total --by week --format csv",
           "week,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "2013-W48,7,1.5400,0.010750,1,1.5\n");
    expect(&fixture, "report --total --by month -r supaboobs --format csv",
           "month,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "2013-12,1,0.01,0.003,0,0\n"
           "2013-11,5,0.0300,0.007750,0,0\n");
    expect(&fixture, "report --total --by minute --to 2012-11-30 --format csv",
           "day,at,clicks,gross,amount,unpriced_gross\n");
    expect_refused("report --total --by reseller");
    expect_refused("report --total --by ad");
    expect_refused("report --total --by total");
    rollup_fixture_stop(&fixture);
}

Test(report, has_no_hours_in_the_ledger)
{
    expect_refused("report --by hour --as-of 2013-12-01");
    expect_refused("report --by minute --as-of 2013-12-01");
    expect_refused("report --by second");
}

Test(report, takes_days_at_both_ends_and_resellers_in_any_order)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture,
           "report --format csv --reseller supaboobs -r nobody -r anna --from 2013-11-30 --to "
           "2013-12-01",
           "reseller_id,day,clicks,gross,rate,amount\n"
           "anna,2013-12-01,1,1.5,,\n"
           "supaboobs,2013-12-01,1,0.01,0.3,0.003\n"
           "supaboobs,2013-11-30,1,0.005,0.3,0.0015\n");
    rollup_fixture_stop(&fixture);
}

Test(report, has_decimals_as_strings_and_nulls_in_json)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "report --format json --from 2013-12-01",
           "[\n"
           "  {\"reseller_id\": \"anna\", \"day\": \"2013-12-01\", \"clicks\": 1, "
           "\"gross\": \"1.5\", \"rate\": null, \"amount\": null},\n"
           "  {\"reseller_id\": \"supaboobs\", \"day\": \"2013-12-01\", \"clicks\": 1, "
           "\"gross\": \"0.01\", \"rate\": \"0.3\", \"amount\": \"0.003\"}\n"
           "]\n");
    rollup_fixture_stop(&fixture);
}

Test(report, of_nothing_is_a_header_or_a_total_of_zero)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    expect(&fixture, "report --format csv", "reseller_id,day,clicks,gross,rate,amount\n");
    expect(&fixture, "report --by total --format csv",
           "clicks,gross,amount,unpriced_days,unpriced_gross\n0,0,0,0,0\n");
    rollup_fixture_stop(&fixture);
}

/* Of one ad, for each kind of row; the days of others have no rows. */
Test(report, is_of_one_ad)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "report --ad 890_567_234 --format csv",
           "reseller_id,day,clicks,gross,rate,amount\n"
           "anna,2013-12-01,1,1.5,,\n"
           "supaboobs,2013-11-30,1,0.005,0.3,0.0015\n"
           "supaboobs,2013-11-28,2,0.010,0.25,0.00250\n");
    expect(&fixture, "report --ad 890_567_234 --by month --format csv",
           "reseller_id,month,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "anna,2013-12,1,1.5,0,1,1.5\n"
           "supaboobs,2013-11,3,0.015,0.00400,0,0\n");
    expect(&fixture, "report --ad 890_567_234 --by month --total --format csv",
           "month,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "2013-12,1,1.5,0,1,1.5\n"
           "2013-11,3,0.015,0.00400,0,0\n");
    expect(&fixture, "report --ad 890_567_234 --by total --format csv",
           "clicks,gross,amount,unpriced_days,unpriced_gross\n4,1.515,0.00400,1,1.5\n");
    expect(&fixture, "report --ad 890_567_010 --by ad --format csv",
           "reseller_id,ad_id,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "supaboobs,890_567_010,1,0.01,0.003,0,0\n");
    expect(&fixture, "report --ad nobody --by total --format csv",
           "clicks,gross,amount,unpriced_days,unpriced_gross\n0,0,0,0,0\n");
    rollup_fixture_stop(&fixture);
}

/* The ads of a reseller add up to him, over days of different rates. */
Test(report, is_by_ad_from_the_clicks_themselves)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "report --by ad --format csv",
           "reseller_id,ad_id,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "anna,890_567_234,1,1.5,0,1,1.5\n"
           "supaboobs,890_567_010,1,0.01,0.003,0,0\n"
           "supaboobs,890_567_211,2,0.0150,0.003750,0,0\n"
           "supaboobs,890_567_234,3,0.015,0.00400,0,0\n");
    expect(&fixture, "report --by ad --format csv --reseller supaboobs --to 2013-11-29",
           "reseller_id,ad_id,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "supaboobs,890_567_211,2,0.0150,0.003750,0,0\n"
           "supaboobs,890_567_234,2,0.010,0.00250,0,0\n");
    /* Each of them has one day, the last one too. */
    expect(&fixture, "report --by ad --format csv --from 2013-12-01",
           "reseller_id,ad_id,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "anna,890_567_234,1,1.5,0,1,1.5\n"
           "supaboobs,890_567_010,1,0.01,0.003,0,0\n");
    expect(&fixture, "report --by ad --format csv --reseller nobody",
           "reseller_id,ad_id,clicks,gross,amount,unpriced_days,unpriced_gross\n");
    rollup_fixture_void(&fixture, "anna", "2013-12-01");
    expect(&fixture, "report --by ad --format csv --from 2013-12-01",
           "reseller_id,ad_id,clicks,gross,amount,unpriced_days,unpriced_gross\n"
           "supaboobs,890_567_010,1,0.01,0.003,0,0\n");
    rollup_fixture_stop(&fixture);
}

Test(report, rounds_half_to_even_and_last)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "report --by reseller --round 2 --format md",
           "| reseller_id | clicks | gross | amount | unpriced_days | unpriced_gross |\n"
           "|---|---:|---:|---:|---:|---:|\n"
           "| anna | 1 | 1.50 | 0.00 | 1 | 1.50 |\n"
           "| supaboobs | 6 | 0.04 | 0.01 | 0 | 0.00 |\n");
    expect(&fixture, "report --round 3 --format csv --to 2013-11-30",
           "reseller_id,day,clicks,gross,rate,amount\n"
           "supaboobs,2013-11-30,1,0.005,0.3,0.002\n"
           "supaboobs,2013-11-29,2,0.015,0.25,0.004\n"
           "supaboobs,2013-11-28,2,0.010,0.25,0.002\n");
    rollup_fixture_stop(&fixture);
}

/* The ledger as it was: before anything was published, after, and after a change. */
/* ---- pictures ---- */

/* Nothing is printed but why not, which has `text` in it. */
static void expect_no_picture(struct rollup_fixture *fixture, const char *line, const char *text)
{
    struct answer answer = {0};
    run(fixture, &answer, line);
    cr_expect_eq(answer.exit_status, EXIT_WRONG_USAGE, "%s", line);
    cr_expect_eq(answer.out.size, 1, "%s", line);
    cr_expect_not_null(strstr((const char *)answer.err.data, text), "%s: %s", line,
                       (const char *)answer.err.data);
    answer_release(&answer);
}

static void expect_pieces(struct rollup_fixture *fixture, const char *line,
                          const char *const *pieces, size_t count)
{
    struct answer answer = {0};
    run(fixture, &answer, line);
    const char *at = (const char *)answer.out.data;
    cr_assert_eq(answer.exit_status, EXIT_DONE, "%s: %s", line, (const char *)answer.err.data);
    for (size_t i = 0; i < count; i++) {
        at = strstr(at, pieces[i]);
        cr_assert_not_null(at, "%s: no %s, or not in its place:\n%s", line, pieces[i],
                           (const char *)answer.out.data);
    }
    answer_release(&answer);
}

/* The larger amount is the longest bar, and what has no rate is none. */
Test(report, is_a_picture_of_resellers_with_the_largest_amount_first)
{
    static const char *const pieces[] = {
        "<title>Amount by reseller</title>",
        ">0.010750 EUR of gross 1.5400, 7 clicks, 1 day without a rate</text>",
        ">supaboobs</text>",
        "<title>supaboobs: 0.010750 EUR; 6 clicks, gross 0.0400</title>",
        "width=\"424.00\"",
        "class=\"note\">0.010750 EUR</text>",
        ">anna</text>",
        "<title>anna: 0 EUR, 1 day without a rate; 1 click, gross 1.5</title>",
        "width=\"0.00\"",
        "class=\"mark\">0 EUR, 1 day without a rate</text>",
        "</svg>\n"};
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect_pieces(&fixture, "report --by reseller --format svg", pieces, 11);
    rollup_fixture_stop(&fixture);
}

/* A panel for each reseller, days from left to right on one axis, amounts on one scale. */
Test(report, is_a_picture_of_days)
{
    static const char *const days[] = {
        "<title>Amount by day to 2013-12-01</title>",
        ">anna</text>",
        "<title>2013-12-01: 0 EUR, 1 day without a rate; 1 click, gross 1.5</title>",
        "x=\"314.00\"",
        "height=\"0.00\"",
        "class=\"mark\"",
        ">supaboobs</text>",
        ">0.000</text>",
        ">0.001</text>",
        ">0.003</text>",
        "<title>2013-11-28: 0.00250 EUR; 2 clicks, gross 0.010</title>",
        "x=\"134.00\"",
        "height=\"80.00\"",
        "<title>2013-11-29: 0.003750 EUR; 2 clicks, gross 0.0150</title>",
        "x=\"194.00\"",
        "height=\"120.00\"",
        "<title>2013-12-01: 0.003 EUR; 1 click, gross 0.01</title>",
        "x=\"314.00\"",
        "height=\"96.00\"",
        "class=\"time\">2013-11-28</text>",
        "</svg>\n"};
    static const char *const months[] = {"<title>Amount by month</title>",
                                         "<title>2013-11: 0.00775 EUR",
                                         "<title>2013-12: 0.00300 EUR", ">2013-12</text>"};
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect_pieces(&fixture, "report --format svg --to 2013-12-01", days, 21);
    expect_pieces(&fixture, "report --by month --format svg --round 5", months, 4);
    rollup_fixture_stop(&fixture);
}

Test(report, is_a_picture_of_hours_minutes_and_weeks)
{
    static const char *const hours[] = {
        "<title>Amount by hour from 2013-11-28 to 2013-11-28</title>",
        ">0.00250 EUR of gross 0.010, 2 clicks</text>",
        "<title>2013-11-28T02:00Z: 0.00125 EUR; 1 click, gross 0.005</title>",
        "x=\"134.00\"",
        "<title>2013-11-28T07:00Z: 0.00125 EUR; 1 click, gross 0.005</title>",
        "x=\"434.00\"",
        "class=\"time\">2013-11-28T02:00Z</text>"};
    static const char *const total[] = {">all</text>", "<title>2013-12-01T12:00Z: 0.003 EUR"};
    static const char *const weeks[] = {"<title>Amount by week</title>",
                                        "<title>2013-W48: 0.010750 EUR"};
    static const char *const unpriced[] = {">0 EUR of gross 1.5, 1 click, 1 day without a rate",
                                           "<title>2013-12-01T12:21Z: 0 EUR, 1 day without"};
    static const char *const marked[] = {
        ">0 EUR of gross 2.0, 2 clicks, 1 day without a rate",
        "<title>2013-12-01T01:00Z: 0 EUR, without a rate; 1 click", "class=\"mark\"",
        "<title>2013-12-01T12:00Z: 0 EUR, 1 day without a rate; 1 click", "class=\"mark\""};
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect_pieces(&fixture, "report --format svg --by hour --from 2013-11-28 --to 2013-11-28",
                  hours, 7);
    expect_pieces(&fixture, "report --format svg --by week", weeks, 2);
    expect_pieces(&fixture, "report --format svg --by hour --total", total, 2);
    expect_pieces(&fixture, "report --format svg --by minute -r anna", unpriced, 2);
    expect_no_picture(&fixture, "report --format svg --by minute", "or ask --by hour");
    rollup_fixture_click(&fixture, "anna", "2013-12-01", "0.5");
    expect_pieces(&fixture, "report --format svg --by hour -r anna", marked, 5);
    rollup_fixture_stop(&fixture);
}

enum { MANY = 60 };

/* 60 resellers of 60 ads, each of which earned the more the later its name comes. */
static void start_many(struct rollup_fixture *fixture)
{
    static char names[MANY][16];
    static char amounts[MANY][16];
    static struct click clicks[MANY];
    rollup_fixture_start(fixture);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "<%02u>", i);
        snprintf(amounts[i], sizeof(amounts[i]), "0.%02u", i);
        clicks[i] = (struct click){names[i], "2013-11-28", 1385605012000, names[i], amounts[i]};
    }
    rollup_fixture_clicks(fixture, clicks, MANY);
    for (uint32_t i = 0; i < MANY; i++)
        rollup_fixture_rate(fixture, names[i], "2013-01-01", "1.0", true);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, false), 0);
}

Test(report, shows_what_has_no_room_in_the_picture_as_one_sum)
{
    static const char *const ads[] = {">&lt;59&gt; &lt;59&gt;</text>", ">0.590 EUR</text>",
                                      ">&lt;20&gt; &lt;20&gt;</text>", ">20 others</text>",
                                      "<title>20 others: 1.900 EUR; 20 clicks, gross 1.90</title>"};
    struct rollup_fixture fixture = {0};
    start_many(&fixture);
    expect_pieces(&fixture, "report --by ad --format svg", ads, 5);
    expect_no_picture(&fixture, "report --format svg", "at most 50 resellers");
    expect_no_picture(&fixture, "report --by month --format svg", "at most 50 resellers");
    rollup_fixture_stop(&fixture);
}

/* ---- as of ---- */

Test(report, is_as_of_any_time)
{
    struct rollup_fixture fixture = {0};
    struct answer answer = {0};
    start_paper(&fixture);
    rollup_fixture_advance(&fixture, 3600);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_advance(&fixture, 86400);
    rollup_fixture_rate(&fixture, "supaboobs", "2013-11-29", "1", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_click(&fixture, "new", "2013-12-01", "7");
    expect(&fixture, "report --by total --format csv --as-of 2013-12-10T12:30:00Z",
           "clicks,gross,amount,unpriced_days,unpriced_gross\n0,0,0,0,0\n");
    expect(&fixture, "report --format csv --as-of 2013-12-10 --from 2013-11-29",
           "reseller_id,day,clicks,gross,rate,amount\n"
           "anna,2013-12-01,1,1.5,,\n"
           "supaboobs,2013-12-01,1,0.01,0.3,0.003\n"
           "supaboobs,2013-11-30,1,0.005,0.3,0.0015\n"
           "supaboobs,2013-11-29,2,0.0150,0.25,0.003750\n");
    run(&fixture, &answer,
        "report --format csv --as-of 2013-12-12 --from 2013-11-29 --to 2013-12-01");
    cr_expect_str_eq((const char *)answer.out.data,
                     "reseller_id,day,clicks,gross,rate,amount\n"
                     "anna,2013-12-01,1,1.5,,\n"
                     "supaboobs,2013-12-01,1,0.01,0.3,0.003\n"
                     "supaboobs,2013-11-30,1,0.005,0.3,0.0015\n"
                     "supaboobs,2013-11-29,2,0.0150,1,0.0150\n",
                     "%s", (const char *)answer.out.data);
    cr_expect_not_null(
        strstr((const char *)answer.err.data, "1 reseller-day had no published figure then"), "%s",
        (const char *)answer.err.data);
    answer_release(&answer);
    rollup_fixture_stop(&fixture);
}

Test(report, refuses_what_it_does_not_have)
{
    static const char *const lines[] = {
        "report --by weekday",
        "report --as-of yesterday",
        "report --as-of 2013-12-01T12:00:00",
        "report --as-of 2013-12-01 --by ad",
        "report --as-of 2013-12-01 --ad 890_567_234",
        "report --ad 890_567_234 --by hour",
        "report --ad=",
        "report --round two",
        "report --round -1",
        "report --format png",
        "report --from 2013-02-30",
        "report anna",
        "report --from 2013-12-02 --to 2013-12-01",
        "counters nothing",
        "counters --top 3",
        "counters clicks_per_ad --top 0",
        "counters clicks_per_ad --key a --key b",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        expect_refused(lines[i]);
}

Test(status, tells_facts_metrics_or_nothing)
{
    struct rollup_fixture fixture = {0};
    struct answer facts = {0};
    struct answer metrics = {0};
    start_paper(&fixture);
    run(&fixture, &facts, "status");
    run(&fixture, &metrics, "status --metrics");
    cr_expect_not_null(strstr((const char *)facts.out.data, "state              good\n"));
    cr_expect_not_null(
        strstr((const char *)metrics.out.data, "daybook_rollup_figures_written_total 5\n"));
    expect(&fixture, "status --check", "");
    answer_release(&facts);
    answer_release(&metrics);
    rollup_fixture_stop(&fixture);
}

Test(status, says_that_a_size_is_not_known)
{
    for (int is_human = 0; is_human < 2; is_human++) {
        struct status_report report = {.is_human = is_human};
        struct buffer text = {0};
        status_report_bytes(&report, "disk", "free", UINT64_MAX, " free, ");
        status_report_bytes(&report, NULL, "wanted", 17, " wanted");
        status_report_print_lines(&report, &text);
        status_report_print_json(&report, &text);
        buffer_put_u8(&text, 0);
        cr_expect_not_null(strstr((const char *)text.data, " unknown free, 17 bytes wanted\n"));
        cr_expect_not_null(strstr((const char *)text.data, "\"free\":null,\"wanted\":17}\n"));
        buffer_release(&text);
        status_report_release(&report);
    }
}

/* ---- long answers ---- */

enum { LONG_DAYS = 1500, LONG_NAME = 1500, QUEUED_LIMIT = (1 << 20) + (128 << 10) };

/* Two resellers of long names, each with LONG_DAYS days: answers of several megabytes. */
static void make_long_days(struct rollup_fixture *fixture, uint32_t first, uint32_t count)
{
    static char names[2][LONG_NAME + 1];
    static char days[LONG_DAYS][DAY_TEXT_SIZE + 1];
    static struct click clicks[2 * LONG_DAYS];
    for (uint32_t i = 0; i < 2; i++)
        memset(names[i], i == 0 ? 'a' : 'b', LONG_NAME);
    for (uint32_t i = 0; i < count; i++) {
        calendar_day_format(14000 + (int32_t)(first + i), days[i]);
        for (uint32_t j = 0; j < 2; j++)
            clicks[2 * i + j] = (struct click){names[j], days[i], DAY_MS, "ad", "0.01"};
    }
    for (uint32_t i = 0; i < 2 * count; i += 200)
        rollup_fixture_clicks(fixture, clicks + i, 2 * count - i < 200 ? 2 * count - i : 200);
}

/* What a slow reader gets is what a fast one gets, and never much of it waits. */
static void expect_same_when_slow(struct rollup_fixture *fixture, const char *line)
{
    struct answer fast = {0};
    struct answer slow = {.is_slow = true};
    run(fixture, &fast, line);
    run(fixture, &slow, line);
    cr_expect_gt(fast.out.size, 2 * (size_t)QUEUED_LIMIT);
    cr_expect_lt(slow.queued_max, QUEUED_LIMIT);
    cr_expect(bytes_equal(buffer_view(&fast.out), buffer_view(&slow.out)), "%s", line);
    answer_release(&fast);
    answer_release(&slow);
}

Test(report, waits_for_a_slow_reader_and_goes_on_where_it_stopped)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    make_long_days(&fixture, 0, LONG_DAYS);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    expect_same_when_slow(&fixture, "report --format csv");
    expect_same_when_slow(&fixture, "report --format json --from 2008-06-01");
    expect_same_when_slow(&fixture, "report --ad ad --format csv");
    expect_same_when_slow(&fixture, "counters clicks_per_reseller_per_day --format json");
    rollup_fixture_stop(&fixture);
}

enum { SCATTERED_ADS = 20000, SCATTERED_DAYS = 3, SCATTERED_NAME = 150 };

static const char *scattered_reseller(void)
{
    static char name[SCATTERED_NAME + 1];
    memset(name, 'r', SCATTERED_NAME);
    return name;
}

/* Ad i has a click on each day whose number plus one divides i, so that a day has some ads of the
 * days before it.  The days have different rates. */
static void make_scattered_ads(struct rollup_fixture *fixture)
{
    static const char *const days[SCATTERED_DAYS] = {"2013-11-28", "2013-11-29", "2013-11-30"};
    static const char *const rates[SCATTERED_DAYS] = {"0.5", "0.25", "0.125"};
    static char names[SCATTERED_ADS][8];
    static struct click clicks[SCATTERED_ADS];
    for (uint32_t day = 0; day < SCATTERED_DAYS; day++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < SCATTERED_ADS; i += day + 1) {
            uint32_t name = (uint32_t)((uint64_t)i * 7919 % SCATTERED_ADS); /* in no order */
            snprintf(names[count], sizeof(names[0]), "%05u", name);
            clicks[count] =
                (struct click){scattered_reseller(), days[day], DAY_MS, names[count], "1"};
            count++;
        }
        for (uint32_t i = 0; i < count; i += 1000)
            rollup_fixture_clicks(fixture, clicks + i, count - i < 1000 ? count - i : 1000);
        rollup_fixture_rate(fixture, scattered_reseller(), days[day], rates[day], true);
    }
    cr_assert_eq(rollup_fixture_refresh_now(fixture, false), 0);
}

Test(report, has_many_ads_in_order_each_with_the_sums_of_its_days)
{
    static const char *const amounts[] = {"0.5", "0.75", "0.625", "0.875"};
    struct rollup_fixture fixture = {0};
    struct answer answer = {0};
    struct buffer expected = {0};
    static uint8_t days[SCATTERED_ADS]; /* bit 0: on the second day; bit 1: on the third */
    rollup_fixture_start(&fixture);
    make_scattered_ads(&fixture);
    for (uint32_t i = 0; i < SCATTERED_ADS; i++)
        days[(uint64_t)i * 7919 % SCATTERED_ADS] = (i % 2 == 0 ? 1U : 0U) | (i % 3 == 0 ? 2U : 0U);
    buffer_append_text(&expected, "reseller_id,ad_id,clicks,gross,amount,unpriced_days,"
                                  "unpriced_gross\n");
    for (uint32_t i = 0; i < SCATTERED_ADS; i++) {
        uint32_t clicks = 1 + (days[i] & 1U) + days[i] / 2U;
        buffer_printf(&expected, "%s,%05u,%u,%u,%s,0,0\n", scattered_reseller(), i, clicks, clicks,
                      amounts[days[i]]);
    }
    run(&fixture, &answer, "report --by ad --format csv");
    answer.out.size--; /* the NUL */
    cr_expect(bytes_equal(buffer_view(&answer.out), buffer_view(&expected)));
    expect_same_when_slow(&fixture, "report --by ad --format csv");
    answer_release(&answer);
    answer = (struct answer){0};
    run(&fixture, &answer, "report --by ad --format svg");
    cr_expect_eq(answer.exit_status, EXIT_DONE);
    /* No step adds up, sorts or draws more ads than STEP_ADS. */
    enum { STEP_ADS = 1000, WORK = SCATTERED_ADS * (2 * 6 + 3 + 2) / 6 };
    cr_expect_geq(answer.steps, WORK / STEP_ADS, "%u", answer.steps);
    buffer_release(&expected);
    answer_release(&answer);
    rollup_fixture_stop(&fixture);
}

Test(report, is_no_picture_of_more_days_than_it_can_show)
{
    static const char *const months[] = {"<title>Amount by month</title>", ": 0 EUR, 31 days"};
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    make_long_days(&fixture, 0, LONG_DAYS);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    expect_no_picture(&fixture, "report --format svg", "at most 1000 days; choose some with");
    expect_pieces(&fixture, "report --by month --format svg", months, 2);
    rollup_fixture_stop(&fixture);
}

/* Some figures are rows, some worked out by the reader: both are behind where it stopped. */
Test(report, waits_for_a_slow_reader_of_dirty_days_too)
{
    struct answer answer = {0};
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    make_long_days(&fixture, 0, LONG_DAYS);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    cr_assert_eq(rollup_dirty_count(fixture.rollup), 0,
                 "a settle that met a full store ended early");
    make_long_days(&fixture, 300, 700);
    fixture.is_read_only = true;
    rollup_fixture_restart(&fixture);
    expect_same_when_slow(&fixture, "report --format csv");
    run(&fixture, &answer, "report --by month --format csv");
    cr_expect_not_null(strstr((const char *)answer.err.data,
                              "the figures of 1400 days were worked out for this report"),
                       "%s", (const char *)answer.err.data);
    answer_release(&answer);
    rollup_fixture_stop(&fixture);
}

/* ---- counters ---- */

Test(counters, agree_in_three_tables)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "counters --format csv",
           "table,keys,clicks\n"
           "clicks_per_ad,3,7\n"
           "clicks_per_reseller,2,7\n"
           "clicks_per_reseller_per_day,5,7\n");
    rollup_fixture_flush(&fixture);
    expect(&fixture, "counters clicks_per_ad --top 2 --format csv",
           "ad_id,clicks\n890_567_234,4\n890_567_211,2\n");
    rollup_fixture_stop(&fixture);
}

Test(counters, are_found_by_key_and_sorted_by_top)
{
    struct rollup_fixture fixture = {0};
    start_paper(&fixture);
    expect(&fixture, "counters clicks_per_reseller --key supaboobs --format csv",
           "reseller_id,clicks\nsupaboobs,6\n");
    expect(&fixture, "counters clicks_per_reseller --key nobody --format csv",
           "reseller_id,clicks\n");
    expect(&fixture,
           "counters clicks_per_reseller_per_day --key supaboobs --key 2013-11-29 --format csv",
           "reseller_id,day,clicks\nsupaboobs,2013-11-29,2\n");
    expect(&fixture, "counters clicks_per_reseller_per_day --key supaboobs --top 9 --format csv",
           "reseller_id,day,clicks\n"
           "supaboobs,2013-11-28,2\n"
           "supaboobs,2013-11-29,2\n"
           "supaboobs,2013-11-30,1\n"
           "supaboobs,2013-12-01,1\n");
    rollup_fixture_stop(&fixture);
}

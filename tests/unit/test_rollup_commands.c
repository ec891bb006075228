/* test_rollup_commands: rate, rollup, restatements and verify, as a person gives them. */
#include <errno.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/uuid.h"
#include "tests/lib/answer.h"
#include "tests/lib/rollup_fixture.h"

static void expect(struct rollup_fixture *fixture, const char *line, int exit_status,
                   const char *expected)
{
    struct answer answer;
    answer_run(fixture, &answer, line, "");
    cr_expect_eq(answer.exit_status, exit_status, "%s: exit %d\n%s", line, answer.exit_status,
                 (const char *)answer.text.data);
    cr_expect_str_eq((const char *)answer.text.data, expected, "%s:\n%s", line,
                     (const char *)answer.text.data);
    buffer_release(&answer.text);
}

static void expect_load(struct rollup_fixture *fixture, const char *file, int exit_status,
                        const char *expected)
{
    struct answer answer;
    answer_run(fixture, &answer, "rate load rates.csv", file);
    cr_expect_eq(answer.exit_status, exit_status);
    cr_expect_str_eq((const char *)answer.text.data, expected, "%s",
                     (const char *)answer.text.data);
    buffer_release(&answer.text);
}

Test(rollup_commands, rate_set_prints_the_days_it_changes_and_leaves_them_right)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    rollup_fixture_click(&fixture, "r", "2013-11-30", "0.30");
    expect(&fixture, "rate set r 2013-11-01 20%", EXIT_DONE,
           "reseller_id  day         clicks  rate             amount\n"
           "r            2013-11-30       1  unpriced -> 20%  -> 0.0600\n"
           "r            2013-11-28       1  unpriced -> 20%  -> 0.0200\n"
           "2 days of 1 reseller, 2 clicks: amount 0 -> 0.0800\n");
    expect(&fixture, "rollup", EXIT_DONE,
           "figures written: 2, published: 2, restated: 0\n"
           "2 days, 2 clicks, gross 0.40, amount 0.0800\n");
    expect(&fixture, "rate set r 2013-11-29 0.25 --expect 20% --note better", EXIT_DONE,
           "reseller_id  day         clicks  rate        amount\n"
           "r            2013-11-30       1  20% -> 25%  0.0600 -> 0.0750\n"
           "1 day of 1 reseller, 1 click: amount 0.0600 -> 0.0750\n");
    rollup_fixture_expect_figures(&fixture, "r 2013-11-30 1 0.30 0.25 0.0750 published\n"
                                            "r 2013-11-28 1 0.10 0.20 0.0200 published\n");
    /* Else it is chance whether verify finds in segments what it has flushed by itself. */
    rollup_fixture_flush(&fixture);
    expect(&fixture, "verify", EXIT_DONE,
           "files: checksums of 8 segments, and their stats against their rows\n"
           "amount_by_day: 2 days with 2 clicks compared\n"
           "restatement: 3 entries of 2 days compared\n"
           "clicks_per_ad: 1 counters compared with 2 clicks\n"
           "clicks_per_reseller: 1 counters compared with 2 clicks\n"
           "not compared: click_ids of clicks of one ad and millisecond; deletions from other "
           "tables\n"
           "all agree\n");
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, a_dry_run_prints_the_same_and_changes_nothing)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    expect(&fixture, "rate set r 2013-11-01 20% --dry-run", EXIT_DONE,
           "reseller_id  day         clicks  rate             amount\n"
           "r            2013-11-28       1  unpriced -> 20%  -> 0.0200\n"
           "1 day of 1 reseller, 1 click: amount 0 -> 0.0200\n"
           "dry run: nothing was changed\n");
    expect(&fixture, "rate list", EXIT_DONE,
           "reseller_id  effective_since  reward_percent\n"
           "no rates\n");
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, expect_and_delete_refuse_what_is_not_there)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    expect(&fixture, "rate set r 2013-11-01 20% --expect 10%", EXIT_DATA_SAYS_NO,
           "daybook: the rate in effect on 2013-11-01 is unpriced, not 10%; nothing was changed\n");
    expect(&fixture, "rate delete r 2013-11-01", EXIT_DATA_SAYS_NO,
           "daybook: no rate of this reseller begins on that day\n");
    expect(&fixture, "rate set r 2013-11-01 20% --expect none", EXIT_DONE,
           "no day with clicks changes\n");
    expect(&fixture, "rate delete r 2013-11-01 --expect 0.2", EXIT_DONE,
           "no day with clicks changes\n");
    expect(&fixture, "rate list", EXIT_DONE,
           "reseller_id  effective_since  reward_percent\n"
           "no rates\n");
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, wrong_usage_is_refused_before_anything_runs)
{
    static const char *const lines[] = {"rate",
                                        "rate put r 2013-11-01 20%",
                                        "rate set r 2013-11-01",
                                        "rate set r 2013-11-1 20%",
                                        "rate set r 2013-11-01 20",
                                        "rate set r 2013-11-01 20% 30%",
                                        "rate list r s",
                                        "rate load",
                                        "rate list --format pdf",
                                        "rate list --expect 20%",
                                        "rollup now",
                                        "rollup --from 2013-12-01 --to 2013-11-01",
                                        "restatements --change 17",
                                        "verify all"};
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        expect(&fixture, lines[i], EXIT_WRONG_USAGE, "");
    rollup_fixture_stop(&fixture);
}

/* A store that is full at the first attempt; before the second one another rate is set. */
struct full_once {
    struct rollup_fixture *fixture;
    struct timer timer;
    bool was_full;
};

static void set_other_rate(struct timer *timer)
{
    struct full_once *full = timer->context;
    rollup_fixture_rate(full->fixture, "r", "2013-11-01", "0.3", true);
}

static int refuse_once(void *context, const struct write_batch *batch, struct error *err)
{
    struct full_once *full = context;
    (void)batch;
    if (full->was_full)
        return 0;
    full->was_full = true;
    world_timer_start(full->fixture->world, &full->timer, set_other_rate, full, 0);
    return error_set(err, ERROR_FULL, "full");
}

Test(rollup_commands, expect_is_checked_again_when_a_full_store_has_room)
{
    struct rollup_fixture fixture = {0};
    struct full_once full = {.fixture = &fixture};
    rollup_fixture_start(&fixture);
    rollup_fixture_rate(&fixture, "r", "2013-11-01", "0.2", true);
    store_set_commit_check(fixture.store, refuse_once, &full);
    expect(&fixture, "rate set r 2013-11-01 40% --expect 20%", EXIT_DATA_SAYS_NO,
           "daybook: the rate in effect on 2013-11-01 is 30%, not 20%; nothing was changed\n");
    expect(&fixture, "rate list --format csv", EXIT_DONE,
           "reseller_id,effective_since,reward_percent\nr,2013-11-01,0.3\n");
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, rate_load_takes_what_rate_list_prints)
{
    static const char csv[] = "reseller_id,effective_since,reward_percent\n"
                              "\"a,b\",2013-01-01,0.2\n"
                              "\"a,b\",2013-05-01,100%\n"
                              "c,2013-01-01,0.125\n";
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "a,b", "2013-11-28", "0.10");
    expect_load(&fixture, csv, EXIT_DONE,
                "reseller_id  day         clicks  rate              amount\n"
                "a,b          2013-11-28       1  unpriced -> 100%  -> 0.1000\n"
                "1 day of 1 reseller, 1 click: amount 0 -> 0.1000\n");
    expect(&fixture, "rate list --format csv", EXIT_DONE, csv);
    expect(&fixture, "rate list c", EXIT_DONE,
           "reseller_id  effective_since  reward_percent\n"
           "c            2013-01-01                12.5%\n");
    expect_load(&fixture, csv, EXIT_DONE, "no day with clicks changes\n");
    rollup_fixture_stop(&fixture);
}

/* Of published days what is printed comes from the work that prices them, of a dry run from a
 * reader of figures; where clicks wait to be worked off, both come from the reader. */
Test(rollup_commands, a_dry_run_prints_of_many_days_what_the_change_then_prints)
{
    enum { RESELLERS = 4, DAYS = 70 };
    static struct click clicks[RESELLERS * DAYS];
    static char days[DAYS][DAY_TEXT_SIZE + 1];
    static const char *const names[RESELLERS] = {"d", "b", "c", "a"};
    static const char *const rates[] = {"0.2", "0.25", "0.3"};
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    for (int i = 0; i < RESELLERS * DAYS; i++) {
        int32_t day = 15000 + i % DAYS;
        calendar_day_format(day, days[i % DAYS]);
        clicks[i] = (struct click){names[i / DAYS], days[i % DAYS], day * DAY_MS, "ad", "0.5"};
    }
    rollup_fixture_clicks(&fixture, clicks, RESELLERS * DAYS);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct buffer file = {0};
        struct answer dry;
        struct answer done;
        buffer_append_text(&file, "reseller_id,effective_since,reward_percent\n");
        for (int r = 0; r < RESELLERS; r++)
            buffer_printf(&file, "%s,2011-01-30,%s\n%s,2011-03-%02d,10%%\n", names[r], rates[i],
                          names[r], 10 + r);
        buffer_put_u8(&file, 0);
        answer_run(&fixture, &dry, "rate load rates.csv --dry-run", (const char *)file.data);
        answer_run(&fixture, &done, "rate load rates.csv", (const char *)file.data);
        dry.text.size--;
        done.text.data[done.text.size - 1] = 0;
        buffer_release(&file);
        size_t same = done.text.size - 1;
        cr_expect_eq(done.exit_status, EXIT_DONE);
        cr_expect_str_eq((const char *)dry.text.data + same, "dry run: nothing was changed\n");
        cr_expect(memcmp(dry.text.data, done.text.data, same) == 0, "%s\nbut\n%s",
                  (const char *)dry.text.data, (const char *)done.text.data);
        cr_expect_not_null(strstr((const char *)done.text.data, "\n… and "));
        buffer_release(&dry.text);
        buffer_release(&done.text);
        if (i == 1)
            rollup_fixture_click(&fixture, "c", "2011-03-01", "1");
    }
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, rate_load_is_all_or_nothing_and_names_every_wrong_line)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    expect_load(&fixture,
                "reseller_id,effective_since,reward_percent\r\n"
                "a,2013-01-01,0.2\r\n"
                "a,2013-1-1,0.2\r\n"
                "a,2013-01-02,25\r\n"
                "a,2013-01-01,0.3\r\n"
                "a,2013-01-03\r\n"
                "\"\",2013-01-03,0.2\r\n"
                "\"a,2013-01-03,0.2\r\n",
                EXIT_WRONG_USAGE,
                "line 3: \"2013-1-1\" is no day; did you mean 2013-01-01?\n"
                "line 4: rate 25 is not clear; did you mean 25% (that is 0.25)?\n"
                "line 5: this reseller and day come twice\n"
                "line 6: three fields are needed: reseller_id,effective_since,reward_percent\n"
                "line 7: a reseller's id is not empty\n"
                "line 8: a quote is not closed\n"
                "daybook: the file was refused; nothing was changed\n");
    expect_load(&fixture, "a,2013-01-01,0.2\n", EXIT_WRONG_USAGE,
                "line 1: the header is needed: reseller_id,effective_since,reward_percent\n"
                "daybook: the file was refused; nothing was changed\n");
    expect(&fixture, "rate list", EXIT_DONE,
           "reseller_id  effective_since  reward_percent\n"
           "no rates\n");
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, strict_says_no_to_days_without_a_rate)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    expect(&fixture, "rollup --strict", EXIT_DATA_SAYS_NO,
           "figures written: 1, published: 1, restated: 0\n"
           "1 day, 1 click, gross 0.10, amount 0; without a rate: 1 day, gross 0.10\n");
    expect(&fixture, "rollup --strict --day 2013-11-29", EXIT_DONE,
           "figures written: 0, published: 0, restated: 0\n"
           "0 days, 0 clicks, gross 0, amount 0\n");
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, restatements_tell_what_changed_and_by_whom)
{
    struct rollup_fixture fixture = {0};
    struct answer answer;
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    expect(&fixture, "restatements --format csv", EXIT_DONE,
           "at,reseller_id,day,causes,old_clicks,new_clicks,old_gross,new_gross,old_rate,new_rate,"
           "old_amount,new_amount,changes,by\nnothing was restated\n");
    answer_run(&fixture, &answer, "rate set r 2013-11-01 20% --note March", "");
    buffer_release(&answer.text);
    answer_run(&fixture, &answer, "restatements --format json --reseller r", "");
    const char *text = (const char *)answer.text.data;
    cr_expect_not_null(strstr(text, "\"day\": \"2013-11-28\", \"causes\": [\"rate\"], "
                                    "\"old_clicks\": 1, \"new_clicks\": 1, "
                                    "\"old_gross\": \"0.10\", \"new_gross\": \"0.10\", "
                                    "\"old_rate\": null, \"new_rate\": \"0.20\", "
                                    "\"old_amount\": null, \"new_amount\": \"0.0200\""),
                       "%s", text);
    cr_expect_not_null(
        strstr(text, "\"by\": \"tester: rate set r 2013-11-01 20% --note March (March)\""), "%s",
        text);
    const char *changes = strstr(text, "\"changes\": [\"");
    cr_assert_not_null(changes);
    char line[128];
    snprintf(line, sizeof(line), "restatements --format csv --all --change %.36s", changes + 13);
    buffer_release(&answer.text);
    answer_run(&fixture, &answer, line, "");
    cr_expect_not_null(strstr((const char *)answer.text.data, ",r,2013-11-28,rate,1,1,0.10,"));
    cr_expect_null(strstr((const char *)answer.text.data, "published"));
    buffer_release(&answer.text);
    answer_run(&fixture, &answer, "restatements --all --from 2013-11-28", "");
    cr_expect_not_null(strstr((const char *)answer.text.data, "published"));
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
}

/* ---- verify finds what is wrong ---- */

enum { DAY_COUNT = 5 };
static const char *const days[DAY_COUNT] = {"2013-11-26", "2013-11-27", "2013-11-28", "2013-11-29",
                                            "2013-12-09"};

static struct write_batch *figure_batch(struct rollup_fixture *fixture, const char *clicks_column,
                                        int64_t clicks)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_AMOUNT_BY_DAY);
    const struct column_value values[] = {
        {AMOUNT_RESELLER_ID, false, bytes_text("r")},
        {AMOUNT_DAY, false, bytes_text("2013-11-28")},
        {schema_column_named(table, bytes_text(clicks_column))->id, false,
         write_batch_bigint(batch, clicks)},
    };
    write_batch_insert(batch, table, values, 3);
    return batch;
}

Test(rollup_commands, verify_names_a_figure_that_does_not_follow_from_the_clicks)
{
    struct rollup_fixture fixture = {0};
    struct answer answer;
    rollup_fixture_start(&fixture);
    rollup_fixture_rate(&fixture, "r", "2013-11-01", "0.5", false);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    struct write_batch *batch = figure_batch(&fixture, "clicks", 7);
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    write_batch_free(batch);
    answer_run(&fixture, &answer, "verify", "");
    cr_expect_eq(answer.exit_status, EXIT_DATA_SAYS_NO);
    const char *text = (const char *)answer.text.data;
    cr_expect_not_null(strstr(text, "difference: amount_by_day, r 2013-11-28: it says 7 clicks, "
                                    "gross 0.10, rate 0.5, amount 0.050; clicks and rates say "
                                    "1 click, gross 0.10, rate 0.5, amount 0.050\n"),
                       "%s", text);
    cr_expect_not_null(strstr(text, "difference: restatement, r 2013-11-28: it says 1 click, "),
                       "%s", text);
    cr_expect_not_null(strstr(text, "2 differences\n"), "%s", text);
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
}

/* Days change, and are worked off, between any two reads of a look: none of it is a difference. */
Test(rollup_commands, verify_beside_clicks_and_rollups_finds_nothing)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        struct answer answer;
        rollup_fixture_start(&fixture);
        for (int i = 0; i < 40; i++)
            rollup_fixture_click(&fixture, i % 2 == 0 ? "r" : "s", days[i % DAY_COUNT], "0.5");
        rollup_fixture_rate(&fixture, "r", "2013-11-01", "0.25", true);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, seed % 2 == 0), 0);
        answer_start(&fixture, &answer, "verify -q", "");
        for (int i = 0; !answer.done; i++) {
            rollup_fixture_click(&fixture, i % 3 == 0 ? "s" : "r", days[i % DAY_COUNT], "0.25");
            if (i % 4 == 0)
                rollup_fixture_rate(&fixture, "r", "2013-11-27", i % 8 == 0 ? "0.5" : "0.75", true);
            cr_assert_eq(rollup_fixture_refresh_now(&fixture, i % 5 == 0), 0);
        }
        answer_end(&answer);
        cr_expect_eq(answer.exit_status, EXIT_DONE, "seed %d:\n%s", (int)seed,
                     (const char *)answer.text.data);
        buffer_release(&answer.text);
        rollup_fixture_stop(&fixture);
    }
}

Test(rollup_commands, verify_names_a_counter_that_is_not_its_clicks)
{
    struct rollup_fixture fixture = {0};
    struct answer answer;
    struct write_batch *batch = write_batch_new();
    const struct counter_increment increment = {.table_id = TABLE_CLICKS_PER_AD,
                                                .column_id = COUNTER_CLICKS,
                                                .key = bytes_text("ad"),
                                                .value = 2};
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    write_batch_add_increment(batch, &increment);
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    write_batch_free(batch);
    answer_run(&fixture, &answer, "verify", "");
    cr_expect_eq(answer.exit_status, EXIT_DATA_SAYS_NO);
    cr_expect_not_null(strstr((const char *)answer.text.data,
                              "difference: clicks_per_ad, ad: it says 3, there are 1 clicks\n"),
                       "%s", (const char *)answer.text.data);
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
}

/* ---- verify where counters are lost ---- */

enum { LOST_ADS = 12000, KEPT_BYTES_MAX = 3 << 19 };

/* What the command keeps, and the most that it asked for at once when it kept something. */
static int64_t bytes_kept, asked_most;

static bool keep_little(struct command_output *output, int64_t change_bytes)
{
    (void)output;
    if (bytes_kept > 0 && change_bytes > asked_most)
        asked_most = change_bytes;
    if (change_bytes > 0 && bytes_kept + change_bytes > KEPT_BYTES_MAX)
        return false;
    bytes_kept += change_bytes;
    return true;
}

/* Clicks of many ads, none of which a counter has counted. */
static void lost_clicks(struct rollup_fixture *fixture)
{
    static char ads[LOST_ADS][16];
    static struct click clicks[LOST_ADS];
    store_commit_hook hook = fixture->store->hooks.commit;
    for (uint32_t i = 0; i < LOST_ADS; i++) {
        snprintf(ads[i], sizeof ads[i], "ad-%u", i);
        clicks[i] = (struct click){"r", "2013-11-28", 1385605012000 + i, ads[i], "0.1"};
    }
    fixture->store->hooks.commit = NULL;
    for (uint32_t i = 0; i < LOST_ADS; i += 1000)
        rollup_fixture_clicks(fixture, clicks + i, 1000);
    fixture->store->hooks.commit = hook;
}

Test(rollup_commands, verify_of_lost_counters_counts_clicks_in_the_memory_it_has)
{
    struct rollup_fixture fixture = {0};
    struct answer answer;
    rollup_fixture_start(&fixture);
    lost_clicks(&fixture);
    answer_start(&fixture, &answer, "verify -q", "");
    answer.output.keep = keep_little;
    rollup_fixture_step_until(&fixture, &answer.done);
    answer_end(&answer);
    cr_expect_eq(answer.exit_status, EXIT_DATA_SAYS_NO);
    cr_expect_not_null(strstr((const char *)answer.text.data,
                              "clicks_per_ad: 12000 counters compared with 12000 clicks\n"),
                       "%s", (const char *)answer.text.data);
    cr_expect_geq(asked_most, 1 << 20, "clicks were counted without a limit of memory");
    cr_expect_eq(bytes_kept, 0);
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, verify_names_a_figure_without_clicks_and_a_ledger_that_is_gone)
{
    struct rollup_fixture fixture = {0};
    struct answer answer;
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "0.10");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    struct write_batch *batch = write_batch_new();
    const struct table *ledger = schema_table(store_schema(fixture.store), TABLE_RESTATEMENT);
    const struct column_value key[] = {{RESTATEMENT_RESELLER_ID, false, bytes_text("r")}};
    write_batch_delete(batch, ledger, key, 1);
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    write_batch_free(batch);
    answer_run(&fixture, &answer, "verify", "");
    cr_expect_eq(answer.exit_status, EXIT_DATA_SAYS_NO);
    cr_expect_not_null(strstr((const char *)answer.text.data,
                              "difference: restatement, r 2013-11-28: it says nothing; "
                              "amount_by_day say 1 click"),
                       "%s", (const char *)answer.text.data);
    cr_expect_not_null(strstr((const char *)answer.text.data,
                              "difference: 1 days are published, 0 have a ledger\n"),
                       "%s", (const char *)answer.text.data);
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
}

/* ---- clicks ---- */

static void expect_verified(struct rollup_fixture *fixture, const char *expected)
{
    struct answer answer;
    answer_run(fixture, &answer, "verify -q", "");
    cr_expect_eq(answer.exit_status, EXIT_DONE, "%s", (const char *)answer.text.data);
    cr_expect_not_null(strstr((const char *)answer.text.data, expected), "%s",
                       (const char *)answer.text.data);
    buffer_release(&answer.text);
}

static void put_clicks(struct rollup_fixture *fixture)
{
    static const struct click clicks[] = {
        {"r", "2013-11-28", INT64_C(1385640000000), "a", "0.10"},
        {"r", "2013-11-28", INT64_C(1385640000000), "a", "0.20"},
        {"r", "2013-11-28", INT64_C(1385640001000), "b", "0.10"},
        {"r", "2013-11-29", INT64_C(1385726400000), "a", "0.50"},
    };
    rollup_fixture_start(fixture);
    rollup_fixture_clicks(fixture, clicks, 4);
    rollup_fixture_rate(fixture, "r", "2013-01-01", "0.5", true);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, true), 0);
}

/* A void takes clicks off figures and counters, restates published days under its cause, and can be
 * taken back. */
Test(rollup_commands, voided_clicks_are_gone_everywhere_and_come_back)
{
    struct rollup_fixture fixture = {0};
    put_clicks(&fixture);
    expect(&fixture, "clicks void --reseller r --from 2013-11-28 --to 2013-11-29 --ad a --dry-run",
           EXIT_DONE,
           "day         clicks  gross\n"
           "2013-11-28       2   0.30\n"
           "2013-11-29       1   0.50\n"
           "3 clicks of 2 days, gross 0.80: found\n"
           "dry run: nothing was changed\n");
    expect(&fixture, "clicks void --reseller r --day 2013-11-28 --ad a --where amount=0.2",
           EXIT_DONE,
           "day         clicks  gross\n"
           "2013-11-28       1   0.20\n"
           "1 click of 1 day, gross 0.20: voided\n");
    expect(&fixture, "clicks list --reseller r --day 2013-11-28 --format csv", EXIT_DONE,
           "reseller_id,day,time,ad_id,click_id,amount\n"
           "r,2013-11-28,2013-11-28T12:00:01.000Z,b,0,0.10\n"
           "r,2013-11-28,2013-11-28T12:00:00.000Z,a,0,0.10\n");
    rollup_fixture_expect_figures(&fixture, "r 2013-11-29 1 0.50 0.5 0.250 published\n"
                                            "r 2013-11-28 2 0.20 0.5 0.100 published\n");
    expect_verified(&fixture, "clicks_per_ad: 2 counters compared with 3 clicks\n");
    expect(&fixture, "clicks void --reseller r --day 2013-11-28 --where amount=0.2",
           EXIT_DATA_SAYS_NO, "no such clicks; nothing was changed\n");
    rollup_fixture_restart(&fixture);
    expect(&fixture, "clicks restore --reseller r --from 2013-11-01 --to 2013-11-30", EXIT_DONE,
           "day         clicks  gross\n"
           "2013-11-28       1   0.20\n"
           "1 click of 1 day, gross 0.20: restored\n");
    expect(&fixture, "clicks restore --reseller r --from 2013-11-01 --to 2013-11-30",
           EXIT_DATA_SAYS_NO, "no such clicks; nothing was changed\n");
    rollup_fixture_expect_figures(&fixture, "r 2013-11-29 1 0.50 0.5 0.250 published\n"
                                            "r 2013-11-28 3 0.40 0.5 0.200 published\n");
    rollup_fixture_expect_ledger(&fixture, "r",
                                 "2013-11-28 published - - 3 - 0.40 - 0.5 - 0.200\n"
                                 "2013-11-28 void + 3 2 0.40 0.20 0.5 0.5 0.200 0.100\n"
                                 "2013-11-28 correction + 2 3 0.20 0.40 0.5 0.5 0.100 0.200\n"
                                 "2013-11-29 published - - 1 - 0.50 - 0.5 - 0.250\n");
    rollup_fixture_stop(&fixture);
}

/* Many pages, each a batch, and a crash after so many steps.  True: it came in the middle. */
static bool void_is_interrupted(uint32_t steps)
{
    enum { CLICKS = 5000 };
    struct rollup_fixture fixture = {.seed = steps};
    struct click *clicks = memory_zeroed(CLICKS, sizeof(*clicks));
    struct answer answer;
    bool is_half;
    rollup_fixture_start(&fixture);
    for (uint32_t i = 0; i < CLICKS; i++)
        clicks[i] =
            (struct click){"r", "2013-11-28", INT64_C(1385640000000) + i % 700, "a", "0.01"};
    rollup_fixture_clicks(&fixture, clicks, CLICKS);
    memory_free(clicks);
    answer_start(&fixture, &answer, "clicks void --reseller r --day 2013-11-28", "");
    while (steps-- > 0)
        fixture.world->executor->step(fixture.world->executor);
    struct sim_world *after = sim_world_crash(fixture.sim, 3);
    rollup_fixture_step_until(&fixture, &answer.done);
    rollup_fixture_stop(&fixture);
    answer_end(&answer);
    buffer_release(&answer.text);
    rollup_fixture_open(&fixture, after);
    answer_run(&fixture, &answer, "verify -q", "");
    cr_expect_eq(answer.exit_status, EXIT_DONE, "%s", (const char *)answer.text.data);
    is_half = strstr((const char *)answer.text.data, "with 5000 clicks") == NULL &&
              strstr((const char *)answer.text.data, "with 0 clicks") == NULL;
    buffer_release(&answer.text);
    answer_run(&fixture, &answer, "clicks void --reseller r --day 2013-11-28", "");
    buffer_release(&answer.text);
    expect_verified(&fixture, "clicks_per_ad: 1 counters compared with 0 clicks");
    answer_run(&fixture, &answer, "clicks restore --reseller r --day 2013-11-28", "");
    cr_expect_not_null(strstr((const char *)answer.text.data, "5000 clicks of 1 day"), "%s",
                       (const char *)answer.text.data);
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
    return is_half;
}

/* Counters equal clicks wherever it stopped, and given again, the rest is done. */
Test(rollup_commands, an_interrupted_void_is_finished_by_giving_it_again)
{
    uint32_t interrupted = 0;
    for (uint32_t steps = 8; steps < 32; steps += 4)
        interrupted += void_is_interrupted(steps);
    cr_expect_gt(interrupted, 0);
}

#define DAYS_OF_VOIDS "--reseller r --from 2013-11-20 --to 2013-11-28"

/* Nine days that have expired, of three clicks each; a pass of seals and a void, of which one
 * begins `steps` after the other.  Returns how many clicks were voided. */
static uint32_t void_beside_seals(uint32_t steps, bool void_is_first)
{
    static const char line[] = "clicks void " DAYS_OF_VOIDS;
    struct rollup_fixture fixture = {.seed = steps, .keep_days = 10};
    struct answer answer;
    char day[] = "2013-11-20";
    rollup_fixture_start(&fixture);
    for (; day[9] <= '8'; day[9]++)
        for (uint32_t i = 0; i < 3; i++)
            rollup_fixture_click(&fixture, "r", day, "0.01");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    if (void_is_first)
        answer_start(&fixture, &answer, line, "");
    else
        rollup_fixture_seal(&fixture);
    while (steps-- > 0)
        fixture.world->executor->step(fixture.world->executor);
    if (void_is_first)
        rollup_fixture_seal(&fixture);
    else
        answer_start(&fixture, &answer, line, "");
    rollup_fixture_step_until(&fixture, &answer.done);
    answer_end(&answer);
    bool is_whole =
        answer.exit_status == EXIT_DONE &&
        strstr((const char *)answer.text.data, "\n27 clicks of 9 days, gross 0.27: voided\n");
    bool is_refused = answer.exit_status == EXIT_WRONG_USAGE &&
                      strstr((const char *)answer.text.data, "nothing was changed");
    cr_expect(is_whole || is_refused, "exit %d: %s", answer.exit_status,
              (const char *)answer.text.data);
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
    return is_whole ? 27 : 0;
}

/* What was voided before the pass came to it, and the rest sealed, were neither. */
Test(rollup_commands, a_void_beside_a_pass_of_seals_is_whole_or_refused)
{
    uint32_t voided = 0, tries = 0;
    for (uint32_t steps = 0; steps < 120; steps += 6, tries += 2)
        voided += void_beside_seals(steps, false) + void_beside_seals(steps, true);
    cr_expect(voided > 0 && voided < tries * 27, "%u of %u", voided, tries * 27);
}

static void put_keyed(struct rollup_fixture *fixture, const char *amount, int64_t click_id)
{
    const struct click click = {"r", "2013-11-28", INT64_C(1385640000000), "a", amount};
    cr_assert(rollup_fixture_keyed_click(fixture, &click, click_id));
}

/* An acknowledged click that was sent again is the click of its id; the voided one stays where it
 * is, until that one is voided, too: then the newest comes back. */
Test(rollup_commands, a_voided_click_whose_id_is_taken_is_left_and_said)
{
    struct rollup_fixture fixture = {.click_id = "bigint"};
    rollup_fixture_start(&fixture);
    put_keyed(&fixture, "5", 1);
    put_keyed(&fixture, "0.5", 2);
    expect(&fixture, "clicks void --reseller r --day 2013-11-28", EXIT_DONE,
           "day         clicks  gross\n"
           "2013-11-28       2    5.5\n"
           "2 clicks of 1 day, gross 5.5: voided\n");
    put_keyed(&fixture, "7", 1);
    expect(&fixture, "clicks restore --reseller r --day 2013-11-28", EXIT_DONE,
           "day         clicks  gross\n"
           "2013-11-28       1    0.5\n"
           "1 click of 1 day, gross 0.5: restored\n"
           "1 voided click left: clicks with the same time, ad and id are there\n");
    expect(&fixture, "clicks restore --reseller r --day 2013-11-28", EXIT_DATA_SAYS_NO,
           "1 voided click left: clicks with the same time, ad and id are there\n"
           "no click was restored; nothing was changed\n");
    expect(&fixture, "clicks list --reseller r --day 2013-11-28 --format csv", EXIT_DONE,
           "reseller_id,day,time,ad_id,click_id,amount\n"
           "r,2013-11-28,2013-11-28T12:00:00.000Z,a,1,7\n"
           "r,2013-11-28,2013-11-28T12:00:00.000Z,a,2,0.5\n");
    expect_verified(&fixture, "clicks_per_ad: 1 counters compared with 2 clicks\n");
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, of_several_voids_of_one_id_the_newest_comes_back)
{
    struct rollup_fixture fixture = {.click_id = "bigint"};
    rollup_fixture_start(&fixture);
    for (const char *amount = "5\0"
                              "7\0"
                              "6\0";
         *amount != '\0'; amount += 2) {
        struct answer answer;
        put_keyed(&fixture, amount, 1);
        answer_run(&fixture, &answer, "clicks void --reseller r --day 2013-11-28", "");
        cr_assert_eq(answer.exit_status, EXIT_DONE);
        buffer_release(&answer.text);
    }
    static const char says[] =
        "day         clicks  gross\n"
        "2013-11-28       1      6\n"
        "1 click of 1 day, gross 6: restored\n"
        "2 voided clicks left: clicks with the same time, ad and id are there\n";
    char found[sizeof says + 30];
    const char *restored = strstr(says, "restored");
    snprintf(found, sizeof found, "%.*sfound%sdry run: nothing was changed\n",
             (int)(restored - says), says, restored + strlen("restored"));
    expect(&fixture, "clicks restore --reseller r --day 2013-11-28 --dry-run", EXIT_DONE, found);
    expect(&fixture, "clicks restore --reseller r --day 2013-11-28", EXIT_DONE, says);
    expect_verified(&fixture, "clicks_per_ad: 1 counters compared with 1 clicks\n");
    expect(&fixture, "clicks restore --reseller r --day 2013-11-28 --where amount=5",
           EXIT_DATA_SAYS_NO,
           "1 voided click left: clicks with the same time, ad and id are there\n"
           "no click was restored; nothing was changed\n");
    rollup_fixture_stop(&fixture);
}

/* More of them than a page has, which so ends between two voids of an id. */
Test(rollup_commands, voids_of_one_id_on_two_pages_come_back_once)
{
    enum { IDS = 700, VOIDS = 3 };
    struct rollup_fixture fixture = {.click_id = "bigint"};
    struct answer answer;
    rollup_fixture_start(&fixture);
    for (uint32_t round = 0; round < VOIDS; round++) {
        for (int64_t id = 0; id < IDS; id++)
            put_keyed(&fixture, "1", id);
        answer_run(&fixture, &answer, "clicks void --reseller r --day 2013-11-28", "");
        cr_assert_eq(answer.exit_status, EXIT_DONE);
        buffer_release(&answer.text);
    }
    expect(&fixture, "clicks restore --reseller r --day 2013-11-28 --dry-run", EXIT_DONE,
           "day         clicks  gross\n"
           "2013-11-28     700    700\n"
           "700 clicks of 1 day, gross 700: found\n"
           "1400 voided clicks left: clicks with the same time, ad and id are there\n"
           "dry run: nothing was changed\n");
    expect(&fixture, "clicks restore --reseller r --day 2013-11-28", EXIT_DONE,
           "day         clicks  gross\n"
           "2013-11-28     700    700\n"
           "700 clicks of 1 day, gross 700: restored\n"
           "1400 voided clicks left: clicks with the same time, ad and id are there\n");
    rollup_fixture_stop(&fixture);
}

Test(rollup_commands, clicks_says_what_it_needs)
{
    struct rollup_fixture fixture = {0};
    struct answer answer;
    static const char *const lines[] = {
        "clicks",
        "clicks list --day 2013-11-28",
        "clicks void --reseller r --from 2013-11-28",
        "clicks hide --reseller r --day 2013-11-28",
        "clicks list --reseller r --day 2013-11-28 --where amount",
        "clicks list --reseller r --day 2013-11-28 --where nothing=1",
        "clicks list --reseller r --day 2013-11-28 --where amount=much",
    };
    rollup_fixture_start(&fixture);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        answer_run(&fixture, &answer, lines[i], "");
        cr_expect_eq(answer.exit_status, EXIT_WRONG_USAGE, "%s: %d", lines[i], answer.exit_status);
        buffer_release(&answer.text);
    }
    rollup_fixture_stop(&fixture);
}

/* ---- repair ---- */

static void break_counters(struct rollup_fixture *fixture)
{
    struct write_batch *batch = write_batch_new();
    const struct counter_increment increments[] = {
        {TABLE_CLICKS_PER_AD, COUNTER_CLICKS, bytes_text("a"), {0}, COUNTER_ADD, 2},
        {TABLE_CLICKS_PER_AD, COUNTER_CLICKS, bytes_text("gone"), {0}, COUNTER_ADD, -7},
        {TABLE_CLICKS_PER_RESELLER, COUNTER_CLICKS, bytes_text("r"), {0}, COUNTER_SET, 1},
    };
    for (size_t i = 0; i < sizeof(increments) / sizeof(increments[0]); i++)
        write_batch_add_increment(batch, &increments[i]);
    cr_assert_eq(rollup_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

/* What every repaired thing is afterwards: the clicks' own, and its change is in the ledger. */
Test(rollup_commands, a_repair_puts_counters_figures_and_ledger_right)
{
    struct rollup_fixture fixture = {0};
    struct answer answer;
    put_clicks(&fixture);
    struct buffer figures = rollup_fixture_figures(&fixture);
    break_counters(&fixture);
    struct write_batch *batch = write_batch_new();
    const struct column_value row[] = {{AMOUNT_RESELLER_ID, false, bytes_text("r")},
                                       {AMOUNT_DAY, false, bytes_text("2013-11-28")},
                                       {AMOUNT_CLICKS, false, write_batch_bigint(batch, 9)}};
    const struct column_value ledger[] = {{RESTATEMENT_RESELLER_ID, false, bytes_text("r")}};
    const struct schema *schema = store_schema(fixture.store);
    write_batch_insert(batch, schema_table(schema, TABLE_AMOUNT_BY_DAY), row, 3);
    write_batch_delete(batch, schema_table(schema, TABLE_RESTATEMENT), ledger, 1);
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    write_batch_free(batch);
    answer_run(&fixture, &answer, "verify -q", "");
    cr_expect_eq(answer.exit_status, EXIT_DATA_SAYS_NO);
    buffer_release(&answer.text);
    answer_run(&fixture, &answer, "verify -q --repair", "");
    cr_expect_eq(answer.exit_status, EXIT_DONE, "%s", (const char *)answer.text.data);
    cr_expect_not_null(strstr((const char *)answer.text.data, "repaired: 2 days, 3 counters"), "%s",
                       (const char *)answer.text.data);
    buffer_release(&answer.text);
    rollup_fixture_restart(&fixture);
    expect_verified(&fixture, "all agree\n");
    rollup_fixture_expect_figures(&fixture, (const char *)figures.data);
    answer_run(&fixture, &answer, "verify -q --repair", "");
    cr_expect_null(strstr((const char *)answer.text.data, "repaired"), "%s",
                   (const char *)answer.text.data);
    buffer_release(&answer.text);
    buffer_release(&figures);
    rollup_fixture_stop(&fixture);
}

/* ---- what a changed rate costs ---- */

static uint64_t frame_of(struct store *store)
{
    struct store_status status;
    store_status(store, &status);
    return status.frame_applied;
}

/* Rate, figures and ledger are one frame, and nobody else's days are worked off for it. */
Test(rollup_commands, a_changed_rate_writes_its_own_days_in_one_frame)
{
    enum { RESELLERS = 200 };
    struct rollup_fixture fixture = {0};
    struct answer answer;
    static char names[RESELLERS][16];
    static struct click clicks[RESELLERS];
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "2");
    rollup_fixture_click(&fixture, "r", "2013-11-29", "4");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    for (int i = 0; i < RESELLERS; i++) {
        snprintf(names[i], sizeof(names[i]), "r%d", i);
        clicks[i] = (struct click){names[i], "2013-11-28", 1385605012000, "ad", "1"};
    }
    rollup_fixture_clicks(&fixture, clicks, RESELLERS);
    uint64_t frame = frame_of(fixture.store);
    answer_run(&fixture, &answer, "rate set r 2013-11-01 0.5", "");
    cr_expect_eq(answer.exit_status, EXIT_DONE);
    cr_expect_not_null(strstr((const char *)answer.text.data, "2 days of 1 reseller"), "%s",
                       (const char *)answer.text.data);
    cr_expect_eq(frame_of(fixture.store), frame + 1);
    cr_expect_eq(rollup_dirty_count(fixture.rollup), RESELLERS);
    rollup_fixture_expect_figures(&fixture, "r 2013-11-29 1 4 0.5 2.0 published\n"
                                            "r 2013-11-28 1 2 0.5 1.0 published\n");
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
}

static int64_t metric_value(const struct rollup_fixture *fixture, const char *name)
{
    const struct metric *metric = metrics_first(fixture->metrics);
    while (strcmp(metric->name, name) != 0)
        metric = metric->next;
    return metric->value;
}

/* Everybody's days are dirty, three of the reseller's too; what is voided and restored is two. */
Test(rollup_commands, a_void_works_off_its_own_days_only)
{
    enum { RESELLERS = 300 };
    struct rollup_fixture fixture = {0};
    static struct click clicks[RESELLERS];
    static char names[RESELLERS][16];
    rollup_fixture_start(&fixture);
    rollup_fixture_rate(&fixture, "r", "2013-01-01", "0.5", false);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "2");
    rollup_fixture_click(&fixture, "r", "2013-11-29", "4");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    for (int i = 0; i < RESELLERS; i++) {
        snprintf(names[i], sizeof(names[i]), "r%d", i);
        clicks[i] = (struct click){names[i], "2013-11-28", 1385605012000, "ad", "1"};
    }
    rollup_fixture_clicks(&fixture, clicks, RESELLERS);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "8");
    rollup_fixture_click(&fixture, "r", "2013-11-29", "16");
    rollup_fixture_click(&fixture, "r", "2013-11-30", "32");
    int64_t written = metric_value(&fixture, "daybook_rollup_figures_written_total");
    expect(&fixture, "clicks void --reseller r --from 2013-11-28 --to 2013-11-29 --where amount=2",
           EXIT_DONE,
           "day         clicks  gross\n"
           "2013-11-28       1      2\n"
           "1 click of 1 day, gross 2: voided\n");
    cr_expect_eq(metric_value(&fixture, "daybook_rollup_figures_written_total"), written + 2);
    cr_expect_eq(rollup_dirty_count(fixture.rollup), RESELLERS + 1);
    rollup_fixture_expect_figures(&fixture, "r 2013-11-29 2 20 0.5 10.0 published\n"
                                            "r 2013-11-28 1 8 0.5 4.0 published\n");
    expect(&fixture, "clicks restore --reseller r --day 2013-11-28", EXIT_DONE,
           "day         clicks  gross\n"
           "2013-11-28       1      2\n"
           "1 click of 1 day, gross 2: restored\n");
    cr_expect_eq(metric_value(&fixture, "daybook_rollup_figures_written_total"), written + 3);
    cr_expect_eq(rollup_dirty_count(fixture.rollup), RESELLERS + 1);
    rollup_fixture_expect_figures(&fixture, "r 2013-11-29 2 20 0.5 10.0 published\n"
                                            "r 2013-11-28 2 10 0.5 5.0 published\n");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    expect_verified(&fixture, "all agree\n");
    rollup_fixture_stop(&fixture);
}

/* A seal's ad is made to say another number, with the right form and a wrong checksum. */
static void damage_seal(struct rollup_fixture *fixture, const char *ad)
{
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_SEALED_AD);
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    struct write_batch *batch = write_batch_new();
    struct buffer rows = engine_fixture_rows(&engine, TABLE_SEALED_AD, bytes_of("", 0), 100, false);
    char text[40];
    uint8_t id[UUID_SIZE];
    cr_assert_eq(sscanf((const char *)rows.data, "r|2013-11-28|a|%36[^|]", text), 1);
    cr_assert(uuid_from_text(bytes_text(text), id));
    const struct column_value values[] = {{SEALED_AD_RESELLER_ID, false, bytes_text("r")},
                                          {SEALED_AD_DAY, false, bytes_text("2013-11-28")},
                                          {SEALED_AD_AD_ID, false, bytes_text(ad)},
                                          {SEALED_AD_ID, false, bytes_of(id, UUID_SIZE)},
                                          {SEALED_AD_CLICKS, false, write_batch_bigint(batch, 7)}};
    write_batch_insert(batch, table, values, 5);
    cr_assert_eq(rollup_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
    buffer_release(&rows);
}

Test(rollup_commands, days_expire_and_a_damaged_seal_is_named)
{
    struct rollup_fixture fixture = {0};
    const struct click click = {"r", "2013-11-28", 1385605012000, "a", "0.10"};
    rollup_fixture_start(&fixture);
    rollup_fixture_clicks(&fixture, &click, 1);
    expect(&fixture, "retention show", EXIT_DONE, "clicks are kept for ever\n");
    expect(&fixture, "retention set 0", EXIT_WRONG_USAGE, "");
    expect(&fixture, "retention set 10", EXIT_DONE,
           "clicks are kept for 10 days: published days up to 2013-11-29 are sealed\n");
    expect(&fixture, "rollup", EXIT_DONE,
           "figures written: 1, published: 1, restated: 0\n"
           "sealed: 1 day with 1 expired click, gross 0.10\n"
           "1 day, 1 click, gross 0.10, amount 0; without a rate: 1 day, gross 0.10\n");
    expect(&fixture, "retention show", EXIT_DONE,
           "clicks are kept for 10 days: published days up to 2013-11-29 are sealed\n"
           "the last sealed day is 2013-11-28\n");
    expect(&fixture, "clicks void --reseller r --day 2013-11-28", EXIT_WRONG_USAGE,
           "daybook: 2013-11-28 of r is sealed: its clicks have expired, and what is not known can "
           "be neither voided nor restored; nothing was changed\n");
    damage_seal(&fixture, "a");
    struct answer answer;
    answer_run(&fixture, &answer, "verify", "");
    cr_expect_eq(answer.exit_status, EXIT_DATA_SAYS_NO);
    cr_expect_not_null(strstr((const char *)answer.text.data,
                              "difference: table sealed_ad, r 2013-11-28 ad a: the seal is "
                              "damaged\n"),
                       "%s", (const char *)answer.text.data);
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
}

static void put_voided(struct rollup_fixture *fixture)
{
    static const char *const resellers[] = {"r1", "r2", "r3"};
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < 3; i++) {
            if (n > 0)
                rollup_fixture_void(fixture, resellers[i], "2013-11-28");
            rollup_fixture_click(fixture, resellers[i], "2013-11-28", "1");
        }
        rollup_fixture_flush(fixture);
    }
}

/* The disk refuses one read, or all from one on: a day that needs it is named, and all others are
 * compared. */
static void expect_named(bool is_written, uint64_t number, bool for_ever, const char *named)
{
    struct rollup_fixture fixture = {.seed = 1, .page_rows = 1}; /* each day has its page */
    struct answer answer;
    rollup_fixture_start(&fixture);
    put_voided(&fixture);
    if (is_written) {
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
        rollup_fixture_flush(&fixture);
    }
    rollup_fixture_go_on(&fixture, sim_world_restart(fixture.sim, 1));
    sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, number, -EIO, for_ever);
    answer_run(&fixture, &answer, "verify -q", "");
    sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, 1, 0, false);
    const char *text = (const char *)answer.text.data;
    cr_expect_not_null(strstr(text, named), "%s", text);
    if (!for_ever) {
        cr_expect_not_null(strstr(text, "amount_by_day: 3 days with "), "%s", text);
        cr_expect_eq(answer.exit_status, EXIT_DATA_SAYS_NO);
        cr_expect_not_null(strstr(text, "\n1 difference\n"), "%s", text);
    }
    buffer_release(&answer.text);
    (void)rollup_fixture_try_close(&fixture);
    sim_world_free(fixture.sim);
}

Test(rollup_commands, verify_goes_on_after_a_day_that_cannot_be_read)
{
    expect_named(false, 1, false, "difference: out of date: r3 2013-11-28: ");
    expect_named(false, 5, false, "difference: out of date: r2 2013-11-28: ");
    expect_named(false, 7, false, "difference: out of date: r1 2013-11-28: ");
    expect_named(false, 1, true, "difference: days without a figure could not be listed: ");
    expect_named(false, 1, true, "amount_by_day: ");
}

/* Run a command where the disk refuses one read, the first, the second and so on: whenever it has
 * changed something and failed, it says `changed_but`. */
static void expect_changed_but(const char *line, const char *look, const char *unchanged,
                               const char *changed_but)
{
    uint32_t said = 0;
    for (uint64_t number = 1; number <= 16; number++) {
        struct rollup_fixture fixture = {.seed = 1};
        struct answer answer, found;
        rollup_fixture_start(&fixture);
        put_voided(&fixture);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
        rollup_fixture_flush(&fixture);
        rollup_fixture_go_on(&fixture, sim_world_restart(fixture.sim, 1));
        sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, number, -EIO, false);
        answer_run(&fixture, &answer, line, "");
        sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, 1, 0, false);
        answer_run(&fixture, &found, look, "");
        bool has_changed = strstr((const char *)found.text.data, unchanged) == NULL;
        bool says = strstr((const char *)answer.text.data, changed_but) != NULL;
        cr_expect_eq(says, has_changed && answer.exit_status != EXIT_DONE, "read %d: %s",
                     (int)number, (const char *)answer.text.data);
        said += says;
        buffer_release(&answer.text);
        buffer_release(&found.text);
        (void)rollup_fixture_try_close(&fixture);
        sim_world_free(fixture.sim);
    }
    cr_expect_gt(said, 0);
}

Test(rollup_commands, what_was_changed_does_not_look_refused)
{
    expect_changed_but("rate set r1 2013-11-01 20%", "rate list", "no rates",
                       "daybook: the rates were changed, but ");
    expect_changed_but("clicks void --reseller r2 --day 2013-11-28",
                       "clicks list --reseller r2 --day 2013-11-28", "r2 ",
                       "1 click of 1 day, gross 1: voided\n"
                       "daybook: the clicks were voided, but ");
}

Test(rollup_commands, verify_goes_on_after_rows_and_counters_that_cannot_be_read)
{
    expect_named(true, 1, true, "difference: not all figures could be read: ");
    expect_named(true, 1, true, "difference: not all of the ledger could be read: ");
    expect_named(true, 1, true, "difference: clicks_per_ad could not be compared: ");
    expect_named(true, 1, true, "difference: clicks_per_reseller could not be compared: ");
    expect_named(true, 1, true, " differences\n");
}

/* ---- rate list --history ---- */

/* Whose rate was what before and after, oldest first; clicks that were voided name no rate. */
Test(rollup_commands, the_history_of_rates_says_who_changed_them_and_why)
{
    struct rollup_fixture fixture = {0};
    struct answer answer;
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "a b", "2013-11-28", "0.10");
    static const char *const lines[] = {
        "rate set r 2013-11-01 20% --note=first", "rate set s 2013-11-01 30%",
        "rate set r 2013-11-01 25% --note=agreed,late", "rate delete r 2013-11-01"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        answer_run(&fixture, &answer, lines[i], "");
        cr_assert_eq(answer.exit_status, EXIT_DONE, "%s", (const char *)answer.text.data);
        buffer_release(&answer.text);
        rollup_fixture_advance(&fixture, 60);
    }
    answer_run(&fixture, &answer, "rate list r --history --format=csv", "");
    cr_expect_eq(answer.exit_status, EXIT_DONE);
    const char *at = (const char *)answer.text.data;
    static const char *const expected[] = {
        "at,reseller_id,effective_since,old,new,actor,command,note\n",
        ",r,2013-11-01,(none),20%,tester,rate set r 2013-11-01 20% --note=first,first\n",
        ",r,2013-11-01,20%,25%,tester,\"rate set r 2013-11-01 25% --note=agreed,late\","
        "\"agreed,late\"\n",
        ",r,2013-11-01,25%,(none),tester,rate delete r 2013-11-01,\n"};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        cr_assert_not_null(strstr(at, expected[i]), "no %s in\n%s", expected[i], at);
        at = strstr(at, expected[i]) + strlen(expected[i]);
    }
    cr_expect_str_eq(at, "");
    buffer_release(&answer.text);
    rollup_fixture_stop(&fixture);
}

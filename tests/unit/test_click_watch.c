/* test_click_watch: what the commit hook shows of the clicks that come. */
#include "rollup/days/click_watch.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/lib/rollup_fixture.h"
#include "tests/unit/frequent_fixture.h"

static struct rollup_fixture fixture;
static struct click_watch *watch;

static void start(const char *click_id)
{
    fixture = (struct rollup_fixture){.seed = 7, .click_id = click_id};
    rollup_fixture_start(&fixture);
    watch = rollup_watch(fixture.rollup);
    click_watch_begin(watch);
}

static void stop(void)
{
    click_watch_end(watch);
    rollup_fixture_stop(&fixture);
}

enum { CLICKS = 4000 };

/* Half of the clicks are of `most`, and in turn, as an even step would see it; the others have
 * resellers and ads of their own. */
static void send_clicks(const char *most)
{
    static struct click clicks[CLICKS];
    static char names[CLICKS][16];

    for (uint32_t i = 0; i < CLICKS; i++) {
        (void)snprintf(names[i], sizeof names[i], "other%u", i % 500);
        clicks[i] = (struct click){.reseller = i % 2 == 0 ? most : names[i],
                                   .day = "2013-12-10",
                                   .time_ms = INT64_C(1386676800000) + i,
                                   .ad = i % 2 == 0 ? "ad" : names[i],
                                   .amount = "0.01"};
    }
    rollup_fixture_clicks(&fixture, clicks, CLICKS);
}

Test(click_watch, counts_clicks_and_looks_at_some)
{
    start(NULL);
    for (uint32_t turn = 1; turn <= 20; turn++) {
        send_clicks("most");
        cr_expect_eq(watch->clicks, turn * CLICKS);
        cr_expect(watch->samples > 100 && watch->samples <= 2048, "%u", watch->samples);
        click_watch_turn(watch);
    }
    cr_expect(watch->step > 1, "it looks at fewer than all");
    send_clicks("most");
    cr_expect(watch->has_missed);
    click_watch_turn(watch);
    cr_expect(!watch->has_missed);
    expect_top(&watch->resellers, 1, "most ");
    expect_top(&watch->ads, 1, "ad ");
    stop();
}

Test(click_watch, sees_nothing_when_it_is_off)
{
    start(NULL);
    click_watch_end(watch);
    send_clicks("most");
    cr_expect_eq(watch->clicks, 0);
    cr_expect_eq(watch->resellers.count, 0);
    stop();
}

/* A click that is there already is none. */
Test(click_watch, counts_clicks_with_ids_of_clients)
{
    const struct click click = {"R1", "2013-12-10", INT64_C(1386676800000), "ad1", "0.01"};

    start("bigint");
    cr_expect(rollup_fixture_keyed_click(&fixture, &click, 1));
    cr_expect(rollup_fixture_keyed_click(&fixture, &click, 2));
    cr_expect(!rollup_fixture_keyed_click(&fixture, &click, 2));
    cr_expect_eq(watch->clicks, 2);
    cr_expect(!watch->has_missed);
    expect_top(&watch->resellers, 1, "R1 ");
    expect_top(&watch->ads, 1, "ad1 ");
    rollup_fixture_void(&fixture, "R1", "2013-12-10");
    cr_expect_eq(watch->clicks, 2, "voids are no clicks");
    stop();
}

static void write_click(int64_t click_id, bool is_restored)
{
    const struct schema *schema = store_schema(fixture.store);
    struct write_batch *batch = write_batch_new();
    struct change_row change = {.door = "command", .actor = "tester", .command = "of a test"};
    const struct bytes time = write_batch_bigint(batch, INT64_C(1386676800000));
    const struct column_value values[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text("R1")},
        {AD_CLICK_DAY, false, bytes_text("2013-12-10")},
        {AD_CLICK_TIME, false, time},
        {AD_CLICK_AD_ID, false, bytes_text("ad1")},
        {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, click_id)},
        {AD_CLICK_AMOUNT, false, write_batch_decimal(batch, decimal_from(1, 2))}};
    const struct column_value voided[] = {
        {VOIDED_RESELLER_ID, false, bytes_text("R1")},
        {VOIDED_DAY, false, bytes_text("2013-12-10")},
        {VOIDED_TIME, false, time},
        {VOIDED_AD_ID, false, bytes_text("ad1")},
        {VOIDED_CLICK_ID, false, write_batch_bigint(batch, 1)},
        {VOIDED_CHANGE_ID, false, bytes_of(change.id, sizeof change.id)}};

    rollup_add_change(fixture.rollup, batch, &change);
    write_batch_insert(batch, schema_table(schema, TABLE_AD_CLICK), values,
                       sizeof values / sizeof values[0]);
    if (is_restored)
        write_batch_delete(batch, schema_table(schema, TABLE_VOIDED_CLICK), voided,
                           sizeof voided / sizeof voided[0]);
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    write_batch_free(batch);
}

/* An UPDATE over CQL writes clicks with a row of the change, too. */
Test(click_watch, counts_no_clicks_that_are_restored)
{
    start(NULL);
    write_click(-1, false);
    cr_expect_eq(watch->clicks, 1);
    write_click(-2, true);
    cr_expect_eq(watch->clicks, 1);
    stop();
}

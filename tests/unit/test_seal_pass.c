/* test_seal_pass: days whose clicks have expired, on the real engine in the simulated world. */
#include "rollup/days/seal_pass.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "storage/engine/store_rows.h"
#include "rollup/days/seal.h"
#include "base/memory.h"
#include "tests/lib/rollup_fixture.h"

/* The world begins on 2013-12-10: with 10 days kept, 2013-11-29 is the last that has expired. */
enum { KEEP_DAYS = 10 };

static const struct click clicks[] = {
    {"r", "2013-11-28", 1385605012000, "a", "0.005"},
    {"r", "2013-11-28", 1385605012000, "a", "0.005"},
    {"r", "2013-11-28", 1385605013000, "b", "0.0075"},
    {"r", "2013-11-29", 1385745531000, "a", "1"},
    {"r", "2013-11-30", 1385810516000, "a", "2"},
    {"s", "2013-11-28", 1385605013000, "b", "3"},
};

struct pass {
    bool done;
    int status;
    struct seal_totals totals;
};

static void take_totals(void *context, int status, const struct error *err,
                        const struct seal_totals *totals)
{
    struct pass *pass = context;
    (void)err;
    *pass = (struct pass){true, status, *totals};
}

static struct pass seal(struct rollup_fixture *fixture, bool is_dry)
{
    const struct change_row change = {.door = "test", .actor = "tester", .command = "seal"};
    struct pass pass = {0};
    cr_assert_eq(seal_pass_begin(fixture->rollup, &change, is_dry, take_totals, &pass, NULL), 0);
    rollup_fixture_step_until(fixture, &pass.done);
    cr_assert_eq(pass.status, 0);
    return pass;
}

static void put_clicks(struct rollup_fixture *fixture)
{
    rollup_fixture_rate(fixture, "r", "2013-01-01", "0.25", true);
    rollup_fixture_clicks(fixture, clicks, sizeof(clicks) / sizeof(clicks[0]));
    cr_assert_eq(rollup_fixture_refresh_now(fixture, true), 0);
    fixture->rollup->retention.keep_days = KEEP_DAYS;
}

static void expect_totals(const struct pass *pass, uint64_t days, uint64_t count, uint64_t left)
{
    cr_assert_eq(pass->totals.days, days, "%" PRIu64 " days", pass->totals.days);
    cr_assert_eq(pass->totals.clicks, count, "%" PRIu64 " clicks", pass->totals.clicks);
    cr_assert_eq(pass->totals.days_left, left);
}

static void expect_rows(struct rollup_fixture *fixture, uint32_t table_id, uint32_t expected)
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    struct buffer rows = engine_fixture_rows(&engine, table_id, bytes_of("", 0), 100, false);
    uint32_t count = 0;
    for (const char *c = (const char *)rows.data; *c != '\0'; c++)
        count += *c == '\n';
    cr_assert_eq(count, expected, "table %u: %s", table_id, (const char *)rows.data);
    buffer_release(&rows);
}

static const char after_seal[] = "r 2013-11-30 1 2 0.25 0.50 published\n"
                                 "r 2013-11-29 1 1 0.25 0.25 sealed\n"
                                 "r 2013-11-28 3 0.0175 0.25 0.004375 sealed\n"
                                 "s 2013-11-28 1 3 - - sealed\n";

/* Figures, ledger and counters are what they were; the clicks are gone, and what is kept is there.
 */
Test(seal_pass, a_seal_changes_neither_figures_nor_ledger_nor_counters)
{
    for (int is_flushed = 0; is_flushed < 2; is_flushed++) {
        struct rollup_fixture fixture = {0};
        rollup_fixture_start(&fixture);
        put_clicks(&fixture);
        if (is_flushed)
            rollup_fixture_flush(&fixture);
        struct pass pass = seal(&fixture, true);
        expect_totals(&pass, 3, 5, 0);
        expect_rows(&fixture, TABLE_AD_CLICK, 6);
        pass = seal(&fixture, false);
        expect_totals(&pass, 3, 5, 0);
        rollup_fixture_expect_figures(&fixture, after_seal);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
        rollup_fixture_expect_figures(&fixture, after_seal);
        cr_assert_eq(rollup_fixture_marks(&fixture), 0);
        rollup_fixture_expect_ledger(&fixture, "s", "2013-11-28 published - - 1 - 3 - - - -\n");
        expect_rows(&fixture, TABLE_AD_CLICK, 1);
        expect_rows(&fixture, TABLE_SEALED_DAY, 3);
        expect_rows(&fixture, TABLE_SEALED_AD, 4);
        expect_rows(&fixture, TABLE_CLICKS_PER_AD, 2);
        pass = seal(&fixture, false);
        expect_totals(&pass, 0, 0, 0);
        rollup_fixture_stop(&fixture);
    }
}

/* A rate prices a sealed day anew from the gross that was kept; a late click comes on top, and the
 * next pass seals it. */
Test(seal_pass, a_sealed_day_is_priced_anew_and_takes_late_clicks_on_top)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    put_clicks(&fixture);
    seal(&fixture, false);
    rollup_fixture_rate(&fixture, "r", "2013-11-01", "0.5", true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_expect_figures(&fixture, "r 2013-11-30 1 2 0.5 1.0 published\n"
                                            "r 2013-11-29 1 1 0.5 0.5 sealed\n"
                                            "r 2013-11-28 3 0.0175 0.5 0.00875 sealed\n"
                                            "s 2013-11-28 1 3 - - sealed\n");
    rollup_fixture_clicks(&fixture, clicks, 1);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    static const char late[] = "r 2013-11-30 1 2 0.5 1.0 published\n"
                               "r 2013-11-29 1 1 0.5 0.5 sealed\n"
                               "r 2013-11-28 4 0.0225 0.5 0.01125 sealed\n"
                               "s 2013-11-28 1 3 - - sealed\n";
    rollup_fixture_expect_figures(&fixture, late);
    struct pass pass = seal(&fixture, false);
    expect_totals(&pass, 1, 1, 0);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_expect_figures(&fixture, late);
    expect_rows(&fixture, TABLE_SEALED_DAY, 4);
    rollup_fixture_expect_ledger(&fixture, "r",
                                 "2013-11-28 published - - 3 - 0.0175 - 0.25 - 0.004375\n"
                                 "2013-11-28 rate + 3 3 0.0175 0.0175 0.25 0.5 0.004375 0.00875\n"
                                 "2013-11-28 late_clicks - 3 4 0.0175 0.0225 0.5 0.5 0.00875 "
                                 "0.01125\n"
                                 "2013-11-29 published - - 1 - 1 - 0.25 - 0.25\n"
                                 "2013-11-29 rate + 1 1 1 1 0.25 0.5 0.25 0.5\n"
                                 "2013-11-30 published - - 1 - 2 - 0.25 - 0.50\n"
                                 "2013-11-30 rate + 1 1 2 2 0.25 0.5 0.50 1.0\n");
    rollup_fixture_stop(&fixture);
}

/* What is owed a figure or an entry of the ledger is left, and sealed by the next pass. */
Test(seal_pass, a_day_that_is_owed_something_is_left_to_the_next_pass)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    put_clicks(&fixture);
    rollup_fixture_click(&fixture, "s", "2013-11-28", "4");
    struct pass pass = seal(&fixture, false);
    expect_totals(&pass, 2, 4, 1);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    pass = seal(&fixture, false);
    expect_totals(&pass, 1, 2, 0);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_expect_figures(&fixture, "r 2013-11-30 1 2 0.25 0.50 published\n"
                                            "r 2013-11-29 1 1 0.25 0.25 sealed\n"
                                            "r 2013-11-28 3 0.0175 0.25 0.004375 sealed\n"
                                            "s 2013-11-28 2 7 - - sealed\n");
    rollup_fixture_stop(&fixture);
}

/* The rows of so many ads take less than the pass allows, and more than the store takes. */
Test(seal_pass, a_day_with_too_many_ads_stays_and_the_others_are_sealed)
{
    enum { ADS = 45000, AT_ONCE = 5000 };
    static struct click some[AT_ONCE];
    static char names[AT_ONCE][16];
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    for (uint32_t i = 0; i < ADS; i++) {
        snprintf(names[i % AT_ONCE], sizeof(names[0]), "%u", i);
        some[i % AT_ONCE] =
            (struct click){"q", "2013-11-28", 1385605012000, names[i % AT_ONCE], "1"};
        if (i % AT_ONCE == AT_ONCE - 1)
            rollup_fixture_clicks(&fixture, some, AT_ONCE);
    }
    put_clicks(&fixture);
    struct pass pass = seal(&fixture, false);
    expect_totals(&pass, 3, 5, 0);
    cr_assert_eq(pass.totals.days_too_large, 1);
    rollup_fixture_stop(&fixture);
}

struct held {
    struct seal_pin pin;
    bool is_granted;
};

static void note_granted(void *context)
{
    ((struct held *)context)->is_granted = true;
}

/* A reader of clicks and seals sees no day change from the one to the other. */
Test(seal_pass, nothing_is_sealed_while_seals_are_held_off)
{
    struct rollup_fixture fixture = {0};
    const struct change_row change = {.door = "test", .actor = "tester", .command = "seal"};
    struct held held = {.pin = {.granted = note_granted, .context = &held}};
    struct pass pass = {0};
    rollup_fixture_start(&fixture);
    put_clicks(&fixture);
    rollup_pin_seals(fixture.rollup, &held.pin);
    cr_assert(held.is_granted);
    cr_assert_eq(seal_pass_begin(fixture.rollup, &change, false, take_totals, &pass, NULL), 0);
    cr_assert_eq(seal_pass_begin(fixture.rollup, &change, false, take_totals, &pass, NULL),
                 ERROR_FULL);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_advance(&fixture, 1);
    expect_rows(&fixture, TABLE_AD_CLICK, 6);
    cr_assert(!pass.done);
    rollup_unpin_seals(fixture.rollup, &held.pin);
    rollup_fixture_step_until(&fixture, &pass.done);
    expect_totals(&pass, 3, 5, 0);
    rollup_fixture_stop(&fixture);
}

/* Whenever the power fails, a day has its clicks or its seal, and its figure either way. */
Test(seal_pass, after_a_crash_a_day_is_whole_or_sealed)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        const struct change_row change = {.door = "test", .actor = "tester", .command = "seal"};
        struct pass pass = {0};
        rollup_fixture_start(&fixture);
        put_clicks(&fixture);
        cr_assert_eq(seal_pass_begin(fixture.rollup, &change, false, take_totals, &pass, NULL), 0);
        for (uint64_t step = 0; step < seed && !pass.done; step++)
            fixture.world->executor->step(fixture.world->executor);
        rollup_fixture_crash(&fixture, seed);
        fixture.rollup->retention.keep_days = KEEP_DAYS;
        uint32_t seals_before = fixture.rollup->retention.sealed_to == SEALED_NONE ? 0 : 1;
        pass = seal(&fixture, false);
        cr_assert(pass.totals.days + seals_before >= 1 && pass.totals.days <= 3);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
        rollup_fixture_expect_figures(&fixture, after_seal);
        expect_rows(&fixture, TABLE_AD_CLICK, 1);
        expect_rows(&fixture, TABLE_SEALED_DAY, 3);
        expect_rows(&fixture, TABLE_SEALED_AD, 4);
        rollup_fixture_stop(&fixture);
    }
}

/* ---- clocks ---- */

enum { WAIT_S = 6 * 3600 };
#define YEAR_US (365 * INT64_C(86400000000))

static void jump_us(struct rollup_fixture *fixture, int64_t us)
{
    struct clock *clock = fixture->world->clock;
    sim_world_set_wall_us(fixture->sim, clock->wall_us(clock) + us);
}

static const char all_open[] = "r 2013-11-30 1 2 - - open\n"
                               "r 2013-11-29 1 1 - - open\n"
                               "r 2013-11-28 3 0.0175 - - open\n"
                               "s 2013-11-28 1 3 - - open\n";

/* What must not be done by a clock that may be wrong, for hours of looks at it. */
static void expect_waiting(struct rollup_fixture *fixture)
{
    rollup_fixture_advance(fixture, WAIT_S);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, true), 0);
    rollup_fixture_expect_figures(fixture, all_open);
    expect_rows(fixture, TABLE_AD_CLICK, 6);
    expect_rows(fixture, TABLE_SEALED_DAY, 0);
}

static void expect_sealed(struct rollup_fixture *fixture)
{
    rollup_fixture_expect_figures(fixture, "r 2013-11-30 1 2 - - published\n"
                                           "r 2013-11-29 1 1 - - sealed\n"
                                           "r 2013-11-28 3 0.0175 - - sealed\n"
                                           "s 2013-11-28 1 3 - - sealed\n");
    expect_rows(fixture, TABLE_AD_CLICK, 1);
}

/* A server that is started while the clock is a year ahead takes clicks and publishes and seals
 * nothing; once the clock is right all goes on by itself, by the right days. */
Test(seal_pass, a_server_started_a_year_ahead_seals_and_publishes_nothing)
{
    struct rollup_fixture fixture = {.is_automatic = true, .keep_days = KEEP_DAYS};
    rollup_fixture_start(&fixture);
    jump_us(&fixture, YEAR_US);
    rollup_fixture_restart(&fixture);
    rollup_fixture_clicks(&fixture, clicks, sizeof(clicks) / sizeof(clicks[0]));
    expect_waiting(&fixture);
    jump_us(&fixture, -YEAR_US);
    rollup_fixture_advance(&fixture, 2 * 3600);
    expect_sealed(&fixture);
    rollup_fixture_stop(&fixture);
}

Test(seal_pass, a_clock_that_jumps_ahead_under_a_server_seals_and_publishes_nothing)
{
    struct rollup_fixture fixture = {.is_automatic = true};
    rollup_fixture_start(&fixture);
    fixture.rollup->retention.keep_days = KEEP_DAYS;
    rollup_fixture_clicks(&fixture, clicks, sizeof(clicks) / sizeof(clicks[0]));
    rollup_fixture_advance(&fixture, 1);
    jump_us(&fixture, YEAR_US);
    seal_pass_tick_in(fixture.rollup, 0);
    look_timer_soon(&fixture.rollup->look);
    expect_waiting(&fixture);
    jump_us(&fixture, -YEAR_US);
    rollup_fixture_advance(&fixture, 2 * 3600);
    expect_sealed(&fixture);
    rollup_fixture_stop(&fixture);
}

/* The machine is off from Friday to Monday: nobody need do anything. */
Test(seal_pass, after_a_weekend_off_all_goes_on_by_itself)
{
    struct rollup_fixture fixture = {.is_automatic = true, .keep_days = KEEP_DAYS};
    rollup_fixture_start(&fixture);
    rollup_fixture_clicks(&fixture, clicks, sizeof(clicks) / sizeof(clicks[0]));
    rollup_fixture_advance(&fixture, 1);
    sim_world_reboot(fixture.sim, 62 * INT64_C(3600000000));
    rollup_fixture_restart(&fixture);
    rollup_fixture_advance(&fixture, 2 * 3600);
    rollup_fixture_expect_figures(&fixture, all_open);
    rollup_fixture_advance(&fixture, 2 * 3600);
    rollup_fixture_expect_figures(&fixture, "r 2013-11-30 1 2 - - sealed\n"
                                            "r 2013-11-29 1 1 - - sealed\n"
                                            "r 2013-11-28 3 0.0175 - - sealed\n"
                                            "s 2013-11-28 1 3 - - sealed\n");
    rollup_fixture_stop(&fixture);
}

/* Whatever read fails, what does not need it is sealed, and the next pass seals the rest. */
Test(seal_pass, what_cannot_be_read_is_named_and_all_else_is_sealed)
{
    const struct change_row change = {.door = "test", .actor = "tester", .command = "seal"};
    uint64_t most = 0;
    bool has_failed = true;
    for (uint64_t number = 1; has_failed; number++) {
        struct rollup_fixture fixture = {0};
        struct pass pass = {0};
        rollup_fixture_start(&fixture);
        put_clicks(&fixture);
        rollup_fixture_flush(&fixture);
        rollup_fixture_restart(&fixture);
        fixture.rollup->retention.keep_days = KEEP_DAYS;
        sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, number, -EIO, false);
        cr_assert_eq(seal_pass_begin(fixture.rollup, &change, false, take_totals, &pass, NULL), 0);
        rollup_fixture_step_until(&fixture, &pass.done);
        sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, 1, 0, false);
        has_failed = pass.status < 0;
        cr_expect_eq(pass.totals.unread, pass.status < 0 && pass.totals.days > 0);
        if (has_failed && pass.totals.days > most)
            most = pass.totals.days;
        cr_expect_eq(pass.totals.days == 3, !has_failed);
        if (has_failed)
            seal(&fixture, false);
        rollup_fixture_expect_figures(&fixture, after_seal);
        rollup_fixture_stop(&fixture);
    }
    cr_expect_eq(most, 2);
}

/* The row of a published day, without the number of its clicks; or no such row. */
static void put_damaged(struct rollup_fixture *fixture, bool is_there)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_AMOUNT_BY_DAY);
    const struct column_value values[] = {{AMOUNT_RESELLER_ID, false, bytes_text("q")},
                                          {AMOUNT_DAY, false, bytes_text("2013-11-27")},
                                          {AMOUNT_STATE, false, bytes_text("published")}};
    if (is_there)
        write_batch_insert(batch, table, values, 3);
    else
        write_batch_delete(batch, table, values, 2);
    cr_assert_eq(rollup_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

/* Each pass visits all sealed days from the first that is left, so a server whose disk is damaged
 * must not begin one every minute. */
Test(seal_pass, a_server_tries_again_ever_later_what_cannot_be_read)
{
    struct rollup_fixture fixture = {.is_automatic = true};
    uint32_t passes = 0;
    rollup_fixture_start(&fixture);
    put_damaged(&fixture, true);
    known_resellers_add(&fixture.rollup->resellers, bytes_text("q"));
    put_clicks(&fixture);
    seal_pass_tick_in(fixture.rollup, 0);
    for (uint32_t minute = 0; minute < 6 * 60; minute++) {
        fixture.rollup->retention.failure = 0;
        rollup_fixture_advance(&fixture, 60);
        passes += fixture.rollup->retention.failure != 0;
    }
    cr_expect_eq(fixture.rollup->metrics.sealed->value, 3);
    cr_expect(passes >= 9 && passes <= 12, "%" PRIu32, passes);
    put_damaged(&fixture, false);
    rollup_fixture_advance(&fixture, 3601);
    cr_expect_eq(fixture.rollup->retention.failure, 0);
    cr_expect_eq(fixture.rollup->retention.pause_ms, 0);
    rollup_fixture_stop(&fixture);
}

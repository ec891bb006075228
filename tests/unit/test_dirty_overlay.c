/* test_dirty_overlay: what a reader is told while the table is behind: only what he asks for is
 * worked out, it is what the rollup will write, and it is durable. */
#include "rollup/days/dirty_overlay.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/lib/rollup_fixture.h"

static const struct figure_query everything = {
    .day_from = DAY_MIN, .day_to = DAY_MAX, .is_current = true};

static void expect_current(struct rollup_fixture *fixture, const char *expected, const char *when)
{
    struct buffer text = rollup_fixture_asked(fixture, &everything);
    cr_assert_str_eq((const char *)text.data, expected, "%s:\n%s", when, (const char *)text.data);
    buffer_release(&text);
}

static int64_t metric_value(const struct rollup_fixture *fixture, const char *name)
{
    const struct metric *metric = metrics_first(fixture->metrics);
    while (strcmp(metric->name, name) != 0)
        metric = metric->next;
    return metric->value;
}

static void set_true(void *context, int status, const struct error *err)
{
    (void)err;
    cr_assert_eq(status, 0);
    *(bool *)context = true;
}

/* ---- what is worked out ---- */

enum { RESELLERS = 300 };

Test(dirty_overlay, only_what_is_asked_for_is_worked_out)
{
    struct rollup_fixture fixture = {0};
    static struct click clicks[2 * RESELLERS];
    static char names[RESELLERS][16];
    struct bytes asked = bytes_text("r0007");
    const struct figure_query query = {.resellers = &asked,
                                       .reseller_count = 1,
                                       .day_from = 16036, /* 2013-11-27 */
                                       .day_to = 16037,
                                       .is_current = true};
    for (int i = 0; i < RESELLERS; i++) {
        snprintf(names[i], sizeof(names[i]), "r%04d", i);
        clicks[2 * i] = (struct click){names[i], "2013-11-28", 16037 * DAY_MS, "ad", "0.5"};
        clicks[2 * i + 1] = (struct click){names[i], "2013-11-29", 16038 * DAY_MS, "ad", "0.5"};
    }
    rollup_fixture_start(&fixture);
    rollup_fixture_clicks(&fixture, clicks, 2 * RESELLERS);
    struct buffer text = rollup_fixture_asked(&fixture, &query);
    cr_assert_str_eq((const char *)text.data, "r0007 2013-11-28 1 0.5 - - open\n");
    cr_assert_eq(metric_value(&fixture, "daybook_rollup_figures_worked_out_total"), 1);
    cr_assert_eq(metric_value(&fixture, "daybook_rollup_figures_written_total"), 0);
    cr_assert_eq(rollup_dirty_count(fixture.rollup), 2 * RESELLERS);
    buffer_release(&text);
    rollup_fixture_stop(&fixture);
}

/* ---- without a server ---- */

static void put_days(struct rollup_fixture *fixture, const char *const *days, int count)
{
    static struct click clicks[RESELLERS];
    static char names[RESELLERS][16];
    for (int d = 0; d < count; d++) {
        for (int i = 0; i < RESELLERS; i++) {
            snprintf(names[i], sizeof(names[i]), "r%04d", i);
            clicks[i] = (struct click){names[i], days[d], 1385605012000, "ad", "0.5"};
        }
        rollup_fixture_clicks(fixture, clicks, RESELLERS);
    }
}

/* Every day is marked, as they are after a crash; of one reseller none was ever worked off, and the
 * rate of another was changed. */
Test(dirty_overlay, a_reader_without_a_server_works_out_what_he_asks_for)
{
    static const char *const days[] = {"2013-11-28", "2013-11-29", "2013-11-30"};
    static const char *const expected = "r0007 2013-11-29 1 0.5 0.2 0.10 open\n"
                                        "r0007 2013-11-28 1 0.5 0.2 0.10 open\n";
    const struct bytes asked = bytes_text("r0007");
    uint64_t behind = 0;
    const struct figure_query query = {.resellers = &asked,
                                       .reseller_count = 1,
                                       .day_from = 16036, /* 2013-11-27 */
                                       .day_to = 16038,
                                       .behind = &behind};
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    put_days(&fixture, days, 2);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    put_days(&fixture, days + 2, 1);
    rollup_fixture_click(&fixture, "only-marked", "2013-11-28", "3");
    rollup_fixture_rate(&fixture, "r0007", "2013-01-01", "0.2", true);
    struct buffer all = rollup_fixture_asked(&fixture, &everything);
    fixture.is_read_only = true;
    rollup_fixture_crash(&fixture, 5);
    cr_expect_eq(metric_value(&fixture, "daybook_rollup_figures_worked_out_total"), 0);
    struct buffer text = rollup_fixture_asked(&fixture, &query);
    cr_expect_str_eq((const char *)text.data, expected);
    cr_expect_eq(metric_value(&fixture, "daybook_rollup_figures_worked_out_total"), 2);
    cr_expect_eq(behind, 2, "both have another rate in their rows");
    buffer_release(&text);
    expect_current(&fixture, (const char *)all.data, "of everybody");
    buffer_release(&all);
    rollup_fixture_stop(&fixture);
}

/* ---- equality ---- */

static uint32_t below(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 33) % limit;
}

enum { ROUNDS = 6, STEPS = 12, BATCH = 40, DAYS = 40 };

static void click_at_random(struct rollup_fixture *fixture, uint64_t *state)
{
    static const char *const amounts[] = {"0.005", "1", "0.0075", "12.30", "0"};
    static const char *const names[] = {"anna", "bert", "carl", "dora"};
    char days[BATCH][DAY_TEXT_SIZE + 1];
    struct click clicks[BATCH];
    for (int i = 0; i < BATCH; i++) {
        int32_t day = 16000 + (int32_t)below(state, DAYS);
        calendar_day_format(day, days[i]);
        clicks[i] =
            (struct click){names[below(state, 4)], days[i], day * DAY_MS + below(state, 86400000),
                           "ad", amounts[below(state, 5)]};
    }
    rollup_fixture_clicks(fixture, clicks, BATCH);
}

static void step_at_random(struct rollup_fixture *fixture, uint64_t *state)
{
    static const char *const names[] = {"anna", "bert", "carl", "dora"};
    static const char *const rates[] = {"0.2", "0.25", "0.125", NULL};
    char day[DAY_TEXT_SIZE + 1];
    calendar_day_format(16000 + (int32_t)below(state, DAYS), day);
    switch (below(state, 8)) {
    case 0:
        rollup_fixture_void(fixture, names[below(state, 4)], day);
        break;
    case 1:
    case 2:
        rollup_fixture_rate(fixture, names[below(state, 4)], day, rates[below(state, 4)], true);
        break;
    case 3:
        rollup_fixture_flush(fixture);
        break;
    default:
        click_at_random(fixture, state);
    }
}

static void expect_read_only(struct rollup_fixture *fixture, const char *expected)
{
    fixture->is_read_only = true;
    rollup_fixture_restart(fixture);
    expect_current(fixture, expected, "without a server");
    fixture->is_read_only = false;
    rollup_fixture_restart(fixture);
}

/* Shuffled, late, voided, priced anew, before and after publication: what was told before the
 * rollup wrote anything is what it then writes, state and digits. */
Test(dirty_overlay, figures_are_those_that_the_rollup_will_write)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        uint64_t state = seed;
        rollup_fixture_start(&fixture);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < STEPS; i++)
                step_at_random(&fixture, &state);
            struct buffer before = rollup_fixture_asked(&fixture, &everything);
            expect_read_only(&fixture, (const char *)before.data);
            cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
            rollup_fixture_expect_figures(&fixture, (const char *)before.data);
            expect_current(&fixture, (const char *)before.data, "after the rollup wrote");
            if (round % 2 == 0)
                cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
            buffer_release(&before);
        }
        rollup_fixture_stop(&fixture);
    }
}

/* More days than a turn takes, of more resellers than the table knows. */
Test(dirty_overlay, all_days_come_in_order_over_many_turns)
{
    struct rollup_fixture fixture = {0};
    static char names[RESELLERS][16];
    static char days[8][DAY_TEXT_SIZE + 1];
    static struct click clicks[RESELLERS];
    rollup_fixture_start(&fixture);
    for (int d = 0; d < 8; d++) {
        calendar_day_format(16000 + d, days[d]);
        for (int i = 0; i < RESELLERS; i++) {
            snprintf(names[i], sizeof(names[i]), "r%04d", (i * 7 + d) % RESELLERS);
            clicks[i] = (struct click){names[i], days[d], (16000 + d) * DAY_MS, "ad", "0.5"};
        }
        rollup_fixture_clicks(&fixture, clicks, RESELLERS);
        if (d == 3)
            cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    }
    struct buffer before = rollup_fixture_asked(&fixture, &everything);
    cr_assert_eq(metric_value(&fixture, "daybook_rollup_figures_worked_out_total"), 4 * RESELLERS);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    rollup_fixture_expect_figures(&fixture, (const char *)before.data);
    buffer_release(&before);
    rollup_fixture_stop(&fixture);
}

/* ---- what is durable ---- */

static void start_click(struct rollup_fixture *fixture, const char *amount, bool *done)
{
    struct click click = {"r", "2013-11-28", 16037 * DAY_MS, "ad", amount};
    struct write_batch *batch = write_batch_new();
    struct block *block = engine_fixture_block(fixture->store, &click, 1);
    write_batch_add_block(batch, block);
    cr_assert_eq(store_apply(fixture->store, batch, set_true, done, NULL), 0);
    block_free(block);
    write_batch_free(batch);
}

Test(dirty_overlay, clicks_that_are_not_durable_are_not_shown)
{
    struct rollup_fixture fixture = {0};
    bool is_durable = false;
    rollup_fixture_start(&fixture);
    rollup_fixture_rate(&fixture, "r", "2013-01-01", "0.5", false);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "1");
    expect_current(&fixture, "r 2013-11-28 1 1 0.5 0.5 open\n", "at first");
    sim_world_stall(fixture.sim, LANE_LOG, true);
    start_click(&fixture, "2", &is_durable);
    expect_current(&fixture, "r 2013-11-28 1 1 0.5 0.5 open\n", "beside a stalled disk");
    cr_assert_not(is_durable);
    sim_world_stall(fixture.sim, LANE_LOG, false);
    rollup_fixture_step_until(&fixture, &is_durable);
    expect_current(&fixture, "r 2013-11-28 2 3 0.5 1.5 open\n", "once it is durable");
    rollup_fixture_stop(&fixture);
}

/* The rollup has written the day and cleared its mark, in a frame that is not durable yet: the
 * durable row, or that there is none, is older than a click which was acknowledged. */
Test(dirty_overlay, a_day_is_worked_out_until_its_row_is_durable)
{
    struct rollup_fixture fixture = {0};
    bool is_settled = false;
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "1");
    sim_world_stall(fixture.sim, LANE_LOG, true);
    rollup_refresh_now(fixture.rollup, true, set_true, &is_settled);
    sim_world_run_us(fixture.sim, 1000);
    cr_assert_eq(metric_value(&fixture, "daybook_rollup_published_total"), 1);
    rollup_fixture_expect_figures(&fixture, "");
    expect_current(&fixture, "r 2013-11-28 1 1 - - open\n", "beside a stalled disk");
    cr_assert_not(is_settled);
    sim_world_stall(fixture.sim, LANE_LOG, false);
    rollup_fixture_step_until(&fixture, &is_settled);
    expect_current(&fixture, "r 2013-11-28 1 1 - - published\n", "once it is durable");
    cr_assert_eq(metric_value(&fixture, "daybook_rollup_figures_worked_out_total"), 1);
    rollup_fixture_stop(&fixture);
}

/* So a month whose days wait for their publication costs its rows, and no stats. */
Test(dirty_overlay, a_day_that_waits_for_its_publication_is_its_row_once_that_is_durable)
{
    struct rollup_fixture fixture = {0};
    bool is_settled = false;
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "1");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    expect_current(&fixture, "r 2013-11-28 1 1 - - open\n", "as its row is");
    rollup_fixture_rate(&fixture, "r", "2013-01-01", "0.5", false);
    expect_current(&fixture, "r 2013-11-28 1 1 0.5 0.5 open\n", "priced anew");
    cr_assert_eq(metric_value(&fixture, "daybook_rollup_figures_worked_out_total"), 0);

    rollup_fixture_click(&fixture, "r", "2013-11-28", "2");
    sim_world_stall(fixture.sim, LANE_LOG, true);
    rollup_refresh_now(fixture.rollup, false, set_true, &is_settled);
    sim_world_run_us(fixture.sim, 1000);
    rollup_fixture_expect_figures(&fixture, "r 2013-11-28 1 1 - - open\n");
    expect_current(&fixture, "r 2013-11-28 2 3 0.5 1.5 open\n", "beside a stalled disk");
    cr_assert_not(is_settled);
    cr_assert_eq(metric_value(&fixture, "daybook_rollup_figures_worked_out_total"), 1);
    sim_world_stall(fixture.sim, LANE_LOG, false);
    rollup_fixture_step_until(&fixture, &is_settled);
    expect_current(&fixture, "r 2013-11-28 2 3 0.5 1.5 open\n", "once it is durable");
    cr_assert_eq(metric_value(&fixture, "daybook_rollup_figures_worked_out_total"), 1);
    rollup_fixture_stop(&fixture);
}

struct shown {
    bool is_done; /* first: set_true takes it for the whole */
    struct decimal rate;
};

static bool take_rate(void *context, const struct day_figure *figure)
{
    ((struct shown *)context)->rate = figure->rate;
    return true;
}

/* A changed rate is in memory before it is durable; whoever asks then waits for it. */
Test(dirty_overlay, a_rate_is_shown_when_it_is_durable)
{
    struct rollup_fixture fixture = {0};
    const struct decimal rate = decimal_from(5, 1);
    struct shown shown = {0};
    bool is_durable = false;
    rollup_fixture_start(&fixture);
    rollup_fixture_click(&fixture, "r", "2013-11-28", "1");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    struct write_batch *batch = write_batch_new();
    struct column_value values[] = {
        {RESELLER_ID, false, bytes_text("r")},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text("2013-01-01")},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, rate)},
    };
    write_batch_insert(batch, schema_table(store_schema(fixture.store), TABLE_RESELLER), values, 3);
    sim_world_stall(fixture.sim, LANE_LOG, true);
    cr_assert_eq(store_apply(fixture.store, batch, set_true, &is_durable, NULL), 0);
    rollup_figures(fixture.rollup, &everything, take_rate, set_true, &shown);
    sim_world_run_us(fixture.sim, 1000);
    cr_assert_not(shown.is_done);
    sim_world_stall(fixture.sim, LANE_LOG, false);
    rollup_fixture_step_until(&fixture, &shown.is_done);
    cr_assert(is_durable);
    cr_assert_eq(decimal_compare(shown.rate, rate), 0);
    write_batch_free(batch);
    rollup_fixture_stop(&fixture);
}

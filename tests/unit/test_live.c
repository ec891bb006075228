/* test_live: states of what happens now, in the simulated world: live_clicks, live_today and live
 * together. */
#include "query/live/live.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "query/live/live_clicks.h"
#include "query/live/live_today.h"
#include "tests/lib/rollup_fixture.h"

static struct rollup_fixture fixture;
static struct query query;
static struct live *live;
static bool is_watched;
static bool is_closed;
static uint32_t states;
static struct buffer state; /* the last one */

static bool watched(void *context)
{
    (void)context;
    return is_watched;
}

static void made(void *context, struct bytes json)
{
    (void)context;
    states++;
    buffer_set(&state, json);
    buffer_put_u8(&state, 0);
}

static void start(const char *zone)
{
    fixture = (struct rollup_fixture){.seed = 11, .is_automatic = true, .zone = zone};
    rollup_fixture_start(&fixture);
    query = (struct query){.store = fixture.store,
                           .streams = fixture.streams,
                           .metrics = fixture.metrics,
                           .currency = "EUR"};
    live = live_new(&(struct live_options){
        .query = &query, .world = fixture.world, .is_watched = watched, .made = made});
    is_watched = true;
}

static void setup(void)
{
    start(NULL);
}

static void closed(void *context)
{
    *(bool *)context = true;
}

static void teardown(void)
{
    live_close(live, closed, &is_closed);
    rollup_fixture_step_until(&fixture, &is_closed);
    buffer_release(&state);
    rollup_fixture_stop(&fixture);
}

TestSuite(live, .init = setup, .fini = teardown, .timeout = 60);

static void wait_states(uint32_t count)
{
    uint32_t wanted = states + count;

    while (states < wanted)
        cr_assert(fixture.world->executor->step(fixture.world->executor));
}

static void expect(const char *text)
{
    cr_expect(strstr((const char *)state.data, text) != NULL, "no %s in %s", text,
              (const char *)state.data);
}

enum { CLICKS = 300 };

/* A third each of R1, R2 and R3; every click has the ad of its reseller. */
static void send_clicks(void)
{
    static const char *const names[] = {"R1", "R2", "R3"};
    static const char *const ads[] = {"ad1", "ad2", "ad3"};
    struct click clicks[CLICKS];

    for (uint32_t i = 0; i < CLICKS; i++)
        clicks[i] = (struct click){.reseller = names[i % 3],
                                   .day = "2013-12-10",
                                   .time_ms = INT64_C(1386676800000) + i,
                                   .ad = ads[i % 3],
                                   .amount = "0.01"};
    rollup_fixture_clicks(&fixture, clicks, CLICKS);
}

/* ---- states ---- */

Test(live, rates_follow_durable_clicks)
{
    live_watch(live);
    wait_states(1);
    expect("\"clicks\": {\"per_second\": null, \"resellers\": [], \"ads\": []}");
    wait_states(2);
    expect("{\"per_second\": 0.0, ");
    send_clicks();
    wait_states(1);
    expect("{\"per_second\": 300.0, ");
    expect("{\"reseller_id\": \"R2\", \"clicks\": 100, \"per_second\": 200.0}");
    expect("{\"ad_id\": \"ad3\", \"clicks\": 100, \"per_second\": 200.0}");
    wait_states(1);
    expect("{\"per_second\": 300.0, ");
    expect("{\"reseller_id\": \"R2\", \"clicks\": 100, \"per_second\": 100.0}");
    wait_states(2);
    expect("{\"per_second\": 0.0, ");
    expect("{\"reseller_id\": \"R1\", \"clicks\": 100, \"per_second\": 0.0}");
    expect("\"newest_click_ms\": ");
}

/* Of so many clicks the watch looks at some, so a new key has no rate until its counter was read
 * twice. */
Test(live, a_rate_is_never_guessed)
{
    live_watch(live);
    wait_states(1);
    for (uint32_t i = 0; i < 10; i++)
        send_clicks();
    wait_states(1);
    expect("\"resellers\": [], \"ads\": []");
    send_clicks();
    wait_states(1);
    expect("{\"reseller_id\": \"R2\", \"clicks\": 1100, \"per_second\": 200.0}");
}

/* ---- turns that wait ---- */

static void turned(void *context, int status, const struct error *err)
{
    (void)err;
    cr_expect_eq(status, 0);
    *(bool *)context = true;
}

static void turn(struct live_clicks *clicks)
{
    bool is_done = false;

    sim_world_advance_us(fixture.sim, (int64_t)LIVE_MS * 1000);
    live_clicks_turn(clicks, turned, &is_done);
    rollup_fixture_step_until(&fixture, &is_done);
}

/* -1: there is none. */
static double rate_of_first(const struct live_clicks *clicks)
{
    double per_second = -1;

    (void)live_rate_per_second(&clicks->resellers.keys[0].rate, &per_second);
    return per_second;
}

/* Keys are new in a turn that waits for the disk. */
static void begin_with_new_keys(struct live_clicks *clicks, bool *is_done)
{
    live_clicks_begin(clicks, fixture.store, fixture.world, fixture.rollup);
    turn(clicks);
    turn(clicks);
    send_clicks();
    live_clicks_turn(clicks, turned, is_done);
    cr_assert(!*is_done);
}

/* The counter of a key that is new is not read before the disk was waited for. */
Test(live, a_new_key_has_no_rate_while_the_disk_is_waited_for)
{
    struct live_clicks clicks;
    bool is_done = false;

    for (uint32_t i = 0; i < 10; i++)
        send_clicks();
    begin_with_new_keys(&clicks, &is_done);
    sim_world_advance_us(fixture.sim, (int64_t)LIVE_MS * 1000);
    live_clicks_note_waiting(&clicks);
    cr_expect_eq(rate_of_first(&clicks), -1);
    rollup_fixture_step_until(&fixture, &is_done);
    cr_expect_eq(clicks.resellers.keys[0].clicks, 1100);
    cr_expect_eq(rate_of_first(&clicks), 200, "100 since the turn before");
    live_clicks_end(&clicks);
}

/* Clicks that come while the disk is waited for are in the counter, too. */
Test(live, a_new_key_has_no_rate_from_clicks_of_two_turns)
{
    struct live_clicks clicks;
    bool is_done = false;

    begin_with_new_keys(&clicks, &is_done);
    send_clicks();
    rollup_fixture_step_until(&fixture, &is_done);
    cr_expect_eq(rate_of_first(&clicks), -1);
    send_clicks();
    turn(&clicks);
    cr_expect_eq(clicks.resellers.keys[0].clicks, 300);
    cr_expect(rate_of_first(&clicks) >= 200, "%f", rate_of_first(&clicks));
    live_clicks_end(&clicks);
}

/* Rates do not stay what they were, and today's figures are read all the same. */
Test(live, counters_that_cannot_be_read_have_no_rate)
{
    live_watch(live);
    wait_states(3);
    send_clicks();
    wait_states(2);
    expect("{\"reseller_id\": \"R2\", \"clicks\": 100, \"per_second\": ");
    expect("\"resellers\": 3, \"clicks\": 300, ");
    rollup_fixture_flush(&fixture);
    sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, 1, -EIO, true);
    rollup_fixture_click(&fixture, "R1", "2013-12-10", "0.01");
    wait_states(2);
    expect("\"resellers\": [], \"ads\": []");
    sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, 1, 0, false);
    wait_states(3);
    expect("{\"reseller_id\": \"R1\", \"clicks\": 101, \"per_second\": ");
    expect("\"resellers\": 3, \"clicks\": 301, ");
}

Test(live, figures_of_today_are_current)
{
    rollup_fixture_click(&fixture, "R1", "2013-12-09", "7.00");
    send_clicks();
    rollup_fixture_click(&fixture, "R3", "2013-12-10", "0.50");
    rollup_fixture_rate(&fixture, "R3", "2013-12-01", "0.5", false);
    live_watch(live);
    wait_states(1);
    expect("\"today\": {\"day\": \"2013-12-10\", \"resellers\": 3, \"clicks\": 301, "
           "\"gross\": \"3.50\", \"amount\": \"0.750\", \"unpriced_gross\": \"2.00\", "
           "\"currency\": \"EUR\", ");
    expect("\"rows\": [{\"reseller_id\": \"R3\", \"clicks\": 101, \"gross\": \"1.50\", "
           "\"rate\": \"0.5\", \"amount\": \"0.750\"}, ");
    expect("{\"reseller_id\": \"R1\", \"clicks\": 100, \"gross\": \"1.00\", \"rate\": null, "
           "\"amount\": null}");
    rollup_fixture_click(&fixture, "R1", "2013-12-10", "0.10");
    wait_states(1);
    expect("\"resellers\": 3, \"clicks\": 302, ");
}

Test(live, a_new_day_begins_with_nothing)
{
    send_clicks();
    rollup_fixture_advance(&fixture, 12 * 3600 - 10);
    live_watch(live);
    wait_states(1);
    expect("\"today\": {\"day\": \"2013-12-10\", \"resellers\": 3, ");
    rollup_fixture_advance(&fixture, 20);
    wait_states(2);
    expect("\"today\": {\"day\": \"2013-12-11\", \"resellers\": 0, \"clicks\": 0, ");
}

/* At noon in UTC it is one o'clock at night in Auckland, of the next day. */
Test(live_zone, today_is_that_of_the_zone, .init = NULL, .fini = teardown, .timeout = 60)
{
    start("Pacific/Auckland");
    rollup_fixture_click(&fixture, "R1", "2013-12-10", "7.00");
    rollup_fixture_click(&fixture, "R1", "2013-12-11", "0.01");
    live_watch(live);
    wait_states(1);
    expect("\"today\": {\"day\": \"2013-12-11\", \"resellers\": 1, \"clicks\": 1, ");
    rollup_fixture_advance(&fixture, 23 * 3600 + 10);
    wait_states(1);
    expect("\"today\": {\"day\": \"2013-12-12\", \"resellers\": 0, ");
}

/* The ten with the most clicks, and a name that is cut. */
Test(live, gives_few_of_many_resellers)
{
    char names[2 * LIVE_TODAY_TOP][LIVE_NAME_MAX + 8];

    for (uint32_t i = 0; i < 2 * LIVE_TODAY_TOP; i++) {
        (void)snprintf(names[i], sizeof names[i], "%u%0*u", 10 + i, LIVE_NAME_MAX, 0);
        for (uint32_t clicks = 0; clicks <= i; clicks++)
            rollup_fixture_click(&fixture, names[i], "2013-12-10", "0.01");
    }
    live_watch(live);
    wait_states(1);
    expect("\"resellers\": 20, \"clicks\": 210, ");
    cr_expect(strstr((const char *)state.data, "\"20000") != NULL);
    cr_expect(strstr((const char *)state.data, "\"19000") == NULL);
    names[19][LIVE_NAME_MAX] = '\0';
    cr_expect(strstr((const char *)state.data, names[19]) != NULL);
    names[19][LIVE_NAME_MAX] = '0';
    cr_expect(strstr((const char *)state.data, names[19]) == NULL);
}

/* Two bytes of the euro's three would be within the limit. */
Test(live, cuts_no_character_in_two)
{
    char name[LIVE_NAME_MAX + 8];

    (void)snprintf(name, sizeof name, "%0*d\xE2\x82\xAC", LIVE_NAME_MAX - 2, 0);
    rollup_fixture_click(&fixture, name, "2013-12-10", "0.01");
    live_watch(live);
    wait_states(1);
    name[LIVE_NAME_MAX - 2] = '"';
    name[LIVE_NAME_MAX - 1] = '\0';
    expect(name);
}

/* A reading takes them longer, so not each state has one. */
Test(live, reads_very_many_resellers_less_often)
{
    enum { MANY = 4000 };
    static struct click clicks[MANY];
    static char names[MANY][8];

    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "R%u", i);
        clicks[i] = (struct click){names[i], "2013-12-10", INT64_C(1386676800000), "ad", "0.01"};
    }
    rollup_fixture_clicks(&fixture, clicks, MANY);
    live_watch(live);
    wait_states(1);
    expect("\"resellers\": 4000, \"clicks\": 4000, ");
    rollup_fixture_click(&fixture, "R1", "2013-12-10", "0.01");
    wait_states(1);
    expect("\"clicks\": 4000, ");
    expect("\"age_ms\": 500, ");
    wait_states(1);
    expect("\"resellers\": 4000, \"clicks\": 4001, ");
}

Test(live, counts_what_was_refused)
{
    metrics_add(fixture.metrics, METRIC_COUNTER, "daybook_ingest_rejected_total",
                "code=\"bad_day\"", "")
        ->value = 3;
    metrics_add(fixture.metrics, METRIC_COUNTER, "daybook_ingest_rejected_total",
                "code=\"bad_time\"", "");
    metrics_add(fixture.metrics, METRIC_COUNTER, "daybook_ingest_clicks_total", "", "")->value = 9;
    live_watch(live);
    wait_states(1);
    expect("\"ingest\": {\"accepted\": 9, \"rejected\": 3, \"duplicates\": 0, \"connections\": 0, "
           "\"codes\": [{\"code\": \"bad_day\", \"lines\": 3}], \"waiting\": null}}");
}

/* ---- when ---- */

Test(live, nothing_is_done_when_nobody_watches)
{
    live_watch(live);
    wait_states(2);
    is_watched = false;
    rollup_fixture_advance(&fixture, 60);
    uint32_t before = states;
    rollup_fixture_advance(&fixture, 60);
    cr_expect_eq(states, before);
    cr_expect(!rollup_watch(fixture.rollup)->is_on);
    send_clicks();
    is_watched = true;
    live_watch(live);
    wait_states(1);
    expect("\"clicks\": {\"per_second\": null, ");
}

static uint32_t answers;

static void answered(void *context, struct bytes json)
{
    (void)context;
    cr_expect(json.size > 0 && json.data[0] == '{');
    answers++;
}

Test(live, an_asker_gets_one_state)
{
    struct live_asker asker = {.done = answered};
    struct live_asker forgotten = {.done = answered};

    is_watched = false;
    live_ask(live, &asker);
    live_ask(live, &forgotten);
    live_forget(live, &forgotten);
    cr_expect_eq(answers, 0);
    wait_states(1);
    cr_expect_eq(answers, 1);
    live_ask(live, &asker);
    cr_expect_eq(answers, 2, "there is a state");
    wait_states(3);
    cr_expect_eq(answers, 2);
    rollup_fixture_advance(&fixture, LIVE_KEEP_MS / 1000 + 2);
    cr_expect(!rollup_watch(fixture.rollup)->is_on, "nobody asked again");
}

/* ---- the end ---- */

static void applied(void *context, int status, const struct error *err)
{
    (void)err;
    cr_expect_eq(status, 0);
    *(bool *)context = true;
}

static void begin_rate(bool *is_applied)
{
    struct write_batch *batch = write_batch_new();
    const struct column_value values[] = {
        {RESELLER_ID, false, bytes_text("R1")},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text("2013-12-01")},
        {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, decimal_from(5, 1))}};

    write_batch_insert(batch, schema_table(store_schema(fixture.store), TABLE_RESELLER), values,
                       sizeof values / sizeof values[0]);
    streams_apply(fixture.streams, batch, NULL, 0, applied, is_applied);
    write_batch_free(batch);
}

/* The server stops while the disk does not answer: the turn ends first, and makes no state. */
Test(live, a_turn_that_waits_ends_before_the_live_is_closed)
{
    struct live *stopping = live_new(&(struct live_options){
        .query = &query, .world = fixture.world, .is_watched = watched, .made = made});
    bool is_applied = false;
    bool has_closed = false;

    live_watch(stopping);
    wait_states(1);
    sim_world_stall(fixture.sim, LANE_LOG, true);
    begin_rate(&is_applied);
    wait_states(3);
    cr_assert(!is_applied);
    live_close(stopping, closed, &has_closed);
    uint32_t before = states;
    rollup_fixture_advance(&fixture, 5);
    cr_expect(!has_closed);
    sim_world_stall(fixture.sim, LANE_LOG, false);
    rollup_fixture_step_until(&fixture, &has_closed);
    rollup_fixture_step_until(&fixture, &is_applied);
    cr_expect_eq(states, before);
    cr_expect(!rollup_watch(fixture.rollup)->is_on);
}

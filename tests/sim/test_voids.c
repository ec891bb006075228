/* Random lives of clicks that are voided, restored, sent again and sealed, by commands.
 *
 * Method: clicks, of every second life with ids of the clients' own, commands `clicks void` and
 * `clicks restore` over some days, passes of seals that begin at any moment of them, clicks that
 * arrive in the middle of a restore, crashes and restarts, on the simulated world with the rollup
 * at work.  The model is a list of clicks, each of which is live, voided or sealed.  After each
 * step the rows of ad_click and voided_click and the sealed days are compared with it:
 *
 *   - a void or a restore takes all that the model says, or is refused for a sealed day and changes
 *     nothing;
 *   - a click that was sent is there, whatever is restored beside it;
 *   - a click that goes away by itself is in a seal of its day.
 *
 * SIM_SEED is the first life's seed (also to see a failure again), SIM_VOIDS how many there are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/store_rows.h"
#include "tests/lib/answer.h"
#include "tests/sim/sealed_clicks.h"
#include "tests/sim/sim_cheap.h"
#include "tests/sim/sim_options.h"
#include "tests/sim/sim_random.h"

enum {
    LIVES_DEFAULT = 40,
    STEPS = 40,
    SENT_MAX = 8, /* clicks of a step */
    CLICKS_MAX = STEPS * SENT_MAX,
    DAYS = 12, /* from 2013-11-18 on, all of which expire; of a command at most */
    DAYS_MAX = 5,
    IDS = 3,
    KEEP_DAYS = 10,    /* to 2013-11-29, while the clock stands at 2013-12-10 */
    SEAL_PERCENT = 30, /* of commands, beside which a pass begins */
    PAUSE_STEPS = 12,  /* of the executor, at most, between the beginnings of two things */
    CRASH_PERCENT = 5
};

static const char *const days[DAYS] = {"2013-11-18", "2013-11-19", "2013-11-20", "2013-11-21",
                                       "2013-11-22", "2013-11-23", "2013-11-24", "2013-11-25",
                                       "2013-11-26", "2013-11-27", "2013-11-28", "2013-11-29"};

enum click_state { CLICK_NONE, CLICK_LIVE, CLICK_VOIDED, CLICK_SEALED };

/* Its amount is its place in the list plus one, so that a row tells which it is. */
struct known {
    enum click_state state;
    uint32_t day;
    int64_t id;
    uint32_t voided; /* the number of the void that took it */
};

struct life {
    struct rollup_fixture fixture;
    struct sim_random random;
    char label[64];
    struct known clicks[CLICKS_MAX];
    uint32_t count;
    uint32_t voids;
    uint32_t refused;
    uint32_t left;
};

static uint32_t draw(struct life *life, uint32_t limit)
{
    return (uint32_t)sim_random_below(&life->random, limit);
}

static bool is_keyed(const struct life *life)
{
    return life->fixture.click_id != NULL;
}

static void pause_some(struct life *life)
{
    struct executor *executor = life->fixture.world->executor;
    for (uint32_t steps = draw(life, PAUSE_STEPS); steps > 0 && executor->step(executor); steps--) {
    }
}

/* ---- what is there ---- */

struct found {
    struct life *life;
    uint32_t amount_column, day_column;
    enum click_state states[CLICKS_MAX];
    enum click_state state; /* of the rows of this table */
    bool is_done;
};

static int take_row(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    struct found *found = context;
    struct bytes value;
    struct decimal amount;
    int128 number;
    (void)err;
    cr_assert(store_row_value(table, row, found->amount_column, &value));
    cr_assert(decimal_deserialize(value, &amount) == 0 && decimal_to_int128(amount, &number));
    cr_assert(number > 0 && number <= found->life->count);
    enum click_state *state = &found->states[number - 1];
    cr_assert_eq(*state, CLICK_NONE, "%d is there twice, %s", (int)number, found->life->label);
    *state = found->state;
    cr_assert(store_row_value(table, row, found->day_column, &value));
    cr_assert(bytes_equal(value, bytes_text(days[found->life->clicks[number - 1].day])));
    return 0;
}

static void rows_done(void *context, int status, const struct error *err)
{
    struct found *found = context;
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    found->is_done = true;
}

static void find(struct found *found, uint32_t table_id, enum click_state state)
{
    const struct read_request request = store_rows_request(table_id, NULL, READ_DURABLE);
    bool is_voided = table_id == TABLE_VOIDED_CLICK;
    found->state = state;
    found->is_done = false;
    found->amount_column = is_voided ? VOIDED_AMOUNT : AD_CLICK_AMOUNT;
    found->day_column = is_voided ? VOIDED_DAY : AD_CLICK_DAY;
    store_rows_read(found->life->fixture.store, &request, take_row, rows_done, found);
    rollup_fixture_step_until(&found->life->fixture, &found->is_done);
}

static void check_seals(const struct life *life, const struct sealed_clicks *sealed)
{
    for (uint32_t d = 0; d < DAYS; d++) {
        char name[32];
        uint64_t expected = 0;
        for (uint32_t i = 0; i < life->count; i++)
            expected += life->clicks[i].day == d && life->clicks[i].state == CLICK_SEALED;
        snprintf(name, sizeof name, "r %s", days[d]);
        const struct sealed_sum *day = sealed_sums_find(&sealed->days, name);
        cr_assert_eq(day != NULL ? day->clicks : 0, expected, "%s, %s", name, life->label);
    }
}

/* Clicks and seals are two reads, between which nothing may be sealed. */
static void check_all(struct life *life)
{
    struct found found = {.life = life};
    struct seal_pin write_lock;
    rollup_fixture_pin_seals(&life->fixture, &write_lock);
    find(&found, TABLE_AD_CLICK, CLICK_LIVE);
    find(&found, TABLE_VOIDED_CLICK, CLICK_VOIDED);
    const struct sealed_clicks sealed = sealed_clicks_read(&life->fixture);
    rollup_unpin_seals(life->fixture.rollup, &write_lock);
    for (uint32_t i = 0; i < life->count; i++) {
        struct known *click = &life->clicks[i];
        if (click->state == CLICK_LIVE && found.states[i] == CLICK_NONE)
            click->state = CLICK_SEALED;
        cr_assert_eq(click->state == CLICK_SEALED ? CLICK_NONE : click->state, found.states[i],
                     "click %u is %d and not %d, %s", i + 1, found.states[i], click->state,
                     life->label);
    }
    check_seals(life, &sealed);
}

/* ---- steps ---- */

/* Of an id that is there it would be a duplicate. */
static void send(struct life *life, uint32_t day, int64_t id)
{
    char amount[16];
    struct known *sent = &life->clicks[life->count];
    if (life->count == CLICKS_MAX)
        return;
    *sent = (struct known){CLICK_LIVE, day, id, 0};
    snprintf(amount, sizeof amount, "%u", life->count + 1);
    const struct click click = {"r", days[sent->day], INT64_C(1385640000000), "a", amount};
    if (!is_keyed(life))
        rollup_fixture_clicks(&life->fixture, &click, 1);
    else if (!rollup_fixture_keyed_click(&life->fixture, &click, sent->id))
        return;
    life->count++;
}

static void send_some(struct life *life)
{
    for (uint32_t i = 0; i < SENT_MAX; i++)
        send(life, draw(life, DAYS), draw(life, IDS));
}

/* One that was voided comes again, or another one comes. */
static void send_again(struct life *life, uint32_t first, uint32_t last)
{
    for (uint32_t tries = life->count; tries > 0; tries--) {
        const struct known *click = &life->clicks[draw(life, life->count)];
        if (click->state == CLICK_VOIDED && click->day >= first && click->day <= last) {
            send(life, click->day, click->id);
            return;
        }
    }
    send(life, draw(life, DAYS), draw(life, IDS));
}

static void answer_of(struct life *life, struct answer *answer, const char *action, uint32_t first,
                      uint32_t last, bool is_sent_to)
{
    char line[100];
    snprintf(line, sizeof line, "clicks %s --reseller r --from %s --to %s", action, days[first],
             days[last]);
    bool is_sealed = draw(life, 100) < SEAL_PERCENT, is_sealed_first = draw(life, 2) == 0;
    if (is_sealed && is_sealed_first) {
        rollup_fixture_seal(&life->fixture);
        pause_some(life);
    }
    answer_start(&life->fixture, answer, line, "");
    pause_some(life);
    if (is_sealed && !is_sealed_first)
        rollup_fixture_seal(&life->fixture);
    for (uint32_t sent = 0; is_sent_to && !answer->done && sent < SENT_MAX; sent++)
        send_again(life, first, last);
    rollup_fixture_step_until(&life->fixture, &answer->done);
    answer_end(answer);
}

/* Refused it must be for a sealed day; what the model has then stays as it is. */
static bool is_refused(struct life *life, const struct answer *answer)
{
    const char *text = (const char *)answer->text.data;
    bool refuses = strstr(text, " is sealed: ") != NULL;
    if (refuses)
        cr_assert_eq(answer->exit_status, EXIT_WRONG_USAGE);
    else
        cr_assert(answer->exit_status == EXIT_DONE || answer->exit_status == EXIT_DATA_SAYS_NO,
                  "%s, %s", text, life->label);
    life->refused += refuses;
    return refuses;
}

/* "5 clicks of 2 days", or none. */
static void expect_count(const struct life *life, const struct answer *answer, uint32_t count)
{
    const char *text = (const char *)answer->text.data;
    char says[48];
    snprintf(says, sizeof says, "\n%u click%s of ", count, count == 1 ? "" : "s");
    cr_assert_eq(answer->exit_status, count > 0 ? EXIT_DONE : EXIT_DATA_SAYS_NO, "%s, %s", text,
                 life->label);
    cr_assert(count == 0 || strstr(text, says) != NULL, "not %u: %s, %s", count, text, life->label);
}

static void draw_days(struct life *life, uint32_t *first, uint32_t *last)
{
    uint32_t more = draw(life, 2) * draw(life, DAYS_MAX);
    *first = draw(life, DAYS);
    *last = *first + more < DAYS ? *first + more : DAYS - 1;
}

static void void_some(struct life *life)
{
    struct answer answer;
    uint32_t first, last, count = 0;
    draw_days(life, &first, &last);
    answer_of(life, &answer, "void", first, last, false);
    life->voids++;
    bool refuses = is_refused(life, &answer);
    for (uint32_t i = 0; i < life->count && !refuses; i++) {
        struct known *click = &life->clicks[i];
        if (click->state != CLICK_LIVE || click->day < first || click->day > last)
            continue;
        click->state = CLICK_VOIDED;
        click->voided = life->voids;
        count++;
    }
    if (!refuses)
        expect_count(life, &answer, count);
    buffer_release(&answer.text);
}

/* No click has its id, and no newer void of it is there. */
static bool comes_back(const struct life *life, const struct known *click)
{
    if (!is_keyed(life))
        return true;
    for (uint32_t i = 0; i < life->count; i++) {
        const struct known *other = &life->clicks[i];
        if (other->day == click->day && other->id == click->id &&
            (other->state == CLICK_LIVE ||
             (other->state == CLICK_VOIDED && other->voided > click->voided)))
            return false;
    }
    return true;
}

/* A click that was sent meanwhile is there, so it was sent before what it would have been a
 * duplicate of could come back. */
static void restore_model(struct life *life, uint32_t first, uint32_t last, uint32_t *count_out,
                          uint32_t *left_out)
{
    bool back[CLICKS_MAX] = {0};
    for (uint32_t i = 0; i < life->count; i++) {
        const struct known *click = &life->clicks[i];
        if (click->state != CLICK_VOIDED || click->day < first || click->day > last)
            continue;
        back[i] = comes_back(life, click);
        *count_out += back[i];
        *left_out += !back[i];
    }
    for (uint32_t i = 0; i < life->count; i++)
        if (back[i])
            life->clicks[i].state = CLICK_LIVE;
}

static void restore_some(struct life *life)
{
    struct answer answer;
    char says[48];
    uint32_t first, last, count = 0, left = 0;
    draw_days(life, &first, &last);
    /* What is in segments is read in several steps, between which others write. */
    if (draw(life, 2) == 0)
        rollup_fixture_flush(&life->fixture);
    answer_of(life, &answer, "restore", first, last, true);
    if (!is_refused(life, &answer)) {
        restore_model(life, first, last, &count, &left);
        expect_count(life, &answer, count);
        snprintf(says, sizeof says, "%u voided click%s left: ", left, left == 1 ? "" : "s");
        cr_assert(left == 0 || strstr((const char *)answer.text.data, says) != NULL, "%s, %s",
                  (const char *)answer.text.data, life->label);
        life->left += left;
    }
    buffer_release(&answer.text);
}

static void do_something(struct life *life)
{
    uint32_t at = draw(life, 100);
    if (at < 30)
        send_some(life);
    else if (at < 54)
        void_some(life);
    else if (at < 78)
        restore_some(life);
    else if (at < 90)
        cr_assert_eq(rollup_fixture_refresh_now(&life->fixture, true), 0);
    else
        rollup_fixture_flush(&life->fixture);
    pause_some(life);
    if (draw(life, 100) < CRASH_PERCENT)
        rollup_fixture_crash(&life->fixture, sim_random_next(&life->random));
}

static void expect_verified(struct life *life)
{
    struct answer answer;
    answer_run(&life->fixture, &answer, "verify -q", "");
    cr_assert_eq(answer.exit_status, EXIT_DONE, "%s, %s", (const char *)answer.text.data,
                 life->label);
    buffer_release(&answer.text);
}

static void run_life(struct life *life, uint64_t seed)
{
    *life = (struct life){.random = {.state = seed},
                          .fixture = {.seed = seed,
                                      .is_automatic = true,
                                      .keep_days = KEEP_DAYS,
                                      .click_id = seed % 2 == 0 ? "bigint" : NULL}};
    snprintf(life->label, sizeof life->label, "SIM_SEED=%" PRIu64, seed);
    life->fixture.label = life->label;
    rollup_fixture_start(&life->fixture);
    for (uint32_t step = 0; step < STEPS; step++) {
        do_something(life);
        check_all(life);
    }
    expect_verified(life);
    rollup_fixture_stop(&life->fixture);
}

Test(voids, clicks_are_live_voided_or_sealed_as_commands_said)
{
    struct life life;
    uint64_t first = sim_option("SIM_SEED", 1);
    uint64_t lives = sim_option("SIM_VOIDS", LIVES_DEFAULT);
    uint32_t refused = 0, left = 0;
    sim_cheap();
    for (uint64_t i = 0; i < lives; i++) {
        run_life(&life, first + i);
        refused += life.refused;
        left += life.left;
    }
    cr_expect(lives < LIVES_DEFAULT || (refused > 0 && left > 0), "%u refused, %u left", refused,
              left);
}

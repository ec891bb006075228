/* test_dirty_evicted: open days for which memory has no room: their figures are right meanwhile,
 * each of them is published, and memory stays where its limit is. */
#include "rollup/days/dirty_evicted.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "rollup/days/dirty_evicted_return.h"
#include "rollup/days/publication.h"
#include "tests/lib/rollup_fixture.h"

enum {
    DAYS = 30,
    RESELLERS = 40,
    DAY_FIRST = 16010,
    /* 2013-11-01 */ ROOM = DIRTY_EVICTED_BYTES_MIN
};

static const struct figure_query everything = {
    .day_from = DAY_MIN, .day_to = DAY_MAX, .is_current = true};
static const struct figure_query of_ledger = {
    .day_from = DAY_MIN, .day_to = DAY_MAX, .is_as_of = true, .as_of_ms = INT64_MAX};

static void put_click(struct rollup_fixture *fixture, uint32_t reseller, uint32_t day,
                      const char *amount)
{
    char name[16];
    char text[DAY_TEXT_SIZE + 1];
    snprintf(name, sizeof(name), "r%03u", reseller);
    calendar_day_format(DAY_FIRST + (int32_t)day, text);
    rollup_fixture_click(fixture, name, text, amount);
}

/* A click for every day of every reseller, day by day, worked off as a server would. */
static void fill(struct rollup_fixture *fixture)
{
    static struct click clicks[RESELLERS];
    static char names[RESELLERS][16];
    char text[DAY_TEXT_SIZE + 1];
    for (int32_t day = 0; day < DAYS; day++) {
        calendar_day_format(DAY_FIRST + day, text);
        for (uint32_t i = 0; i < RESELLERS; i++) {
            snprintf(names[i], sizeof(names[i]), "r%03u", i);
            clicks[i] = (struct click){names[i], text, (DAY_FIRST + day) * DAY_MS, "ad", "0.5"};
        }
        rollup_fixture_clicks(fixture, clicks, RESELLERS);
        cr_assert_eq(rollup_fixture_refresh_now(fixture, false), 0);
    }
}

static void expect_same(struct rollup_fixture *fixture, const struct figure_query *query,
                        struct buffer expected, const char *when)
{
    struct buffer text = rollup_fixture_asked(fixture, query);
    cr_assert_str_eq((const char *)text.data, (const char *)expected.data, "%s", when);
    buffer_release(&text);
}

static void expect_room(const struct rollup_fixture *fixture)
{
    struct rollup_open_days open = rollup_open_days(fixture->rollup);
    cr_assert_lt(open.in_memory, ROOM / 200);
    cr_assert_geq(open.in_memory + open.evicted, DAYS * RESELLERS);
}

Test(dirty_evicted, days_go_when_there_is_no_room_and_are_published_when_they_are_due)
{
    struct rollup_fixture fixture = {.is_automatic = true, .open_days_bytes = ROOM};
    rollup_fixture_start(&fixture);
    fill(&fixture);
    struct buffer figures = rollup_fixture_asked(&fixture, &everything);
    expect_room(&fixture);
    cr_assert_eq(rollup_fixture_marks(&fixture), DAYS * RESELLERS);
    rollup_fixture_advance(&fixture, 2 * 3600);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0, "all are published an hour after the last");
    cr_assert_eq(rollup_open_days(fixture.rollup).in_memory, 0);
    struct buffer published = rollup_fixture_asked(&fixture, &of_ledger);
    expect_same(&fixture, &everything, published, "published");
    cr_assert_str_neq((const char *)published.data, (const char *)figures.data);
    buffer_release(&figures);
    buffer_release(&published);
    rollup_fixture_stop(&fixture);
}

Test(dirty_evicted, a_click_on_a_day_that_is_away_is_in_its_figure_and_published_once)
{
    struct rollup_fixture fixture = {.is_automatic = true, .open_days_bytes = ROOM};
    rollup_fixture_start(&fixture);
    fill(&fixture);
    put_click(&fixture, 3, 0, "0.25");
    cr_assert_eq(rollup_fixture_marks(&fixture), DAYS * RESELLERS + 1, "marked beside its mark");
    struct bytes reseller = bytes_text("r003");
    struct figure_query query = {.resellers = &reseller,
                                 .reseller_count = 1,
                                 .day_from = DAY_FIRST,
                                 .day_to = DAY_FIRST,
                                 .is_current = true};
    struct buffer text = rollup_fixture_asked(&fixture, &query);
    cr_assert_str_eq((const char *)text.data, "r003 2013-11-01 2 0.75 - - open\n");
    buffer_release(&text);
    rollup_fixture_advance(&fixture, 26 * 3600);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    struct buffer ledger = rollup_fixture_ledger(&fixture, "r003");
    cr_assert(strncmp((const char *)ledger.data,
                      "2013-11-01 published - - 2 - 0.75 - - - -\n2013-11-02 published", 60) == 0,
              "%s", (const char *)ledger.data);
    buffer_release(&ledger);
    rollup_fixture_stop(&fixture);
}

Test(dirty_evicted, a_command_publishes_days_that_are_away)
{
    struct rollup_fixture fixture = {.open_days_bytes = ROOM};
    rollup_fixture_start(&fixture);
    fill(&fixture);
    expect_room(&fixture);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_stop(&fixture);
}

Test(dirty_evicted, a_command_publishes_days_that_are_away_beside_a_reading)
{
    struct rollup_fixture fixture = {.open_days_bytes = ROOM};
    rollup_fixture_start(&fixture);
    fill(&fixture);
    dirty_evicted_return(fixture.rollup, DIRTY_EVICTED_DUE, INT64_MIN, NULL, NULL);
    expect_room(&fixture);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    cr_assert_eq(rollup_open_days(fixture.rollup).evicted, 0);
    rollup_fixture_stop(&fixture);
}

Test(dirty_evicted, more_open_days_than_there_is_room_for_are_opened_again)
{
    struct rollup_fixture fixture = {.is_automatic = true, .open_days_bytes = ROOM};
    rollup_fixture_start(&fixture);
    fill(&fixture);
    put_click(&fixture, 7, 3, "0.125");
    struct buffer figures = rollup_fixture_asked(&fixture, &everything);
    rollup_fixture_crash(&fixture, 11);
    expect_room(&fixture);
    expect_same(&fixture, &everything, figures, "after a crash");
    fixture.is_automatic = false;
    fixture.is_read_only = true;
    rollup_fixture_restart(&fixture);
    expect_same(&fixture, &everything, figures, "read only");
    fixture.is_read_only = false;
    fixture.is_automatic = true;
    rollup_fixture_restart(&fixture);
    expect_same(&fixture, &everything, figures, "after a restart");
    rollup_fixture_advance(&fixture, 26 * 3600);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    buffer_release(&figures);
    rollup_fixture_stop(&fixture);
}

/* The clicks of a batch may be of more days than the set has room for; the next batch waits. */
Test(dirty_evicted, what_comes_faster_than_it_is_worked_off_waits)
{
    struct rollup_fixture fixture = {.open_days_bytes = ROOM};
    static struct click clicks[DAYS * RESELLERS];
    static char names[RESELLERS][16];
    static char days[DAYS][DAY_TEXT_SIZE + 1];
    rollup_fixture_start(&fixture);
    for (uint32_t i = 0; i < DAYS * RESELLERS; i++) {
        uint32_t day = i / RESELLERS;
        uint32_t reseller = i % RESELLERS;
        snprintf(names[reseller], sizeof(names[reseller]), "r%03u", reseller);
        calendar_day_format(DAY_FIRST + (int32_t)day, days[day]);
        clicks[i] = (struct click){names[reseller], days[day], (DAY_FIRST + (int32_t)day) * DAY_MS,
                                   "ad", "0.5"};
    }
    rollup_fixture_clicks(&fixture, clicks, DAYS * RESELLERS);
    cr_assert_eq(rollup_open_days(fixture.rollup).in_memory, DAYS * RESELLERS);
    rollup_fixture_clicks(&fixture, clicks, 1);
    cr_assert_leq(rollup_dirty_count(fixture.rollup), 1, "all before it were worked off first");
    expect_room(&fixture);
    rollup_fixture_stop(&fixture);
}

/* ---- how often a day is looked at ---- */

/* Of waiting days whether they may be published; the linker puts it in the place of the rollup's
 * own (Makefile). */
static uint64_t looks;

int64_t __real_publication_earliest_us(const struct publication_rules *rules, int32_t day);
int64_t __wrap_publication_earliest_us(const struct publication_rules *rules, int32_t day);

int64_t __wrap_publication_earliest_us(const struct publication_rules *rules, int32_t day)
{
    looks++;
    return __real_publication_earliest_us(rules, day);
}

enum {
    MANY = 200,                /* resellers, */
    MANY_DAYS = 10,            /* each of whom has so many days in a batch */
    BATCHES = 6,               /* of days that have ended, and as many of others */
    MANY_ROOM = 6 << 20,       /* for all of the others: waiting days take half of it */
    DAY_AHEAD = DAY_FIRST + 60 /* behind the fixture's today */
};

static void click_days(struct rollup_fixture *fixture, int32_t first)
{
    static struct click clicks[MANY * MANY_DAYS];
    static char names[MANY][16];
    char days[MANY_DAYS][DAY_TEXT_SIZE + 1];
    for (int32_t i = 0; i < MANY * MANY_DAYS; i++) {
        int32_t reseller = i / MANY_DAYS, day = first + i % MANY_DAYS;
        snprintf(names[reseller], sizeof(names[reseller]), "r%03d", reseller);
        calendar_day_format(day, days[i % MANY_DAYS]);
        clicks[i] = (struct click){names[reseller], days[i % MANY_DAYS], day * DAY_MS, "ad", "0.5"};
    }
    rollup_fixture_clicks(fixture, clicks, MANY * MANY_DAYS);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, false), 0);
}

/* Days that may be published come back from the table a few thousand at a time.  Those that may not
 * be wait in memory, and are not all looked at with each few thousand: a day is looked at when its
 * mark is read, when it is worked off, and twice or three times while it waits. */
Test(dirty_evicted, a_command_looks_a_few_times_at_each_day_however_many_come_back)
{
    enum { ENDED = BATCHES * MANY * MANY_DAYS, AHEAD = ENDED };
    struct rollup_fixture fixture = {.open_days_bytes = MANY_ROOM};
    rollup_fixture_start(&fixture);
    for (int32_t batch = 0; batch < BATCHES; batch++)
        click_days(&fixture, DAY_FIRST - 100 + batch * MANY_DAYS);
    for (int32_t batch = 0; batch < BATCHES; batch++)
        click_days(&fixture, DAY_AHEAD + batch * MANY_DAYS);
    struct rollup_open_days open = rollup_open_days(fixture.rollup);
    cr_assert(open.in_memory >= AHEAD && open.evicted >= ENDED / 2);
    looks = 0;
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    cr_assert_eq(rollup_fixture_marks(&fixture), AHEAD);
    cr_assert_leq(looks, 7 * (ENDED + AHEAD) / 2, "%" PRIu64 " looks", looks);
    rollup_fixture_stop(&fixture);
}

/* ---- days that cannot be worked off ---- */

enum { DAMAGED = 8 }; /* resellers, some of them on each page of the marks */

/* A row of each of the first resellers has no number of clicks. */
static void damage_rows(struct rollup_fixture *fixture)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_AMOUNT_BY_DAY);
    for (int i = 0; i < DAMAGED; i++) {
        char name[16];
        snprintf(name, sizeof(name), "r%03d", i);
        const struct column_value values[] = {
            {AMOUNT_RESELLER_ID, false, bytes_text(name)},
            {AMOUNT_DAY, false, write_batch_day(batch, DAY_FIRST)},
            {AMOUNT_CLICKS, true, bytes_of(NULL, 0)}};
        write_batch_insert(batch, table, values, 3);
    }
    cr_assert_eq(rollup_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

static void expect_marks_of_damaged(struct rollup_fixture *fixture)
{
    uint32_t marks = rollup_fixture_marks(fixture);
    cr_expect(marks >= DAMAGED && marks <= 2 * DAMAGED * MANY_DAYS, "%" PRIu32, marks);
}

Test(dirty_evicted, a_server_opens_with_damaged_days_and_publishes_the_others)
{
    struct rollup_fixture fixture = {.is_automatic = true, .open_days_bytes = 2 * ROOM};
    rollup_fixture_start(&fixture);
    click_days(&fixture, DAY_FIRST);
    click_days(&fixture, DAY_FIRST + MANY_DAYS);
    damage_rows(&fixture);
    rollup_fixture_crash(&fixture, 11);
    rollup_fixture_advance(&fixture, 2 * 3600);
    expect_marks_of_damaged(&fixture);
    rollup_fixture_stop(&fixture);
}

Test(dirty_evicted, a_command_publishes_all_but_damaged_days)
{
    struct rollup_fixture fixture = {.open_days_bytes = 2 * ROOM};
    rollup_fixture_start(&fixture);
    click_days(&fixture, DAY_FIRST);
    click_days(&fixture, DAY_FIRST + MANY_DAYS);
    damage_rows(&fixture);
    cr_expect_lt(rollup_fixture_refresh_now(&fixture, true), 0);
    expect_marks_of_damaged(&fixture);
    rollup_fixture_stop(&fixture);
}

/* ---- a twin that has room ---- */

/* xorshift64*. */
static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * UINT64_C(0x2545F4914F6CDD1D)) >> 40) % below;
}

static void change(struct rollup_fixture *fixture, uint64_t *random)
{
    static const char *const amounts[] = {"0.5", "1.25", "0.003", "12"};
    static const char *const rates[] = {"0.2", "0.25", NULL, "0.5"};
    uint32_t reseller = draw(random, RESELLERS);
    uint32_t day = draw(random, DAYS);
    uint32_t kind = draw(random, 20);
    uint32_t which = draw(random, 4);
    char name[16];
    char text[DAY_TEXT_SIZE + 1];
    snprintf(name, sizeof(name), "r%03u", reseller);
    calendar_day_format(DAY_FIRST + (int32_t)day, text);
    if (kind < 16)
        put_click(fixture, reseller, day, amounts[which]);
    else if (kind < 18)
        rollup_fixture_rate(fixture, name, text, rates[which], which == 0);
    else if (kind == 18)
        rollup_fixture_void(fixture, name, text);
    else
        rollup_fixture_advance(fixture, 60 * (int64_t)which + 60);
}

/* Without what may differ: of a day that was away it is not known when its last click came, so it
 * may be published before the day has been quiet for an hour. */
static struct buffer figures_without_states(struct rollup_fixture *fixture)
{
    struct buffer text = rollup_fixture_asked(fixture, &everything);
    struct buffer kept = {0};
    char *rest = (char *)text.data;
    for (char *end; (end = strchr(rest, '\n')) != NULL; rest = end + 1) {
        *end = '\0';
        *strrchr(rest, ' ') = '\0';
        buffer_append_text(&kept, rest);
        buffer_append_text(&kept, "\n");
    }
    buffer_put_u8(&kept, 0);
    buffer_release(&text);
    return kept;
}

/* The same changes where all open days fit, and where few do, lead to the same figures at any time,
 * and in the end to the same ledger. */
Test(dirty_evicted, with_and_without_room_figures_and_ledger_are_the_same)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct rollup_fixture small = {.seed = seed, .is_automatic = true, .open_days_bytes = ROOM};
        struct rollup_fixture large = {.seed = seed, .is_automatic = true};
        rollup_fixture_start(&small);
        rollup_fixture_start(&large);
        fill(&small);
        fill(&large);
        for (uint32_t round = 0; round < 6; round++) {
            uint64_t of_small = seed * 100 + round;
            uint64_t of_large = of_small;
            for (uint32_t i = 0; i < 150; i++) {
                change(&small, &of_small);
                change(&large, &of_large);
            }
            if (round == 3)
                rollup_fixture_crash(&small, seed);
            struct buffer of_one = figures_without_states(&small);
            struct buffer of_other = figures_without_states(&large);
            cr_assert_str_eq((const char *)of_one.data, (const char *)of_other.data);
            buffer_release(&of_one);
            buffer_release(&of_other);
        }
        rollup_fixture_advance(&small, 3 * 86400);
        rollup_fixture_advance(&large, 3 * 86400);
        cr_assert_eq(rollup_fixture_marks(&small), 0);
        struct buffer ledger = rollup_fixture_asked(&large, &of_ledger);
        expect_same(&small, &of_ledger, ledger, "ledger");
        expect_same(&small, &everything, ledger, "published");
        buffer_release(&ledger);
        rollup_fixture_stop(&small);
        rollup_fixture_stop(&large);
    }
}

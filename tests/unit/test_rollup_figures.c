/* test_rollup_figures: however figures are asked for, of all resellers or of one, in order or not,
 * at once or with pauses, with much room or little, they are the same, wherever they lie. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rollup/days/figure_window.h"
#include "rollup/days/rollup_private.h"
#include "base/memory.h"
#include "tests/lib/rollup_fixture.h"

/* More than one batch of them, in any order of names; some have no figures. */
enum { RESELLERS = 331, DAYS = 40, BATCH = 400, ROUNDS = 5 };

static uint32_t below(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 33) % limit;
}

static void name_of(uint32_t reseller, char name[16])
{
    snprintf(name, 16, "r%u", reseller);
}

static void click_at_random(struct rollup_fixture *fixture, uint64_t *state)
{
    static const char *const amounts[] = {"0.005", "1", "0.0075", "12.30", "0"};
    static char names[BATCH][16];
    static char days[BATCH][DAY_TEXT_SIZE + 1];
    static struct click clicks[BATCH];
    for (int i = 0; i < BATCH; i++) {
        int32_t day = 16000 + (int32_t)below(state, DAYS);
        name_of(below(state, RESELLERS), names[i]);
        calendar_day_format(day, days[i]);
        clicks[i] = (struct click){names[i], days[i], day * DAY_MS + below(state, 86400000), "ad",
                                   amounts[below(state, 5)]};
    }
    rollup_fixture_clicks(fixture, clicks, BATCH);
}

/* ---- asking ---- */

struct asked {
    struct buffer text;
    uint32_t count;
    uint32_t most; /* figures, after which it stops or pauses; 0: none */
    uint32_t pauses;
    bool is_done;
    struct figure_reading *paused;
};

static bool take(void *context, const struct day_figure *figure)
{
    struct asked *asked = context;
    char day[DAY_TEXT_SIZE + 1];
    char line[128];
    calendar_day_format(figure->day, day);
    int size =
        snprintf(line, sizeof(line), "%.*s %s %d %d ", (int)figure->reseller.size,
                 (const char *)figure->reseller.data, day, (int)figure->clicks, (int)figure->state);
    buffer_append_bytes(&asked->text, bytes_of(line, (size_t)size));
    decimal_append(&asked->text, figure->gross);
    if (figure->is_priced) {
        buffer_append_text(&asked->text, " ");
        decimal_append(&asked->text, figure->amount);
    }
    buffer_append_text(&asked->text, "\n");
    asked->count++;
    return asked->most == 0 || asked->count % asked->most != 0;
}

static void note_done(void *context, int status, const struct error *err)
{
    struct asked *asked = context;
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    asked->is_done = true;
}

static void note_pause(void *context, struct figure_reading *reading)
{
    struct asked *asked = context;
    asked->pauses++;
    asked->paused = reading;
}

static void ask(struct rollup_fixture *fixture, const struct figure_query *query,
                struct asked *asked)
{
    asked->is_done = false;
    rollup_figures(fixture->rollup, query, take, note_done, asked);
    while (!asked->is_done) {
        struct figure_reading *paused = asked->paused;
        asked->paused = NULL;
        if (paused != NULL)
            rollup_figures_go_on(paused);
        else
            cr_assert(fixture->world->executor->step(fixture->world->executor));
    }
}

static struct figure_query all_days(bool is_current)
{
    return (struct figure_query){.day_from = DAY_MIN, .day_to = DAY_MAX, .is_current = is_current};
}

/* ---- the ways to ask ---- */

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct buffer *text)
{
    char **lines = memory_alloc((text->size + 1) * sizeof(*lines));
    struct buffer sorted = {0};
    size_t count = 0;
    char *rest = NULL;
    buffer_put_u8(text, 0);
    for (char *line = strtok_r((char *)text->data, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        lines[count++] = line;
    if (count > 0)
        qsort(lines, count, sizeof(*lines), compare_lines);
    for (size_t i = 0; i < count; i++) {
        buffer_append_text(&sorted, lines[i]);
        buffer_append_text(&sorted, "\n");
    }
    memory_free(lines);
    buffer_release(text);
    *text = sorted;
}

static void expect_same(struct asked *asked, const struct asked *wanted, const char *way)
{
    cr_assert_eq(asked->count, wanted->count, "%s: %u of %u", way, asked->count, wanted->count);
    cr_assert(bytes_equal(buffer_view(&asked->text), buffer_view(&wanted->text)), "%s", way);
    buffer_release(&asked->text);
}

/* One reseller after the other, by name. */
static void ask_one_by_one(struct rollup_fixture *fixture, bool is_current, struct asked *asked)
{
    static char names[RESELLERS][16];
    char *sorted[RESELLERS];
    for (uint32_t i = 0; i < RESELLERS; i++) {
        name_of(i, names[i]);
        sorted[i] = names[i];
    }
    qsort(sorted, RESELLERS, sizeof(*sorted), compare_lines);
    for (uint32_t i = 0; i < RESELLERS; i++) {
        struct bytes reseller = bytes_text(sorted[i]);
        struct figure_query query = all_days(is_current);
        query.resellers = &reseller;
        query.reseller_count = 1;
        ask(fixture, &query, asked);
    }
}

/* In windows of some thirty resellers, each of which is read again from where the last one ended.
 */
static void ask_with_little_room(struct rollup_fixture *fixture, bool is_current,
                                 struct asked *asked)
{
    struct quota *room = fixture->rollup->figures;
    struct quota before = *room;
    struct figure_query query = all_days(is_current);
    room->limit = 1;
    room->little = 8192;
    ask(fixture, &query, asked);
    room->limit = before.limit;
    room->little = before.little;
}

static void expect_all_ways_alike(struct rollup_fixture *fixture, bool is_current)
{
    struct asked wanted = {0};
    ask_one_by_one(fixture, is_current, &wanted);
    struct figure_query query = all_days(is_current);
    struct asked whole = {0};
    ask(fixture, &query, &whole);
    expect_same(&whole, &wanted, "all at once");
    struct asked paused = {.most = 29};
    query.paused = note_pause;
    ask(fixture, &query, &paused);
    cr_assert_eq(paused.pauses, wanted.count / 29);
    expect_same(&paused, &wanted, "with pauses");
    struct asked narrow = {0};
    ask_with_little_room(fixture, is_current, &narrow);
    expect_same(&narrow, &wanted, "with little room");
    struct asked unordered = {0};
    query.paused = NULL;
    query.in_any_order = true;
    ask(fixture, &query, &unordered);
    sort_lines(&unordered.text);
    sort_lines(&wanted.text);
    expect_same(&unordered, &wanted, "in any order");
    buffer_release(&wanted.text);
}

static void move_at_random(struct rollup_fixture *fixture, uint64_t *state)
{
    switch (below(state, 4)) {
    case 0:
        rollup_fixture_flush(fixture);
        break;
    case 1:
        cr_assert_eq(rollup_fixture_refresh_now(fixture, below(state, 2) == 0), 0);
        break;
    case 2:
        rollup_fixture_restart(fixture);
        break;
    default:
        break;
    }
}

static void price_at_random(struct rollup_fixture *fixture, uint64_t *state)
{
    char name[16];
    char day[DAY_TEXT_SIZE + 1];
    name_of(below(state, RESELLERS), name);
    calendar_day_format(16000 + (int32_t)below(state, DAYS), day);
    rollup_fixture_rate(fixture, name, day, below(state, 2) == 0 ? "0.25" : "0.125", true);
}

/* With days out of date, rates changed since, rows in memory and in segments, after a restart. */
Test(rollup_figures, all_ways_to_ask_give_the_same)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        uint64_t state = seed;
        rollup_fixture_start(&fixture);
        for (int round = 0; round < ROUNDS; round++) {
            click_at_random(&fixture, &state);
            for (int i = 0; i < 10; i++)
                price_at_random(&fixture, &state);
            move_at_random(&fixture, &state);
            expect_all_ways_alike(&fixture, true);
        }
        expect_all_ways_alike(&fixture, false);
        rollup_fixture_stop(&fixture);
    }
}

Test(rollup_figures, a_paused_reading_can_be_stopped)
{
    struct rollup_fixture fixture = {0};
    struct asked asked = {.most = 2};
    struct figure_query query = all_days(true);
    query.paused = note_pause;
    rollup_fixture_start(&fixture);
    for (int i = 0; i < 5; i++) {
        char name[16];
        name_of((uint32_t)i, name);
        rollup_fixture_click(&fixture, name, "2013-11-28", "1");
    }
    rollup_figures(fixture.rollup, &query, take, note_done, &asked);
    while (asked.paused == NULL)
        cr_assert(fixture.world->executor->step(fixture.world->executor));
    rollup_figures_stop(asked.paused);
    cr_assert(asked.is_done);
    cr_assert_eq(asked.count, 2);
    buffer_release(&asked.text);
    rollup_fixture_stop(&fixture);
}

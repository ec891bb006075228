/* Whole histories through losses of power: everything at once, checked against a list.
 *
 * Method: a random history of clicks, voided clicks and days, rates set and deleted, counters set
 * and added to, flushes, merges, clean restarts, crashes it goes on after, and a disk that is full
 * for a while runs on the simulated world, with the rollup at work in it.  Before every sync and
 * every change of names, the disk as a crash could leave it is cloned from several seeds, and
 * opened.
 *
 * The model is the list of what was written.  As writes take effect in order, what is found must be
 * what some beginning of the list gives, with everything acknowledged in it: rows, counters, stats
 * and rates of one and the same beginning, computed by going through the list.  After a settle the
 * figures are its rows times its rates.
 *
 * SIM_SEED is the first history's seed (also to see a failure again), SIM_SECONDS how long to go
 * on, SIM_HISTORIES how many of them to run where no time is given. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>

#include "tests/lib/rollup_fixture.h"
#include "tests/sim/sim_random.h"

enum {
    WRITES_MAX = 40,
    CLICKS_MAX = 6,                /* of a write */
    CLONES = 2,                    /* of a moment */
    RESELLERS = 2,
    DAYS = 3,
    COUNTERS = 2,                  /* that are set by hand: ads "c0" and "c1" */
    HISTORIES_DEFAULT = 6,
    FULL_STEPS = 200               /* after which a full disk gets its space back */
};

static const char *const resellers[RESELLERS] = {"r1", "r2"};
static const char *const days[DAYS] = {"2013-11-28", "2013-11-29", "2013-11-30"};

enum write_kind {
    WRITE_CLICKS, WRITE_VOID, WRITE_VOID_ONE, WRITE_RATE, WRITE_RATE_DELETE, WRITE_COUNTER_SET,
    WRITE_COUNTER_ADD
};

struct written {
    enum write_kind kind;
    uint32_t reseller, day;
    uint32_t clicks;
    uint32_t offset_ms[CLICKS_MAX], cents[CLICKS_MAX];
    uint32_t target, target_click; /* of a void of one: which write's which click */
    int64_t percent;               /* of a rate */
    uint32_t counter;
    int64_t value;
    bool is_acknowledged;
};

struct history {
    struct rollup_fixture fixture;
    struct sim_random random;
    uint64_t seed;
    struct written writes[WRITES_MAX];
    uint32_t count;
    uint64_t crashes;
    bool is_checking;
    bool is_full;
};

/* ---- the model ---- */

struct model {
    uint32_t clicks[RESELLERS][DAYS];
    int64_t cents[RESELLERS][DAYS];
    int64_t percent[RESELLERS][DAYS];       /* set for that day; -1: not */
    int64_t per_reseller[RESELLERS];
    int64_t counters[COUNTERS];
    bool is_there[WRITES_MAX][CLICKS_MAX];
};

static void model_remove(struct model *model, const struct history *history, uint32_t index,
                         uint32_t click)
{
    const struct written *written = &history->writes[index];
    if (!model->is_there[index][click])
        return;
    model->is_there[index][click] = false;
    model->clicks[written->reseller][written->day]--;
    model->cents[written->reseller][written->day] -= written->cents[click];
    model->per_reseller[written->reseller]--;
}


static void model_take(struct model *model, const struct history *history, uint32_t index)
{
    const struct written *written = &history->writes[index];
    uint32_t r = written->reseller, d = written->day;
    switch (written->kind) {
    case WRITE_CLICKS:
        model->clicks[r][d] += written->clicks;
        model->per_reseller[r] += written->clicks;
        for (uint32_t c = 0; c < written->clicks; c++) {
            model->is_there[index][c] = true;
            model->cents[r][d] += written->cents[c];
        }
        return;
    case WRITE_VOID:
        for (uint32_t i = 0; i < index; i++)
            for (uint32_t c = 0; c < CLICKS_MAX; c++)
                if (history->writes[i].reseller == r && history->writes[i].day == d)
                    model_remove(model, history, i, c);
        return;
    case WRITE_VOID_ONE:
        model_remove(model, history, written->target, written->target_click);
        return;
    case WRITE_RATE:
        model->percent[r][d] = written->percent;
        return;
    case WRITE_RATE_DELETE:
        model->percent[r][d] = -1;
        return;
    case WRITE_COUNTER_SET:
        model->counters[written->counter] = written->value;
        return;
    case WRITE_COUNTER_ADD:
        model->counters[written->counter] += written->value;
        return;
    }
}

static struct model model_of(const struct history *history, uint32_t count)
{
    struct model model;
    memset(&model, 0, sizeof model);
    for (uint32_t r = 0; r < RESELLERS; r++)
        for (uint32_t d = 0; d < DAYS; d++)
            model.percent[r][d] = -1;
    for (uint32_t i = 0; i < count; i++)
        model_take(&model, history, i);
    return model;
}

static int64_t model_percent_at(const struct model *model, uint32_t reseller, uint32_t day)
{
    int64_t percent = -1;
    for (uint32_t d = 0; d <= day; d++)
        percent = model->percent[reseller][d] >= 0 ? model->percent[reseller][d] : percent;
    return percent;
}

/* ---- what is found ---- */

struct found {
    struct buffer rows, ads, per_reseller, rates;
    char stats[RESELLERS][DAYS][64];
};

static struct found find(struct rollup_fixture *fixture)
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    const struct bytes all = {0};
    struct found found = {
        .rows = engine_fixture_rows(&engine, TABLE_AD_CLICK, all, 100, false),
        .ads = engine_fixture_rows(&engine, TABLE_CLICKS_PER_AD, all, 100, false),
        .per_reseller = engine_fixture_rows(&engine, TABLE_CLICKS_PER_RESELLER, all, 100, false),
        .rates = engine_fixture_rows(&engine, TABLE_RESELLER, all, 100, false),
    };
    for (uint32_t r = 0; r < RESELLERS; r++) {
        for (uint32_t d = 0; d < DAYS; d++) {
            struct buffer stats = engine_fixture_stats(&engine, resellers[r], days[d]);
            snprintf(found.stats[r][d], sizeof found.stats[r][d], "%s", (const char *)stats.data);
            buffer_release(&stats);
        }
    }
    return found;
}

static void found_release(struct found *found)
{
    buffer_release(&found->rows);
    buffer_release(&found->ads);
    buffer_release(&found->per_reseller);
    buffer_release(&found->rates);
}

static uint32_t times(const struct buffer *text, const char *needle)
{
    uint32_t count = 0;
    for (const char *at = (const char *)text->data; (at = strstr(at, needle)) != NULL; at++)
        count++;
    return count;
}

/* The number in the line that begins with `name`; 0 when there is none. */
static int64_t number_of(const struct buffer *text, const char *name)
{
    char needle[32];
    int64_t number = 0;
    snprintf(needle, sizeof needle, "%s|", name);
    const char *at = strstr((const char *)text->data, needle);
    if (at != NULL)
        cr_assert_eq(sscanf(at + strlen(needle), "%" SCNd64, &number), 1);
    return number;
}

static bool writes_match(const struct history *history, const struct model *model,
                         const struct found *found)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < history->count; i++) {
        char ad[16], inner[32];
        if (history->writes[i].kind != WRITE_CLICKS)
            continue;
        snprintf(ad, sizeof ad, "b%02u", i);
        snprintf(inner, sizeof inner, "|%s|", ad);
        uint32_t expected = 0;
        for (uint32_t c = 0; c < CLICKS_MAX; c++)
            expected += model->is_there[i][c];
        if (times(&found->rows, inner) != expected || number_of(&found->ads, ad) != expected)
            return false;
        rows += expected;
    }
    return times(&found->rows, "\n") == rows;
}

static bool stats_match(const char *text, uint32_t clicks, int64_t cents)
{
    uint32_t rows = 0;
    char sum[32] = "0";
    struct decimal value;
    if (text[0] != '\0')
        cr_assert_eq(sscanf(text, "%u %31s", &rows, sum), 2);
    cr_assert_eq(decimal_parse(bytes_text(sum), &value), 0);
    return rows == clicks && decimal_compare(value, decimal_from(cents, 2)) == 0;
}

static bool rate_matches(const struct buffer *rates, uint32_t r, uint32_t d, int64_t percent)
{
    char needle[32], text[32];
    struct decimal value;
    snprintf(needle, sizeof needle, "%s|%s|", resellers[r], days[d]);
    const char *at = strstr((const char *)rates->data, needle);
    if (at == NULL || percent < 0)
        return at == NULL && percent < 0;
    cr_assert_eq(sscanf(at + strlen(needle), "%31s", text), 1);
    cr_assert_eq(decimal_parse(bytes_text(text), &value), 0);
    return decimal_compare(value, decimal_from(percent, 2)) == 0;
}

static bool model_matches(const struct history *history, const struct model *model,
                          const struct found *found)
{
    for (uint32_t r = 0; r < RESELLERS; r++) {
        if (number_of(&found->per_reseller, resellers[r]) != model->per_reseller[r])
            return false;
        for (uint32_t d = 0; d < DAYS; d++)
            if (!stats_match(found->stats[r][d], model->clicks[r][d], model->cents[r][d]) ||
                !rate_matches(&found->rates, r, d, model->percent[r][d]))
                return false;
    }
    for (uint32_t c = 0; c < COUNTERS; c++) {
        char name[8];
        snprintf(name, sizeof name, "c%u", c);
        if (number_of(&found->ads, name) != model->counters[c])
            return false;
    }
    return writes_match(history, model, found);
}

/* How many of the writes are there: any number from the acknowledged ones on that fits. */
static uint32_t count_found(const struct history *history, struct rollup_fixture *fixture,
                            uint64_t crash)
{
    uint32_t count = 0;
    struct found found = find(fixture);
    for (uint32_t i = 0; i < history->count; i++)
        count = history->writes[i].is_acknowledged ? i + 1 : count;
    for (bool fits = false; !fits; count += !fits) {
        cr_assert_leq(count, history->count,
                      "no beginning of the history gives what is there; seed %" PRIu64
                      " crash %" PRIu64 ":\n%s%s%s%s",
                      history->seed, crash, (const char *)found.rows.data,
                      (const char *)found.ads.data, (const char *)found.per_reseller.data,
                      (const char *)found.rates.data);
        const struct model model = model_of(history, count);
        fits = model_matches(history, &model, &found);
    }
    found_release(&found);
    return count;
}

/* One line of figures: "reseller day clicks gross rate amount state". */
static bool figure_matches(const struct model *model, const char *line, uint32_t r, uint32_t d)
{
    char gross[40], rate[40], amount[40];
    uint32_t clicks;
    struct decimal value;
    int64_t percent = model_percent_at(model, r, d);
    cr_assert_eq(sscanf(line, "%*s %*s %u %39s %39s %39s", &clicks, gross, rate, amount), 4, "%s",
                 line);
    cr_assert_eq(decimal_parse(bytes_text(gross), &value), 0);
    if (clicks != model->clicks[r][d] ||
        decimal_compare(value, decimal_from(model->cents[r][d], 2)) != 0)
        return false;
    if (percent < 0 || clicks == 0)
        return percent >= 0 || strcmp(amount, "-") == 0;
    return decimal_parse(bytes_text(amount), &value) == 0 &&
           decimal_compare(value, decimal_from(model->cents[r][d] * percent, 4)) == 0;
}

static void check_figures(const struct history *history, struct rollup_fixture *fixture,
                          uint32_t count, uint64_t crash)
{
    const struct model model = model_of(history, count);
    struct buffer text = rollup_fixture_figures(fixture);
    for (uint32_t r = 0; r < RESELLERS; r++) {
        for (uint32_t d = 0; d < DAYS; d++) {
            char needle[32];
            snprintf(needle, sizeof needle, "%s %s ", resellers[r], days[d]);
            const char *line = strstr((const char *)text.data, needle);
            bool fits = line != NULL ? figure_matches(&model, line, r, d)
                                     : model.clicks[r][d] == 0;
            cr_assert(fits, "figure of %s%u clicks, %" PRId64 " cents; seed %" PRIu64
                      " crash %" PRIu64 ":\n%s", needle, model.clicks[r][d], model.cents[r][d],
                      history->seed, crash, (const char *)text.data);
        }
    }
    buffer_release(&text);
}

/* ---- crashes ---- */

static void crash_and_check(struct history *history, uint64_t seed)
{
    struct sim_world *crashed = sim_world_crash(history->fixture.sim, seed);
    struct rollup_fixture fixture = {.memtable_rows_max = history->fixture.memtable_rows_max};
    sim_disk_set_space(sim_world_disk(crashed), UINT64_MAX);
    rollup_fixture_open(&fixture, crashed);
    uint32_t count = count_found(history, &fixture, seed);
    cr_assert_eq(rollup_fixture_settle(&fixture, false), 0);
    check_figures(history, &fixture, count, seed);
    if (seed % 4 == 0) {
        rollup_fixture_restart(&fixture);
        cr_assert_leq(count_found(history, &fixture, seed), count);
        check_figures(history, &fixture, count, seed);
    }
    rollup_fixture_stop(&fixture);
    history->crashes++;
}

static void before_call(void *context, enum sim_call call)
{
    struct history *history = context;
    bool matters = call == SIM_SYNC || call == SIM_SYNC_DIRECTORY || call == SIM_RENAME ||
                   call == SIM_REMOVE;
    if (!matters || history->is_checking)
        return;
    history->is_checking = true;
    for (uint64_t i = 0; i < CLONES; i++)
        crash_and_check(history, history->seed * 1000003 + history->crashes * 7919 + i);
    history->is_checking = false;
}

static void watch(struct history *history)
{
    sim_disk_watch(sim_world_disk(history->fixture.sim), before_call, history);
}

/* ---- the history ---- */

static uint32_t draw(struct history *history, uint32_t limit)
{
    return (uint32_t)sim_random_below(&history->random, limit);
}

static void set_full(struct history *history, bool is_full)
{
    struct sim_disk *disk = sim_world_disk(history->fixture.sim);
    uint64_t left = is_full ? draw(history, 300000) : 0;
    history->is_full = is_full;
    sim_disk_set_space(disk, is_full ? sim_disk_used(disk) + left : UINT64_MAX);
}

static void steps(struct history *history, uint32_t count)
{
    struct executor *executor = history->fixture.world->executor;
    while (count-- > 0 && executor->step(executor)) {
    }
}

static void acknowledged(void *context, int status, const struct error *err)
{
    (void)err;
    ((struct written *)context)->is_acknowledged = status == 0;
}

static struct block *make_clicks(struct history *history, struct written *written)
{
    struct click clicks[CLICKS_MAX];
    char ad[16], amounts[CLICKS_MAX][8];
    snprintf(ad, sizeof ad, "b%02u", history->count);
    written->clicks = 1 + draw(history, CLICKS_MAX);
    for (uint32_t i = 0; i < written->clicks; i++) {
        int32_t day;
        written->cents[i] = 1 + draw(history, 9);
        written->offset_ms[i] = draw(history, 3);
        cr_assert(day_parse(bytes_text(days[written->day]), &day));
        snprintf(amounts[i], sizeof amounts[i], "0.0%u", written->cents[i]);
        clicks[i] = (struct click){resellers[written->reseller], days[written->day],
                                   day * DAY_MS + written->offset_ms[i], ad, amounts[i]};
    }
    return engine_fixture_block(history->fixture.store, clicks, written->clicks);
}

static void add_counter(struct history *history, struct write_batch *batch,
                        struct written *written)
{
    written->counter = draw(history, COUNTERS);
    written->value = (int64_t)draw(history, 1000) - 300;
    const struct counter_increment increment = {
        .table_id = TABLE_CLICKS_PER_AD,
        .column_id = COUNTER_CLICKS,
        .key = write_batch_text(batch, written->counter == 0 ? "c0" : "c1"),
        .change = written->kind == WRITE_COUNTER_SET ? COUNTER_SET : COUNTER_ADD,
        .value = written->value};
    write_batch_add_increment(batch, &increment);
}

static void add_row(struct history *history, struct write_batch *batch, struct written *written)
{
    const struct schema *schema = store_schema(history->fixture.store);
    struct column_value values[] = {
        {RESELLER_ID, false, bytes_text(resellers[written->reseller])},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text(days[written->day])},
        {RESELLER_REWARD_PERCENT, false, bytes_of(NULL, 0)},
    };
    if (written->kind == WRITE_RATE) {
        written->percent = 1 + draw(history, 99);
        values[2].value = write_batch_decimal(batch, decimal_from(written->percent, 2));
        write_batch_insert(batch, schema_table(schema, TABLE_RESELLER), values, 3);
    } else if (written->kind == WRITE_RATE_DELETE) {
        write_batch_delete(batch, schema_table(schema, TABLE_RESELLER), values, 2);
    } else {
        values[0].column_id = AD_CLICK_RESELLER_ID;
        values[1].column_id = AD_CLICK_DAY;
        write_batch_delete(batch, schema_table(schema, TABLE_AD_CLICK), values, 2);
    }
}

/* The DELETE of one click by its whole key; its rank is its place among the equals of its write. */
static void add_void_of_one(struct history *history, struct write_batch *batch,
                            struct written *written)
{
    const struct written *target = &history->writes[written->target];
    char ad[16];
    int64_t rank = 0;
    int32_t day;
    written->target_click = draw(history, target->clicks);
    uint32_t offset_ms = target->offset_ms[written->target_click];
    for (uint32_t c = 0; c < written->target_click; c++)
        rank += target->offset_ms[c] == offset_ms;
    snprintf(ad, sizeof ad, "b%02u", written->target);
    cr_assert(day_parse(bytes_text(days[target->day]), &day));
    const struct column_value values[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text(resellers[target->reseller])},
        {AD_CLICK_DAY, false, bytes_text(days[target->day])},
        {AD_CLICK_TIME, false, write_batch_bigint(batch, day * DAY_MS + offset_ms)},
        {AD_CLICK_AD_ID, false, bytes_text(ad)},
        {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, rank)},
    };
    write_batch_delete(batch, schema_table(store_schema(history->fixture.store), TABLE_AD_CLICK),
                       values, 5);
}

/* A write of clicks before this one; false: there is none where it was looked for. */
static bool draw_target(struct history *history, struct written *written)
{
    written->target = history->count > 0 ? draw(history, history->count) : 0;
    return history->count > 0 && history->writes[written->target].kind == WRITE_CLICKS;
}

static enum write_kind draw_kind(struct history *history)
{
    uint32_t at = draw(history, 100);
    return at < 54   ? WRITE_CLICKS
           : at < 62 ? WRITE_VOID_ONE
           : at < 66 ? WRITE_VOID
           : at < 78 ? WRITE_RATE
           : at < 84 ? WRITE_RATE_DELETE
           : at < 90 ? WRITE_COUNTER_SET
                     : WRITE_COUNTER_ADD;
}

/* It counts as written from before the call on: what a crash leaves of it is its own matter. */
static void apply(struct history *history, struct write_batch *batch, struct written *written)
{
    struct error err = {0};
    int rc;
    uint32_t tries = 0;
    while ((rc = store_apply(history->fixture.store, batch, acknowledged, written, &err)) ==
           ERROR_FULL) {
        if (history->is_full && ++tries > FULL_STEPS)
            set_full(history, false);
        steps(history, 1);
    }
    cr_assert_eq(rc, 0, "%s, seed %" PRIu64, err.text, history->seed);
}

/* A write that reads first waits until it is durable: what comes after it must be applied after
 * it. */
static void apply_reading(struct history *history, struct write_batch *batch,
                          struct written *written)
{
    uint32_t tries = 0;
    rollup_apply(history->fixture.rollup, batch, NULL, 0, acknowledged, written);
    while (!written->is_acknowledged) {
        if (history->is_full && ++tries > FULL_STEPS)
            set_full(history, false);
        steps(history, 1);
    }
}

static void write_something(struct history *history)
{
    struct written *written = &history->writes[history->count];
    struct write_batch *batch = write_batch_new();
    struct block *block = NULL;
    *written = (struct written){.kind = draw_kind(history),
                                .reseller = draw(history, RESELLERS),
                                .day = draw(history, DAYS)};
    if (written->kind == WRITE_VOID_ONE && !draw_target(history, written))
        written->kind = WRITE_CLICKS;
    switch (written->kind) {
    case WRITE_CLICKS:
        block = make_clicks(history, written);
        write_batch_add_block(batch, block);
        break;
    case WRITE_VOID:
    case WRITE_RATE:
    case WRITE_RATE_DELETE:
        add_row(history, batch, written);
        break;
    case WRITE_VOID_ONE:
        add_void_of_one(history, batch, written);
        break;
    case WRITE_COUNTER_SET:
    case WRITE_COUNTER_ADD:
        add_counter(history, batch, written);
        break;
    }
    history->count++;
    if (written->kind == WRITE_VOID || written->kind == WRITE_VOID_ONE)
        apply_reading(history, batch, written);
    else
        apply(history, batch, written);
    block_free(block);
    write_batch_free(batch);
}

/* The power fails, and the history goes on with what is left: what is lost was never written. */
static void crash_and_go_on(struct history *history)
{
    struct written before[WRITES_MAX];
    uint64_t seed = sim_random_next(&history->random);
    memcpy(before, history->writes, sizeof before);
    sim_disk_watch(sim_world_disk(history->fixture.sim), NULL, NULL);
    rollup_fixture_crash(&history->fixture, seed);
    memcpy(history->writes, before, sizeof before);
    history->count = count_found(history, &history->fixture, seed);
    for (uint32_t i = 0; i < history->count; i++)
        history->writes[i].is_acknowledged = true;
    history->crashes++;
    watch(history);
}

static void do_something_else(struct history *history)
{
    struct error err = {0};
    uint32_t at = draw(history, 100);
    int rc = 0;
    if (at < 8) {
        rc = store_flush(history->fixture.store, NULL, NULL, &err);
    } else if (at < 13) {
        rc = store_compact(history->fixture.store, NULL, NULL, &err);
    } else if (at < 18) {
        set_full(history, !history->is_full);
    } else if (at < 26) {
        set_full(history, false);
        if (at < 20)
            rollup_fixture_restart(&history->fixture);
        else if (at < 23)
            crash_and_go_on(history);
        else
            rc = rollup_fixture_settle(&history->fixture, false);
    }
    cr_assert_eq(rc, 0, "%s, seed %" PRIu64, err.text, history->seed);
}

static uint64_t run_history(uint64_t seed)
{
    struct history history = {.seed = seed, .random = {.state = seed}};
    /* Said before it runs, as a failure may come from where the seed is not known. */
    printf("history_crash: SIM_SEED=%" PRIu64 "\n", seed);
    fflush(stdout);
    history.fixture = (struct rollup_fixture){.seed = seed, .is_automatic = true};
    history.fixture.memtable_rows_max = 12 + draw(&history, 30);
    rollup_fixture_start(&history.fixture);
    watch(&history);
    while (history.count < WRITES_MAX) {
        write_something(&history);
        steps(&history, draw(&history, 8));
        do_something_else(&history);
    }
    set_full(&history, false);
    cr_assert_eq(rollup_fixture_settle(&history.fixture, false), 0);
    sim_disk_watch(sim_world_disk(history.fixture.sim), NULL, NULL);
    cr_assert_eq(count_found(&history, &history.fixture, 0), WRITES_MAX);
    check_figures(&history, &history.fixture, WRITES_MAX, 0);
    rollup_fixture_stop(&history.fixture);
    return history.crashes;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

Test(history_crash, what_is_there_is_a_beginning_of_what_was_written_with_all_acknowledged)
{
    uint64_t first = number_from("SIM_SEED", 1);
    uint64_t seconds = number_from("SIM_SECONDS", 0);
    uint64_t enough = number_from("SIM_HISTORIES", HISTORIES_DEFAULT);
    uint64_t crashes = 0;
    uint64_t histories = 0;
    double start = seconds_now();
    while (seconds > 0 ? seconds_now() - start < (double)seconds : histories < enough)
        crashes += run_history(first + histories++);
    double taken = seconds_now() - start;
    printf("history_crash: %" PRIu64 " histories from seed %" PRIu64 ", %" PRIu64
           " crashes, %.0f a second\n",
           histories, first, crashes, (double)crashes / taken);
    cr_assert_gt(crashes, 100);
}

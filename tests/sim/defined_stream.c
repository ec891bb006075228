/* defined_stream: see the header.
 *
 * What is acknowledged is a beginning of the list, for each write is waited for; a crash in the
 * middle of one finds it, or does not. */
#include "tests/sim/defined_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "rollup/days/rate_value.h"
#include "tests/lib/row_text.h"
#include "tests/sim/figure_text.h"

enum {
    AGAIN_EVERY = 4, /* of so many crashes one is opened twice */
    PAGE_MAX = 7,    /* rows of a page that is read */
    MARKING_S = 2,   /* after which rows of before, or of a TRUNCATE, are marked */
    HIT_AMOUNT = 6   /* columns of net.hits: who, day, at, ad, id, amount */
};

static const char *const people[STREAM_WHO] = {"r1", "r2"};
static const char *const days[STREAM_DAYS] = {"2013-11-28", "2013-11-29", "2013-11-30"};

#define NET_NAME "net"

static const struct stream_rates_kind rates_kinds[STREAM_RATES_KINDS] = {
    {"decimal", false}, {"float", false},  {"int", true},   {"double", false},
    {"varint", true},   {"tinyint", true}, {"float", true}, {"bigint", true}};

static bool is_percent(const struct stream_life *life)
{
    return rates_kinds[life->rates].is_percent;
}

static struct stream_definition definition_of(const struct stream_life *life)
{
    return (struct stream_definition){.name = NET_NAME,
                                      .texts = {"net.hits", "who", "day", "at", "ad", "amount",
                                                "net.shares", "who", "since", "share",
                                                "net.per_ad,net.per_who", "", "", "",
                                                is_percent(life) ? "percent" : ""}};
}

/* ---- the model ---- */

struct model {
    bool is_defined;
    bool is_there[STREAM_WRITES][STREAM_HITS];
    int64_t per_ad[STREAM_WRITES];
    int64_t per_who[STREAM_WHO];
    int64_t percent[STREAM_WHO][STREAM_DAYS]; /* set for that day; -1: not */
};

/* Counters are kept while there is a stream. */
static void model_set(struct model *model, const struct stream_life *life, uint32_t write,
                      uint32_t hit, bool is_there)
{
    int64_t change = (int64_t)is_there - (int64_t)model->is_there[write][hit];
    model->is_there[write][hit] = is_there;
    if (!model->is_defined)
        return;
    model->per_ad[write] += change;
    model->per_who[life->writes[write].who] += change;
}

static void model_void_day(struct model *model, const struct stream_life *life,
                           const struct stream_write *what, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++)
        for (uint32_t h = 0; h < STREAM_HITS; h++)
            if (life->writes[i].who == what->who && life->writes[i].day == what->day)
                model_set(model, life, i, h, false);
}

static void model_take(struct model *model, const struct stream_life *life, uint32_t index)
{
    const struct stream_write *what = &life->writes[index];
    switch (what->kind) {
    case STREAM_HIT:
        for (uint32_t h = 0; h < what->hits; h++)
            model_set(model, life, index, h, true);
        return;
    case STREAM_VOID_DAY:
        model_void_day(model, life, what, index);
        return;
    case STREAM_VOID_ONE:
        model_set(model, life, what->target, what->target_hit, false);
        return;
    case STREAM_SHARE:
        model->percent[what->who][what->day] = what->percent;
        return;
    case STREAM_SHARE_DELETE:
        model->percent[what->who][what->day] = -1;
        return;
    case STREAM_DEFINE:
    case STREAM_DROP:
        model->is_defined = what->kind == STREAM_DEFINE;
        return;
    case STREAM_TRUNCATE: /* counters stay */
        memset(model->is_there, 0, sizeof model->is_there);
        return;
    }
}

static struct model model_of(const struct stream_life *life, uint32_t count)
{
    struct model model = {0};
    for (uint32_t w = 0; w < STREAM_WHO; w++)
        for (uint32_t d = 0; d < STREAM_DAYS; d++)
            model.percent[w][d] = -1;
    for (uint32_t i = 0; i < count; i++)
        model_take(&model, life, i);
    return model;
}

static struct figure_expected
model_figure(const struct model *model, const struct stream_life *life, uint32_t who, uint32_t day)
{
    struct figure_expected figure = {.percent = -1};
    for (uint32_t d = 0; d <= day; d++)
        if (model->percent[who][d] >= 0)
            figure.percent = model->percent[who][d];
    for (uint32_t i = 0; i < STREAM_WRITES; i++) {
        for (uint32_t h = 0; h < STREAM_HITS; h++) {
            if (!model->is_there[i][h] || life->writes[i].who != who || life->writes[i].day != day)
                continue;
            figure.clicks++;
            figure.cents += life->writes[i].cents[h];
        }
    }
    return figure;
}

/* ---- what is found ---- */

struct found {
    bool is_defined;
    struct buffer hits, shares, per_ad, per_who;
};

static const struct table *table_of(const struct rollup_fixture *fixture, const char *name)
{
    const struct table *table = schema_table_named(store_schema(fixture->store), "net", name);
    cr_assert_not_null(table, "net.%s", name);
    return table;
}

static struct buffer rows_of(struct rollup_fixture *fixture, const char *name)
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    return engine_fixture_rows(&engine, table_of(fixture, name)->id, bytes_of(NULL, 0), PAGE_MAX,
                               false);
}

static struct found find(struct rollup_fixture *fixture)
{
    return (struct found){.is_defined = streams_find(fixture->streams, NET_NAME) != NULL,
                          .hits = rows_of(fixture, "hits"),
                          .shares = rows_of(fixture, "shares"),
                          .per_ad = rows_of(fixture, "per_ad"),
                          .per_who = rows_of(fixture, "per_who")};
}

static void found_release(struct found *found)
{
    buffer_release(&found->hits);
    buffer_release(&found->shares);
    buffer_release(&found->per_ad);
    buffer_release(&found->per_who);
}

static bool hits_match(const struct stream_life *life, const struct model *model,
                       const struct found *found)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < life->count; i++) {
        char ad[16], inner[32];
        uint32_t expected = 0;
        if (life->writes[i].kind != STREAM_HIT)
            continue;
        snprintf(ad, sizeof ad, "b%02u", i);
        snprintf(inner, sizeof inner, "|%s|", ad);
        for (uint32_t h = 0; h < STREAM_HITS; h++)
            expected += model->is_there[i][h];
        if (row_text_times(&found->hits, inner) != expected ||
            row_text_number(&found->per_ad, ad) != model->per_ad[i])
            return false;
        rows += expected;
    }
    return row_text_times(&found->hits, "\n") == rows;
}

static bool model_matches(const struct stream_life *life, const struct model *model,
                          const struct found *found)
{
    for (uint32_t w = 0; w < STREAM_WHO; w++) {
        if (row_text_number(&found->per_who, people[w]) != model->per_who[w])
            return false;
        for (uint32_t d = 0; d < STREAM_DAYS; d++)
            if (!figure_text_has_rate(&found->shares, people[w], days[d], model->percent[w][d],
                                      is_percent(life) ? 0 : 2))
                return false;
    }
    return found->is_defined == model->is_defined && hits_match(life, model, found);
}

/* How many of the writes are there: the least number that fits. */
static uint32_t count_found(const struct stream_life *life, struct rollup_fixture *fixture,
                            const char *where)
{
    struct found found = find(fixture);
    uint32_t count = life->acknowledged;
    for (bool fits = false; !fits; count += !fits) {
        cr_assert_leq(count, life->count,
                      "no beginning of the life gives what is there; %s %s: %s\n%s%s%s%s",
                      life->label, where, found.is_defined ? "defined" : "not defined",
                      (const char *)found.hits.data, (const char *)found.shares.data,
                      (const char *)found.per_ad.data, (const char *)found.per_who.data);
        const struct model model = model_of(life, count);
        fits = model_matches(life, &model, &found);
    }
    found_release(&found);
    return count;
}

/* The fixture's calls are about the stream, if there is one. */
static bool use_stream(struct rollup_fixture *fixture)
{
    fixture->rollup = streams_find(fixture->streams, NET_NAME);
    return fixture->rollup != NULL;
}

/* `is_current`: as a reader is told them; else the table's rows. */
static void check_figures(const struct stream_life *life, struct rollup_fixture *fixture,
                          uint32_t count, bool is_current, const char *where)
{
    const struct model model = model_of(life, count);
    const struct figure_query query = {
        .day_from = DAY_MIN, .day_to = DAY_MAX, .is_current = is_current};
    struct buffer text = rollup_fixture_asked(fixture, &query);
    for (uint32_t w = 0; w < STREAM_WHO; w++) {
        for (uint32_t d = 0; d < STREAM_DAYS; d++) {
            const struct figure_expected figure = model_figure(&model, life, w, d);
            cr_assert(figure_text_matches(&text, people[w], days[d], &figure),
                      "figure of %s %s, %u clicks, %" PRId64 " cents; %s %s:\n%s", people[w],
                      days[d], figure.clicks, figure.cents, life->label, where,
                      (const char *)text.data);
        }
    }
    buffer_release(&text);
}

/* ---- crashes ---- */

/* The rollup opened does nothing by itself, so that what was owed at the crash is looked at. */
static void check_crash(struct stream_life *life, struct sim_world *crashed, const char *crash,
                        uint64_t hash)
{
    struct rollup_fixture fixture = {.memtable_rows_max = life->fixture.memtable_rows_max,
                                     .label = life->label};
    rollup_fixture_open(&fixture, crashed);
    uint32_t count = count_found(life, &fixture, crash);
    if (use_stream(&fixture)) {
        check_figures(life, &fixture, count, true, crash);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
        check_figures(life, &fixture, count, false, crash);
    }
    if (hash % AGAIN_EVERY == 0) {
        rollup_fixture_restart(&fixture);
        cr_assert_leq(count_found(life, &fixture, crash), count);
        if (use_stream(&fixture))
            check_figures(life, &fixture, count, false, crash);
    }
    rollup_fixture_stop(&fixture);
    life->crashes++;
}

static void check_unless_seen(struct stream_life *life, struct sim_world *crashed,
                              const char *crash)
{
    uint64_t hash = sim_disk_hash(sim_world_disk(crashed));
    hash = (hash ^ life->acknowledged) * UINT64_C(0x9e3779b97f4a7c15) + life->count;
    if (sim_seen_add(&life->seen, hash))
        check_crash(life, crashed, crash, hash);
    else
        sim_world_free(crashed);
}

void stream_life_kill_here(struct stream_life *life)
{
    check_unless_seen(life, sim_world_restart(life->fixture.sim, 1), "killed");
}

void stream_life_crash_here(struct stream_life *life)
{
    const struct sim_world *now = life->fixture.sim;
    uint64_t all = sim_disk_crash_count(sim_world_disk(life->fixture.sim));
    uint64_t moment = life->moments++;
    bool takes_all = all <= life->crashes_per_moment;
    struct sim_random random = {.state = moment};
    for (uint64_t i = 0; i < (takes_all ? all : life->crashes_per_moment); i++) {
        char crash[80];
        uint64_t number = takes_all ? i : sim_random_next(&random) % all;
        snprintf(crash, sizeof crash, "moment %" PRIu64 " crash %" PRIu64, moment, number);
        check_unless_seen(life, sim_world_crash_number(now, number), crash);
    }
}

static void before_call(void *context, enum sim_call call)
{
    struct stream_life *life = context;
    if (!sim_call_keeps(call) || life->is_checking)
        return;
    life->is_checking = true;
    stream_life_crash_here(life);
    life->is_checking = false;
}

void stream_life_watch(struct stream_life *life, bool is_watched)
{
    sim_disk_watch(sim_world_disk(life->fixture.sim), is_watched ? before_call : NULL, life);
}

void stream_life_crash_and_go_on(struct stream_life *life, bool is_power_lost)
{
    uint64_t seed = sim_random_next(&life->random);
    /* What the engine still does in the old world is not part of its life. */
    life->is_checking = true;
    rollup_fixture_go_on(&life->fixture, is_power_lost
                                             ? sim_world_crash(life->fixture.sim, seed)
                                             : sim_world_restart(life->fixture.sim, seed));
    life->count = count_found(life, &life->fixture, "gone on");
    life->acknowledged = life->count;
    life->is_checking = false;
    life->crashes++;
}

void stream_life_check_all(struct stream_life *life)
{
    cr_assert_eq(life->acknowledged, life->count);
    rollup_fixture_advance(&life->fixture, MARKING_S);
    if (use_stream(&life->fixture)) {
        cr_assert_eq(stream_life_settle(life), 0);
        check_figures(life, &life->fixture, life->count, false, "at the end");
    }
    (void)count_found(life, &life->fixture, "at the end");
}

/* ---- the schema ---- */

static void set_ended(void *context, int status, const struct error *err)
{
    struct stream_ended *ended = context;
    (void)err;
    *ended = (struct stream_ended){true, status};
}

static int apply(struct stream_life *life, struct write_batch *batch)
{
    return rollup_fixture_apply(&life->fixture, batch);
}

static int add_tables(const struct stream_life *life, struct schema *schema,
                      struct write_batch *batch, struct error *err)
{
    static const struct column_definition hits[] = {
        {1, "who", "text", COLUMN_PARTITION, false},
        {2, "day", "text", COLUMN_PARTITION, false},
        {3, "at", "timestamp", COLUMN_CLUSTERING, true},
        {4, "ad", "text", COLUMN_CLUSTERING, false},
        {5, "id", "bigint", COLUMN_CLUSTERING, false},
        {HIT_AMOUNT, "amount", "decimal", COLUMN_REGULAR, false},
    };
    const struct column_definition shares[] = {
        {1, "who", "text", COLUMN_PARTITION, false},
        {2, "since", "text", COLUMN_CLUSTERING, false},
        {3, "share", rates_kinds[life->rates].type, COLUMN_REGULAR, false},
    };
    static const struct column_definition per_ad[] = {
        {1, "ad", "text", COLUMN_PARTITION, false},
        {2, "hits", "counter", COLUMN_REGULAR, false},
    };
    static const struct column_definition per_who[] = {
        {1, "who", "text", COLUMN_PARTITION, false},
        {2, "hits", "counter", COLUMN_REGULAR, false},
    };
    const struct table_definition tables[] = {
        {0, "net", "hits", "", 0, hits, 6},
        {0, "net", "shares", "", 0, shares, 3},
        {0, "net", "per_ad", "", TABLE_COUNTER, per_ad, 2},
        {0, "net", "per_who", "", TABLE_COUNTER, per_who, 2},
    };
    (void)batch;
    int rc = schema_add_keyspace(schema, "net", err);
    for (size_t i = 0; rc == 0 && i < sizeof tables / sizeof tables[0]; i++)
        rc = schema_add_table(schema, &tables[i], err);
    return rc;
}

static int define(const struct stream_life *life, struct schema *schema, struct write_batch *batch,
                  struct error *err)
{
    const struct stream_definition net = definition_of(life);
    return stream_definition_make(&net, schema, batch, err);
}

static int drop(const struct stream_life *life, struct schema *schema, struct write_batch *batch,
                struct error *err)
{
    const struct stream_definition net = definition_of(life);
    return stream_definition_drop(&net, schema, batch, err);
}

static int truncate_hits(const struct stream_life *life, struct schema *schema,
                         struct write_batch *batch, struct error *err)
{
    (void)life;
    (void)batch;
    return schema_truncate_table(schema, schema_table_named(schema, "net", "hits")->id, err);
}

static int change_schema(struct stream_life *life,
                         int (*edit)(const struct stream_life *life, struct schema *schema,
                                     struct write_batch *batch, struct error *err))
{
    struct schema *schema = schema_copy(store_schema(life->fixture.store));
    struct write_batch *batch = write_batch_new();
    struct error err = {0};
    int rc = edit(life, schema, batch, &err);
    cr_assert_eq(rc, 0, "%s; %s", err.text, life->label);
    batch->schema = schema;
    rc = apply(life, batch);
    write_batch_free(batch);
    schema_unref(schema);
    return rc;
}

/* As `daybook stream create` does, but that rows of before are marked while life goes on. */
static int make_stream(struct stream_life *life)
{
    struct stream_ended opened = {0};
    struct error err = {0};
    int rc = change_schema(life, define);
    if (rc != 0)
        return rc;
    const struct stream_definition net = definition_of(life);
    rc = streams_add(life->fixture.streams, &net, set_ended, &opened, &err);
    cr_assert_eq(rc, 0, "%s; %s", err.text, life->label);
    rollup_fixture_step_until(&life->fixture, &opened.is_done);
    life->is_stuck = opened.status != 0;
    cr_assert(!life->is_stuck || life->may_fail, "%s", life->label);
    if (!life->is_stuck)
        streams_take_rows(life->fixture.streams, NET_NAME, set_ended, &life->marked);
    return 0;
}

/* As `daybook stream drop` does. */
static int drop_stream(struct stream_life *life)
{
    struct stream_ended closed = {0};
    struct error err = {0};
    int rc = streams_remove(life->fixture.streams, NET_NAME, set_ended, &closed, &err);
    cr_assert_eq(rc, 0, "%s; %s", err.text, life->label);
    rollup_fixture_step_until(&life->fixture, &closed.is_done);
    return closed.status != 0 ? closed.status : change_schema(life, drop);
}

/* ---- writes ---- */

static uint32_t draw(struct stream_life *life, uint32_t limit)
{
    return (uint32_t)sim_random_below(&life->random, limit);
}

static uint32_t put_day(const struct stream_write *what, struct column_value *values)
{
    values[0] = (struct column_value){1, false, bytes_text(people[what->who])};
    values[1] = (struct column_value){2, false, bytes_text(days[what->day])};
    return 2;
}

/* The key of a write's hit. */
static uint32_t put_hit(const struct stream_life *life, struct write_batch *batch, uint32_t index,
                        uint32_t hit, struct column_value *values)
{
    char ad[16];
    uint32_t count = put_day(&life->writes[index], values);
    snprintf(ad, sizeof ad, "b%02u", index);
    values[count++] = (struct column_value){3, false, write_batch_bigint(batch, hit / 2)};
    values[count++] = (struct column_value){4, false, arena_copy(batch->arena, bytes_text(ad))};
    values[count++] = (struct column_value){5, false, write_batch_bigint(batch, hit)};
    return count;
}

static void add_hits(struct stream_life *life, struct write_batch *batch, uint32_t index)
{
    struct stream_write *what = &life->writes[index];
    what->hits = 1 + draw(life, STREAM_HITS);
    for (uint32_t h = 0; h < what->hits; h++) {
        struct column_value values[HIT_AMOUNT];
        uint32_t count = put_hit(life, batch, index, h, values);
        what->cents[h] = 1 + draw(life, 9);
        struct bytes amount = write_batch_decimal(batch, decimal_from(what->cents[h], 2));
        values[count++] = (struct column_value){HIT_AMOUNT, false, amount};
        write_batch_insert(batch, table_of(&life->fixture, "hits"), values, count);
    }
}

/* As `daybook rate` makes it. */
static struct bytes share_value(struct stream_life *life, struct write_batch *batch,
                                struct decimal rate)
{
    const struct table *table = table_of(&life->fixture, "shares");
    const struct click_stream_rates rates = {table->id, 1, 2, 3, is_percent(life)};
    struct buffer value = {0};
    struct error err = {0};
    int rc = rate_value_make(&rates, table, rate, &value, &err);
    cr_assert_eq(rc, 0, "%s; %s", err.text, life->label);
    struct bytes copy = arena_copy(batch->arena, buffer_view(&value));
    buffer_release(&value);
    return copy;
}

static void add_rows(struct stream_life *life, struct write_batch *batch, uint32_t index)
{
    struct stream_write *what = &life->writes[index];
    const struct table *hits = table_of(&life->fixture, "hits");
    const struct table *shares = table_of(&life->fixture, "shares");
    struct column_value values[HIT_AMOUNT];
    uint32_t count = put_day(what, values);
    switch (what->kind) {
    case STREAM_HIT:
        add_hits(life, batch, index);
        return;
    case STREAM_VOID_DAY:
        write_batch_delete(batch, hits, values, count);
        return;
    case STREAM_VOID_ONE:
        cr_assert(what->target < index && life->writes[what->target].kind == STREAM_HIT);
        what->target_hit %= life->writes[what->target].hits;
        count = put_hit(life, batch, what->target, what->target_hit, values);
        write_batch_delete(batch, hits, values, count);
        return;
    case STREAM_SHARE:
        values[count++] = (struct column_value){
            3, false, share_value(life, batch, decimal_from(what->percent, 2))};
        write_batch_insert(batch, shares, values, count);
        return;
    case STREAM_SHARE_DELETE:
        write_batch_delete(batch, shares, values, count);
        return;
    case STREAM_DEFINE:
    case STREAM_DROP:
    case STREAM_TRUNCATE:
        cr_assert_fail("a change of the schema has no rows");
    }
}

/* What one is that is no change of the schema. */
static int write_rows(struct stream_life *life, uint32_t index)
{
    struct write_batch *batch = write_batch_new();
    add_rows(life, batch, index);
    int rc = apply(life, batch);
    write_batch_free(batch);
    return rc;
}

static int carry_out(struct stream_life *life, uint32_t index)
{
    enum stream_write_kind kind = life->writes[index].kind;
    return kind == STREAM_DEFINE     ? make_stream(life)
           : kind == STREAM_DROP     ? drop_stream(life)
           : kind == STREAM_TRUNCATE ? change_schema(life, truncate_hits)
                                     : write_rows(life, index);
}

bool stream_life_is_defined(const struct stream_life *life)
{
    return streams_find(life->fixture.streams, NET_NAME) != NULL;
}

void stream_life_write(struct stream_life *life, const struct stream_write *what)
{
    struct store_status status;
    store_status(life->fixture.store, &status);
    if (status.failed || life->is_stuck)
        return;
    cr_assert_lt(life->count, STREAM_WRITES);
    life->writes[life->count] = *what;
    int rc = carry_out(life, life->count++);
    cr_assert(rc == 0 || life->may_fail, "%d, %s", rc, life->label);
    store_status(life->fixture.store, &status);
    if (rc == 0)
        life->acknowledged = life->count;
    else if (!status.failed) /* its reads failed; where the store failed, nobody knows */
        life->count--;
}

/* Values 1 to 3 of a row of net.shares that is right. */
static void put_share(struct stream_life *life, struct write_batch *batch,
                      struct column_value values[3])
{
    values[0] = (struct column_value){1, false, bytes_text(people[0])};
    values[1] = (struct column_value){2, false, bytes_text(days[0])};
    values[2] = (struct column_value){3, false, share_value(life, batch, decimal_from(25, 2))};
}

/* What is wrong with it now; a table that no stream uses takes all but the first. */
static void spoil_share(struct stream_life *life, struct write_batch *batch,
                        struct column_value values[3])
{
    /* Every type but varint has other sizes. */
    bool is_varint = strcmp(rates_kinds[life->rates].type, "varint") == 0;
    uint32_t at = stream_life_is_defined(life) ? draw(life, 3) : 0;
    if (at == 0 && is_varint)
        values[1].value = bytes_of("\xff", 1);
    else if (at == 0)
        values[2].value = bytes_of("\0\0\2", 3);
    else if (at == 1)
        values[2].value = share_value(life, batch, decimal_from(101, is_percent(life) ? 2 : 0));
    else
        values[1].value = bytes_text("2013-11-31");
}

void stream_life_write_wrong(struct stream_life *life)
{
    struct write_batch *batch = write_batch_new();
    struct column_value values[3];
    if (life->may_fail || life->is_stuck)
        return;
    put_share(life, batch, values);
    spoil_share(life, batch, values);
    write_batch_insert(batch, table_of(&life->fixture, "shares"), values, 3);
    cr_assert_eq(apply(life, batch), ERROR_INVALID, "%s", life->label);
    write_batch_free(batch);
}

int stream_life_settle(struct stream_life *life)
{
    return !life->is_stuck && use_stream(&life->fixture)
               ? rollup_fixture_refresh_now(&life->fixture, false)
               : 0;
}

/* ---- life ---- */

void stream_life_start(struct stream_life *life)
{
    life->fixture.label = life->label;
    rollup_fixture_start(&life->fixture);
    cr_assert_eq(change_schema(life, add_tables), 0);
}

void stream_life_stop(struct stream_life *life)
{
    stream_life_watch(life, false);
    rollup_fixture_stop(&life->fixture);
    sim_seen_release(&life->seen);
}

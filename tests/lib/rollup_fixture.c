/* rollup_fixture: see the header. */
#include "storage/engine/engine.h"
#include "tests/lib/rollup_fixture.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "query/cql/common/cql_tables.h"
#include "storage/engine/store_rows.h"
#include "rollup/days/seal_pass.h"

enum { FIXTURE_TABLES = 32 };

static void require(int rc, const struct error *err, const char *what)
{
    cr_assert_eq(rc, 0, "%s: %s", what, err->text);
}

void rollup_fixture_step_until(struct rollup_fixture *fixture, const bool *done)
{
    while (!*done)
        cr_assert(fixture->world->executor->step(fixture->world->executor) || *done,
                  "nothing left to wait for");
}

struct waiting {
    bool done;
    int status;
    struct error err;
};

static void set_done(void *context, int status, const struct error *err)
{
    struct waiting *waiting = context;
    waiting->done = true;
    waiting->status = status;
    if (err != NULL)
        waiting->err = *err;
}

static void wait_for(struct rollup_fixture *fixture, struct waiting *waiting, const char *what)
{
    rollup_fixture_step_until(fixture, &waiting->done);
    require(waiting->status, &waiting->err, what);
}

/* ---- life ---- */

static int try_open_store(struct rollup_fixture *fixture, struct error *err)
{
    const struct table_definition *tables[FIXTURE_TABLES];
    uint32_t count, more;
    const struct table_definition *const *own = tables_builtin(&count);
    const struct table_definition *const *of_cql = cql_tables(&more);
    if (!fixture->has_cql)
        more = 0;
    check(count + more <= FIXTURE_TABLES);
    memcpy(tables, own, count * sizeof(tables[0]));
    memcpy(tables + count, of_cql, more * sizeof(tables[0]));
    count += more;
    struct engine_options options = {.read_only = fixture->is_read_only,
                                     .salvage = fixture->is_salvaging,
                                     .memtable_rows_max = fixture->memtable_rows_max,
                                     .page_rows = fixture->page_rows,
                                     .tier_bytes = fixture->tier_bytes,
                                     .log_file_size = SIM_LOG_FILE,
                                     .log_first_file_size = SIM_LOG_FILE};
    return engine_open(fixture->world, &options, tables, count, &fixture->store, err);
}

static void add_keyed_tables(struct schema *schema, const char *click_id)
{
    struct error err = {0};
    uint32_t count;
    const struct table_definition *const *tables = tables_builtin(&count);
    for (uint32_t i = 0; i < count; i++)
        require(tables_add_keyed(schema, tables[i], click_id, &err), &err, "keyed table");
}

static void open_store(struct rollup_fixture *fixture, bool creates)
{
    struct error err = {0};
    if (creates) {
        struct schema *schema = schema_new();
        require(schema_add_keyspace(schema, "daybook", &err), &err, "keyspace");
        require(schema_add_keyspace(schema, "daybook_system", &err), &err, "keyspace");
        if (fixture->click_id != NULL)
            add_keyed_tables(schema, fixture->click_id);
        require(engine_create(fixture->world, schema, bytes_text(""), &err), &err, "create");
        schema_unref(schema);
    }
    int rc = try_open_store(fixture, &err);
    cr_assert_eq(rc, 0, "open store: %s; %s", err.text,
                 fixture->label != NULL ? fixture->label : "");
}

static int try_open_rollup(struct rollup_fixture *fixture, struct error *err)
{
    struct waiting opened = {0};
    fixture->metrics = metrics_new();
    const struct streams_options options = {.rollup = {.store = fixture->store,
                                                       .world = fixture->world,
                                                       .metrics = fixture->metrics,
                                                       .zone = fixture->zone,
                                                       .open_days_bytes = fixture->open_days_bytes,
                                                       .keep_days = fixture->keep_days,
                                                       .is_automatic = fixture->is_automatic}};
    int rc = streams_open(&options, set_done, &opened, &fixture->streams, err);
    if (rc != 0)
        return rc;
    rollup_fixture_step_until(fixture, &opened.done);
    fixture->rollup = streams_find(fixture->streams, NULL);
    *err = opened.err;
    return opened.status;
}

static void open_rollup(struct rollup_fixture *fixture)
{
    struct error err = {0};
    require(try_open_rollup(fixture, &err), &err, "open rollup");
}

void rollup_fixture_start(struct rollup_fixture *fixture)
{
    int64_t time_ms;
    const char *start = fixture->start_time != NULL ? fixture->start_time : "2013-12-10T12:00:00Z";
    cr_assert(calendar_time_parse(bytes_text(start), &time_ms));
    fixture->sim = sim_world_new(fixture->seed);
    fixture->world = sim_world_interface(fixture->sim);
    sim_world_set_wall_us(fixture->sim, time_ms * 1000);
    open_store(fixture, true);
    open_rollup(fixture);
}

void rollup_fixture_open(struct rollup_fixture *fixture, struct sim_world *sim)
{
    fixture->sim = sim;
    fixture->world = sim_world_interface(sim);
    open_store(fixture, false);
    open_rollup(fixture);
}

/* Whatever the status is, which is the first that is not 0. */
static int try_close_all(struct rollup_fixture *fixture)
{
    struct waiting streams = {0}, store = {0};
    if (fixture->streams != NULL) {
        streams_close(fixture->streams, set_done, &streams);
        rollup_fixture_step_until(fixture, &streams.done);
    }
    store_close(fixture->store, set_done, &store);
    rollup_fixture_step_until(fixture, &store.done);
    metrics_free(fixture->metrics);
    fixture->streams = NULL;
    fixture->rollup = NULL;
    return streams.status != 0 ? streams.status : store.status;
}

static void close_all(struct rollup_fixture *fixture)
{
    cr_assert_eq(try_close_all(fixture), 0);
}

int rollup_fixture_try_open(struct rollup_fixture *fixture, struct sim_world *sim,
                            struct error *err)
{
    struct error own = {0};
    fixture->sim = sim;
    fixture->world = sim_world_interface(sim);
    int rc = try_open_store(fixture, &own);
    if (rc == 0) {
        rc = try_open_rollup(fixture, &own);
        if (rc != 0)
            (void)try_close_all(fixture);
    }
    cr_assert(rc == 0 || own.text[0] != '\0');
    if (err != NULL)
        *err = own;
    return rc;
}

int rollup_fixture_try_close(struct rollup_fixture *fixture)
{
    return try_close_all(fixture);
}

void rollup_fixture_stop(struct rollup_fixture *fixture)
{
    close_all(fixture);
    sim_world_free(fixture->sim);
}

void rollup_fixture_restart(struct rollup_fixture *fixture)
{
    close_all(fixture);
    open_store(fixture, false);
    open_rollup(fixture);
}

void rollup_fixture_crash(struct rollup_fixture *fixture, uint64_t seed)
{
    rollup_fixture_go_on(fixture, sim_world_crash(fixture->sim, seed));
}

/* The old world goes on to its end, unseen by the new one. */
void rollup_fixture_go_on(struct rollup_fixture *fixture, struct sim_world *after)
{
    close_all(fixture);
    sim_world_free(fixture->sim);
    rollup_fixture_open(fixture, after);
}

void rollup_fixture_flush(struct rollup_fixture *fixture)
{
    struct waiting flushed = {0};
    require(engine_flush(fixture->store, set_done, &flushed, &flushed.err), &flushed.err, "flush");
    wait_for(fixture, &flushed, "flush");
}

void rollup_fixture_advance(struct rollup_fixture *fixture, int64_t seconds)
{
    sim_world_run_us(fixture->sim, seconds * 1000000);
}

/* ---- writes ---- */

int rollup_fixture_apply(struct rollup_fixture *fixture, struct write_batch *batch)
{
    struct waiting applied = {0};
    streams_apply(fixture->streams, batch, NULL, 0, set_done, &applied);
    rollup_fixture_step_until(fixture, &applied.done);
    return applied.status;
}

void rollup_fixture_clicks(struct rollup_fixture *fixture, const struct click *clicks,
                           uint32_t count)
{
    struct write_batch *batch = write_batch_new();
    struct block *block = engine_fixture_block(fixture->store, clicks, count);
    write_batch_add_block(batch, block);
    cr_assert_eq(rollup_fixture_apply(fixture, batch), 0);
    block_free(block);
    write_batch_free(batch);
}

void rollup_fixture_click(struct rollup_fixture *fixture, const char *reseller, const char *day,
                          const char *amount)
{
    int32_t number;
    cr_assert(calendar_day_parse(bytes_text(day), &number));
    struct click click = {reseller, day, number * DAY_MS + 3600000, "ad", amount};
    rollup_fixture_clicks(fixture, &click, 1);
}

static void add_keyed_click(struct rollup_fixture *fixture, struct write_batch *batch,
                            const struct click *click, int64_t click_id)
{
    struct decimal amount;
    cr_assert_eq(decimal_parse(bytes_text(click->amount), &amount), 0);
    const struct column_value values[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text(click->reseller)},
        {AD_CLICK_DAY, false, bytes_text(click->day)},
        {AD_CLICK_TIME, false, write_batch_bigint(batch, click->time_ms)},
        {AD_CLICK_AD_ID, false, bytes_text(click->ad)},
        {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, click_id)},
        {AD_CLICK_AMOUNT, false, write_batch_decimal(batch, amount)}};
    write_batch_insert(batch, schema_table(store_schema(fixture->store), TABLE_AD_CLICK), values,
                       sizeof(values) / sizeof(values[0]));
}

/* A look for one row by its whole key, and the version of its partition. */
struct look {
    struct waiting waiting; /* first: set_done takes it for the whole */
    struct store_version version;
    bool is_there;
};

static int take_look(void *context, const struct read_page *page, struct error *err)
{
    struct look *look = context;
    (void)err;
    look->version = page->version;
    look->is_there = page->row_count > 0;
    return 1;
}

static void look_for(struct rollup_fixture *fixture, const struct mutation *mutation,
                     struct look *look)
{
    struct read_request request = store_rows_request(TABLE_AD_CLICK, &mutation->key, READ_APPLIED);
    const struct clustering clustering = mutation->items[0].row.clustering;
    request.slice = (struct slice){.start = {.prefix = clustering, .side = BOUND_BEFORE},
                                   .end = {.prefix = clustering, .side = BOUND_AFTER}};
    store_rows_read_pages(fixture->store, &request, take_look, set_done, look);
    wait_for(fixture, &look->waiting, "a look for a click");
}

bool rollup_fixture_keyed_click(struct rollup_fixture *fixture, const struct click *click,
                                int64_t click_id)
{
    struct write_batch *batch = write_batch_new();
    struct waiting applied;
    struct look look;
    do {
        look = (struct look){0};
        applied = (struct waiting){0};
        write_batch_clear(batch);
        add_keyed_click(fixture, batch, click, click_id);
        look_for(fixture, &batch->mutations[0], &look);
        if (look.is_there)
            break;
        struct store_expectation unchanged = {
            .table_id = TABLE_AD_CLICK, .key = batch->mutations[0].key, .version = look.version};
        streams_apply(fixture->streams, batch, &unchanged, 1, set_done, &applied);
        rollup_fixture_step_until(fixture, &applied.done);
    } while (applied.status == ERROR_CONFLICT);
    cr_assert_eq(applied.status, 0, "%s", applied.err.text);
    write_batch_free(batch);
    return !look.is_there;
}

void rollup_fixture_rate(struct rollup_fixture *fixture, const char *reseller, const char *day,
                         const char *rate, bool named)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_RESELLER);
    struct change_row change = {.door = "command", .actor = "tester", .command = "rate set"};
    struct decimal decimal;
    struct column_value values[] = {
        {RESELLER_ID, false, bytes_text(reseller)},
        {RESELLER_EFFECTIVE_SINCE, false, bytes_text(day)},
        {RESELLER_REWARD_PERCENT, false, bytes_of(NULL, 0)},
    };
    if (named)
        rollup_add_change(fixture->rollup, batch, &change);
    if (rate == NULL) {
        write_batch_delete(batch, table, values, 2);
    } else {
        cr_assert_eq(decimal_parse(bytes_text(rate), &decimal), 0);
        values[2].value = write_batch_decimal(batch, decimal);
        write_batch_insert(batch, table, values, 3);
    }
    cr_assert_eq(rollup_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

void rollup_fixture_void(struct rollup_fixture *fixture, const char *reseller, const char *day)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_AD_CLICK);
    const struct column_value values[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text(reseller)},
        {AD_CLICK_DAY, false, bytes_text(day)},
    };
    write_batch_delete(batch, table, values, 2);
    cr_assert_eq(rollup_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

int rollup_fixture_refresh_now(struct rollup_fixture *fixture, bool publishes)
{
    struct waiting settled = {0};
    rollup_refresh_now(fixture->rollup, publishes, set_done, &settled);
    rollup_fixture_step_until(fixture, &settled.done);
    return settled.status;
}

static void sealed(void *context, int status, const struct error *err,
                   const struct seal_totals *totals)
{
    (void)context;
    (void)totals;
    cr_assert(status == 0 || status == ERROR_CLOSED, "seal: %s", err != NULL ? err->text : "");
}

void rollup_fixture_seal(struct rollup_fixture *fixture)
{
    const struct change_row change = {.door = "test", .actor = "tester", .command = "seal"};
    struct error err = {0};
    int rc = seal_pass_begin(fixture->rollup, &change, false, sealed, NULL, &err);
    cr_assert(rc == 0 || rc == ERROR_FULL, "seal: %s", err.text);
}

static void note_granted(void *context)
{
    *(bool *)context = true;
}

void rollup_fixture_pin_seals(struct rollup_fixture *fixture, struct seal_pin *pin)
{
    bool is_granted = false;
    *pin = (struct seal_pin){.granted = note_granted, .context = &is_granted};
    rollup_pin_seals(fixture->rollup, pin);
    rollup_fixture_step_until(fixture, &is_granted);
}

/* ---- answers ---- */

struct answer {
    struct waiting waiting; /* first: set_done takes it for the whole */
    struct buffer text;
    uint32_t rows;
};

static bool print_figure(void *context, const struct day_figure *figure)
{
    static const char *const states[] = {"open", "published", "sealed"};
    struct answer *answer = context;
    struct buffer *text = &answer->text;
    char day[DAY_TEXT_SIZE + 1];
    calendar_day_format(figure->day, day);
    buffer_append_bytes(text, figure->reseller);
    buffer_printf(text, " %s %" PRIu64 " ", day, figure->clicks);
    decimal_append(text, figure->gross);
    buffer_append_text(text, figure->is_priced ? " " : " - -");
    if (figure->is_priced) {
        decimal_append(text, figure->rate);
        buffer_append_text(text, " ");
        decimal_append(text, figure->amount);
    }
    buffer_printf(text, " %s\n", states[figure->state]);
    return true;
}

struct buffer rollup_fixture_asked(struct rollup_fixture *fixture, const struct figure_query *query)
{
    struct answer answer = {.rows = 0};
    rollup_figures(fixture->rollup, query, print_figure, set_done, &answer);
    wait_for(fixture, &answer.waiting, "figures");
    buffer_put_u8(&answer.text, 0);
    return answer.text;
}

struct buffer rollup_fixture_figures(struct rollup_fixture *fixture)
{
    const struct figure_query query = {.day_from = DAY_MIN, .day_to = DAY_MAX};
    return rollup_fixture_asked(fixture, &query);
}

/* A set's elements apart by commas; changes differ from run to run and are only counted. */
static void print_set(struct buffer *text, const struct row *row, uint32_t column_id)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        if (row->cells[i].column_id != column_id)
            continue;
        if (column_id == RESTATEMENT_CAUSES && count > 0)
            buffer_append_text(text, ",");
        if (column_id == RESTATEMENT_CAUSES)
            buffer_append_bytes(text, row->cells[i].path);
        else
            buffer_append_text(text, "+");
        count++;
    }
    buffer_append_text(text, count == 0 ? "- " : " ");
}

static int print_entry(void *context, const struct table *table, const struct page_row *row,
                       struct error *err)
{
    struct answer *answer = context;
    struct bytes value;
    (void)err;
    cr_assert(store_row_value(table, row, RESTATEMENT_DAY, &value));
    buffer_append_bytes(&answer->text, value);
    buffer_append_text(&answer->text, " ");
    print_set(&answer->text, &row->row, RESTATEMENT_CAUSES);
    print_set(&answer->text, &row->row, RESTATEMENT_CHANGES);
    for (uint32_t id = RESTATEMENT_OLD_CLICKS; id <= RESTATEMENT_NEW_AMOUNT; id++) {
        if (store_row_value(table, row, id, &value))
            type_format(schema_column(table, id)->type, value, &answer->text);
        else
            buffer_append_text(&answer->text, "-");
        buffer_append_text(&answer->text, id == RESTATEMENT_NEW_AMOUNT ? "\n" : " ");
    }
    answer->rows++;
    return 0;
}

static int count_row(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct answer *answer = context;
    (void)table;
    (void)row;
    (void)err;
    answer->rows++;
    return 0;
}

static void read_all(struct rollup_fixture *fixture, const struct read_request *request,
                     store_rows_each each, struct answer *answer)
{
    store_rows_read(fixture->store, request, each, set_done, answer);
    wait_for(fixture, &answer->waiting, "read");
}

struct buffer rollup_fixture_ledger(struct rollup_fixture *fixture, const char *reseller)
{
    struct answer answer = {.rows = 0};
    struct bytes key = bytes_text(reseller);
    const struct read_request request = store_rows_request(TABLE_RESTATEMENT, &key, READ_DURABLE);
    read_all(fixture, &request, print_entry, &answer);
    buffer_put_u8(&answer.text, 0);
    return answer.text;
}

uint32_t rollup_fixture_marks(struct rollup_fixture *fixture)
{
    struct answer answer = {.rows = 0};
    const struct read_request request = store_rows_request(TABLE_DIRTY_DAY, NULL, READ_DURABLE);
    read_all(fixture, &request, count_row, &answer);
    return answer.rows;
}

void rollup_fixture_expect_figures(struct rollup_fixture *fixture, const char *expected)
{
    struct buffer text = rollup_fixture_figures(fixture);
    cr_expect_str_eq((const char *)text.data, expected);
    buffer_release(&text);
}

void rollup_fixture_expect_ledger(struct rollup_fixture *fixture, const char *reseller,
                                  const char *expected)
{
    struct buffer text = rollup_fixture_ledger(fixture, reseller);
    cr_expect_str_eq((const char *)text.data, expected);
    buffer_release(&text);
}

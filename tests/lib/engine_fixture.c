/* engine_fixture: see the header. */
#include "storage/engine/engine.h"
#include "tests/lib/engine_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/ingest_tables.h"

enum { FIXTURE_TABLES = 32 };

static void fail_with(const char *what, const struct error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    abort();
}

static void step_until(struct engine_fixture *fixture, const bool *done)
{
    while (!*done) {
        if (!fixture->world->executor->step(fixture->world->executor) && !*done) {
            fprintf(stderr, "nothing left to wait for\n");
            abort();
        }
    }
}

/* What rollup's hook does to clicks, as far as counters go. */
static void count_clicks(void *context, struct write_batch *batch)
{
    (void)context;
    for (uint32_t i = 0; i < batch->block_count; i++) {
        struct counting_rule ads = {.block = i,
                                    .column_id = AD_CLICK_AD_ID,
                                    .counter_table_id = TABLE_CLICKS_PER_AD,
                                    .counter_column_id = COUNTER_CLICKS};
        struct counting_rule resellers = {.block = i,
                                          .component = 0,
                                          .counter_table_id = TABLE_CLICKS_PER_RESELLER,
                                          .counter_column_id = COUNTER_CLICKS};
        write_batch_add_rule(batch, &ads);
        write_batch_add_rule(batch, &resellers);
    }
}

/* The built-in tables; as many as are filled in. */
static uint32_t fixture_tables(const struct engine_fixture *fixture,
                               const struct table_definition *tables[FIXTURE_TABLES])
{
    uint32_t count, more = 0;
    const struct table_definition *const *own = tables_builtin(&count);
    const struct table_definition *const *other = ingest_tables(&more);
    if (!fixture->has_ingest)
        more = 0;
    check(count + more <= FIXTURE_TABLES);
    memcpy(tables, own, count * sizeof(tables[0]));
    memcpy(tables + count, other, more * sizeof(tables[0]));
    return count + more;
}

int engine_fixture_open_in(struct engine_fixture *fixture, struct world *world, struct error *err)
{
    const struct table_definition *tables[FIXTURE_TABLES];
    uint32_t count = fixture_tables(fixture, tables);
    fixture->world = world;
    int rc = engine_open(world, &fixture->options, tables, count, &fixture->store, err);
    if (rc == ERROR_NOT_FOUND) {
        struct schema *schema = schema_new();
        rc = schema_add_keyspace(schema, "daybook", err);
        rc = rc == 0 ? schema_add_keyspace(schema, "daybook_system", err) : rc;
        for (uint32_t i = 0; rc == 0 && i < count; i++)
            rc = schema_add_table(schema, tables[i], err);
        if (rc == 0)
            rc = engine_open_new(world, &fixture->options, schema, bytes_text("zone=UTC\n"),
                                 &fixture->store, err);
        schema_unref(schema);
    }
    if (rc == 0 && !fixture->options.read_only)
        store_set_commit_hook(fixture->store, count_clicks, NULL);
    return rc;
}

static void open_engine(struct engine_fixture *fixture)
{
    struct error err = {0};
    struct world *world;
    if (world_uv_open(fixture->path, true, NULL, &world, &err) != 0)
        fail_with("open world", &err);
    if (engine_fixture_open_in(fixture, world, &err) != 0)
        fail_with("open engine", &err);
}

static void set_done(void *context, int status, const struct error *err)
{
    if (status != 0)
        fail_with("status", err);
    *(bool *)context = true;
}

static void set_ended(void *context, int status, const struct error *err)
{
    (void)status;
    (void)err;
    *(bool *)context = true;
}

void engine_fixture_close_failed(struct engine_fixture *fixture)
{
    bool done = false;
    store_close(fixture->store, set_ended, &done);
    step_until(fixture, &done);
}

void engine_fixture_close(struct engine_fixture *fixture)
{
    bool done = false;
    store_close(fixture->store, set_done, &done);
    step_until(fixture, &done);
}

static void close_engine(struct engine_fixture *fixture)
{
    engine_fixture_close(fixture);
    world_uv_close(fixture->world);
}

void engine_fixture_start(struct engine_fixture *fixture)
{
    strncpy(fixture->path, "/tmp/daybook-test-XXXXXX", sizeof(fixture->path));
    if (mkdtemp(fixture->path) == NULL)
        abort();
    open_engine(fixture);
}

void engine_fixture_restart(struct engine_fixture *fixture)
{
    close_engine(fixture);
    open_engine(fixture);
}

void engine_fixture_stop(struct engine_fixture *fixture)
{
    close_engine(fixture);
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", fixture->path);
    if (system(command) != 0)
        abort();
}

static uint32_t dictionary_code(struct block_dictionary *dictionary, struct bytes text)
{
    for (uint32_t i = 0; i < dictionary->count; i++)
        if (bytes_equal(block_dictionary_get(dictionary, i), text))
            return i;
    return block_dictionary_add(dictionary, text);
}

void engine_fixture_key(struct buffer *key, const char *reseller, const char *day)
{
    type_key_put_component(key, 2, bytes_text(reseller));
    type_key_put_component(key, 2, bytes_text(day));
}

static void block_click(struct block *block, uint32_t row, const struct click *click,
                        struct buffer *key)
{
    struct decimal amount;
    int128 unscaled;
    buffer_clear(key);
    engine_fixture_key(key, click->reseller, click->day);
    if (decimal_parse(bytes_text(click->amount), &amount) != 0 ||
        !decimal_to_int128(amount, &unscaled)) {
        abort();
    }
    block->partition_codes[row] = dictionary_code(&block->partitions, buffer_view(key));
    block_column_at(block, AD_CLICK_TIME)->integers[row] = click->time_ms;
    struct block_column *ad = block_column_at(block, AD_CLICK_AD_ID);
    ad->codes[row] = dictionary_code(&ad->dictionary, bytes_text(click->ad));
    struct block_column *money = block_column_at(block, AD_CLICK_AMOUNT);
    money->integers[row] = (int64_t)unscaled;
    money->scales[row] = (uint8_t)amount.scale;
    block_set_absent(block, block_column_at(block, AD_CLICK_DAY_DERIVED), row);
}

struct block *engine_fixture_block(struct store *store, const struct click *clicks, uint32_t count)
{
    struct block *block = block_new(schema_table(store_schema(store), TABLE_AD_CLICK), count);
    struct buffer key = {0};
    for (uint32_t i = 0; i < count; i++) {
        block->rows++;
        block_click(block, i, &clicks[i], &key);
    }
    buffer_release(&key);
    return block;
}

int engine_fixture_apply(struct engine_fixture *fixture, struct write_batch *batch)
{
    bool done = false;
    struct error err = {0};
    int rc;
    while ((rc = store_apply(fixture->store, batch, set_done, &done, &err)) == ERROR_FULL)
        fixture->world->executor->step(fixture->world->executor);
    if (rc == 0)
        step_until(fixture, &done);
    return rc;
}

void engine_fixture_create_table(struct engine_fixture *fixture,
                                 const struct table_definition *definition)
{
    struct error err = {0};
    struct schema *changed = schema_copy(store_schema(fixture->store));
    if (schema_add_table(changed, definition, &err) != 0)
        fail_with("table", &err);
    struct write_batch *batch = write_batch_new();
    batch->schema = changed;
    if (engine_fixture_apply(fixture, batch) != 0)
        fail_with("table", &(struct error){.text = "it was not applied"});
    write_batch_free(batch);
    schema_unref(changed);
}

int engine_fixture_clicks(struct engine_fixture *fixture, const struct click *clicks,
                          uint32_t count)
{
    struct write_batch *batch = write_batch_new();
    struct block *block = engine_fixture_block(fixture->store, clicks, count);
    write_batch_add_block(batch, block);
    int rc = engine_fixture_apply(fixture, batch);
    block_free(block);
    write_batch_free(batch);
    return rc;
}

void engine_fixture_flush(struct engine_fixture *fixture)
{
    bool done = false;
    struct error err = {0};
    if (engine_flush(fixture->store, set_done, &done, &err) != 0)
        fail_with("flush", &err);
    step_until(fixture, &done);
}

void engine_fixture_compact(struct engine_fixture *fixture)
{
    bool done = false;
    struct error err = {0};
    if (engine_compact(fixture->store, set_done, &done, &err) != 0)
        fail_with("compact", &err);
    step_until(fixture, &done);
}

struct rows_read {
    struct buffer *text;
    struct buffer position;
    struct error err;
    int status;
    bool done;
};

static void print_row(struct buffer *text, const struct table *table, const struct page_row *row)
{
    for (uint32_t c = 0; c < table->column_count; c++) {
        struct bytes value;
        bool has_value = store_row_value(table, row, table->columns[c].id, &value);
        /* Rows of golden directories are older than the date of amount_by_day. */
        if (!has_value && table->columns[c].type->kind == TYPE_DATE)
            continue;
        buffer_append_text(text, c == 0 ? "" : "|");
        if (!has_value)
            buffer_append_text(text, "-");
        else if (table->columns[c].type->kind == TYPE_COUNTER)
            buffer_printf(text, "%" PRId64, type_value_bigint(value));
        else
            type_format(table->columns[c].type, value, text);
    }
    buffer_append_text(text, "\n");
}

static void rows_page(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct rows_read *read = context;
    buffer_clear(&read->position);
    if (status == 0) {
        for (uint32_t i = 0; i < page->row_count; i++)
            print_row(read->text, page->table, &page->rows[i]);
        buffer_append_bytes(&read->position, page->position);
    } else {
        read->err = *err;
    }
    read->status = status;
    read->done = true;
}

int engine_fixture_try_page(struct engine_fixture *fixture, const struct read_request *request,
                            struct buffer *position, struct buffer *text, struct error *err)
{
    struct rows_read read = {.text = text, .position = *position};
    struct read_request page = *request;
    page.position = buffer_view(position);
    /* An answer at once has its status already. */
    int rc = store_read(fixture->store, &page, rows_page, &read, &read.err);
    if (rc == 0)
        step_until(fixture, &read.done);
    else
        read.status = rc;
    if (read.status != 0)
        *err = read.err;
    *position = read.position;
    return read.status;
}

int engine_fixture_try_rows(struct engine_fixture *fixture, const struct read_request *request,
                            struct buffer *text, struct error *err)
{
    struct buffer position = {0};
    int rc;
    do {
        rc = engine_fixture_try_page(fixture, request, &position, text, err);
    } while (rc == 0 && position.size > 0);
    buffer_release(&position);
    return rc;
}

struct buffer engine_fixture_rows(struct engine_fixture *fixture, uint32_t table_id,
                                  struct bytes key, uint32_t row_limit, bool reversed)
{
    struct buffer text = {0};
    struct error err = {0};
    struct read_request request = {.table_id = table_id,
                                   .is_scan = key.size == 0,
                                   .key = key,
                                   .slice = stream_slice_all(),
                                   .row_limit = row_limit};
    request.slice.reversed = reversed;
    if (engine_fixture_try_rows(fixture, &request, &text, &err) != 0)
        fail_with("read", &err);
    buffer_put_u8(&text, 0);
    return text;
}

struct stats_read {
    struct buffer *text;
    struct error err;
    int status;
    bool done;
};

static void stats_figures(void *context, int status, const struct error *err,
                          const struct partition_figure *figures, uint32_t count,
                          struct bytes position)
{
    struct stats_read *read = context;
    (void)position;
    if (status != 0) {
        read->err = *err;
    } else if (count > 0) {
        buffer_printf(read->text, "%" PRIu64 " ", figures[0].stats.rows);
        decimal_append(read->text, stats_sum(&figures[0].stats));
    }
    read->status = status;
    read->done = true;
}

int engine_fixture_try_stats(struct engine_fixture *fixture, const char *reseller, const char *day,
                             struct buffer *text, struct error *err)
{
    struct stats_read read = {.text = text};
    struct buffer key = {0};
    engine_fixture_key(&key, reseller, day);
    int rc = store_stats(fixture->store, TABLE_AD_CLICK, 0, buffer_view(&key), READ_DURABLE,
                         stats_figures, &read, &read.err);
    if (rc == 0)
        step_until(fixture, &read.done);
    else
        read.status = rc;
    if (read.status != 0)
        *err = read.err;
    buffer_release(&key);
    return read.status;
}

struct buffer engine_fixture_stats(struct engine_fixture *fixture, const char *reseller,
                                   const char *day)
{
    struct buffer text = {0};
    struct error err = {0};
    if (engine_fixture_try_stats(fixture, reseller, day, &text, &err) != 0)
        fail_with("stats", &err);
    buffer_put_u8(&text, 0);
    return text;
}

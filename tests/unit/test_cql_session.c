#include <criterion/criterion.h>
#include <pthread.h>
#include <inttypes.h>
#include <string.h>

#include "query/cql/session/cql.h"
#include "query/cql/common/cql_trace.h"
#include "base/uuid.h"
#include "storage/cell/write_batch.h"
#include "storage/engine/engine.h"
#include "tests/lib/rollup_fixture.h"

/* What an answer said, kept: results live only during the callback. */
struct seen {
    bool is_answered;
    enum cql_result_kind kind;
    enum cql_error_code code;
    char message[256];
    uint8_t id[CQL_ID_SIZE];
    uint8_t metadata_id[CQL_ID_SIZE];
    char binds[256];
    char columns[256];
    char keys[64];
    char cells[512];
    uint32_t rows;
    struct buffer paging_state;
    uint32_t warnings;
    bool is_traced;
    uint8_t trace_id[UUID_SIZE];
};

struct instance {
    struct rollup_fixture fixture;
    struct cql *cql;
    struct cql_session session;
    struct seen seen;
    char changes[512];
};

static const uint8_t host_id[16] = {2};

static void schema_changed(void *context, const struct cql_schema_change *change)
{
    struct instance *instance = context;
    size_t used = strlen(instance->changes);
    snprintf(instance->changes + used, sizeof(instance->changes) - used, "%d%d %s.%s;",
             change->change, change->target, change->keyspace, change->name);
}

static void instance_open_with(struct instance *instance, size_t prepared_bytes_max,
                               size_t work_bytes_max)
{
    rollup_fixture_start(&instance->fixture);
    struct cql_options options = {.store = instance->fixture.store,
                                  .world = instance->fixture.world,
                                  .streams = instance->fixture.streams,
                                  .host_id = host_id,
                                  .prepared_bytes_max = prepared_bytes_max,
                                  .work_bytes_max = work_bytes_max};
    instance->cql = cql_new(&options);
    cql_on_schema_change(instance->cql, schema_changed, instance);
    cql_session_init(&instance->session, instance->cql);
}

static void instance_open(struct instance *instance, size_t prepared_bytes_max)
{
    instance_open_with(instance, prepared_bytes_max, 0);
}

static void instance_close(struct instance *instance)
{
    cr_expect_eq(instance->cql->running, 0);
    buffer_release(&instance->seen.paging_state);
    cql_free(instance->cql);
    rollup_fixture_stop(&instance->fixture);
}

static void names(char *text, size_t size, const struct cql_metadata *metadata)
{
    struct buffer list = {0};
    for (uint32_t i = 0; i < metadata->count; i++) {
        buffer_printf(&list, "%s%s ", i == 0 ? "" : ", ", metadata->columns[i].name);
        type_print(metadata->columns[i].type, &list);
    }
    snprintf(text, size, "%.*s", (int)list.size, (const char *)list.data);
    buffer_release(&list);
}

/* Rows of ints and texts: "1 a;2 b;". */
static void keep_cells(struct seen *seen, const struct cql_rows *rows)
{
    struct reader cells = reader_of(rows->cells);
    struct buffer text = {0};
    for (uint32_t i = 0; i < rows->row_count * rows->metadata.count; i++) {
        uint32_t column = i % rows->metadata.count;
        uint32_t size = __builtin_bswap32(reader_u32(&cells));
        buffer_append_text(&text, column > 0 ? " " : "");
        if (size == UINT32_MAX)
            buffer_append_text(&text, "-");
        else
            type_format(rows->metadata.columns[column].type, reader_bytes(&cells, size), &text);
        buffer_append_text(&text, column + 1 == rows->metadata.count ? ";" : "");
    }
    snprintf(seen->cells, sizeof(seen->cells), "%.*s", (int)text.size, (const char *)text.data);
    buffer_release(&text);
}

static void answered(void *context, const struct cql_result *result)
{
    struct seen *seen = context;
    cr_assert(!seen->is_answered, "answered twice");
    seen->is_answered = true;
    seen->kind = result->kind;
    seen->code = result->error.code;
    seen->warnings = result->extras.warning_count;
    seen->rows = result->rows.row_count;
    seen->is_traced = result->extras.trace_id != NULL;
    if (seen->is_traced)
        memcpy(seen->trace_id, result->extras.trace_id, UUID_SIZE);
    snprintf(seen->message, sizeof(seen->message), "%s",
             result->kind == CQL_RESULT_ERROR ? result->error.message : "");
    if (result->kind == CQL_RESULT_ERROR)
        memcpy(seen->id, result->error.id, CQL_ID_SIZE);
    if (result->kind == CQL_RESULT_ROWS) {
        keep_cells(seen, &result->rows);
        names(seen->columns, sizeof(seen->columns), &result->rows.metadata);
        memcpy(seen->metadata_id, result->rows.metadata_id, CQL_ID_SIZE);
    }
    buffer_clear(&seen->paging_state);
    buffer_append_bytes(&seen->paging_state, result->rows.paging_state);
    if (result->kind == CQL_RESULT_PREPARED) {
        const struct cql_prepared *prepared = &result->prepared;
        memcpy(seen->id, prepared->id, CQL_ID_SIZE);
        memcpy(seen->metadata_id, prepared->metadata_id, CQL_ID_SIZE);
        names(seen->binds, sizeof(seen->binds), &prepared->bind);
        names(seen->columns, sizeof(seen->columns), &prepared->result);
        seen->keys[0] = '\0';
        for (uint32_t i = 0; i < prepared->key_count; i++)
            snprintf(seen->keys + strlen(seen->keys), sizeof(seen->keys) - strlen(seen->keys),
                     "%d ", prepared->key_indexes[i]);
    }
}

static void run(struct instance *instance, struct cql_request request)
{
    request.consistency = CQL_ONE;
    request.serial_consistency = CQL_SERIAL;
    instance->seen.is_answered = false;
    cql_run(&instance->session, &request, answered, &instance->seen);
    rollup_fixture_step_until(&instance->fixture, &instance->seen.is_answered);
}

static void ask(struct instance *instance, struct bytes text)
{
    run(instance, (struct cql_request){.kind = CQL_QUERY, .text = text});
}

static void query(struct instance *instance, const char *text)
{
    ask(instance, bytes_text(text));
    cr_assert_neq(instance->seen.kind, CQL_RESULT_ERROR, "%s: %s", text, instance->seen.message);
}

static void prepare(struct instance *instance, const char *text, uint8_t id[CQL_ID_SIZE])
{
    run(instance, (struct cql_request){.kind = CQL_PREPARE, .text = bytes_text(text)});
    cr_assert_eq(instance->seen.kind, CQL_RESULT_PREPARED, "%s: %s", text, instance->seen.message);
    memcpy(id, instance->seen.id, CQL_ID_SIZE);
}

static void execute(struct instance *instance, const uint8_t *id, const struct cql_value *values,
                    uint32_t count)
{
    run(instance, (struct cql_request){.kind = CQL_EXECUTE,
                                       .text = bytes_of(id, CQL_ID_SIZE),
                                       .values = values,
                                       .value_count = count});
}

static struct cql_value int_value(uint8_t bytes[4], int32_t number)
{
    uint32_t swapped = __builtin_bswap32((uint32_t)number);
    memcpy(bytes, &swapped, 4);
    return (struct cql_value){.state = CQL_VALUE_SET, .data = bytes_of(bytes, 4)};
}

static struct cql_value text_value(const char *text)
{
    return (struct cql_value){.state = CQL_VALUE_SET, .data = bytes_text(text)};
}

static void make_table(struct instance *instance)
{
    query(instance, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', "
                    "'replication_factor': 1}");
    query(instance, "USE k");
    query(instance, "CREATE TABLE t (p int, c int, v text, PRIMARY KEY (p, c))");
}

struct described {
    const char *text;
    const char *binds;
    const char *columns;
    const char *keys;
};

static const struct described described[] = {
    {"INSERT INTO t (p, c, v) VALUES (?, ?, ?) USING TTL ? AND TIMESTAMP ?",
     "p int, c int, v text, [ttl] int, [timestamp] bigint", "", "0 "},
    {"INSERT INTO t (v, c, p) VALUES (:a, :b, :key)", "a text, b int, key int", "", "2 "},
    {"SELECT v, c FROM t WHERE p = ? AND c > ? LIMIT ?", "p int, c int, [limit] int",
     "v text, c int", "0 "},
    {"SELECT v FROM t WHERE p IN ? AND c IN (?, ?)", "in(p) frozen<list<int>>, c int, c int",
     "v text", ""},
    {"SELECT v FROM t WHERE token(p) > ?", "partition key token bigint", "v text", ""},
    {"UPDATE t SET v = ? WHERE p = ? AND c = 1 IF v = ?", "v text, p int, v text", "", "1 "},
    {"DELETE FROM t WHERE p = ? AND (c) >= (?)", "p int, c int", "", "0 "},
    {"SELECT JSON v FROM t", "", "[json] text", ""},
    {"INSERT INTO t JSON ?", "[json] text", "", ""},
    {"INSERT INTO t JSON ? USING TTL ? AND TIMESTAMP ?",
     "[json] text, [ttl] int, [timestamp] bigint", "", ""},
};

Test(cql_session, a_prepared_statement_describes_its_binds_and_columns)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    for (size_t i = 0; i < sizeof(described) / sizeof(described[0]); i++) {
        uint8_t id[CQL_ID_SIZE];
        prepare(&instance, described[i].text, id);
        cr_expect_str_eq(instance.seen.binds, described[i].binds, "%s", described[i].text);
        cr_expect_str_eq(instance.seen.columns, described[i].columns, "%s", described[i].text);
        cr_expect_str_eq(instance.seen.keys, described[i].keys, "%s", described[i].text);
    }
    instance_close(&instance);
}

Test(cql_session, values_are_bound_by_place_and_by_name_and_unset_leaves_a_column_alone)
{
    struct instance instance = {0};
    uint8_t id[CQL_ID_SIZE];
    uint8_t one[4];
    uint8_t two[4];
    instance_open(&instance, 0);
    make_table(&instance);
    prepare(&instance, "INSERT INTO t (p, c, v) VALUES (:p, :c, :v)", id);
    struct cql_value values[] = {int_value(one, 1), int_value(two, 2), text_value("a")};
    execute(&instance, id, values, 3);
    cr_assert_eq(instance.seen.kind, CQL_RESULT_VOID, "%s", instance.seen.message);
    values[2].state = CQL_VALUE_UNSET;
    execute(&instance, id, values, 3);
    query(&instance, "SELECT * FROM t");
    cr_expect_str_eq(instance.seen.cells, "1 2 a;");
    struct cql_value named[] = {text_value("b"), int_value(one, 1), int_value(two, 2)};
    named[0].name = bytes_text("v");
    named[1].name = bytes_text("p");
    named[2].name = bytes_text("c");
    run(&instance, (struct cql_request){.kind = CQL_EXECUTE,
                                        .text = bytes_of(id, CQL_ID_SIZE),
                                        .values = named,
                                        .value_count = 3,
                                        .values_are_named = true});
    query(&instance, "SELECT * FROM t");
    cr_expect_str_eq(instance.seen.cells, "1 2 b;");
    values[2].state = CQL_VALUE_NULL;
    execute(&instance, id, values, 3);
    query(&instance, "SELECT * FROM t");
    cr_expect_str_eq(instance.seen.cells, "1 2 -;");
    instance_close(&instance);
}

Test(cql_session, wrong_values_are_refused)
{
    struct instance instance = {0};
    uint8_t id[CQL_ID_SIZE];
    uint8_t one[4];
    instance_open(&instance, 0);
    make_table(&instance);
    prepare(&instance, "SELECT v FROM t WHERE p = ?", id);
    execute(&instance, id, NULL, 0);
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    struct cql_value value = int_value(one, 1);
    value.data.size = 3;
    execute(&instance, id, &value, 1);
    cr_expect_eq(instance.seen.code, CQL_INVALID, "an int of 3 bytes");
    value.state = CQL_VALUE_UNSET;
    execute(&instance, id, &value, 1);
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    cr_expect_str_eq(instance.seen.message, "Invalid unset value for column p");
    uint8_t unknown[CQL_ID_SIZE] = {9};
    execute(&instance, unknown, NULL, 0);
    cr_expect_eq(instance.seen.code, CQL_UNPREPARED);
    cr_expect_arr_eq(instance.seen.id, unknown, CQL_ID_SIZE);
    instance_close(&instance);
}

Test(cql_session, a_prepared_statement_follows_the_schema)
{
    struct instance instance = {0};
    uint8_t all[CQL_ID_SIZE];
    uint8_t some[CQL_ID_SIZE];
    uint8_t again[CQL_ID_SIZE];
    instance_open(&instance, 0);
    make_table(&instance);
    query(&instance, "INSERT INTO t (p, c, v) VALUES (1, 1, 'a')");
    prepare(&instance, "SELECT * FROM t", all);
    prepare(&instance, "SELECT v FROM t", some);
    query(&instance, "ALTER TABLE t ADD w int");
    execute(&instance, some, NULL, 0);
    cr_expect_str_eq(instance.seen.cells, "a;", "its columns are as they were");
    execute(&instance, all, NULL, 0);
    cr_expect_eq(instance.seen.code, CQL_UNPREPARED, "its columns are others now");
    prepare(&instance, "SELECT * FROM t", again);
    cr_expect_arr_eq(again, all, CQL_ID_SIZE, "the id follows from the text alone");
    execute(&instance, again, NULL, 0);
    cr_expect_str_eq(instance.seen.cells, "1 1 a -;");
    query(&instance, "DROP TABLE t");
    execute(&instance, again, NULL, 0);
    cr_expect_eq(instance.seen.code, CQL_UNPREPARED);
    cr_expect_str_eq(instance.changes, "00 k.;01 k.t;11 k.t;21 k.t;");
    instance_close(&instance);
}

Test(cql_session, a_field_added_to_a_type_within_a_type_changes_the_columns)
{
    struct instance instance = {0};
    uint8_t rows[CQL_ID_SIZE];
    uint8_t binds[CQL_ID_SIZE];
    instance_open(&instance, 0);
    make_table(&instance);
    query(&instance, "CREATE TYPE inner_type (a int)");
    query(&instance, "CREATE TYPE outer_type (i frozen<inner_type>)");
    query(&instance, "CREATE TABLE typed (p int PRIMARY KEY, u frozen<outer_type>)");
    prepare(&instance, "SELECT u FROM typed", rows);
    prepare(&instance, "INSERT INTO typed (p, u) VALUES (1, ?)", binds);
    query(&instance, "ALTER TYPE inner_type ADD b text");
    execute(&instance, rows, NULL, 0);
    cr_expect_eq(instance.seen.code, CQL_UNPREPARED, "clients would miss the field in rows");
    struct cql_value null = {.state = CQL_VALUE_NULL};
    execute(&instance, binds, &null, 1);
    cr_expect_eq(instance.seen.code, CQL_UNPREPARED, "and would not send it");
    instance_close(&instance);
}

/* The client leaves after so many steps of the loop, -1: before the request.  Whether the answer
 * was an error. */
static bool insert_and_leave(struct instance *instance, int key, size_t padding, int steps)
{
    struct executor *executor = instance->fixture.world->executor;
    struct cql_request request = {
        .kind = CQL_QUERY, .consistency = CQL_ONE, .serial_consistency = CQL_SERIAL};
    struct buffer text = {0};
    buffer_printf(&text, "INSERT INTO t (p, c) VALUES (%d, 0) IF NOT EXISTS%*s", key, (int)padding,
                  "");
    request.text = buffer_view(&text);
    instance->seen.is_answered = false;
    instance->session.leaves = steps < 0;
    cql_run(&instance->session, &request, answered, &instance->seen);
    for (int i = 0; i < steps && !instance->seen.is_answered; i++)
        cr_assert(executor->step(executor));
    instance->session.leaves = true;
    rollup_fixture_step_until(&instance->fixture, &instance->seen.is_answered);
    instance->session.leaves = false;
    buffer_release(&text);
    return instance->seen.kind == CQL_RESULT_ERROR;
}

/* The paddings have the request's memory end at any place of its work, where its limits are looked
 * at. */
Test(cql_session, a_conditional_write_that_is_refused_was_not_applied)
{
    struct instance instance = {0};
    uint32_t refused = 0;
    uint32_t applied = 0;
    int key = 0;
    instance_open(&instance, 0);
    make_table(&instance);
    for (size_t padding = 0; padding < 17 * 1024; padding += 64) {
        for (int steps = -1; steps < 4; steps++) {
            char text[64];
            bool is_refused = insert_and_leave(&instance, ++key, padding, steps);
            snprintf(text, sizeof(text), "SELECT p FROM t WHERE p = %d", key);
            query(&instance, text);
            cr_assert_eq(instance.seen.rows, is_refused ? 0 : 1, "padding %zu, %d steps", padding,
                         steps);
            *(is_refused ? &refused : &applied) += 1;
        }
    }
    cr_assert(refused > 0 && applied > 0);
    instance_close(&instance);
}

/* A static column of 4 MiB is in each row of the answer: 20 small rows would be 80 MiB. */
Test(cql_session, an_answer_of_refused_conditions_that_is_too_large_is_an_error)
{
    enum { ROWS = 20, STATIC_SIZE = 4 << 20 };
    struct instance instance = {0};
    struct buffer text = {0};
    instance_open_with(&instance, 0, (size_t)1 << 30);
    make_table(&instance);
    query(&instance, "CREATE TABLE u (p int, c int, v int, s blob static, PRIMARY KEY (p, c))");
    buffer_put_zeros(&text, STATIC_SIZE);
    run(&instance, (struct cql_request){.kind = CQL_QUERY,
                                        .text = bytes_text("INSERT INTO u (p, s) VALUES (1, ?)"),
                                        .values = &(struct cql_value){.state = CQL_VALUE_SET,
                                                                      .data = buffer_view(&text)},
                                        .value_count = 1});
    cr_assert_eq(instance.seen.kind, CQL_RESULT_VOID, "%s", instance.seen.message);
    buffer_clear(&text);
    buffer_append_text(&text, "BEGIN BATCH ");
    for (int i = 0; i < ROWS; i++)
        buffer_printf(&text, "INSERT INTO u (p, c, v) VALUES (1, %d, 1); ", i);
    buffer_append_text(&text, "APPLY BATCH");
    ask(&instance, buffer_view(&text));
    cr_assert_eq(instance.seen.kind, CQL_RESULT_VOID, "%s", instance.seen.message);
    buffer_clear(&text);
    buffer_append_text(&text, "BEGIN BATCH ");
    for (int i = 0; i < ROWS; i++)
        buffer_printf(&text, "UPDATE u SET v = 2 WHERE p = 1 AND c = %d IF v = 7 AND s = 0x01; ",
                      i);
    buffer_append_text(&text, "APPLY BATCH");
    ask(&instance, buffer_view(&text));
    cr_assert_eq(instance.seen.kind, CQL_RESULT_ERROR);
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    cr_expect(strstr(instance.seen.message, "a condition does not hold") != NULL, "%s",
              instance.seen.message);
    query(&instance, "SELECT sum(v) FROM u WHERE p = 1");
    cr_expect_str_eq(instance.seen.cells, "20;");
    buffer_release(&text);
    instance_close(&instance);
}

Test(cql_session, the_least_recently_used_statement_leaves_a_full_cache)
{
    struct instance instance = {0};
    uint8_t first[CQL_ID_SIZE];
    uint8_t last[CQL_ID_SIZE];
    instance_open(&instance, 100 * 1024);
    make_table(&instance);
    prepare(&instance, "SELECT v FROM t WHERE p = 0", first);
    for (int i = 1; i < 20; i++) {
        char text[64];
        snprintf(text, sizeof(text), "SELECT v FROM t WHERE p = %d", i);
        prepare(&instance, text, last);
    }
    execute(&instance, first, NULL, 0);
    cr_expect_eq(instance.seen.code, CQL_UNPREPARED);
    execute(&instance, last, NULL, 0);
    cr_expect_eq(instance.seen.kind, CQL_RESULT_ROWS);
    struct engine_status status;
    engine_status(instance.fixture.store, &status);
    uint64_t held = status.held.bytes[MEMORY_HELD_STATEMENTS];
    cr_expect(held > 50 * 1024 && held <= 100 * 1024, "the store was told: %" PRIu64, held);
    instance_close(&instance);
}

Test(cql_session, statements_that_grow_with_the_schema_stay_within_the_caches_limit)
{
    enum { STATEMENTS = 4, COLUMNS = 200 };
    struct instance instance = {0};
    uint8_t ids[STATEMENTS][CQL_ID_SIZE];
    instance_open(&instance, 100 * 1024);
    make_table(&instance);
    for (int i = 0; i < STATEMENTS; i++) {
        char text[64];
        snprintf(text, sizeof(text), "SELECT JSON * FROM t WHERE p = %d", i);
        prepare(&instance, text, ids[i]);
    }
    struct buffer more = {0};
    buffer_append_text(&more, "ALTER TABLE t ADD (");
    for (int i = 0; i < COLUMNS; i++)
        buffer_printf(&more, "%scolumn_%d text", i == 0 ? "" : ", ", i);
    buffer_append_text(&more, ")");
    ask(&instance, buffer_view(&more));
    buffer_release(&more);
    struct engine_status status;
    for (int i = 0; i < STATEMENTS; i++) {
        execute(&instance, ids[i], NULL, 0);
        cr_expect(instance.seen.kind == CQL_RESULT_ROWS || instance.seen.code == CQL_UNPREPARED);
        engine_status(instance.fixture.store, &status);
        uint64_t held = status.held.bytes[MEMORY_HELD_STATEMENTS];
        cr_expect(held <= 100 * 1024, "%" PRIu64 " bytes after statement %d", held, i);
    }
    instance_close(&instance);
}

Test(cql_session, a_batch_of_texts_and_prepared_statements_is_one_write)
{
    struct instance instance = {0};
    uint8_t id[CQL_ID_SIZE];
    uint8_t one[4];
    uint8_t two[4];
    instance_open(&instance, 0);
    make_table(&instance);
    prepare(&instance, "INSERT INTO t (p, c, v) VALUES (?, ?, 'x')", id);
    struct cql_value values[] = {int_value(one, 1), int_value(two, 2)};
    struct cql_batch_item items[] = {
        {.is_prepared = true,
         .text = bytes_of(id, CQL_ID_SIZE),
         .values = values,
         .value_count = 2},
        {.text = bytes_text("INSERT INTO t (p, c, v) VALUES (1, 3, 'y')")},
        {.text = bytes_text("DELETE FROM t WHERE p = 1 AND c = 2")},
    };
    run(&instance,
        (struct cql_request){.kind = CQL_BATCH, .items = items, .item_count = 3, .page_size = 1});
    cr_assert_eq(instance.seen.kind, CQL_RESULT_VOID, "%s", instance.seen.message);
    query(&instance, "SELECT * FROM t");
    cr_expect_str_eq(instance.seen.cells, "1 3 y;", "of one time, a deletion beats a value");
    items[1].text = bytes_text("SELECT * FROM t");
    run(&instance, (struct cql_request){.kind = CQL_BATCH, .items = items, .item_count = 2});
    cr_expect_eq(instance.seen.code, CQL_INVALID);
    instance_close(&instance);
}

Test(cql_session, a_paging_state_of_another_statement_or_damaged_is_refused)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    for (int i = 0; i < 5; i++) {
        char text[64];
        snprintf(text, sizeof(text), "INSERT INTO t (p, c) VALUES (1, %d)", i);
        query(&instance, text);
    }
    struct cql_request request = {
        .kind = CQL_QUERY, .text = bytes_text("SELECT c FROM t"), .page_size = 2};
    run(&instance, request);
    cr_expect_str_eq(instance.seen.cells, "0;1;");
    struct buffer state = {0};
    buffer_append_bytes(&state, buffer_view(&instance.seen.paging_state));
    request.paging_state = buffer_view(&state);
    run(&instance, request);
    cr_expect_str_eq(instance.seen.cells, "2;3;");
    request.text = bytes_text("SELECT c, p FROM t");
    run(&instance, request);
    cr_expect_eq(instance.seen.code, CQL_PROTOCOL_ERROR);
    request.text = bytes_text("SELECT c FROM t");
    state.data[3] ^= 1;
    run(&instance, request);
    cr_expect_eq(instance.seen.code, CQL_PROTOCOL_ERROR);
    buffer_release(&state);
    instance_close(&instance);
}

/* Ten increments of one row, all under way at once: each condition is decided on what the ones
 * before it did. */
Test(cql_session, conditions_that_run_together_hold_one_after_the_other)
{
    enum { TOGETHER = 10 };
    struct instance instance = {0};
    struct seen seen[TOGETHER] = {{0}};
    instance_open(&instance, 0);
    make_table(&instance);
    for (int i = 0; i < TOGETHER; i++) {
        struct cql_request request = {
            .kind = CQL_QUERY,
            .text = bytes_text("INSERT INTO t (p, c, v) VALUES (1, 1, 'x') IF NOT EXISTS"),
            .consistency = CQL_ONE,
            .serial_consistency = CQL_SERIAL};
        cql_run(&instance.session, &request, answered, &seen[i]);
    }
    int applied = 0;
    for (int i = 0; i < TOGETHER; i++) {
        rollup_fixture_step_until(&instance.fixture, &seen[i].is_answered);
        applied += strcmp(seen[i].cells, "true;") == 0;
        buffer_release(&seen[i].paging_state);
    }
    cr_expect_eq(applied, 1);
    instance_close(&instance);
}

static void traced(struct instance *instance, const char *text)
{
    run(instance,
        (struct cql_request){.kind = CQL_QUERY, .text = bytes_text(text), .is_traced = true});
    cr_assert(instance->seen.is_traced);
}

/* A question about the trace of the request before. */
static void ask_trace(struct instance *instance, const char *columns, const char *table)
{
    char id[UUID_TEXT_SIZE + 1];
    char text[256];
    uuid_format(instance->seen.trace_id, id);
    snprintf(text, sizeof(text), "SELECT %s FROM system_traces.%s WHERE session_id = %s", columns,
             table, id);
    query(instance, text);
    cr_expect(!instance->seen.is_traced);
}

Test(cql_session, a_traced_request_is_told_of_once_it_is_answered)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    query(&instance, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', "
                     "'replication_factor': 1}");
    query(&instance, "CREATE TABLE k.t (id int PRIMARY KEY, v text)");
    traced(&instance, "INSERT INTO k.t (id, v) VALUES (1, 'a')");
    struct seen insert = instance.seen;
    ask_trace(&instance, "activity", "events");
    cr_expect_str_eq(instance.seen.cells,
                     "Parsing INSERT INTO k.t (id, v) VALUES (1, 'a');"
                     "Appending to commit log and memtable: 1 mutations, 0 increments;"
                     "The commit log is synced;");
    instance.seen = insert;
    ask_trace(&instance, "request, command, client", "sessions");
    cr_expect_str_eq(instance.seen.cells, "Execute CQL3 query QUERY 127.0.0.1;");
    instance.seen = insert;
    ask_trace(&instance, "parameters['query'], parameters['consistency_level']", "sessions");
    cr_expect_str_eq(instance.seen.cells, "INSERT INTO k.t (id, v) VALUES (1, 'a') ONE;");
    instance.seen = insert;
    ask_trace(&instance, "duration", "sessions");
    cr_expect_eq(instance.seen.rows, 1);
    cr_expect_str_neq(instance.seen.cells, "-;");
    instance_close(&instance);
}

Test(cql_session, a_trace_shows_every_value_that_was_bound)
{
    enum { COLUMNS = 60 };
    struct instance instance = {0};
    uint8_t id[CQL_ID_SIZE];
    uint8_t one[4];
    struct cql_value values[COLUMNS];
    struct buffer table = {0};
    struct buffer insert = {0};
    struct buffer markers = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    buffer_append_text(&table, "CREATE TABLE wide (");
    buffer_append_text(&insert, "INSERT INTO wide (");
    for (int i = 0; i < COLUMNS; i++) {
        values[i] = int_value(one, 1);
        buffer_printf(&table, "c%d int, ", i);
        buffer_printf(&insert, "%sc%d", i > 0 ? ", " : "", i);
        buffer_append_text(&markers, i > 0 ? ", ?" : "?");
    }
    buffer_append_text(&table, "PRIMARY KEY (c0))");
    buffer_put_u8(&table, 0);
    buffer_put_u8(&markers, 0);
    buffer_printf(&insert, ") VALUES (%s)", (const char *)markers.data);
    query(&instance, (const char *)table.data);
    prepare(&instance, (const char *)insert.data, id);
    run(&instance, (struct cql_request){.kind = CQL_EXECUTE,
                                        .text = bytes_of(id, CQL_ID_SIZE),
                                        .values = values,
                                        .value_count = COLUMNS,
                                        .is_traced = true});
    ask_trace(&instance, "parameters['bound_var_59_c59']", "sessions");
    cr_expect_str_eq(instance.seen.cells, "1;");
    buffer_release(&table);
    buffer_release(&insert);
    buffer_release(&markers);
    instance_close(&instance);
}

Test(cql_session, a_trace_prints_no_long_value_whole)
{
    enum { ITEMS = 2000 };
    struct instance instance = {0};
    uint8_t id[CQL_ID_SIZE];
    uint8_t item[8] = {0, 0, 0, 4, 0, 0, 0, 1};
    struct buffer list = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    query(&instance, "CREATE TABLE lists (p int PRIMARY KEY, l list<int>)");
    prepare(&instance, "INSERT INTO lists (p, l) VALUES (1, ?)", id);
    buffer_append(&list, (const uint8_t[]){0, 0, ITEMS >> 8, ITEMS & 0xff}, 4);
    for (int i = 0; i < ITEMS; i++)
        buffer_append(&list, item, sizeof(item));
    const struct cql_value value = {.state = CQL_VALUE_SET, .data = buffer_view(&list)};
    run(&instance, (struct cql_request){.kind = CQL_EXECUTE,
                                        .text = bytes_of(id, CQL_ID_SIZE),
                                        .values = &value,
                                        .value_count = 1,
                                        .is_traced = true});
    ask_trace(&instance, "parameters['bound_var_0_l']", "sessions");
    cr_expect_str_eq(instance.seen.cells, "16004 bytes;");
    buffer_release(&list);
    instance_close(&instance);
}

enum { CHANGES_WAITING = 3000 };

struct answers {
    struct instance *instance;
    uint32_t count;
    bool are_all;
};

static void count_answer(void *context, const struct cql_result *result)
{
    struct answers *answers = context;
    (void)result;
    answers->are_all = ++answers->count == CHANGES_WAITING + 1;
}

static void *queue_changes(void *context)
{
    struct answers *answers = context;
    struct instance *instance = answers->instance;
    struct cql_request request = {.kind = CQL_QUERY,
                                  .text = bytes_text("CREATE TABLE late (p int PRIMARY KEY)"),
                                  .consistency = CQL_ONE,
                                  .serial_consistency = CQL_SERIAL};
    cql_run(&instance->session, &request, count_answer, answers);
    request.text = bytes_text("CREATE TABLE IF NOT EXISTS t (p int PRIMARY KEY)");
    for (uint32_t i = 0; i < CHANGES_WAITING; i++)
        cql_run(&instance->session, &request, count_answer, answers);
    rollup_fixture_step_until(&instance->fixture, &answers->are_all);
    return NULL;
}

/* On a stack that holds some hundred calls within each other. */
Test(cql_session, changes_that_wait_are_not_resumed_within_each_other)
{
    struct instance instance = {0};
    struct answers answers = {.instance = &instance};
    pthread_attr_t small;
    pthread_t thread;
    instance_open(&instance, 0);
    make_table(&instance);
    cr_assert_eq(pthread_attr_init(&small), 0);
    cr_assert_eq(pthread_attr_setstacksize(&small, 512 << 10), 0);
    cr_assert_eq(pthread_create(&thread, &small, queue_changes, &answers), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_expect(answers.are_all);
    instance_close(&instance);
}

Test(cql_session, ranges_that_begin_with_different_columns_are_refused)
{
    static const struct {
        const char *where;
        const char *message;
    } rows[] = {
        {"p = 1 AND (a, b) >= (1, 2) AND b < 7",
         "Column \"b\" cannot be restricted by two inequalities not starting with the same column"},
        {"p = 1 AND b > 2 AND (a, b) <= (5, 5)",
         "Column \"b\" cannot be restricted by two inequalities not starting with the same column"},
        {"p = 1 AND (a, b) >= (1, 2) AND a < 7", ""},
        {"p = 1 AND (a, b) >= (1, 2) AND (a, b) < (1, 7)", ""},
    };
    struct instance instance = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    query(&instance, "CREATE TABLE pairs (p int, a int, b int, PRIMARY KEY (p, a, b))");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        static const char *const kinds[] = {"SELECT * FROM pairs WHERE ",
                                            "DELETE FROM pairs WHERE "};
        for (size_t kind = 0; kind < 2; kind++) {
            char text[200];
            snprintf(text, sizeof(text), "%s%s", kinds[kind], rows[i].where);
            ask(&instance, bytes_text(text));
            cr_expect_str_eq(instance.seen.message, rows[i].message, "%s", text);
        }
    }
    ask(&instance, bytes_text("SELECT * FROM pairs WHERE token(p) > blob_as_bigint(0x) AND "
                              "token(p) < 5"));
    cr_expect_str_eq(instance.seen.message, "Invalid empty value for a token");
    instance_close(&instance);
}

Test(cql_session, a_double_is_cast_to_integers_as_java_casts_it)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    query(&instance, "CREATE TABLE reals (p int PRIMARY KEY, d double)");
    query(&instance, "INSERT INTO reals (p, d) VALUES (1, 1e10)");
    query(&instance, "INSERT INTO reals (p, d) VALUES (2, -1e30)");
    query(&instance, "SELECT JSON CAST(d AS int), CAST(d AS smallint), CAST(d AS bigint) FROM "
                     "reals WHERE p IN (1, 2)");
    cr_expect_str_eq(instance.seen.cells,
                     "{\"cast(d as int)\": 2147483647, \"cast(d as smallint)\": -1, "
                     "\"cast(d as bigint)\": 10000000000};"
                     "{\"cast(d as int)\": -2147483648, \"cast(d as smallint)\": 0, "
                     "\"cast(d as bigint)\": -9223372036854775808};");
    query(&instance, "INSERT INTO reals (p, d) VALUES (1, NaN)");
    ask(&instance, bytes_text("SELECT CAST(d AS decimal) FROM reals"));
    cr_expect_str_eq(instance.seen.message, "NaN or infinity cannot be cast");
    instance_close(&instance);
}

Test(cql_session, a_sum_of_doubles_beyond_their_range_is_infinite_and_their_average_is_not)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    query(&instance, "CREATE TABLE reals (p int PRIMARY KEY, d double)");
    query(&instance, "INSERT INTO reals (p, d) VALUES (1, 1e308)");
    query(&instance, "INSERT INTO reals (p, d) VALUES (2, 1e308)");
    query(&instance, "INSERT INTO reals (p, d) VALUES (3, 1e308)");
    query(&instance, "SELECT CAST(sum(d) AS text), CAST(avg(d) AS text) FROM reals");
    cr_expect_str_eq(instance.seen.cells, "Infinity 1.0E308;");
    instance_close(&instance);
}

Test(cql_session, an_integer_has_the_smallest_type_that_holds_it)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    query(&instance, "SELECT p + 2147483647 AS a, p + 2147483648 AS b, "
                     "p + 9223372036854775807 AS c, p + 9223372036854775808 AS d, "
                     "p + 000000000000000000000000000000000000000001 AS e FROM t");
    cr_expect_str_eq(instance.seen.columns, "a int, b bigint, c bigint, d varint, e int");
    instance_close(&instance);
}

Test(cql_session, a_timestamp_that_is_unset_is_that_of_the_request)
{
    struct instance instance = {0};
    uint8_t id[CQL_ID_SIZE];
    instance_open(&instance, 0);
    make_table(&instance);
    prepare(&instance, "INSERT INTO t (p, c, v) VALUES (1, 2, 'a') USING TIMESTAMP ?", id);
    struct cql_value unset = {.state = CQL_VALUE_UNSET};
    run(&instance, (struct cql_request){.kind = CQL_EXECUTE,
                                        .text = bytes_of(id, CQL_ID_SIZE),
                                        .values = &unset,
                                        .value_count = 1,
                                        .has_timestamp = true,
                                        .timestamp_us = 1385654400000000});
    cr_assert_eq(instance.seen.kind, CQL_RESULT_VOID, "%s", instance.seen.message);
    query(&instance, "SELECT writetime(v) FROM t");
    cr_expect_str_eq(instance.seen.cells, "1385654400000000;");
    instance_close(&instance);
}

/* Comparing each name with each other takes some 20 s. */
Test(cql_session, an_insert_of_very_many_names_is_answered, .timeout = 15)
{
    enum { NAMES = 120000 };
    struct instance instance = {0};
    struct buffer text = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    for (int is_twice = 0; is_twice < 2; is_twice++) {
        buffer_clear(&text);
        buffer_append_text(&text, "INSERT INTO t (");
        for (int i = 0; i < NAMES; i++)
            buffer_printf(&text, "%sn%x", i > 0 ? "," : "", i);
        buffer_append_text(&text, is_twice ? ",n0) VALUES (1" : ") VALUES (1");
        for (int i = is_twice ? 0 : 1; i < NAMES; i++)
            buffer_append_text(&text, ",1");
        buffer_append_text(&text, ")");
        ask(&instance, buffer_view(&text));
        cr_expect_eq(instance.seen.code, CQL_INVALID);
        cr_expect_str_eq(instance.seen.message, is_twice ? "The column names contains duplicates"
                                                         : "Undefined column name n0 in table k.t");
    }
    buffer_release(&text);
    instance_close(&instance);
}

static void add_many_tables(struct instance *instance, int count)
{
    struct error err = {0};
    struct schema *schema = schema_copy(store_schema(instance->fixture.store));
    struct write_batch *batch = write_batch_new();
    const struct column_definition key = {.name = "k", .type = "int", .kind = COLUMN_PARTITION};
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof(name), "t%d", i);
        const struct table_definition definition = {
            .keyspace = "k", .name = name, .comment = "", .columns = &key, .column_count = 1};
        cr_assert_eq(schema_add_table(schema, &definition, &err), 0, "%s", err.text);
    }
    batch->schema = schema;
    cr_assert_eq(rollup_fixture_apply(&instance->fixture, batch), 0);
    write_batch_free(batch);
    schema_unref(schema);
}

/* Looking at all tables for the indexes of each table takes longer than the timeout. */
Test(cql_session, the_indexes_of_very_many_tables_are_found, .timeout = 15)
{
    enum { TABLES = 9000 };
    static const char indexes[] =
        "SELECT table_name, index_name FROM system_schema.indexes WHERE keyspace_name = 'k'";
    static const char expected[] = "a ae;a ak;a av;z zv;";
    struct instance instance = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    query(&instance, "CREATE TABLE a (k int PRIMARY KEY, m map<text, int>)");
    query(&instance, "CREATE TABLE z (k int PRIMARY KEY, v int)");
    query(&instance, "CREATE INDEX av ON a (m)");
    query(&instance, "CREATE INDEX ak ON a (keys(m))");
    query(&instance, "CREATE INDEX ae ON a (entries(m))");
    query(&instance, "CREATE INDEX zv ON z (v)");
    add_many_tables(&instance, TABLES);
    query(&instance, indexes);
    cr_expect_str_eq(instance.seen.cells, expected);
    query(&instance, "DESCRIBE KEYSPACE k");
    cr_expect_eq(instance.seen.rows, 1 + 3 + 4 + TABLES);
    query(&instance, "DESCRIBE SCHEMA");
    cr_expect_geq(instance.seen.rows, 1 + 3 + 4 + TABLES);
    query(&instance, "DROP KEYSPACE k");
    query(&instance, indexes);
    cr_expect_str_eq(instance.seen.cells, "");
    instance_close(&instance);
}

/* Looking at all types for each type of each keyspace takes longer than the timeout. */
Test(cql_session, very_many_types_and_keyspaces_are_described, .timeout = 3)
{
    enum { TYPES = 900, KEYSPACES = 900 };
    static const char *const field = "f";
    static const char *const type = "int";
    struct instance instance = {0};
    struct error err = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    struct schema *schema = schema_copy(store_schema(instance.fixture.store));
    struct write_batch *batch = write_batch_new();
    for (int i = 0; i < TYPES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "t%d", i);
        cr_assert_eq(schema_add_type(schema, "k", name, 1, &field, &type, &err), 0, "%s", err.text);
    }
    for (int i = 0; i < KEYSPACES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "k%d", i);
        cr_assert_eq(schema_add_keyspace(schema, name, &err), 0, "%s", err.text);
    }
    batch->schema = schema;
    cr_assert_eq(rollup_fixture_apply(&instance.fixture, batch), 0);
    query(&instance, "DESCRIBE SCHEMA");
    cr_expect_geq(instance.seen.rows, TYPES + KEYSPACES);
    query(&instance, "DESCRIBE TYPES");
    cr_expect_eq(instance.seen.rows, TYPES);
    write_batch_free(batch);
    schema_unref(schema);
    instance_close(&instance);
}

Test(cql_session, a_refused_request_has_its_trace_too)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    traced(&instance, "SELECT * FROM nowhere.t");
    cr_expect_eq(instance.seen.kind, CQL_RESULT_ERROR);
    ask_trace(&instance, "activity", "events");
    cr_expect_str_eq(instance.seen.cells, "Parsing SELECT * FROM nowhere.t;");
    instance_close(&instance);
}

Test(cql_session, the_oldest_traces_are_forgotten)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    traced(&instance, "SELECT key FROM system.local");
    struct seen first = instance.seen;
    for (int i = 1; i < CQL_TRACES_MAX; i++)
        traced(&instance, "SELECT key FROM system.local");
    instance.seen = first;
    ask_trace(&instance, "command", "sessions");
    cr_expect_eq(instance.seen.rows, 1);
    traced(&instance, "SELECT key FROM system.local");
    instance.seen = first;
    ask_trace(&instance, "command", "sessions");
    cr_expect_eq(instance.seen.rows, 0);
    query(&instance, "SELECT count(*) FROM system_traces.sessions");
    cr_expect_str_eq(instance.seen.cells, "256;");
    instance_close(&instance);
}

Test(cql_session, a_long_statement_is_shown_cut_at_the_end_of_a_character)
{
    struct instance instance = {0};
    struct buffer text = {0};
    instance_open(&instance, 0);
    /* 33 bytes before characters of two: the 1,000th byte is within one. */
    buffer_append_text(&text, "SELECT key FROM system.local --- ");
    for (int i = 0; i < 1000; i++)
        buffer_append_text(&text, "\xc3\xa9");
    run(&instance,
        (struct cql_request){.kind = CQL_QUERY, .text = buffer_view(&text), .is_traced = true});
    ask_trace(&instance, "parameters['query']", "sessions");
    cr_expect_eq(strncmp(instance.seen.cells, (const char *)text.data, 400), 0);
    buffer_release(&text);
    instance_close(&instance);
}

/* ---- what one request may take ---- */

static void repeat(struct buffer *text, const char *part, int count)
{
    for (int i = 0; i < count; i++) {
        buffer_append_text(text, i == 0 ? "" : ", ");
        buffer_append_text(text, part);
    }
}

/* Each of these took memory without bound, and the server with it. */
Test(cql_session, a_request_that_takes_too_much_is_refused_and_the_next_one_is_not)
{
    static const char *const parts[] = {
        "textasblob(:x)",
        "tojson(tojson(tojson(tojson(tojson(tojson(tojson(tojson(:x))))))))",
        "[:x, :x, :x, :x]",
    };
    struct instance instance = {0};
    instance_open_with(&instance, 0, 8 << 20);
    make_table(&instance);
    query(&instance, "INSERT INTO t (p, c, v) VALUES (1, 1, 'one')");
    char *large = calloc(1, 256 << 10);
    memset(large, '"', (256 << 10) - 1);
    struct cql_value value = {.state = CQL_VALUE_SET, .data = bytes_text(large)};
    value.name = bytes_text("x");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct buffer text = {0};
        buffer_append_text(&text, "SELECT ");
        repeat(&text, parts[i], 1000);
        buffer_append_text(&text, " FROM t");
        run(&instance, (struct cql_request){.kind = CQL_QUERY,
                                            .text = buffer_view(&text),
                                            .values = &value,
                                            .value_count = 1,
                                            .values_are_named = true});
        cr_expect_eq(instance.seen.kind, CQL_RESULT_ERROR);
        cr_expect_eq(instance.seen.code, CQL_INVALID, "%s: %x %s", parts[i], instance.seen.code,
                     instance.seen.message);
        buffer_release(&text);
        query(&instance, "SELECT v FROM t");
        cr_expect_str_eq(instance.seen.cells, "one;");
    }
    free(large);
    instance_close(&instance);
}

Test(cql_session, a_list_less_a_list_and_conditions_are_not_the_product_of_the_two)
{
    struct instance instance = {0};
    struct buffer text = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    query(&instance, "CREATE TABLE many (p int PRIMARY KEY, l list<int>, m map<int, int>)");
    buffer_append_text(&text, "UPDATE many SET l = [");
    repeat(&text, "1", 20000);
    buffer_append_text(&text, "] WHERE p = 1");
    buffer_put_u8(&text, 0);
    query(&instance, (const char *)text.data);
    buffer_clear(&text);
    buffer_append_text(&text, "UPDATE many SET m[1] = 7 WHERE p = 1 IF l CONTAINS 1");
    for (int i = 0; i < 2000; i++)
        buffer_printf(&text, " AND l[%d] = 1 AND l CONTAINS 1", i);
    buffer_put_u8(&text, 0);
    query(&instance, (const char *)text.data);
    buffer_clear(&text);
    buffer_append_text(&text, "UPDATE many SET l = l - [");
    repeat(&text, "1", 20000);
    buffer_append_text(&text, "] WHERE p = 1");
    buffer_put_u8(&text, 0);
    query(&instance, (const char *)text.data);
    query(&instance, "SELECT l, m[1] FROM many");
    cr_expect_str_eq(instance.seen.cells, "- 7;");
    buffer_release(&text);
    instance_close(&instance);
}

/* ---- clients that are gone, and a server that stops ---- */

static void refused(struct instance *instance, const char *text)
{
    ask(instance, bytes_text(text));
    cr_expect_eq(instance->seen.kind, CQL_RESULT_ERROR);
    cr_expect_eq(instance->seen.code, CQL_OVERLOADED, "%x", instance->seen.code);
}

Test(cql_session, nothing_is_begun_for_a_client_that_has_left)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    struct cql_session other = instance.session;
    cql_session_leave(&instance.session, 0);
    refused(&instance, "INSERT INTO t (p, c, v) VALUES (1, 1, 'one')");
    instance.session = other;
    query(&instance, "SELECT v FROM t");
    cr_expect_str_eq(instance.seen.cells, "");
    instance_close(&instance);
}

Test(cql_session, nothing_is_begun_once_the_server_stops)
{
    struct instance instance = {0};
    instance_open(&instance, 0);
    make_table(&instance);
    cql_stop(instance.cql);
    refused(&instance, "INSERT INTO t (p, c, v) VALUES (1, 1, 'one')");
    refused(&instance, "SELECT v FROM t");
    instance_close(&instance);
}

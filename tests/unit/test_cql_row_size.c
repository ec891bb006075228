/* cql_row_size: however a row grows, it stays small enough to be read. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "query/cql/session/cql.h"
#include "query/cql/write/cql_row_size.h"
#include "tests/lib/rollup_fixture.h"

enum {
    WORK_BYTES = 2 << 20,
    ROW_BYTES = WORK_BYTES / CQL_ROW_SHARE,
    ITEMS = 1000,
    FLUSH_EVERY = 3
};

struct server {
    struct rollup_fixture fixture;
    struct cql *cql;
    struct cql_session session;
    bool is_answered;
    enum cql_error_code code; /* 0: the statement was carried out */
    char message[200];
};

static void begin(struct server *server)
{
    static const uint8_t host_id[16] = {2};
    const struct cql_options options = {.store = server->fixture.store,
                                        .world = server->fixture.world,
                                        .streams = server->fixture.streams,
                                        .host_id = host_id,
                                        .work_bytes_max = WORK_BYTES};
    server->cql = cql_new(&options);
    cql_session_init(&server->session, server->cql);
}

static void restart(struct server *server)
{
    cql_free(server->cql);
    rollup_fixture_restart(&server->fixture);
    begin(server);
}

static void answered(void *context, const struct cql_result *result)
{
    struct server *server = context;
    bool is_error = result->kind == CQL_RESULT_ERROR;
    server->is_answered = true;
    server->code = is_error ? result->error.code : 0;
    snprintf(server->message, sizeof(server->message), "%s", is_error ? result->error.message : "");
}

/* Whether the statement is carried out; else it is refused because of the size of its row. */
static bool run(struct server *server, const char *text)
{
    struct cql_request request = {.kind = CQL_QUERY,
                                  .text = bytes_text(text),
                                  .consistency = CQL_ONE,
                                  .serial_consistency = CQL_SERIAL};
    server->is_answered = false;
    cql_run(&server->session, &request, answered, server);
    rollup_fixture_step_until(&server->fixture, &server->is_answered);
    if (server->code == 0)
        return true;
    cr_assert_eq(server->code, CQL_INVALID, "%s", server->message);
    cr_assert_not_null(strstr(server->message, "A row of table k.t would take"), "%s",
                       server->message);
    return false;
}

static void start(struct server *server)
{
    *server = (struct server){0};
    rollup_fixture_start(&server->fixture);
    begin(server);
    cr_assert(run(server, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', "
                          "'replication_factor': 1}"));
    cr_assert(run(server, "CREATE TABLE k.t (p int, c int, l list<int>, s set<int>, "
                          "m map<int, int>, b text, x text, y text, st set<int> STATIC, "
                          "PRIMARY KEY (p, c))"));
}

static void stop(struct server *server)
{
    cql_free(server->cql);
    rollup_fixture_stop(&server->fixture);
}

/* A piece of a statement and ITEMS of these from `first` on, `after` behind them. */
static bool run_items(struct server *server, const char *before, const char *item, uint32_t first,
                      const char *after)
{
    struct buffer text = {0};
    buffer_append_text(&text, before);
    for (uint32_t i = 0; i < ITEMS; i++) {
        buffer_append_text(&text, i == 0 ? "" : ", ");
        for (const char *c = item; *c != '\0'; c++)
            if (*c == '#')
                buffer_printf(&text, "%u", first + i);
            else
                buffer_append(&text, c, 1);
    }
    buffer_append_text(&text, after);
    buffer_put_u8(&text, 0);
    bool is_done = run(server, (const char *)text.data);
    buffer_release(&text);
    return is_done;
}

static const struct growth {
    const char *before;
    const char *item;
    const char *after;
} growths[] = {
    {"UPDATE k.t SET l = l + [", "#", "] WHERE p = 1 AND c = 1"},
    {"UPDATE k.t SET l = [", "#", "] + l WHERE p = 1 AND c = 2"},
    {"UPDATE k.t SET s = s + {", "#", "} WHERE p = 1 AND c = 3"},
    {"UPDATE k.t SET s = s - {", "#", "} WHERE p = 1 AND c = 4"},
    {"UPDATE k.t SET ", "m[#] = 1", " WHERE p = 1 AND c = 5"},
    {"DELETE ", "m[#]", " FROM k.t WHERE p = 1 AND c = 6"},
    {"UPDATE k.t SET st = st + {", "#", "} WHERE p = 2"},
};

enum { GROWTHS = sizeof(growths) / sizeof(growths[0]) };

static uint32_t grow(struct server *server, const struct growth *growth)
{
    uint32_t items = 0;
    for (; run_items(server, growth->before, growth->item, items, growth->after); items += ITEMS) {
        cr_assert_lt(items * sizeof(struct cell), ROW_BYTES, "%s", growth->before);
        if (items % (FLUSH_EVERY * ITEMS) == 0)
            rollup_fixture_flush(&server->fixture);
    }
    return items;
}

/* Each statement is small: elements, and tombstones of elements, of every collection; some of them
 * flushed.  A server that was started again knows no sizes and refuses all the same. */
Test(cql_row_size, a_row_that_grows_by_small_statements_is_refused_in_time)
{
    struct server server;
    uint32_t items[GROWTHS];
    start(&server);
    for (size_t i = 0; i < GROWTHS; i++) {
        items[i] = grow(&server, &growths[i]);
        cr_expect_gt(items[i] * sizeof(struct cell) * 2, ROW_BYTES, "%u: %s", items[i],
                     growths[i].before);
    }
    restart(&server);
    for (size_t i = 0; i < GROWTHS; i++)
        cr_expect_not(
            run_items(&server, growths[i].before, growths[i].item, items[i], growths[i].after));
    stop(&server);
}

/* Other rows are written to as ever, and the row itself once it was deleted or its collection was
 * written anew. */
Test(cql_row_size, a_row_that_is_too_large_can_be_made_smaller)
{
    struct server server;
    start(&server);
    grow(&server, &growths[0]);
    grow(&server, &growths[2]);
    cr_expect(run(&server, "UPDATE k.t SET l = l + [1] WHERE p = 1 AND c = 9"));
    cr_expect(run(&server, "UPDATE k.t SET x = 'a' WHERE p = 1 AND c = 1"));
    cr_expect(run(&server, "UPDATE k.t SET l = [1, 2] WHERE p = 1 AND c = 1"));
    cr_expect(run_items(&server, "UPDATE k.t SET l = l + [", "#", 0, "] WHERE p = 1 AND c = 1"));
    cr_expect(run(&server, "DELETE FROM k.t WHERE p = 1 AND c = 3"));
    cr_expect(run_items(&server, "UPDATE k.t SET s = s + {", "#", 0, "} WHERE p = 1 AND c = 3"));
    stop(&server);
}

static bool set_text(struct server *server, char column, size_t size)
{
    struct buffer text = {0};
    buffer_printf(&text, "UPDATE k.t SET %c = '", column);
    for (size_t i = 0; i < size; i++)
        buffer_put_u8(&text, 'x');
    buffer_append_text(&text, "' WHERE p = 1 AND c = 1");
    buffer_put_u8(&text, 0);
    bool is_done = run(server, (const char *)text.data);
    buffer_release(&text);
    return is_done;
}

/* What is written over again and again does not make the row larger, a whole collection either;
 * many such columns do. */
Test(cql_row_size, large_values_count_once)
{
    struct server server;
    start(&server);
    for (uint32_t i = 0; i < 20; i++) {
        cr_expect(set_text(&server, 'b', ROW_BYTES / 16 * 9));
        if (i % FLUSH_EVERY == 0)
            rollup_fixture_flush(&server.fixture);
    }
    cr_expect(set_text(&server, 'x', ROW_BYTES / 8));
    cr_expect_not(set_text(&server, 'y', ROW_BYTES / 2));
    for (uint32_t i = 0; i < 20; i++)
        cr_expect(
            run_items(&server, "UPDATE k.t SET l = [", "#, #, #", 0, "] WHERE p = 1 AND c = 2"));
    stop(&server);
}

/* ---- bounds ---- */

static struct cell cell_of(uint32_t column_id, const char *path, const void *value, size_t size)
{
    return (struct cell){.column_id = column_id,
                         .path = path != NULL ? bytes_text(path) : (struct bytes){0},
                         .value = bytes_of(value, size)};
}

Test(cql_row_size, small_values_and_small_collections_that_are_written_anew_do_not_count)
{
    static const char large[CQL_ROW_SIZE_SMALL + 1];
    const struct complex_deletion anew = {.column_id = 3};
    struct cell cells[] = {cell_of(1, NULL, large, CQL_ROW_SIZE_SMALL), cell_of(2, NULL, "a", 1),
                           cell_of(3, "p", "a", 1), cell_of(3, "q", "a", 1)};
    struct row row = {.cells = cells, .cell_count = 4, .complex = &anew, .complex_count = 1};
    cr_expect_eq(cql_row_size_growth(&row), 0);
    row.complex_count = 0;
    cr_expect_eq(cql_row_size_growth(&row), row_memory(&row));
    row.cell_count = 2;
    cr_expect_eq(cql_row_size_growth(&row), 0);
    cells[1].value = bytes_of(large, sizeof(large));
    cr_expect_eq(cql_row_size_growth(&row), row_memory(&row));
}

Test(cql_row_size, what_a_write_replaces_does_not_count)
{
    const struct complex_deletion anew = {.column_id = 3};
    const struct cell cells[] = {cell_of(1, NULL, "abc", 3), cell_of(3, "p", "a", 1),
                                 cell_of(3, "q", "a", 1), cell_of(4, "p", "a", 1)};
    const struct row row = {.cells = cells, .cell_count = 4};
    struct row write = {.cells = cells, .cell_count = 1};
    cr_expect_eq(cql_row_size_kept(&row, &write), row_memory(&row) - sizeof(struct cell) - 3);
    write = (struct row){.complex = &anew, .complex_count = 1};
    cr_expect_eq(cql_row_size_kept(&row, &write), row_memory(&row) - 2 * (sizeof(struct cell) + 2));
    write = (struct row){.cells = &cells[3], .cell_count = 1};
    cr_expect_eq(cql_row_size_kept(&row, &write), row_memory(&row));
}

/* A search of the write for each column would take minutes. */
Test(cql_row_size, a_row_and_a_write_of_many_cells_are_compared_in_one_pass, .timeout = 3)
{
    enum { CELLS = 400000 };
    struct cell *cells = memory_zeroed(CELLS, sizeof(*cells));
    struct complex_deletion *complex = memory_zeroed(CELLS, sizeof(*complex));
    for (uint32_t i = 0; i < CELLS; i++) {
        cells[i] = cell_of(2 * i + 2, i % 2 == 0 ? "p" : NULL, "a", 1);
        complex[i].column_id = 2 * i + 2;
    }
    struct row row = {.cells = cells, .cell_count = CELLS};
    struct row write = {.cells = cells, .cell_count = CELLS};
    /* The cells of simple columns are replaced. */
    cr_expect_eq(cql_row_size_kept(&row, &write),
                 row_memory(&row) - CELLS / 2 * (sizeof(struct cell) + 1));
    write = (struct row){
        .cells = cells, .cell_count = CELLS, .complex = complex, .complex_count = CELLS};
    cr_expect_eq(cql_row_size_growth(&write), 0);
    cr_expect_eq(cql_row_size_kept(&row, &write),
                 row_memory(&row) - CELLS * (sizeof(struct cell) + 1) - CELLS / 2);
    memory_free(cells);
    memory_free(complex);
}

Test(cql_row_size, a_bound_holds_until_another_row_takes_its_place)
{
    enum { LIMIT = 100 };
    struct cql_row_size_bounds *sizes = cql_row_size_bounds_new(LIMIT);
    cr_expect_not(cql_row_size_add(sizes, 1, 1));
    cr_expect_not(cql_row_size_measured(sizes, 1, 60, 41));
    cr_expect_not(cql_row_size_add(sizes, 1, 1));
    cr_expect(cql_row_size_measured(sizes, 1, 60, 30));
    cr_expect(cql_row_size_add(sizes, 1, 10));
    cr_expect_not(cql_row_size_add(sizes, 1, 1));
    cr_expect(cql_row_size_measured(sizes, UINT64_C(1) << 40 | 1, 0, 1));
    cr_expect_not(cql_row_size_add(sizes, 1, 0));
    cql_row_size_bounds_free(sizes);
}

/* test_web_cql: pages of rows, refusals and their places, and statements whose client leaves. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/reader.h"
#include "query/cql/session/cql.h"
#include "query/web/web_cql.h"
#include "tests/lib/rollup_fixture.h"

static const uint8_t host_id[16] = {2};

struct server {
    struct rollup_fixture fixture;
    struct cql *cql;
    struct web_cql *web;
    bool is_closed;
};

struct seen {
    bool is_answered;
    uint32_t rows;
    bool has_next;
    struct buffer next;
    uint16_t status;
    char code[16];
    char where[64];
    uint32_t line, column;
};

static void server_open(struct server *server)
{
    rollup_fixture_start(&server->fixture);
    server->cql = cql_new(&(struct cql_options){.store = server->fixture.store,
                                                .world = server->fixture.world,
                                                .streams = server->fixture.streams,
                                                .host_id = host_id});
    server->web = web_cql_open(server->cql);
    for (int i = 0; i < 5; i++) {
        char day[] = "2013-12-01";
        day[9] = (char)('1' + i);
        rollup_fixture_rate(&server->fixture, "R", day, "0.25", true);
    }
}

static void closed(void *context)
{
    *(bool *)context = true;
}

static void server_close(struct server *server)
{
    if (!server->is_closed)
        web_cql_close(server->web, closed, &server->is_closed);
    cr_expect(server->is_closed);
    cql_free(server->cql);
    rollup_fixture_stop(&server->fixture);
}

static void done(void *context, const struct web_cql_answer *answer)
{
    struct seen *seen = context;

    cr_assert(!seen->is_answered && (answer->result == NULL) == (answer->refusal != NULL));
    seen->is_answered = true;
    seen->line = answer->line;
    seen->column = answer->column;
    if (answer->result != NULL) {
        seen->rows = answer->result->rows.row_count;
        seen->has_next = web_cql_put_page(answer->result, &seen->next);
    } else {
        seen->status = answer->refusal->status;
        (void)snprintf(seen->code, sizeof seen->code, "%s", answer->refusal->code);
        (void)snprintf(seen->where, sizeof seen->where, "%s", answer->refusal->where);
    }
}

static struct seen run(struct server *server, const struct web_cql_statement *statement)
{
    struct seen seen = {0};

    (void)web_cql_run(server->web, statement, done, &seen);
    rollup_fixture_step_until(&server->fixture, &seen.is_answered);
    return seen;
}

static struct seen run_text(struct server *server, const char *text)
{
    return run(server, &(struct web_cql_statement){.text = bytes_text(text), .rows_max = 100});
}

Test(web_cql, gives_rows_page_by_page)
{
    struct server server = {0};
    struct web_cql_statement statement = {.text = bytes_text("SELECT * FROM reseller"),
                                          .keyspace = bytes_text("daybook"),
                                          .rows_max = 2};
    struct buffer page = {0};
    uint32_t rows = 0;
    bool has_next = true;

    server_open(&server);
    for (uint32_t pages = 0; has_next; pages++) {
        struct seen seen = run(&server, &statement);
        cr_assert(seen.status == 0 && seen.rows <= 2 && pages < 4);
        rows += seen.rows;
        has_next = seen.has_next;
        buffer_set(&page, buffer_view(&seen.next));
        statement.page = buffer_view(&page);
        buffer_release(&seen.next);
    }
    cr_expect_eq(rows, 5);
    buffer_release(&page);
    server_close(&server);
}

Test(web_cql, says_where_a_statement_is_wrong)
{
    struct server server = {0};

    server_open(&server);
    struct seen seen = run_text(&server, "SELECT *\nFROM FROM x");
    cr_expect(seen.status == 400 && seen.line == 2 && seen.column == 5);
    cr_expect_str_eq(seen.code, "cql_2000");
    cr_expect_str_eq(seen.where, "query, line 2, column 5");
    seen = run_text(&server, "SELECT * FROM daybook.nothing");
    cr_expect(seen.status == 400 && seen.line == 0);
    cr_expect_str_eq(seen.where, "query");
    seen = run(&server, &(struct web_cql_statement){.text = bytes_text("SELECT * FROM x"),
                                                    .page = bytes_text("0g"),
                                                    .rows_max = 1});
    cr_expect_eq(seen.status, 400);
    cr_expect_str_eq(seen.where, "parameter page");
    server_close(&server);
}

Test(web_cql, changes_nothing_unless_it_may)
{
    struct server server = {0};
    struct web_cql_statement statement = {
        .text = bytes_text("INSERT INTO daybook.reseller (id, effective_since, reward_percent) "
                           "VALUES ('S', '2013-12-01', 0.5)"),
        .rows_max = 1};

    server_open(&server);
    cr_expect_eq(run(&server, &statement).status, 403);
    cr_expect_eq(run_text(&server, "SELECT * FROM daybook.reseller").rows, 5);
    statement.may_change = true;
    cr_expect_eq(run(&server, &statement).status, 0);
    cr_expect_eq(run_text(&server, "SELECT * FROM daybook.reseller").rows, 6);
    server_close(&server);
}

Test(web_cql, is_closed_when_the_last_statement_has_ended)
{
    struct server server = {0};
    struct seen seen = {0};

    server_open(&server);
    rollup_fixture_flush(&server.fixture); /* so that the disk is waited for */
    struct web_cql_run *run =
        web_cql_run(server.web,
                    &(struct web_cql_statement){
                        .text = bytes_text("SELECT * FROM daybook.reseller"), .rows_max = 100},
                    done, &seen);
    cr_assert(run != NULL && !seen.is_answered);
    web_cql_leave(run);
    web_cql_close(server.web, closed, &server.is_closed);
    cr_expect(!server.is_closed);
    rollup_fixture_step_until(&server.fixture, &seen.is_answered);
    cr_expect(server.is_closed);
    buffer_release(&seen.next);
    server_close(&server);
}

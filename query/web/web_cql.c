/* web_cql: see the header. */
#include "query/web/web_cql.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/memory.h"
#include "query/cql/session/cql.h"

enum { PAGE_STATE_MAX = 16 << 10 };

struct web_cql {
    struct cql *cql;
    uint32_t running;
    bool is_closing;
    void (*closed)(void *context);
    void *closed_context;
};

struct web_cql_run {
    struct web_cql *cql;
    struct cql_session session;
    struct cql_request request;
    struct buffer paging_state;
    bool has_left;
    bool is_starting; /* web_cql_run has not returned; it frees the run */
    bool has_ended;
    void (*done)(void *context, const struct web_cql_answer *answer);
    void *context;
};

/* ---- the end ---- */

static void free_if_idle(struct web_cql *cql)
{
    if (!cql->is_closing || cql->running > 0)
        return;
    void (*closed)(void *context) = cql->closed;
    void *context = cql->closed_context;
    memory_free(cql);
    closed(context);
}

static void run_free(struct web_cql_run *run)
{
    struct web_cql *cql = run->cql;

    buffer_release(&run->paging_state);
    memory_free(run);
    cql->running--;
    free_if_idle(cql);
}

static void run_end(struct web_cql_run *run, const struct web_cql_answer *answer)
{
    run->has_ended = true;
    run->done(run->context, answer);
    if (!run->is_starting)
        run_free(run);
}

/* ---- errors ---- */

static uint16_t status_of(enum cql_error_code code)
{
    switch (code) {
    case CQL_SYNTAX_ERROR:
    case CQL_INVALID:
    case CQL_CONFIG_ERROR:
    case CQL_ALREADY_EXISTS:
    case CQL_FUNCTION_FAILURE:
    case CQL_UNPREPARED:
    case CQL_PROTOCOL_ERROR:
        return 400;
    case CQL_UNAUTHORIZED:
    case CQL_BAD_CREDENTIALS:
        return 403;
    case CQL_OVERLOADED:
    case CQL_UNAVAILABLE:
    case CQL_BOOTSTRAPPING:
    case CQL_READ_TIMEOUT:
    case CQL_WRITE_TIMEOUT:
        return 503;
    case CQL_SERVER_ERROR:
    case CQL_TRUNCATE_ERROR:
    case CQL_READ_FAILURE:
    case CQL_WRITE_FAILURE:
        return 500;
    }
    return 500;
}

static const char *todo_of(uint16_t status)
{
    return status == 400   ? "correct the statement; docs/CQL.md describes the language"
           : status == 403 ? "use cqlsh or a driver at the CQL door"
           : status == 503 ? "try again, or ask for less"
                           : "the server's log says more";
}

static void refuse(struct web_cql_run *run, const struct http_refusal *refusal)
{
    run_end(run, &(struct web_cql_answer){.refusal = refusal});
}

static void refuse_error(struct web_cql_run *run, const struct cql_error *error)
{
    uint16_t status = status_of(error->code);
    struct web_cql_answer answer = {0};
    char code[16];
    char where[64] = "query";

    (void)snprintf(code, sizeof code, "cql_%04x", (unsigned)error->code);
    /* Syntax errors name the place of the token; columns count from 0, as in Cassandra. */
    if (sscanf(error->message, "line %u:%u ", &answer.line, &answer.column) == 2)
        (void)snprintf(where, sizeof where, "query, line %u, column %u", answer.line,
                       answer.column);
    else
        answer.line = 0;
    answer.refusal = &(struct http_refusal){status, code, error->message, where, todo_of(status)};
    run_end(run, &answer);
}

/* ---- runs ---- */

static void answered(void *context, const struct cql_result *result)
{
    static const struct http_refusal large = {413, "answer_too_large",
                                              "the rows of one page are over 4 MiB", "answer",
                                              "select fewer columns, or parts of large values"};
    struct web_cql_run *run = context;
    size_t size = result->kind == CQL_RESULT_ROWS ? result->rows.cells.size : 0;

    if (result->kind == CQL_RESULT_ERROR) {
        refuse_error(run, &result->error);
    } else if (size > WEB_CQL_LARGE && !run->request.is_short && !run->has_left) {
        /* A statement whose answer has many rows has changed nothing, so it may run again. */
        run->request.is_short = true;
        cql_run(&run->session, &run->request, answered, run);
    } else if (size > WEB_CQL_CELLS_MAX) {
        refuse(run, &large);
    } else {
        run_end(run, &(struct web_cql_answer){.result = result});
    }
}

static int digit_of(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: web_cql_put_page cannot have written the text. */
static bool take_page(struct web_cql_run *run, struct bytes text)
{
    if (text.size % 2 != 0 || text.size > PAGE_STATE_MAX)
        return false;
    for (size_t i = 0; i < text.size; i += 2) {
        int high = digit_of(text.data[i]);
        int low = digit_of(text.data[i + 1]);
        if (high < 0 || low < 0)
            return false;
        buffer_put_u8(&run->paging_state, (uint8_t)(high << 4 | low));
    }
    run->request.paging_state = buffer_view(&run->paging_state);
    return true;
}

static void start(struct web_cql_run *run, struct bytes page)
{
    static const struct http_refusal bad_page = {
        400, "bad_parameter", "the value is no page of this server", "parameter page",
        "give what was said with the page before"};

    if (take_page(run, page))
        cql_run(&run->session, &run->request, answered, run);
    else
        refuse(run, &bad_page);
}

struct web_cql_run *web_cql_run(struct web_cql *cql, const struct web_cql_statement *statement,
                                void (*done)(void *context, const struct web_cql_answer *answer),
                                void *context)
{
    struct web_cql_run *run = memory_zeroed(1, sizeof *run);

    check(!cql->is_closing);
    cql->running++;
    run->cql = cql;
    run->done = done;
    run->context = context;
    run->request = (struct cql_request){.kind = CQL_QUERY,
                                        .consistency = CQL_ONE,
                                        .serial_consistency = CQL_SERIAL,
                                        .text = statement->text,
                                        .keyspace = statement->keyspace,
                                        .page_size = (int32_t)statement->rows_max};
    cql_session_init(&run->session, cql->cql);
    run->session.read_only = !statement->may_change;
    run->is_starting = true;
    start(run, statement->page);
    run->is_starting = false;
    if (!run->has_ended)
        return run;
    run_free(run);
    return NULL;
}

void web_cql_leave(struct web_cql_run *run)
{
    run->has_left = true;
    cql_session_leave(&run->session, 0);
}

bool web_cql_put_page(const struct cql_result *result, struct buffer *text)
{
    struct bytes state =
        result->kind == CQL_RESULT_ROWS ? result->rows.paging_state : (struct bytes){0};

    for (size_t i = 0; i < state.size; i++)
        buffer_printf(text, "%02x", state.data[i]);
    return state.size > 0;
}

/* ---- opening and closing ---- */

struct web_cql *web_cql_open(struct cql *cql)
{
    struct web_cql *web = memory_zeroed(1, sizeof *web);

    web->cql = cql;
    return web;
}

void web_cql_close(struct web_cql *cql, void (*closed)(void *context), void *context)
{
    cql->is_closing = true;
    cql->closed = closed;
    cql->closed_context = context;
    free_if_idle(cql);
}

/* api_cql: see the header. */
#include "query/web/api_cql.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/cli/command.h"
#include "base/memory.h"
#include "base/reader.h"
#include "query/cql/common/cql_session.h"
#include "query/cql/expression/cql_json.h"
#include "query/cql/session/cql.h"
#include "query/web/api_call.h"
#include "query/web/api_words.h"
#include "storage/schema/type.h"

enum { TEXTS_CHUNK = 1 << 10, PAGE_STATE_MAX = 16 << 10 };

struct api_cql {
    struct api_options options;
    uint32_t running;
    bool is_closing;
    void (*closed)(void *context);
    void *closed_context;
};

struct cql_call {
    struct api_cql *api;
    struct http_exchange *exchange; /* NULL: the client has left */
    struct http_parameters parameters;
    struct arena *texts;
    struct cql_session session;
    struct cql_request request;
    struct buffer paging_state;
};

/* ---- the end ---- */

static void free_if_idle(struct api_cql *api)
{
    if (!api->is_closing || api->running > 0)
        return;
    void (*closed)(void *context) = api->closed;
    void *context = api->closed_context;
    memory_free(api);
    closed(context);
}

static void call_free(struct cql_call *call)
{
    struct api_cql *api = call->api;

    http_parameters_release(&call->parameters);
    arena_free(call->texts);
    buffer_release(&call->paging_state);
    memory_free(call);
    api->running--;
    free_if_idle(api);
}

/* The statement ends soon, and cql_answered frees the call. */
static void call_gone(void *context)
{
    struct cql_call *call = context;

    call->exchange = NULL;
    cql_session_leave(&call->session, 0);
}

static void call_refuse(struct cql_call *call, const struct http_refusal *refusal)
{
    if (call->exchange != NULL)
        http_door_refuse(call->exchange, refusal);
    call_free(call);
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

static void refuse_error(struct cql_call *call, const struct cql_error *error)
{
    uint16_t status = status_of(error->code);
    unsigned line;
    unsigned column;
    char code[16];
    char where[64] = "query";

    (void)snprintf(code, sizeof code, "cql_%04x", (unsigned)error->code);
    /* Errors of syntax name the token's place; columns count from 0, as in Cassandra. */
    if (sscanf(error->message, "line %u:%u ", &line, &column) == 2)
        (void)snprintf(where, sizeof where, "query, line %u, column %u", line, column);
    call_refuse(call, &(struct http_refusal){status, code, error->message, where, todo_of(status)});
}

/* ---- rows ---- */

static void put_columns(const struct cql_metadata *metadata, struct buffer *json)
{
    struct buffer type = {0};

    for (uint32_t i = 0; i < metadata->count; i++) {
        buffer_append_text(json, i > 0 ? ", {\"name\": " : "{\"name\": ");
        buffer_append_json(json, bytes_text(metadata->columns[i].name));
        buffer_append_text(json, ", \"type\": ");
        buffer_clear(&type);
        type_print(metadata->columns[i].type, &type);
        buffer_append_json(json, buffer_view(&type));
        buffer_put_u8(json, '}');
    }
    buffer_release(&type);
}

/* JSON's readers may take a number for a double, and lose digits of these. */
static bool is_exact(const struct type *type)
{
    return type->kind == TYPE_DECIMAL || type->kind == TYPE_VARINT;
}

static void put_cell(const struct type *type, struct bytes value, struct buffer *json)
{
    bool is_quoted = value.size > 0 && is_exact(type);

    if (is_quoted)
        buffer_put_u8(json, '"');
    cql_json_format(type, value, json);
    if (is_quoted)
        buffer_put_u8(json, '"');
}

static void put_rows(const struct cql_rows *rows, struct buffer *json)
{
    struct reader cells = reader_of(rows->cells);

    for (uint32_t row = 0; row < rows->row_count; row++) {
        buffer_append_text(json, row > 0 ? ",\n[" : "\n[");
        for (uint32_t i = 0; i < rows->metadata.count; i++) {
            uint32_t size = reader_u32_be(&cells);
            bool is_null = size == UINT32_MAX;
            struct bytes value = is_null ? bytes_of(NULL, 0) : reader_bytes(&cells, size);
            if (i > 0)
                buffer_append_text(json, ", ");
            put_cell(rows->metadata.columns[i].type, value, json);
        }
        buffer_put_u8(json, ']');
    }
    check(!cells.failed);
}

static void put_result(const struct cql_result *result, struct buffer *json)
{
    bool has_rows = result->kind == CQL_RESULT_ROWS;

    buffer_append_text(json, "{\"columns\": [");
    if (has_rows)
        put_columns(&result->rows.metadata, json);
    buffer_append_text(json, "],\n\"rows\": [");
    if (has_rows)
        put_rows(&result->rows, json);
    buffer_append_text(json, "\n], \"next\": ");
    if (has_rows && result->rows.paging_state.size > 0) {
        buffer_put_u8(json, '"');
        for (size_t i = 0; i < result->rows.paging_state.size; i++)
            buffer_printf(json, "%02x", result->rows.paging_state.data[i]);
        buffer_put_u8(json, '"');
    } else {
        buffer_append_text(json, "null");
    }
    buffer_append_text(json, ", \"notes\": [");
    for (uint32_t i = 0; i < result->extras.warning_count; i++) {
        buffer_append_text(json, i > 0 ? ", " : "");
        buffer_append_json(json, bytes_text(result->extras.warnings[i]));
    }
    buffer_append_text(json, "]}\n");
}

static void answer_result(struct cql_call *call, const struct cql_result *result)
{
    struct buffer json = {0};

    put_result(result, &json);
    if (call->exchange != NULL)
        http_door_answer(call->exchange, &(struct http_answer){.status = 200,
                                                               .type = "application/json",
                                                               .body = buffer_view(&json)});
    buffer_release(&json);
    call_free(call);
}

static void cql_answered(void *context, const struct cql_result *result)
{
    static const struct http_refusal large = {413, "answer_too_large",
                                              "the rows of one page are over 4 MiB", "answer",
                                              "select fewer columns, or parts of large values"};
    struct cql_call *call = context;
    size_t size = result->kind == CQL_RESULT_ROWS ? result->rows.cells.size : 0;

    if (call->exchange == NULL) {
        call_free(call);
    } else if (result->kind == CQL_RESULT_ERROR) {
        refuse_error(call, &result->error);
    } else if (size > API_CQL_LARGE && !call->request.is_short) {
        /* A statement with many rows has changed nothing. */
        call->request.is_short = true;
        cql_run(&call->session, &call->request, cql_answered, call);
    } else if (size > API_CQL_CELLS_MAX) {
        call_refuse(call, &large);
    } else {
        answer_result(call, result);
    }
}

/* ---- requests ---- */

static int digit_of(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: the text is no paging state that put_result has written. */
static bool take_paging_state(struct cql_call *call, struct bytes text)
{
    if (text.size % 2 != 0 || text.size > PAGE_STATE_MAX)
        return false;
    for (size_t i = 0; i < text.size; i += 2) {
        int high = digit_of(text.data[i]);
        int low = digit_of(text.data[i + 1]);
        if (high < 0 || low < 0)
            return false;
        buffer_put_u8(&call->paging_state, (uint8_t)(high << 4 | low));
    }
    return true;
}

static const struct http_refusal *take_parameters(struct cql_call *call)
{
    static const char *const names[] = {"query", "keyspace", "limit", "page", "token"};
    enum { NAMES = sizeof names / sizeof names[0] };
    const struct http_refusal *refusal =
        api_call_take_form(&call->exchange->request, &call->parameters);
    struct api_page page;

    for (uint32_t i = 0; refusal == NULL && i < call->parameters.count; i++) {
        const char *name = api_words_text(call->texts, call->parameters.items[i].name);
        if (command_word(name, names, NAMES) == NAMES)
            refusal = api_words_refuse(call->texts, name, "there is no such parameter here",
                                       "/api/openapi.json lists the parameters");
    }
    if (refusal == NULL)
        refusal = api_words_page(&call->parameters, false, call->texts, &page);
    if (refusal != NULL)
        return refusal;
    call->request.text = http_parameters_find(&call->parameters, "query");
    call->request.keyspace = http_parameters_find(&call->parameters, "keyspace");
    call->request.page_size = (int32_t)page.limit;
    if (call->request.text.size == 0)
        return api_words_refuse(call->texts, "query", "the parameter is needed",
                                "send a form with query=SELECT...");
    if (!take_paging_state(call, http_parameters_find(&call->parameters, "page")))
        return api_words_refuse(call->texts, "page", "the value is no page of this API",
                                "give the member next of the page before");
    call->request.paging_state = buffer_view(&call->paging_state);
    return NULL;
}

static void serve_cql(void *context, struct http_exchange *exchange)
{
    struct api_cql *api = context;
    struct cql_call *call = memory_zeroed(1, sizeof *call);

    api->running++;
    call->api = api;
    call->exchange = exchange;
    call->texts = arena_new(TEXTS_CHUNK);
    call->request = (struct cql_request){
        .kind = CQL_QUERY, .consistency = CQL_ONE, .serial_consistency = CQL_SERIAL};
    cql_session_init(&call->session, api->options.cql);
    const struct http_refusal *refusal = take_parameters(call);
    call->session.read_only =
        web_token_check(api->options.token, exchange, &call->parameters) != NULL;
    if (refusal != NULL) {
        call_refuse(call, refusal);
        return;
    }
    exchange->gone = call_gone;
    exchange->gone_context = call;
    cql_run(&call->session, &call->request, cql_answered, call);
}

struct api_cql *api_cql_new(struct http_door *door, const struct api_options *options)
{
    struct api_cql *api = memory_zeroed(1, sizeof *api);

    api->options = *options;
    http_door_route(door, &(struct http_route){.path = "/api/cql",
                                               .methods = HTTP_METHOD_POST,
                                               .body_max = API_BODY_MAX,
                                               .serve = serve_cql,
                                               .context = api});
    return api;
}

void api_cql_close(struct api_cql *api, void (*closed)(void *context), void *context)
{
    api->is_closing = true;
    api->closed = closed;
    api->closed_context = context;
    free_if_idle(api);
}

/* api_cql: see the header. */
#include "query/web/api_cql.h"

#include "base/arena.h"
#include "base/cli/command.h"
#include "base/memory.h"
#include "base/reader.h"
#include "query/cql/expression/cql_json.h"
#include "query/web/api_call.h"
#include "query/web/api_words.h"
#include "storage/schema/type.h"

enum { TEXTS_CHUNK = 1 << 10 };

struct cql_call {
    struct http_exchange *exchange; /* NULL: the client has left */
    struct http_parameters parameters;
    struct arena *texts;
    struct web_cql_statement statement;
    struct web_cql_run *run;
};

static void call_free(struct cql_call *call)
{
    http_parameters_release(&call->parameters);
    arena_free(call->texts);
    memory_free(call);
}

/* The statement is ended soon; cql_done then frees the call. */
static void call_gone(void *context)
{
    struct cql_call *call = context;

    call->exchange = NULL;
    web_cql_leave(call->run);
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

/* Whether values of the type are written as strings, because readers of JSON may read numbers as
 * doubles and lose digits. */
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
    struct buffer page = {0};

    buffer_append_text(json, "{\"columns\": [");
    if (has_rows)
        put_columns(&result->rows.metadata, json);
    buffer_append_text(json, "],\n\"rows\": [");
    if (has_rows)
        put_rows(&result->rows, json);
    buffer_append_text(json, "\n], \"next\": ");
    if (web_cql_put_page(result, &page))
        buffer_append_json(json, buffer_view(&page));
    else
        buffer_append_text(json, "null");
    buffer_release(&page);
    buffer_append_text(json, ", \"notes\": [");
    for (uint32_t i = 0; i < result->extras.warning_count; i++) {
        buffer_append_text(json, i > 0 ? ", " : "");
        buffer_append_json(json, bytes_text(result->extras.warnings[i]));
    }
    buffer_append_text(json, "]}\n");
}

static void answer_result(struct http_exchange *exchange, const struct cql_result *result)
{
    struct buffer json = {0};

    put_result(result, &json);
    http_door_answer(exchange, &(struct http_answer){.status = 200,
                                                     .type = "application/json",
                                                     .body = buffer_view(&json)});
    buffer_release(&json);
}

static void cql_done(void *context, const struct web_cql_answer *answer)
{
    struct cql_call *call = context;

    if (call->exchange != NULL && answer->result != NULL)
        answer_result(call->exchange, answer->result);
    else if (call->exchange != NULL)
        http_door_refuse(call->exchange, answer->refusal);
    call_free(call);
}

/* ---- requests ---- */

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
    call->statement =
        (struct web_cql_statement){.text = http_parameters_find(&call->parameters, "query"),
                                   .keyspace = http_parameters_find(&call->parameters, "keyspace"),
                                   .page = http_parameters_find(&call->parameters, "page"),
                                   .rows_max = (uint32_t)page.limit};
    if (call->statement.text.size == 0)
        return api_words_refuse(call->texts, "query", "the parameter is needed",
                                "send a form with query=SELECT...");
    return NULL;
}

static void serve_cql(void *context, struct http_exchange *exchange)
{
    const struct api_options *options = context;
    struct cql_call *call = memory_zeroed(1, sizeof *call);

    call->exchange = exchange;
    call->texts = arena_new(TEXTS_CHUNK);
    const struct http_refusal *refusal = take_parameters(call);
    if (refusal != NULL) {
        http_door_refuse(exchange, refusal);
        call_free(call);
        return;
    }
    call->statement.may_change =
        web_token_check(options->token, exchange, &call->parameters) == NULL;
    exchange->gone = call_gone;
    exchange->gone_context = call;
    struct web_cql_run *run = web_cql_run(options->cql, &call->statement, cql_done, call);
    if (run != NULL)
        call->run = run;
}

void api_cql_add(struct http_door *door, struct api_options *options)
{
    http_door_route(door, &(struct http_route){.path = "/api/cql",
                                               .methods = HTTP_METHOD_POST,
                                               .body_max = API_BODY_MAX,
                                               .serve = serve_cql,
                                               .context = options});
}

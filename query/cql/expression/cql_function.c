/* Many functions have two spellings; the older one has no underscores. */
#include "query/cql/expression/cql_function.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/murmur3.h"
#include "query/cql/expression/cql_json.h"
#include "query/cql/expression/cql_key.h"
#include "query/cql/expression/cql_number.h"

bool cql_function_is(const struct cql_call *call, uint32_t index, enum type_kind kind)
{
    return index < call->count && call->types[index]->kind == kind;
}

const struct type *cql_function_kind(const struct cql_call *call)
{
    return type_builtin(call->function->kind);
}

const struct type *cql_function_number(const struct cql_call *call)
{
    return cql_number_is(call->types[0]->kind) ? call->types[0] : NULL;
}

struct bytes cql_function_keep(const struct buffer *value)
{
    return value->size == 0 ? bytes_of("", 0) : buffer_view(value);
}

int cql_function_fails(const struct cql_expression *call, const struct cql_context *context,
                       const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    int rc = cql_refuse(context->fault, CQL_FUNCTION_FAILURE, "%s", text);
    context->fault->error.keyspace = "system";
    context->fault->error.name = call->function->name;
    return rc;
}

/* ---- token ---- */

static const struct type *token_wants(const struct cql_call *call)
{
    bool is_key = call->table != NULL && call->count == call->table->partition_count;
    return is_key ? call->table->columns[call->index].type : NULL;
}

static int token_value(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    struct buffer token = {.arena = context->arena};
    struct bytes key;
    int rc = cql_key_of(call->argument_count, arguments, context, &key);
    if (rc != 0)
        return rc;
    type_value_put_bigint(&token, murmur3_token(key.data, key.size));
    *value = cql_function_keep(&token);
    return 0;
}

/* ---- blobs and JSON ---- */

static const struct type *blob_type(const struct cql_call *call)
{
    (void)call;
    return type_builtin(TYPE_BLOB);
}

int cql_function_same(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value)
{
    (void)call;
    (void)context;
    *value = arguments[0];
    return 0;
}

static int from_blob_value(const struct cql_expression *call, const struct bytes *arguments,
                           const struct cql_context *context, struct bytes *value)
{
    *value = arguments[0];
    if (arguments[0].size == 0 || type_validate(call->type, arguments[0], NULL) == 0)
        return 0;
    struct buffer text = {.arena = context->arena};
    type_format(type_builtin(TYPE_BLOB), arguments[0], &text);
    buffer_append_text(&text, " is not a valid binary representation for type ");
    type_print(call->type, &text);
    return cql_invalid(context->fault, "In call to function system.%s, value %.*s",
                       call->function->name, CQL_SHOW(buffer_view(&text)));
}

static int to_json_value(const struct cql_expression *call, const struct bytes *arguments,
                         const struct cql_context *context, struct bytes *value)
{
    struct buffer text = {.arena = context->arena};
    const struct type *type = call->arguments[0]->type;
    bool may_be_empty =
        type->kind == TYPE_TEXT || type->kind == TYPE_ASCII || type->kind == TYPE_BLOB;
    bool is_null = arguments[0].size == 0 && !may_be_empty;
    cql_json_format(type, is_null ? CQL_NULL : arguments[0], &text);
    *value = cql_function_keep(&text);
    return 0;
}

static const struct type *wanted_result(const struct cql_call *call)
{
    return call->result;
}

static int from_json_value(const struct cql_expression *call, const struct bytes *arguments,
                           const struct cql_context *context, struct bytes *value)
{
    const struct cql_json *json;
    struct buffer bytes = {.arena = context->arena};
    struct error err = {0};
    int rc = cql_json_read(arguments[0], context->arena, &json, &err);
    if (rc == 0 && json->kind == CQL_JSON_NULL)
        return 0;
    rc = rc == 0 ? cql_json_value(json, call->type, context->arena, &bytes, &err) : rc;
    *value = cql_function_keep(&bytes);
    if (rc == 0)
        return 0;
    return cql_function_fails(call, context, "%s", err.text);
}

/* ---- the table ---- */

#define BLOB_FUNCTION(name, kind, wants, result, value)                                            \
    {                                                                                              \
        name, kind, 1, 1, false, false, wants, result, value, false, NULL, NULL                    \
    }
#define BLOB_FUNCTIONS(name, kind)                                                                 \
    BLOB_FUNCTION(#name "asblob", kind, cql_function_kind, blob_type, cql_function_same),          \
        BLOB_FUNCTION(#name "_as_blob", kind, cql_function_kind, blob_type, cql_function_same),    \
        BLOB_FUNCTION("blobas" #name, kind, blob_type, cql_function_kind, from_blob_value),        \
        BLOB_FUNCTION("blob_as_" #name, kind, blob_type, cql_function_kind, from_blob_value)

static const struct cql_function functions[] = {
    {"token", TYPE_BIGINT, 1, CQL_ARGUMENTS_MAX, false, false, token_wants, cql_function_kind,
     token_value, false, NULL, NULL},
    {"tojson", TYPE_TEXT, 1, 1, false, true, NULL, cql_function_kind, to_json_value, false,
     "a value argument", "any"},
    {"to_json", TYPE_TEXT, 1, 1, false, true, NULL, cql_function_kind, to_json_value, false,
     "a value argument", "any"},
    {"fromjson", TYPE_TEXT, 1, 1, false, false, cql_function_kind, wanted_result, from_json_value,
     false, "an argument of type text", "text"},
    {"from_json", TYPE_TEXT, 1, 1, false, false, cql_function_kind, wanted_result, from_json_value,
     false, "an argument of type text", "text"},
    BLOB_FUNCTIONS(ascii, TYPE_ASCII),
    BLOB_FUNCTIONS(bigint, TYPE_BIGINT),
    BLOB_FUNCTIONS(boolean, TYPE_BOOLEAN),
    BLOB_FUNCTIONS(counter, TYPE_COUNTER),
    BLOB_FUNCTIONS(date, TYPE_DATE),
    BLOB_FUNCTIONS(decimal, TYPE_DECIMAL),
    BLOB_FUNCTIONS(double, TYPE_DOUBLE),
    BLOB_FUNCTIONS(duration, TYPE_DURATION),
    BLOB_FUNCTIONS(float, TYPE_FLOAT),
    BLOB_FUNCTIONS(inet, TYPE_INET),
    BLOB_FUNCTIONS(int, TYPE_INT),
    BLOB_FUNCTIONS(smallint, TYPE_SMALLINT),
    BLOB_FUNCTIONS(text, TYPE_TEXT),
    BLOB_FUNCTIONS(time, TYPE_TIME),
    BLOB_FUNCTIONS(timestamp, TYPE_TIMESTAMP),
    BLOB_FUNCTIONS(timeuuid, TYPE_TIMEUUID),
    BLOB_FUNCTIONS(tinyint, TYPE_TINYINT),
    BLOB_FUNCTIONS(uuid, TYPE_UUID),
    BLOB_FUNCTIONS(varchar, TYPE_TEXT),
    BLOB_FUNCTIONS(varint, TYPE_VARINT),
    {.name = NULL},
};

const struct cql_function *cql_function_in(const struct cql_function *table, struct bytes name)
{
    while (table->name != NULL && !bytes_equal(bytes_text(table->name), name))
        table++;
    return table->name == NULL ? NULL : table;
}

const struct cql_function *cql_function_find(struct bytes name)
{
    const struct cql_function *const tables[] = {functions, cql_function_time, cql_function_math,
                                                 cql_function_collection, cql_function_aggregate};
    const struct cql_function *found = NULL;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && found == NULL; i++)
        found = cql_function_in(tables[i], name);
    return found;
}

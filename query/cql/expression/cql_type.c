#include "query/cql/expression/cql_type.h"

#include "query/cql/syntax/cql_print.h"

const char *cql_type_name(struct cql_scope *scope, const struct type *type)
{
    struct buffer text = {.arena = scope->arena};
    type_print(type, &text);
    return cql_text(scope->arena, buffer_view(&text));
}

int cql_type_resolve(struct cql_scope *scope, const struct cql_type *type,
                     const struct type **type_out)
{
    struct buffer text = {.arena = scope->arena};
    struct error err = {0};
    cql_print_type_plainly(type, &text);
    int rc = schema_parse_type(scope->schema, scope->keyspace, buffer_view(&text), scope->arena,
                               type_out, &err);
    return rc == 0 ? 0 : cql_fault_of(scope->fault, &err);
}

/* Only pairs of types that Cassandra accepts fit, although the bytes would be valid for more
 * types. */
static bool fits_number(const struct type *to, const struct type *from)
{
    bool is_bigint = from->kind == TYPE_BIGINT || from->kind == TYPE_TIMESTAMP;
    switch ((int)to->kind) {
    case TYPE_BIGINT:
        return is_bigint || from->kind == TYPE_COUNTER;
    case TYPE_TIMESTAMP:
    case TYPE_TIME:
        return from->kind == TYPE_BIGINT;
    case TYPE_VARINT:
        return is_bigint || from->kind == TYPE_INT;
    default:
        return false;
    }
}

bool cql_type_fits(const struct type *to, const struct type *from)
{
    if (to->kind == TYPE_BLOB || (to->kind == TYPE_TEXT && from->kind == TYPE_ASCII) ||
        (to->kind == TYPE_UUID && from->kind == TYPE_TIMEUUID) ||
        (to->kind == TYPE_COUNTER && from->kind == TYPE_BIGINT) || fits_number(to, from)) {
        return true;
    }
    if (to->kind != from->kind || to->argument_count != from->argument_count)
        return false;
    bool fits = true;
    for (uint32_t i = 0; i < to->argument_count && fits; i++)
        fits = cql_type_fits(to->arguments[i], from->arguments[i]);
    return fits;
}

const struct type *cql_type_of(struct arena *arena, enum type_kind kind,
                               const struct type *const *arguments, uint32_t count)
{
    struct type *type = arena_alloc(arena, sizeof(*type), 16);
    *type = (struct type){
        .kind = kind, .frozen = true, .argument_count = count, .arguments = arguments};
    return type;
}

const struct type *cql_type_collection_of(struct arena *arena, enum type_kind kind,
                                          const struct type *element)
{
    const struct type **arguments = arena_alloc(arena, sizeof(*arguments), 16);
    arguments[0] = element;
    return cql_type_of(arena, kind, arguments, 1);
}

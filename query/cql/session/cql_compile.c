/* Parses the text, makes the plan, and names the markers. */
#include "query/cql/session/cql_compile.h"

#include <string.h>

#include "base/hash64.h"
#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_metadata.h"
#include "query/cql/common/cql_scope.h"
#include "query/cql/read/cql_select.h"
#include "query/cql/syntax/cql_parse.h"
#include "query/cql/write/cql_idempotency.h"
#include "query/cql/write/cql_write.h"
#include "storage/schema/schema.h"
#include "storage/schema/type.h"

enum { COMPILED_CHUNK = 4 * 1024 };

bool cql_compile_changes_rows(const struct cql_compiled *compiled)
{
    enum cql_statement_kind kind = compiled->statement->kind;
    return kind == CQL_STATEMENT_INSERT || kind == CQL_STATEMENT_UPDATE ||
           kind == CQL_STATEMENT_DELETE;
}

static int compile_statement(struct cql_scope *scope, struct cql_compiled *compiled)
{
    const struct cql_statement *statement = compiled->statement;
    if (cql_compile_changes_rows(compiled))
        return cql_write_compile(scope, statement, &compiled->write);
    if (statement->kind == CQL_STATEMENT_SELECT)
        return cql_select_compile(scope, &statement->select, &compiled->select);
    if (statement->kind == CQL_STATEMENT_BATCH)
        return cql_write_compile_batch(scope, &statement->batch, &compiled->batch);
    return 0;
}

static int parse(struct cql_compiled *compiled, struct bytes text, struct cql_fault *fault)
{
    struct error err = {0};
    int rc = cql_parse(text, compiled->arena, NULL, &compiled->statement, &err);
    if (rc == ERROR_INVALID)
        return cql_refuse(fault, CQL_SYNTAX_ERROR, "%s", err.text);
    return rc == 0 ? 0 : cql_fault_of(fault, &err);
}

/* A marker that the statement's kind does not use has no type, and is described as a blob. */
static void name_markers(const struct cql_compiled *compiled)
{
    for (uint32_t i = 0; i < compiled->marker_count; i++) {
        struct cql_column *marker = &compiled->markers[i];
        if (compiled->statement->marker_names[i].size > 0)
            marker->name = cql_text(compiled->arena, compiled->statement->marker_names[i]);
        if (marker->type == NULL) {
            *marker = (struct cql_column){"", "", marker->name == NULL ? "?" : marker->name,
                                          type_builtin(TYPE_BLOB)};
        }
    }
}

struct cql_metadata cql_compile_results(const struct cql_compiled *compiled)
{
    if (compiled->statement->kind == CQL_STATEMENT_SELECT)
        return compiled->select->metadata;
    return (struct cql_metadata){0};
}

/* A prepared statement needs both ids.  Other statements need only the id of their result columns,
 * if they have any. */
static void identify_columns(struct cql_compiled *compiled, struct arena *arena)
{
    struct cql_metadata binds = {compiled->markers, compiled->marker_count};
    struct cql_metadata results = cql_compile_results(compiled);
    bool is_prepared = compiled->arena != arena;
    if (is_prepared)
        cql_metadata_id(&binds, arena, compiled->bind_id);
    if (is_prepared || results.count > 0)
        cql_metadata_id(&results, arena, compiled->result_id);
}

struct compilation {
    struct cql_execution *execution;
    struct bytes text;
    struct cql_compiled *compiled;
};

static int compile_step(void *context)
{
    struct compilation *compilation = context;
    struct cql_compiled *compiled = compilation->compiled;
    struct cql_fault *fault = &compilation->execution->fault;
    int rc = cql_idempotency_hint(compilation->text, compiled->arena, &compiled->request_id, fault);
    rc = rc == 0 ? parse(compiled, compilation->text, fault) : rc;
    if (rc != 0)
        return rc;
    compiled->marker_count = compiled->statement->marker_count;
    compiled->markers = arena_alloc_zeroed(
        compiled->arena, (compiled->marker_count + 1) * sizeof(struct cql_column), 16);
    struct cql_scope scope = {.cql = compilation->execution->cql,
                              .schema = compiled->schema,
                              .keyspace = compiled->keyspace,
                              .arena = compiled->arena,
                              .markers = compiled->markers,
                              .marker_count = compiled->marker_count,
                              .fault = fault};
    rc = compile_statement(&scope, compiled);
    if (rc != 0)
        return rc;
    name_markers(compiled);
    identify_columns(compiled, compilation->execution->arena);
    return 0;
}

struct cql_compiled *cql_compile(struct cql_execution *execution, struct arena *arena,
                                 struct bytes text, const char *keyspace)
{
    struct store *store = execution->cql->options.store;
    struct cql_compiled *compiled = arena_alloc_zeroed(arena, sizeof(*compiled), 16);
    compiled->references = 1;
    compiled->arena = arena;
    compiled->schema = schema_ref((struct schema *)(uintptr_t)store_schema(store));
    compiled->keyspace = cql_text(compiled->arena, bytes_text(keyspace));
    compiled->hash = hash64(text.data, text.size) ^ hash64(keyspace, strlen(keyspace));
    struct compilation compilation = {.execution = execution, .text = text, .compiled = compiled};
    int rc = text.size <= CQL_TEXT_MAX
                 ? cql_guard(execution, compile_step, &compilation)
                 : cql_invalid(&execution->fault, "the statement has %zu bytes, over %d", text.size,
                               CQL_TEXT_MAX);
    if (rc != 0) {
        cql_compiled_unref(compiled);
        return NULL;
    }
    return compiled;
}

struct cql_compiled *cql_compile_to_keep(struct cql_execution *execution, struct bytes text,
                                         const char *keyspace)
{
    struct arena *arena = arena_new(COMPILED_CHUNK);
    arena_set_budget(arena, &execution->arenas);
    struct cql_compiled *compiled = cql_compile(execution, arena, text, keyspace);
    arena_set_budget(arena, NULL);
    if (compiled == NULL)
        arena_free(arena);
    else
        compiled->is_kept = true;
    return compiled;
}

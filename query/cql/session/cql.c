/* Prepares each request, and calls the file that carries out its kind of statement.
 *
 *   cql_run ─▶ (a schema change is under way: wait) ─▶ compile or look up ─▶ bind ─▶ run
 *                                                                                     │
 *   answer ◀──────────────────────── cql_execution_finish ◀───────────────────────────┘
 *
 * A statement runs with the schema with which it was compiled. */
#include "query/cql/session/cql.h"

#include <stdio.h>

#include "query/cql/common/cql_arena.h"
#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_slice.h"
#include "query/cql/common/cql_trace.h"
#include "query/cql/common/cql_wait.h"
#include "query/cql/read/cql_select.h"
#include "query/cql/schema/cql_describe.h"
#include "query/cql/schema/cql_schema.h"
#include "query/cql/session/cql_batch.h"
#include "query/cql/session/cql_bind.h"
#include "query/cql/session/cql_compile.h"
#include "query/cql/session/cql_prepared.h"
#include "query/cql/system/cql_system.h"
#include "query/cql/write/cql_row_size.h"
#include "query/cql/write/cql_write.h"
#include "storage/engine/store.h"
#include "storage/schema/schema.h"
#include "base/memory.h"

enum {
    RESERVE_SHARE = 4 /* 1 / RESERVE_SHARE of the memory is reserved for small requests */
};

/* ---- the server ---- */

struct cql *cql_new(const struct cql_options *options)
{
    struct cql *cql = memory_zeroed(1, sizeof(*cql));
    cql->options = *options;
    if (cql->options.work_bytes_max == 0)
        cql->options.work_bytes_max = CQL_WORK_BYTES_DEFAULT;
    cql->quota = (struct quota){.limit = cql->options.work_bytes_max,
                                .reserve = cql->options.work_bytes_max / RESERVE_SHARE,
                                .little = CQL_LITTLE_BYTES};
    cql->system_schema = cql_system_schema();
    cql->prepared = cql_prepared_cache_new(options->store, options->prepared_bytes_max > 0
                                                               ? options->prepared_bytes_max
                                                               : CQL_PREPARED_BYTES_DEFAULT);
    cql->traces = cql_trace_list_new();
    cql->row_sizes = cql_row_size_bounds_new(cql->options.work_bytes_max / CQL_ROW_SHARE);
    cql_slice_init(cql);
    cql_wait_init(cql);
    return cql;
}

void cql_free(struct cql *cql)
{
    check(cql->running == 0);
    cql_slice_stop(cql);
    cql_wait_stop(cql);
    cql_arena_free_all(cql);
    cql_prepared_cache_free(cql->prepared);
    cql_trace_list_free(cql->traces);
    cql_row_size_bounds_free(cql->row_sizes);
    schema_unref(cql->system_schema);
    memory_free(cql);
}

void cql_on_schema_change(struct cql *cql,
                          void (*changed)(void *context, const struct cql_schema_change *change),
                          void *context)
{
    cql->schema_changed = changed;
    cql->schema_changed_context = context;
}

bool cql_is_crowded(const struct cql *cql)
{
    return cql->is_crowded;
}

bool cql_is_full(const struct cql *cql)
{
    return cql->is_full;
}

void cql_on_room(struct cql *cql, void (*has_room)(void *context), void *context)
{
    cql->has_room = has_room;
    cql->has_room_context = context;
}

void cql_set_statement_time(struct cql *cql, int64_t time_us)
{
    check(time_us >= 0);
    cql->statement_time_us = time_us;
}

void cql_stop(struct cql *cql)
{
    cql->is_stopping = true;
    cql_wait_sweep(cql);
}

/* ---- running ---- */

static void use_run(struct cql_execution *execution)
{
    const char *name = cql_text(execution->arena, execution->compiled->statement->object.name.name);
    const struct schema *schema = store_schema(execution->cql->options.store);
    if (schema_keyspace(schema, name) == NULL &&
        schema_keyspace(execution->cql->system_schema, name) == NULL) {
        cql_invalid(&execution->fault, "Keyspace '%s' does not exist", name);
        cql_execution_finish_fault(execution);
        return;
    }
    struct cql_session *session = execution->session;
    int length = snprintf(session->keyspace, sizeof(session->keyspace), "%s", name);
    check(length > 0 && (size_t)length < sizeof(session->keyspace));
    struct cql_result result = {.kind = CQL_RESULT_SET_KEYSPACE, .keyspace = session->keyspace};
    cql_execution_finish(execution, &result);
}

static const char *refused_kind(enum cql_statement_kind kind)
{
    if (kind == CQL_STATEMENT_VIEW)
        return "Materialized views are disabled. Enable in cassandra.yaml to use.";
    if (kind == CQL_STATEMENT_TRIGGER)
        return "Triggers are not supported by daybook";
    if (kind == CQL_STATEMENT_FUNCTION) {
        return "User-defined functions are disabled in cassandra.yaml - set "
               "user_defined_functions_enabled=true to enable";
    }
    return kind >= CQL_STATEMENT_CREATE_ROLE && kind <= CQL_STATEMENT_DROP_IDENTITY
               ? "Roles and permissions are not supported by this version of daybook"
               : NULL;
}

static bool only_reads(enum cql_statement_kind kind)
{
    return kind == CQL_STATEMENT_SELECT || kind == CQL_STATEMENT_USE ||
           kind == CQL_STATEMENT_DESCRIBE;
}

static void run_compiled(struct cql_execution *execution)
{
    enum cql_statement_kind kind = execution->compiled->statement->kind;
    const char *refusal = refused_kind(kind);
    if (refusal != NULL) {
        cql_invalid(&execution->fault, "%s", refusal);
        cql_execution_finish_fault(execution);
        return;
    }
    if (execution->session->read_only && !only_reads(kind)) {
        cql_refuse(&execution->fault, CQL_UNAUTHORIZED, "this door is for reading only");
        cql_execution_finish_fault(execution);
        return;
    }
    if (cql_compile_changes_rows(execution->compiled))
        cql_write_run(execution);
    else if (kind == CQL_STATEMENT_SELECT)
        cql_select_run(execution);
    else if (kind == CQL_STATEMENT_BATCH)
        cql_write_run_batch(execution);
    else if (kind == CQL_STATEMENT_USE)
        use_run(execution);
    else if (kind == CQL_STATEMENT_DESCRIBE)
        cql_describe_run(execution);
    else
        cql_schema_run(execution);
}

static void trace_parsing(struct cql_execution *execution)
{
    cql_trace(execution, "Parsing %.*s", CQL_SHOW(execution->request.text));
}

static int prepare_work(struct cql_execution *execution)
{
    const struct cql_request *request = &execution->request;
    if (request->kind == CQL_EXECUTE) {
        execution->compiled = cql_prepared_get(execution, request->text);
    } else {
        trace_parsing(execution);
        execution->compiled =
            cql_compile(execution, execution->arena, request->text, execution->keyspace);
    }
    if (execution->compiled == NULL)
        return ERROR_INVALID;
    if (cql_compile_changes_rows(execution->compiled))
        execution->write_type = "SIMPLE";
    else if (execution->compiled->statement->kind == CQL_STATEMENT_BATCH)
        execution->write_type = "BATCH";
    int rc = cql_bind(execution, execution->compiled, request->values, request->value_count,
                      request->values_are_named, &execution->values);
    if (rc == 0)
        cql_trace_values(execution);
    return rc;
}

static void prepare_run(struct cql_execution *execution)
{
    struct cql_result result = {.kind = CQL_RESULT_PREPARED};
    trace_parsing(execution);
    if (cql_prepared_add(execution, &result.prepared) != 0)
        cql_execution_finish_fault(execution);
    else
        cql_execution_finish(execution, &result);
}

static void work_run(struct cql_execution *execution)
{
    enum cql_request_kind kind = execution->request.kind;
    if (cql_guard_look(execution) != 0)
        cql_execution_finish_fault(execution);
    else if (execution->cql->schema_is_changing)
        cql_wait_for_schema(execution);
    else if (kind == CQL_BATCH)
        cql_batch_run(execution);
    else if (kind == CQL_EDIT)
        cql_schema_run(execution);
    else if (kind == CQL_PREPARE)
        prepare_run(execution);
    else if (prepare_work(execution) != 0)
        cql_execution_finish_fault(execution);
    else
        run_compiled(execution);
}

/* A schema change by a command has no time limit. */
static void set_deadline(struct cql_execution *execution)
{
    int64_t time_us = execution->cql->statement_time_us;
    execution->must_end = execution->request.kind == CQL_EDIT;
    if (time_us > 0 && !execution->must_end)
        execution->deadline_us = world_monotonic_us(execution->cql->options.world) + time_us;
}

void cql_run(struct cql_session *session, const struct cql_request *request, cql_answer answer,
             void *context)
{
    struct cql *cql = session->cql;
    struct arena *arena = cql_arena_take(cql);
    struct cql_execution *execution = arena_alloc(arena, sizeof(*execution), 16);
    int64_t now_us = store_now_us(cql->options.store);
    *execution =
        (struct cql_execution){.cql = cql,
                               .session = session,
                               .request = *request,
                               .answer = answer,
                               .answer_context = context,
                               .arena = arena,
                               .fault = {.arena = arena},
                               .now_s = request->has_now ? request->now_s : now_us / 1000000,
                               .resume = work_run};
    cql_guard_begin(execution);
    execution->keyspace = cql_text(
        arena, request->keyspace.size > 0 ? request->keyspace : bytes_text(session->keyspace));
    if (request->is_traced)
        cql_trace_begin(execution);
    cql->running++;
    set_deadline(execution);
    cql_slice_start(execution);
}

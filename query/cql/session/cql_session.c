/* Requests: from a client's statement to the file that carries it out, and back.
 *
 *   cql_run ─▶ (a schema change is under way: wait) ─▶ compile or look up ─▶ bind ─▶ run
 *                                                                                   │
 *   answer ◀────────────────────────── cql_finish ◀─────────────────────────────────┘
 *
 * What decides correctness: a work is answered once and then gone; a statement runs against the
 * schema it was compiled with, and one that a change made out of date is compiled again first. */
#include "query/cql/session/cql_session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/cql/common/cql_guard.h"
#include "query/cql/write/cql_once.h"
#include "query/cql/syntax/cql_parse.h"
#include "query/cql/session/cql_prepared.h"
#include "query/cql/syntax/cql_print.h"
#include "query/cql/common/cql_private.h"
#include "query/cql/session/cql_slice.h"
#include "query/cql/common/cql_trace.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
    RESERVE_SHARE = 4, /* of what requests may hold: for those that hold little */
    BYTES_AN_ITEM = 64 /* of a value that is validated, for arena_count */
};

/* ---- the server ---- */

static void store_drained(void *context)
{
    struct cql *cql = context;
    struct cql_work *work = cql->stalled_first;
    cql->stalled_first = NULL;
    cql->stalled_last = NULL;
    while (work != NULL) {
        struct cql_work *next = work->next;
        work->next = NULL;
        work->resume(work);
        work = next;
    }
}

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
    cql->traces = cql_traces_new();
    cql_slices_init(cql);
    store_on_drain(options->store, store_drained, cql);
    return cql;
}

void cql_free(struct cql *cql)
{
    check(cql->running == 0);
    cql_slices_stop(cql);
    while (cql->spare_count > 0)
        arena_free(cql->spare[--cql->spare_count]);
    store_on_drain(cql->options.store, NULL, cql);
    cql_prepared_cache_free(cql->prepared);
    cql_traces_free(cql->traces);
    schema_unref(cql->system_schema);
    memory_free(cql);
}

struct arena *cql_arena_take(struct cql *cql)
{
    return cql->spare_count > 0 ? cql->spare[--cql->spare_count] : arena_new(CQL_ARENA_CHUNK);
}

void cql_arena_give(struct cql *cql, struct arena *arena)
{
    arena_set_budget(arena, NULL);
    if (cql->spare_count == CQL_ARENAS_SPARE_MAX || arena_held(arena) > CQL_ARENA_CHUNK) {
        arena_free(arena);
        return;
    }
    arena_reset(arena);
    cql->spare[cql->spare_count++] = arena;
}

uint32_t cql_running(const struct cql *cql)
{
    return cql->running;
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

void cql_session_init(struct cql_session *session, struct cql *cql)
{
    *session = (struct cql_session){.cql = cql};
}

void cql_session_leave(struct cql_session *session, int64_t grace_us)
{
    struct clock *clock = session->cql->options.world->clock;
    session->leaves_us = clock->monotonic_us(clock) + grace_us;
    session->leaves = true;
    cql_sweep(session->cql);
}

void cql_set_statement_time(struct cql *cql, int64_t time_us)
{
    cql->statement_time_us = time_us;
}

void cql_stop(struct cql *cql)
{
    cql->is_stopping = true;
    cql_sweep(cql);
}

/* ---- compiling ---- */

static int compile_statement(struct cql_scope *scope, struct cql_compiled *compiled)
{
    const struct cql_statement *statement = compiled->statement;
    switch ((int)statement->kind) {
    case CQL_STATEMENT_SELECT:
        return cql_select_compile(scope, &statement->select, &compiled->select);
    case CQL_STATEMENT_INSERT:
    case CQL_STATEMENT_UPDATE:
    case CQL_STATEMENT_DELETE:
        return cql_write_compile(scope, statement, &compiled->write);
    case CQL_STATEMENT_BATCH:
        return cql_batch_compile(scope, &statement->batch, &compiled->batch);
    default:
        return 0;
    }
}

static int parse(struct cql_compiled *compiled, struct bytes text, struct cql_fault *fault)
{
    struct error err = {0};
    int rc = cql_parse(text, compiled->arena, NULL, &compiled->statement, &err);
    if (rc == ERROR_INVALID)
        return cql_refuse(fault, CQL_SYNTAX_ERROR, "%s", err.text);
    return rc == 0 ? 0 : cql_fault_of(fault, &err);
}

/* A marker that no place gave a type is one that the statement's kind does not read. */
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

/* What a guarded step compiles. */
struct compilation {
    struct cql_work *work;
    struct bytes text;
    struct cql_compiled *compiled;
};

static int compile_step(void *context)
{
    struct compilation *compilation = context;
    struct cql_compiled *compiled = compilation->compiled;
    struct cql_fault *fault = &compilation->work->fault;
    int rc = cql_once_hint(compilation->text, compiled->arena, &compiled->request_id, fault);
    rc = rc == 0 ? parse(compiled, compilation->text, fault) : rc;
    if (rc != 0)
        return rc;
    compiled->marker_count = compiled->statement->marker_count;
    size_t size = (compiled->marker_count + 1) * sizeof(struct cql_column);
    compiled->markers = arena_alloc(compiled->arena, size, 16);
    memset(compiled->markers, 0, size);
    struct cql_scope scope = {.cql = compilation->work->cql,
                              .schema = compiled->schema,
                              .keyspace = compiled->keyspace,
                              .arena = compiled->arena,
                              .markers = compiled->markers,
                              .marker_count = compiled->marker_count,
                              .fault = fault};
    rc = compile_statement(&scope, compiled);
    if (rc == 0)
        name_markers(compiled);
    return rc;
}

struct cql_compiled *cql_compile(struct cql_work *work, struct arena *arena, struct bytes text,
                                 const char *keyspace)
{
    struct store *store = work->cql->options.store;
    struct cql_compiled *compiled = arena_alloc_zeroed(arena, sizeof(*compiled), 16);
    compiled->references = 1;
    compiled->arena = arena;
    compiled->schema = schema_ref((struct schema *)(uintptr_t)store_schema(store));
    compiled->keyspace = cql_text(compiled->arena, bytes_text(keyspace));
    compiled->hash = hash64(text.data, text.size) ^ hash64(keyspace, strlen(keyspace));
    struct compilation compilation = {.work = work, .text = text, .compiled = compiled};
    int rc = text.size <= CQL_TEXT_MAX
                 ? cql_guard(work, compile_step, &compilation)
                 : cql_invalid(&work->fault, "the statement has %zu bytes, over %d", text.size,
                               CQL_TEXT_MAX);
    if (rc != 0) {
        cql_compiled_unref(compiled);
        return NULL;
    }
    return compiled;
}

struct cql_compiled *cql_compile_to_keep(struct cql_work *work, struct bytes text,
                                         const char *keyspace)
{
    struct arena *arena = arena_new(CQL_COMPILED_CHUNK);
    arena_set_budget(arena, &work->arenas);
    struct cql_compiled *compiled = cql_compile(work, arena, text, keyspace);
    arena_set_budget(arena, NULL);
    if (compiled == NULL)
        arena_free(arena);
    else
        compiled->is_kept = true;
    return compiled;
}

struct cql_compiled *cql_compiled_ref(struct cql_compiled *compiled)
{
    compiled->references++;
    return compiled;
}

void cql_compiled_unref(struct cql_compiled *compiled)
{
    if (compiled == NULL || --compiled->references > 0)
        return;
    schema_unref(compiled->schema);
    if (compiled->is_kept)
        arena_free(compiled->arena);
}

/* ---- names ---- */

int cql_scope_keyspace(struct cql_scope *scope, const struct cql_qualified_name *name,
                       const char **keyspace_out)
{
    *keyspace_out =
        name->keyspace.size > 0 ? cql_text(scope->arena, name->keyspace) : scope->keyspace;
    if ((*keyspace_out)[0] != '\0')
        return 0;
    return cql_invalid(scope->fault,
                       "No keyspace has been specified. USE a keyspace, or explicitly "
                       "specify keyspace.tablename");
}

int cql_find_table(struct cql_scope *scope, const struct cql_qualified_name *name,
                   const struct table **table_out)
{
    const char *keyspace;
    int rc = cql_scope_keyspace(scope, name, &keyspace);
    if (rc != 0)
        return rc;
    const char *table_name = cql_text(scope->arena, name->name);
    *table_out = schema_table_named(scope->cql->system_schema, keyspace, table_name);
    if (*table_out == NULL)
        *table_out = schema_table_named(scope->schema, keyspace, table_name);
    if (*table_out != NULL)
        return 0;
    bool has_keyspace = schema_keyspace(scope->schema, keyspace) != NULL ||
                        schema_keyspace(scope->cql->system_schema, keyspace) != NULL;
    if (!has_keyspace)
        return cql_invalid(scope->fault, "keyspace %s does not exist", keyspace);
    return cql_invalid(scope->fault, "table %s does not exist", table_name);
}

const struct column *cql_find_column(struct cql_scope *scope, const struct table *table,
                                     struct bytes name)
{
    const struct column *column = table_column_named(table, name);
    if (column == NULL) {
        struct buffer shown = {.arena = scope->arena};
        cql_print_name(name, &shown);
        cql_invalid(scope->fault, "Undefined column name %.*s in table %s.%s",
                    CQL_SHOW(buffer_view(&shown)), table->keyspace, table->name);
    }
    return column;
}

bool cql_is_virtual(const struct cql *cql, const struct table *table)
{
    return schema_table_named(cql->system_schema, table->keyspace, table->name) != NULL;
}

bool cql_is_system_keyspace(const char *keyspace)
{
    static const char *const names[] = {"system",
                                        "system_schema",
                                        "system_auth",
                                        "system_traces",
                                        "system_virtual_schema",
                                        "system_views",
                                        "system_distributed"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], keyspace) == 0)
            return true;
    return false;
}

/* ---- works ---- */

void cql_warn(struct cql_work *work, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length > 0 && work->warning_count < CQL_WARNINGS_MAX)
        work->warnings[work->warning_count++] = cql_text(work->arena, bytes_text(text));
}

void cql_finish(struct cql_work *work, struct cql_result *result)
{
    struct cql *cql = work->cql;
    result->warnings = work->warnings;
    result->warning_count = work->warning_count;
    result->trace_id = cql_trace_end(work);
    if (work->echo.name.size > 0 && result->kind != CQL_RESULT_ERROR) {
        result->payload = &work->echo;
        result->payload_count = 1;
    }
    cql->running--;
    cql_slice_account(work);
    work->answer(work->answer_context, result);
    if (work->release != NULL)
        work->release(work);
    cql_compiled_unref(work->compiled);
    cql_budget_end(work);
    cql_arena_give(cql, work->arena);
}

void cql_finish_void(struct cql_work *work)
{
    struct cql_result result = {.kind = CQL_RESULT_VOID};
    cql_finish(work, &result);
}

void cql_finish_fault(struct cql_work *work)
{
    struct cql_result result = {.kind = CQL_RESULT_ERROR, .error = work->fault.error};
    cql_finish(work, &result);
}

static void queue_add(struct cql_work **first, struct cql_work **last, struct cql_work *work)
{
    work->next = NULL;
    if (*first == NULL)
        *first = work;
    else
        (*last)->next = work;
    *last = work;
}

void cql_stall(struct cql_work *work)
{
    cql_trace(work, "Waiting for room in the memtable");
    queue_add(&work->cql->stalled_first, &work->cql->stalled_last, work);
    cql_sweep_soon(work->cql);
}

void cql_wait_for_schema(struct cql_work *work)
{
    cql_trace(work, "Waiting for a change of the schema");
    queue_add(&work->cql->waiting_first, &work->cql->waiting_last, work);
    cql_sweep_soon(work->cql);
}

/* The waiting ones go on in their order; a change among them makes those behind it wait again. */
void cql_schema_settled(struct cql *cql)
{
    cql->schema_is_changing = false;
    while (cql->waiting_first != NULL && !cql->schema_is_changing) {
        struct cql_work *work = cql->waiting_first;
        cql->waiting_first = work->next;
        work->resume(work);
    }
}

/* ---- binding ---- */

static int bind_one(struct cql_work *work, const struct cql_column *marker,
                    const struct cql_value *given, struct cql_value *value)
{
    *value = *given;
    if (given->state != CQL_VALUE_SET)
        return 0;
    struct error err = {0};
    arena_count(work->arena, 1 + given->data.size / BYTES_AN_ITEM);
    if (given->data.data == NULL)
        value->data = bytes_of("", 0);
    if (type_validate_given(marker->type, value->data, &err) != 0)
        return cql_fault_of(&work->fault, &err);
    if (given->data.size > 0)
        value->data = type_normalize(marker->type, value->data, work->arena);
    return 0;
}

/* Values in the order of their names; of one name the first given. */
static int order_names(const void *a, const void *b)
{
    const struct cql_value *const *left = a;
    const struct cql_value *const *right = b;
    int order = bytes_compare((*left)->name, (*right)->name);
    return order != 0 ? order : (*left > *right) - (*left < *right);
}

static const struct cql_value **sort_names(struct arena *arena, const struct cql_value *values,
                                           uint32_t count)
{
    const struct cql_value **sorted = arena_alloc(arena, (count + 1) * sizeof(*sorted), 16);
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &values[i];
    if (count > 1)
        qsort(sorted, count, sizeof(*sorted), order_names);
    return sorted;
}

static const struct cql_value *value_named(const struct cql_value *const *sorted, uint32_t count,
                                           struct bytes name)
{
    uint32_t from = 0;
    uint32_t until = count;
    while (from < until) {
        uint32_t middle = from + (until - from) / 2;
        if (bytes_compare(sorted[middle]->name, name) < 0)
            from = middle + 1;
        else
            until = middle;
    }
    return from < count && bytes_equal(sorted[from]->name, name) ? sorted[from] : NULL;
}

/* Another number of values than markers, as Cassandra says it at each door. */
static int refuse_count(struct cql_work *work, uint32_t wanted, uint32_t count)
{
    if (work->request.kind == CQL_QUERY)
        return cql_invalid(&work->fault, "Invalid amount of bind variables");
    return cql_invalid(&work->fault, "%chere were %u markers(?) in CQL but %u bound variables",
                       work->request.kind == CQL_BATCH ? 'T' : 't', wanted, count);
}

static int bind(struct cql_work *work, const struct cql_compiled *compiled,
                const struct cql_value *values, uint32_t value_count, bool are_named,
                const struct cql_value **values_out)
{
    uint32_t count = compiled->marker_count;
    if (!are_named && value_count != count)
        return refuse_count(work, count, value_count);
    struct cql_value *bound = arena_alloc(work->arena, (count + 1) * sizeof(*bound), 16);
    *values_out = bound;
    const struct cql_value **sorted =
        are_named ? sort_names(work->arena, values, value_count) : NULL;
    const struct cql_value *last = NULL; /* given for the marker before, of the same type */
    for (uint32_t i = 0; i < count; i++) {
        const struct cql_column *marker = &compiled->markers[i];
        const struct cql_value *given =
            are_named ? value_named(sorted, value_count, bytes_text(marker->name)) : &values[i];
        if (given == NULL) {
            return cql_invalid(&work->fault, "Invalid amount of bind variables: %s is missing",
                               marker->name);
        }
        bool is_last = given == last && type_equal(marker->type, marker[-1].type);
        int rc = is_last ? 0 : bind_one(work, marker, given, &bound[i]);
        if (is_last)
            bound[i] = bound[i - 1];
        if (rc != 0)
            return rc;
        last = given;
    }
    return 0;
}

struct binding {
    struct cql_work *work;
    const struct cql_compiled *compiled;
    const struct cql_value *values;
    uint32_t value_count;
    bool are_named;
    const struct cql_value **values_out;
};

static int bind_step(void *context)
{
    const struct binding *binding = context;
    return bind(binding->work, binding->compiled, binding->values, binding->value_count,
                binding->are_named, binding->values_out);
}

int cql_bind(struct cql_work *work, const struct cql_compiled *compiled,
             const struct cql_value *values, uint32_t value_count, bool are_named,
             const struct cql_value **values_out)
{
    struct binding binding = {work, compiled, values, value_count, are_named, values_out};
    return cql_guard(work, bind_step, &binding);
}

/* ---- running ---- */

static void use_run(struct cql_work *work)
{
    const char *name = cql_text(work->arena, work->compiled->statement->object.name.name);
    const struct schema *schema = store_schema(work->cql->options.store);
    if (schema_keyspace(schema, name) == NULL &&
        schema_keyspace(work->cql->system_schema, name) == NULL) {
        cql_invalid(&work->fault, "Keyspace '%s' does not exist", name);
        cql_finish_fault(work);
        return;
    }
    struct cql_session *session = work->session;
    int length = snprintf(session->keyspace, sizeof(session->keyspace), "%s", name);
    check(length > 0 && (size_t)length < sizeof(session->keyspace));
    struct cql_result result = {.kind = CQL_RESULT_SET_KEYSPACE, .keyspace = session->keyspace};
    cql_finish(work, &result);
}

/* What daybook refuses by name, whatever is in it. */
static const char *refused_kind(enum cql_statement_kind kind)
{
    switch ((int)kind) {
    case CQL_STATEMENT_CREATE_VIEW:
    case CQL_STATEMENT_ALTER_VIEW:
        return "Materialized views are disabled. Enable in cassandra.yaml to use.";
    case CQL_STATEMENT_CREATE_TRIGGER:
    case CQL_STATEMENT_DROP_TRIGGER:
        return "Triggers are not supported by daybook";
    case CQL_STATEMENT_CREATE_FUNCTION:
    case CQL_STATEMENT_DROP_FUNCTION:
    case CQL_STATEMENT_CREATE_AGGREGATE:
    case CQL_STATEMENT_DROP_AGGREGATE:
        return "User-defined functions are disabled in cassandra.yaml - set "
               "user_defined_functions_enabled=true to enable";
    case CQL_STATEMENT_CREATE_ROLE:
    case CQL_STATEMENT_ALTER_ROLE:
    case CQL_STATEMENT_DROP_ROLE:
    case CQL_STATEMENT_GRANT_ROLE:
    case CQL_STATEMENT_REVOKE_ROLE:
    case CQL_STATEMENT_LIST_ROLES:
    case CQL_STATEMENT_LIST_USERS:
    case CQL_STATEMENT_LIST_SUPERUSERS:
    case CQL_STATEMENT_GRANT:
    case CQL_STATEMENT_REVOKE:
    case CQL_STATEMENT_LIST_PERMISSIONS:
    case CQL_STATEMENT_ADD_IDENTITY:
    case CQL_STATEMENT_DROP_IDENTITY:
        return "Roles and permissions are not supported by this version of daybook";
    default:
        return NULL;
    }
}

static bool only_reads(enum cql_statement_kind kind)
{
    return kind == CQL_STATEMENT_SELECT || kind == CQL_STATEMENT_USE ||
           kind == CQL_STATEMENT_DESCRIBE;
}

static void run_compiled(struct cql_work *work)
{
    enum cql_statement_kind kind = work->compiled->statement->kind;
    const char *refusal = refused_kind(kind);
    if (refusal != NULL) {
        cql_invalid(&work->fault, "%s", refusal);
        cql_finish_fault(work);
        return;
    }
    if (work->session->read_only && !only_reads(kind)) {
        cql_refuse(&work->fault, CQL_UNAUTHORIZED, "this door is for reading only");
        cql_finish_fault(work);
        return;
    }
    switch ((int)kind) {
    case CQL_STATEMENT_SELECT:
        cql_select_run(work);
        return;
    case CQL_STATEMENT_INSERT:
    case CQL_STATEMENT_UPDATE:
    case CQL_STATEMENT_DELETE:
        cql_write_run(work);
        return;
    case CQL_STATEMENT_BATCH:
        cql_batch_run(work);
        return;
    case CQL_STATEMENT_USE:
        use_run(work);
        return;
    case CQL_STATEMENT_DESCRIBE:
        cql_describe_run(work);
        return;
    default:
        cql_schema_run(work);
        return;
    }
}

static void trace_parsing(struct cql_work *work)
{
    cql_trace(work, "Parsing %.*s", CQL_SHOW(work->request.text));
}

/* What a timeout names a write from now on. */
static const char *write_type(const struct cql_statement *statement)
{
    switch ((int)statement->kind) {
    case CQL_STATEMENT_INSERT:
    case CQL_STATEMENT_UPDATE:
    case CQL_STATEMENT_DELETE:
        return "SIMPLE";
    case CQL_STATEMENT_BATCH:
        return "BATCH";
    default:
        return NULL;
    }
}

static int prepare_work(struct cql_work *work)
{
    const struct cql_request *request = &work->request;
    if (request->kind == CQL_EXECUTE) {
        work->compiled = cql_prepared_get(work, request->text);
    } else {
        trace_parsing(work);
        work->compiled = cql_compile(work, work->arena, request->text, work->keyspace);
    }
    if (work->compiled == NULL)
        return ERROR_INVALID;
    work->write_type = write_type(work->compiled->statement);
    int rc = cql_bind(work, work->compiled, request->values, request->value_count,
                      request->values_are_named, &work->values);
    if (rc == 0)
        cql_trace_values(work);
    return rc;
}

static void prepare_run(struct cql_work *work)
{
    struct cql_result result = {.kind = CQL_RESULT_PREPARED};
    trace_parsing(work);
    if (cql_prepared_add(work, &result.prepared) != 0) {
        cql_finish_fault(work);
        return;
    }
    cql_finish(work, &result);
}

static void work_run(struct cql_work *work)
{
    if (cql_guard_look(work) != 0) {
        cql_finish_fault(work);
        return;
    }
    if (work->cql->schema_is_changing) {
        cql_wait_for_schema(work);
        return;
    }
    if (work->request.kind == CQL_BATCH) {
        cql_batch_run_request(work);
        return;
    }
    if (work->request.kind == CQL_EDIT) {
        cql_schema_run(work);
        return;
    }
    if (work->request.kind == CQL_PREPARE) {
        prepare_run(work);
        return;
    }
    if (prepare_work(work) != 0) {
        cql_finish_fault(work);
        return;
    }
    run_compiled(work);
}

/* A change by a command has no client that waits for it. */
static void set_deadline(struct cql_work *work)
{
    struct clock *clock = work->cql->options.world->clock;
    int64_t time_us = work->cql->statement_time_us;
    work->must_end = work->request.kind == CQL_EDIT;
    if (time_us > 0 && !work->must_end)
        work->deadline_us = clock->monotonic_us(clock) + time_us;
}

void cql_run(struct cql_session *session, const struct cql_request *request, cql_answer answer,
             void *context)
{
    struct cql *cql = session->cql;
    struct arena *arena = cql_arena_take(cql);
    struct cql_work *work = arena_alloc(arena, sizeof(*work), 16);
    int64_t now_us = store_now_us(cql->options.store);
    *work = (struct cql_work){.cql = cql,
                              .session = session,
                              .request = *request,
                              .answer = answer,
                              .answer_context = context,
                              .arena = arena,
                              .fault = {.arena = arena},
                              .now_s = request->has_now ? request->now_s : now_us / 1000000,
                              .resume = work_run};
    cql_budget_begin(work);
    work->keyspace = cql_text(arena, request->keyspace.size > 0 ? request->keyspace
                                                                : bytes_text(session->keyspace));
    if (request->is_traced)
        cql_trace_begin(work);
    cql->running++;
    set_deadline(work);
    cql_slice_start(work);
}

#include <stdarg.h>
#include <stdio.h>

#include "query/cql/common/cql_arena.h"
#include "query/cql/common/cql_compiled.h"
#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_slice.h"
#include "query/cql/common/cql_trace.h"

void cql_execution_read(struct cql_execution *execution, const struct read_request *request,
                        store_page page, void *context)
{
    struct error err = {0};
    int rc = store_read(execution->cql->options.store, request, page, context, &err);
    if (rc != 0)
        page(context, rc, &err, NULL);
}

void cql_execution_warn(struct cql_execution *execution, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length > 0 && execution->warning_count < CQL_WARNINGS_MAX)
        execution->warnings[execution->warning_count++] =
            cql_text(execution->arena, bytes_text(text));
}

void cql_execution_finish(struct cql_execution *execution, struct cql_result *result)
{
    struct cql *cql = execution->cql;
    result->extras.warnings = execution->warnings;
    result->extras.warning_count = execution->warning_count;
    result->extras.trace_id = cql_trace_end(execution);
    if (execution->echo.name.size > 0 && result->kind != CQL_RESULT_ERROR) {
        result->extras.payload = &execution->echo;
        result->extras.payload_count = 1;
    }
    cql->running--;
    cql_slice_account(execution);
    execution->answer(execution->answer_context, result);
    if (execution->release != NULL)
        execution->release(execution);
    cql_compiled_unref(execution->compiled);
    cql_guard_end(execution);
    cql_arena_give(cql, execution->arena);
}

void cql_execution_finish_void(struct cql_execution *execution)
{
    struct cql_result result = {.kind = CQL_RESULT_VOID};
    cql_execution_finish(execution, &result);
}

void cql_execution_finish_fault(struct cql_execution *execution)
{
    struct cql_result result = {.kind = CQL_RESULT_ERROR, .error = execution->fault.error};
    cql_execution_finish(execution, &result);
}

/* The warnings of a request, and its end.
 *
 * What must hold: a work is answered once, and then it is gone; what it used is its session's. */
#include <stdarg.h>
#include <stdio.h>

#include "query/cql/common/cql_arena.h"
#include "query/cql/common/cql_compiled.h"
#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_slice.h"
#include "query/cql/common/cql_trace.h"

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
    cql_guard_end(work);
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

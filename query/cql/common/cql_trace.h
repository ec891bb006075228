/* cql_trace: what happened to the requests that asked to be traced: system_traces.
 *
 * A trace belongs to its request's execution until that is answered, and then to the server, which
 * keeps the last ones in memory; a restart forgets them.  It is there before the answer that names
 * it, so that a client which asks for it at once finds it whole.
 *
 *     cql_trace(execution, "Read %u rows", count);      nothing for an execution that is not traced
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_TRACE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_TRACE_H

#include "base/uuid.h"
#include "query/cql/common/cql_compiled.h"

enum {
    CQL_TRACES_MAX = 256,                /* kept, */
    CQL_TRACES_BYTES_MAX = 4 << 20,      /* with so many bytes; the oldest leave first */
    CQL_TRACE_EVENTS_MAX = 100,          /* of a request; the last says that there were more */
    CQL_TRACE_TEXT_MAX = 1000,           /* bytes shown of a statement or of a bound value */
    CQL_TRACE_PARAMETERS_MAX = 64
};

struct cql_trace_event {
    struct cql_trace_event *next;
    const char *activity;
    int64_t elapsed_us;
    uint8_t id[UUID_SIZE];
};

struct cql_trace {
    STAILQ_ENTRY(cql_trace) next;        /* the next younger one */
    struct arena *arena;                 /* holds all of it, this struct too */
    uint8_t id[UUID_SIZE];
    const char *request;
    const char *parameters[2 * CQL_TRACE_PARAMETERS_MAX];    /* names and values in turn */
    uint32_t parameter_count;            /* of both */
    struct cql_address client, coordinator;
    int64_t started_us;                  /* since 1970 */
    int64_t began_us;                    /* on the monotonic clock */
    int64_t duration_us;
    int64_t last_us;                     /* the last event's time, since 1970 */
    struct cql_trace_event *first, **end;
    uint32_t event_count;
};

/* Those that are kept, the oldest first. */
struct cql_trace_list {
    STAILQ_HEAD(, cql_trace) all;
    uint32_t count;
    size_t bytes;
};

struct cql_trace_list *cql_trace_list_new(void);
void cql_trace_list_free(struct cql_trace_list *traces);

/* Begin the trace of an execution whose request is set. */
void cql_trace_begin(struct cql_execution *execution);
/* An event of a traced execution, now. */
void cql_trace(struct cql_execution *execution, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The values that were bound to the execution's statement, as parameters of its session. */
void cql_trace_values(struct cql_execution *execution);
/* Hand the trace over to the server.  Its id, which is valid until the server forgets it; NULL: the
 * execution is not traced. */
const uint8_t *cql_trace_end(struct cql_execution *execution);
#endif

/* cql_trace: records the events of traced requests, for the tables of keyspace system_traces.
 *
 * The execution owns its trace until the request is answered.  The server then keeps the newest
 * traces in memory.  A trace is complete in system_traces before its request is answered.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_TRACE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_TRACE_H

#include "base/uuid.h"
#include "query/cql/common/cql_compiled.h"

enum {
    CQL_TRACES_MAX = 256,
    CQL_TRACES_BYTES_MAX = 4 << 20,      /* bytes of all kept traces */
    CQL_TRACE_EVENTS_MAX = 100,          /* the last event says that there were more */
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
    STAILQ_ENTRY(cql_trace) next;
    struct arena *arena;                 /* holds the whole trace, this struct included */
    uint8_t id[UUID_SIZE];
    const char *request;
    const char *parameters[2 * CQL_TRACE_PARAMETERS_MAX];    /* name, value, name, ... */
    uint32_t parameter_count;
    struct cql_address client, coordinator;
    int64_t started_us;                  /* since 1970 */
    int64_t began_us;                    /* on the monotonic clock */
    int64_t duration_us;
    int64_t last_us;                     /* the time in the last event's id, since 1970 */
    struct cql_trace_event *first, **end;
    uint32_t event_count;
};

/* Kept traces, the oldest first. */
struct cql_trace_list {
    STAILQ_HEAD(, cql_trace) all;
    uint32_t count;
    size_t bytes;
};

struct cql_trace_list *cql_trace_list_new(void);
void cql_trace_list_free(struct cql_trace_list *traces);

/* Begin a trace of the execution, whose request must be set. */
void cql_trace_begin(struct cql_execution *execution);
/* Add an event, if the execution is traced. */
void cql_trace(struct cql_execution *execution, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cql_trace_values(struct cql_execution *execution);
/* Complete the trace, and show it in system_traces.  Returns the trace's id, which is valid until
 * the server drops the trace, or NULL if the execution is not traced. */
const uint8_t *cql_trace_end(struct cql_execution *execution);
#endif

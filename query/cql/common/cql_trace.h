/* cql_trace: the events of requests that are traced, which system_traces shows.
 *
 * A trace belongs to the execution of its request until the request is answered, and then to the
 * server, which keeps the newest traces, in memory only.  A trace is complete in system_traces
 * before its request is answered, so that a client can read it as soon as the answer has come.
 *
 *     cql_trace(execution, "Read %u rows", count);      no effect if the execution is not traced
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_TRACE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_TRACE_H

#include "base/uuid.h"
#include "query/cql/common/cql_compiled.h"

enum {
    CQL_TRACES_MAX = 256,                /* traces that are kept */
    CQL_TRACES_BYTES_MAX = 4 << 20,      /* of all kept traces; the oldest ones are dropped */
    CQL_TRACE_EVENTS_MAX = 100,          /* of a request; the last one says that there were more */
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
    STAILQ_ENTRY(cql_trace) next;        /* the next newer one */
    struct arena *arena;                 /* of the whole trace, this struct included */
    uint8_t id[UUID_SIZE];
    const char *request;
    const char *parameters[2 * CQL_TRACE_PARAMETERS_MAX];    /* name, value, name, ... */
    uint32_t parameter_count;            /* names and values */
    struct cql_address client, coordinator;
    int64_t started_us;                  /* since 1970 */
    int64_t began_us;                    /* on the monotonic clock */
    int64_t duration_us;
    int64_t last_us;                     /* the last event's time, since 1970 */
    struct cql_trace_event *first, **end;
    uint32_t event_count;
};

/* The traces that are kept, the oldest first. */
struct cql_trace_list {
    STAILQ_HEAD(, cql_trace) all;
    uint32_t count;
    size_t bytes;
};

struct cql_trace_list *cql_trace_list_new(void);
void cql_trace_list_free(struct cql_trace_list *traces);

/* Begin the trace of an execution whose request is set. */
void cql_trace_begin(struct cql_execution *execution);
/* Add an event now, if the execution is traced. */
void cql_trace(struct cql_execution *execution, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Add the values bound to the execution's statement to the parameters of its trace. */
void cql_trace_values(struct cql_execution *execution);
/* End the trace and give it to the server.  The result is its id, valid until the server drops the
 * trace; NULL: the execution is not traced. */
const uint8_t *cql_trace_end(struct cql_execution *execution);
#endif

/* cql_trace: what happened to the requests that asked to be traced: system_traces.
 *
 * A trace belongs to its request's work until that is answered, and then to the server, which keeps
 * the last ones in memory; a restart forgets them.  It is there before the answer that names it, so
 * that a client which asks for it at once finds it whole.
 *
 *     cql_trace(work, "Read %u rows", count);      nothing for a work that is not traced
 */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_TRACE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_TRACE_H

#include "query/cql/system/cql_system.h"

enum {
    CQL_TRACES_MAX = 256,                /* kept, */
    CQL_TRACES_BYTES_MAX = 4 << 20,      /* with so many bytes; the oldest leave first */
    CQL_TRACE_EVENTS_MAX = 100,          /* of a request; the last says that there were more */
    CQL_TRACE_TEXT_MAX = 1000            /* bytes shown of a statement or of a bound value */
};

struct cql_trace;
struct cql_traces;

struct cql_traces *cql_traces_new(void);
void cql_traces_free(struct cql_traces *traces);

/* Begin the trace of a work whose request is set. */
void cql_trace_begin(struct cql_work *work);
/* An event of a traced work, now. */
void cql_trace(struct cql_work *work, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The values that were bound to the work's statement, as parameters of its session. */
void cql_trace_values(struct cql_work *work);
/* Hand the trace over to the server.  Its id, which is valid until the server forgets it; NULL: the
 * work is not traced. */
const uint8_t *cql_trace_end(struct cql_work *work);

/* The rows of system_traces.sessions or events. */
void cql_trace_rows(struct cql_system_maker *maker, const struct cql_traces *traces);
#endif

/* cql_session: the state of one connection. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_SESSION_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_SESSION_H

#include <sys/queue.h>

#include "codec/cql_request.h"
#include "storage/schema/schema.h"

struct cql;
struct cql_execution;
STAILQ_HEAD(cql_execution_queue, cql_execution);

struct cql_session {
    struct cql *cql;
    bool read_only;                      /* only SELECT, USE and DESCRIBE are allowed */
    bool leaves;
    int64_t leaves_us;                   /* monotonic; from then on only schema changes and requests
                                          * that the store has yet to answer continue */
    char keyspace[SCHEMA_NAME_MAX + 1];  /* "": no USE yet */
    char user[128];                      /* "": no login */
    struct cql_address client;
    struct cql_address local;            /* the server's end of the connection */
    struct cql_execution_queue ready;
    TAILQ_ENTRY(cql_session) ready_link;
    int64_t used_us, used_at_us;         /* time used of the engine thread, halved each second; when
                                          * it was last halved */
};

/* The caller keeps the session until its last request is answered. */
void cql_session_init(struct cql_session *session, struct cql *cql);
/* Call this when the client has left, or has closed its side and may have left.  The session's
 * requests continue for `grace_us`. */
void cql_session_leave(struct cql_session *session, int64_t grace_us);
#endif

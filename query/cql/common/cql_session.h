/* cql_session: the state of one connection: its keyspace, its user, and its share of the engine
 * thread's time. */
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
    bool read_only;                      /* SELECT, USE and DESCRIBE only */
    bool leaves;                         /* the client has left, or may have left */
    int64_t leaves_us;                   /* monotonic: the end of the grace period.  After it only
                                          * changes of the schema, and requests that wait for an
                                          * answer of the store, go on */
    char keyspace[SCHEMA_NAME_MAX + 1];  /* "": no USE yet */
    char user[128];                      /* "": there was no login */
    struct cql_address client;
    struct cql_address local;            /* the server's end of the connection */
    struct cql_execution_queue ready;    /* executions that wait for a slice (cql_slice.h) */
    TAILQ_ENTRY(cql_session) ready_link;
    int64_t used_us, used_at_us;         /* the time of the engine thread that was used, which is
                                          * halved now and then, and when it last was
                                          * (cql_slice.c) */
};

/* The session must live until its last request is answered. */
void cql_session_init(struct cql_session *session, struct cql *cql);
/* The client has left, or has closed its side and may have left: after the grace period only the
 * requests named at leaves_us go on. */
void cql_session_leave(struct cql_session *session, int64_t grace_us);
#endif

/* cql_session: a connection's side of the server: its keyspace, its user, and its share of the
 * engine thread's time.  One per connection, and cheap. */
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
    bool leaves;                         /* no answer is wanted any more; from leaves_us on */
    int64_t leaves_us;                   /* what is not with the store ends; monotonic */
    char keyspace[SCHEMA_NAME_MAX + 1];  /* "": no USE yet */
    char user[128];                      /* "": nobody logged in */
    struct cql_address client;
    struct cql_address local;            /* the end of the connection that is ours */
    struct cql_execution_queue ready;    /* those that wait for a slice (cql_slice.h) */
    TAILQ_ENTRY(cql_session) ready_link;
    int64_t used_us, used_at_us;         /* of the engine thread's time; when it was halved last */
};

/* The session lives until its last request is answered. */
void cql_session_init(struct cql_session *session, struct cql *cql);
/* Its client is gone, or has said its last and may be: requests that are not with the store yet end
 * in so long. */
void cql_session_leave(struct cql_session *session, int64_t grace_us);
#endif

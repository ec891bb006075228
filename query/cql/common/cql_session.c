#include "query/cql/common/cql_session.h"

#include "query/cql/common/cql_private.h"
#include "query/cql/common/cql_wait.h"

void cql_session_init(struct cql_session *session, struct cql *cql)
{
    *session = (struct cql_session){.cql = cql};
    STAILQ_INIT(&session->ready);
}

void cql_session_leave(struct cql_session *session, int64_t grace_us)
{
    session->leaves_us = world_monotonic_us(session->cql->options.world) + grace_us;
    session->leaves = true;
    cql_wait_sweep(session->cql);
}

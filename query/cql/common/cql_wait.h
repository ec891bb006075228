/* cql_wait: queues for executions that wait until the store accepts writes or until a change of the
 * schema ends, and for changes of the schema that wait until the writes under way have ended.
 *
 *     write    begin ─▶ ... ─▶ end
 *     change             wait ─▶ ... ─▶ settled
 *
 * A schema change begins when no write is under way, and other requests wait until it has settled.
 * Therefore no statement sees a schema that is not durable.  A waiting execution ends with a fault
 * when its time is over, its client has left or the server stops, unless its `must_end` is set.
 *
 * Its specification is tests/unit/test_cql_session.c and tests/cql/keyspaces_tables_types.cql. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_WAIT_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_WAIT_H

#include "query/cql/common/cql_private.h"

void cql_wait_init(struct cql *cql);
void cql_wait_stop(struct cql *cql);

/* Call execution->resume when the store accepts writes again. */
void cql_wait_for_room(struct cql_execution *execution);
/* Call execution->resume in a later loop turn, when the schema change under way has settled. */
void cql_wait_for_schema(struct cql_execution *execution);

/* A write ends when it is applied or refused. */
void cql_wait_write_begin(struct cql *cql);
void cql_wait_write_end(struct cql *cql);
/* Begin a schema change; no other may be under way.  execution->resume is called when no write is
 * under way, perhaps before this function returns. */
void cql_wait_for_writes(struct cql_execution *execution);
/* Call this when the schema change has been answered.  Waiting requests are then resumed in later
 * loop turns. */
void cql_wait_schema_settled(struct cql *cql);

void cql_wait_sweep(struct cql *cql);
#endif

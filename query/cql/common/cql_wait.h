/* cql_wait: executions that wait: for room in the store, for a change of the schema to end, or, the
 * change itself, for the writes under way.
 *
 *     write    begin ─▶ ... ─▶ end
 *     change             wait ─▶ ... ─▶ settled
 *
 * A change begins when no write is under way, and what comes meanwhile goes on when it has settled.
 * So no statement sees a schema that is not durable, and the tables of a write stay until it is
 * applied.  What waits ends with a fault when its time is over, its client is gone or the server
 * stops.
 *
 * Its specification is tests/unit/test_cql_session.c and tests/cql/keyspaces_tables_types.cql. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_WAIT_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_WAIT_H

#include "query/cql/common/cql_private.h"

void cql_wait_init(struct cql *cql);
void cql_wait_stop(struct cql *cql);

/* Until the store has room; then the execution goes on at execution->resume. */
void cql_wait_for_room(struct cql_execution *execution);
/* Until the change of the schema that is under way has settled. */
void cql_wait_for_schema(struct cql_execution *execution);

/* A write is under way, and then no more. */
void cql_wait_write_begin(struct cql *cql);
void cql_wait_write_end(struct cql *cql);
/* A change of the schema is under way from now on; it goes on at execution->resume, possibly at
 * once, when no write is.  There is no other. */
void cql_wait_for_writes(struct cql_execution *execution);
void cql_wait_schema_settled(struct cql *cql);

/* Executions that may wait no longer are answered. */
void cql_wait_sweep(struct cql *cql);
#endif

/* cql_wait: executions that wait for room in the store or for the end of a change of the schema,
 * and changes of the schema that wait for the writes under way.
 *
 *     write    begin ─▶ ... ─▶ end
 *     change             wait ─▶ ... ─▶ settled
 *
 * A change begins when no write is under way, and other requests wait until it has settled.
 * Therefore no statement sees a schema that is not durable, and no table is dropped before a write
 * to it is applied.  An execution that waits for room or for a change ends with a fault when its
 * time is over, its client has left or the server stops, unless its `must_end` is set.
 *
 * Its specification is tests/unit/test_cql_session.c and tests/cql/keyspaces_tables_types.cql. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_WAIT_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_WAIT_H

#include "query/cql/common/cql_private.h"

void cql_wait_init(struct cql *cql);
void cql_wait_stop(struct cql *cql);

/* Wait until the store has room; then execution->resume is called. */
void cql_wait_for_room(struct cql_execution *execution);
/* Wait until the change of the schema that is under way has settled; execution->resume is called in
 * a later turn of the loop. */
void cql_wait_for_schema(struct cql_execution *execution);

/* cql_wait_write_begin: a write begins.  cql_wait_write_end: it has been applied or refused. */
void cql_wait_write_begin(struct cql *cql);
void cql_wait_write_end(struct cql *cql);
/* Begin a change of the schema; no other may be under way.  execution->resume is called when no
 * write is under way, maybe before this returns. */
void cql_wait_for_writes(struct cql_execution *execution);
/* The change of the schema is durable or refused: the requests that wait for it are resumed in
 * later turns of the loop. */
void cql_wait_schema_settled(struct cql *cql);

/* Answer the executions that may not wait any longer. */
void cql_wait_sweep(struct cql *cql);
#endif

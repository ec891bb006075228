/* cql_prepared: keeps the server's prepared statements, by the MD5 of keyspace and text.
 *
 * Their memory is bounded: the least recently used statement is dropped first.  A request to
 * execute a dropped statement is answered 0x2500, after which drivers prepare it again.  A
 * statement of an older schema is compiled again when it is to be executed.  If it is refused now,
 * or its markers or the columns of its result have changed, it is dropped, because clients keep the
 * descriptions of both.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_PREPARED_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_PREPARED_H

#include "query/cql/common/cql_compiled.h"

struct cql_prepared_cache *cql_prepared_cache_new(struct store *store, size_t bytes_max);
void cql_prepared_cache_free(struct cql_prepared_cache *cache);

/* Compile the text of the execution's request, and keep the statement.  What *prepared_out points
 * to belongs to the statement or to the execution's arena.  The caller answers before another
 * request runs, since that request may drop the statement. */
int cql_prepared_add(struct cql_execution *execution, struct cql_prepared *prepared_out);
/* The compiled statement of a prepared id; the caller owns a reference.  NULL: 0x2500 is in the
 * fault. */
struct cql_compiled *cql_prepared_get(struct cql_execution *execution, struct bytes id);
#endif

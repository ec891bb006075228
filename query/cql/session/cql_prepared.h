/* cql_prepared: keeps the server's prepared statements, by the MD5 of keyspace and text.
 *
 * When the memory for statements is used up, the least recently used statement is dropped first.  A
 * request to execute a dropped statement is answered 0x2500 (unprepared).  A statement of an older
 * schema is compiled again before it is executed.  It is dropped if the newer schema refuses it or
 * changes its markers or result columns.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_PREPARED_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_PREPARED_H

#include "query/cql/common/cql_compiled.h"

struct cql_prepared_cache *cql_prepared_cache_new(struct store *store, size_t bytes_max);
void cql_prepared_cache_free(struct cql_prepared_cache *cache);

/* Prepare the request's text.  The pointers in `*prepared_out` point into the statement and into
 * the execution's arena.  The caller must answer before another request runs, because that request
 * may drop the statement. */
int cql_prepared_add(struct cql_execution *execution, struct cql_prepared *prepared_out);
/* Returns the plan with a reference that the caller owns.  NULL: no such statement is kept; the
 * fault is 0x2500. */
struct cql_compiled *cql_prepared_get(struct cql_execution *execution, struct bytes id);
#endif

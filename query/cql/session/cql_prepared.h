/* cql_prepared: keeps the server's prepared statements, by the MD5 of keyspace and text.
 *
 * The least recently used statement is dropped first when their memory is used up.  A request to
 * execute a dropped statement is answered 0x2500.  A statement of an older schema is compiled again
 * before it is executed.  It is dropped if it is refused now, or if its markers or result columns
 * have changed.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_PREPARED_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_PREPARED_H

#include "query/cql/common/cql_compiled.h"

struct cql_prepared_cache *cql_prepared_cache_new(struct store *store, size_t bytes_max);
void cql_prepared_cache_free(struct cql_prepared_cache *cache);

/* What *prepared_out points to belongs to the statement or to the execution's arena.  The caller
 * must answer before another request runs, which may drop the statement. */
int cql_prepared_add(struct cql_execution *execution, struct cql_prepared *prepared_out);
/* The caller owns a reference to the result.  NULL: 0x2500 is in the fault. */
struct cql_compiled *cql_prepared_get(struct cql_execution *execution, struct bytes id);
#endif

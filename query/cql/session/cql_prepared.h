/* cql_prepared: the server's prepared statements, by the MD5 of keyspace and text.
 *
 * Bounded by bytes, the least recently used leaves first; whoever executes one that is gone is told
 * so (0x2500) and prepares it again.  One whose schema is out of date is compiled again under the
 * same id when its columns are as they were, and is gone otherwise: clients keep the columns of its
 * result.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_PREPARED_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_PREPARED_H

#include "query/cql/common/cql_compiled.h"

struct cql_prepared_cache *cql_prepared_cache_new(struct store *store, size_t bytes_max);
void cql_prepared_cache_free(struct cql_prepared_cache *cache);

/* Compile and remember the text of the execution's request; what *prepared_out points to lives in
 * the execution's arena. */
int cql_prepared_add(struct cql_execution *execution, struct cql_prepared *prepared_out);
/* The compiled statement of a prepared id, or NULL and 0x2500 in the fault; referenced. */
struct cql_compiled *cql_prepared_get(struct cql_execution *execution, struct bytes id);
#endif

/* cql_index_build: adds entries to a new index for the rows that its table already has.
 *
 * Its specification is tests/cql/indexes.cql and tests/e2e/test_indexes.py. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_INDEX_BUILD_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_INDEX_BUILD_H

#include "query/cql/common/cql_private.h"

/* Call this when no write is under way.  `built` is called once, perhaps before this function
 * returns, with 0, or with a negative code and the fault. */
void cql_index_build(struct cql_execution *execution, const char *keyspace, const char *name,
                     void (*built)(struct cql_execution *execution, int status));
#endif

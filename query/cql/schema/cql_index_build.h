/* cql_index_build: adds the entries of the rows that a table has to a new index of it.
 *
 * Its specification is tests/cql/indexes.cql and tests/e2e/test_indexes.py. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_INDEX_BUILD_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_INDEX_BUILD_H

#include "query/cql/common/cql_private.h"

/* To be called when no write is under way.  `built` is called once, with 0, or with a negative code
 * and the execution's fault filled. */
void cql_index_build(struct cql_execution *execution, const char *keyspace, const char *name,
                     void (*built)(struct cql_execution *execution, int status));
#endif

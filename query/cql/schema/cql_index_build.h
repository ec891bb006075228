/* cql_index_build: a new index gathers the entries of the rows that are there.
 *
 * Its specification is tests/cql/indexes.cql and tests/e2e/test_indexes.py. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_INDEX_BUILD_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_INDEX_BUILD_H

#include "query/cql/common/cql_private.h"

/* No write is under way.  `built` is called once, with 0 or a status whose fault is filled. */
void cql_index_build(struct cql_execution *execution, const char *keyspace, const char *name,
                     void (*built)(struct cql_execution *execution, int status));
#endif

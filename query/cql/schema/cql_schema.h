/* cql_schema: carries out CREATE, ALTER, DROP and TRUNCATE, and schema changes by commands.
 *
 * A change is durable before any other request sees it.
 *
 * Its specification is tests/cql/cassandra/ddl_*.cql and tests/e2e/test_schema.py. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_H

#include "query/cql/common/cql_private.h"

void cql_schema_run(struct cql_execution *execution);
#endif

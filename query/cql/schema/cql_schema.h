/* cql_schema: CREATE, ALTER, DROP and TRUNCATE, and changes of the schema by commands.
 *
 * A change is a changed copy of the catalogue in a frame of its own: durable, then visible.
 *
 * Its specification is tests/cql/cassandra/ddl_*.cql and tests/e2e/test_schema.py. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_H

#include "query/cql/common/cql_private.h"

/* Ends with cql_execution_finish. */
void cql_schema_run(struct cql_execution *execution);
#endif

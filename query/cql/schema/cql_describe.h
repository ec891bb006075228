/* cql_describe: DESCRIBE: the statements that make what is there, and what the server is.
 *
 * Its specification is tests/cql/describe.cql. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_DESCRIBE_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_DESCRIBE_H

#include "query/cql/common/cql_private.h"

/* Ends with cql_execution_finish. */
void cql_describe_run(struct cql_execution *execution);
#endif

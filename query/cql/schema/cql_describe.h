/* cql_describe: answers DESCRIBE with the CQL that creates the objects of the schema.
 *
 * Its specification is tests/cql/describe.cql. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_DESCRIBE_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_DESCRIBE_H

#include "query/cql/common/cql_private.h"

void cql_describe_run(struct cql_execution *execution);
#endif

/* cql_schema_index: CREATE INDEX and DROP INDEX on a copy of the schema.
 *
 * Its specification is tests/cql/cassandra/ddl_indexes.cql. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_INDEX_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_INDEX_H

#include "query/cql/index/cql_index.h"

/* *name_out: the index's name, made up where none was given; NULL: it is there, and IF NOT EXISTS
 * was said. */
int cql_schema_index_create(struct cql_execution *execution, struct schema *schema,
                            const struct table *table, const struct cql_create_index *create,
                            const char **name_out);
#endif

/* cql_schema_index: adds the index of a CREATE INDEX to a copy of the schema.
 *
 * Its specification is tests/cql/cassandra/ddl_indexes.cql. */
#ifndef DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_INDEX_H
#define DAYBOOK_QUERY_CQL_SCHEMA_CQL_SCHEMA_INDEX_H

#include "query/cql/index/cql_index.h"

/* Drop indexes that are not built, then add the new index.  Sets `*name_out` to its name, or to
 * NULL if the index exists and the statement has IF NOT EXISTS. */
int cql_schema_index_create(struct cql_execution *execution, struct schema *schema,
                            const struct table *table, const struct cql_create_index *create,
                            const char **name_out);
#endif

/* cql_scope: the schema, keyspace and markers of a statement, and the lookup of names in them.
 *
 * Errors have Cassandra's words.
 *
 * Its specification is tests/cql/cassandra/ddl_names.cql. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_SCOPE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_SCOPE_H

#include "query/cql/common/cql_private.h"

struct cql_scope {
    struct cql *cql;
    const struct schema *schema;
    const char *keyspace;                /* "": none */
    struct arena *arena;
    struct cql_column *markers;          /* type NULL: not resolved yet */
    uint32_t marker_count;
    struct cql_fault *fault;
    const struct table *table;
};

/* Returns zeroed items in the scope's arena; `count` may be 0. */
void *cql_scope_array(struct cql_scope *scope, size_t count, size_t item_size);
/* Look a table up, also among the system tables.  ERROR_INVALID with the fault: there is no such
 * table or keyspace, or no keyspace is in use. */
int cql_scope_table(struct cql_scope *scope, const struct cql_qualified_name *name,
                    const struct table **table_out);
/* NULL with the fault: the table has no such column. */
const struct column *cql_scope_column(struct cql_scope *scope, const struct table *table,
                                      struct bytes name);
/* Set `*keyspace_out` to the keyspace of `name`, or to the scope's if the name has none.
 * ERROR_INVALID with the fault: neither has a keyspace. */
int cql_scope_keyspace(struct cql_scope *scope, const struct cql_qualified_name *name,
                       const char **keyspace_out);
/* Whether a table's rows are made for each SELECT instead of stored. */
bool cql_scope_is_virtual(const struct cql *cql, const struct table *table);
/* Whether a keyspace is one of Cassandra's own, which clients may not change. */
bool cql_scope_is_system(const char *keyspace);
#endif

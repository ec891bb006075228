/* cql_scope: what the names of a statement are resolved against, and how they are found.
 *
 * Refusals are in Cassandra's words.
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
    struct cql_column *markers;          /* by number; type NULL until its place is met */
    uint32_t marker_count;
    struct cql_fault *fault;
    const struct table *table;           /* of the statement: markers are shown with it */
};

/* Room for `count` items, which may be 0, zeroed, in the scope's arena. */
void *cql_scope_array(struct cql_scope *scope, size_t count, size_t item_size);
/* The table of a name, system tables too; refused where there is none. */
int cql_scope_table(struct cql_scope *scope, const struct cql_qualified_name *name,
                    const struct table **table_out);
/* The table's column of a name; NULL: refused. */
const struct column *cql_scope_column(struct cql_scope *scope, const struct table *table,
                                      struct bytes name);
/* The keyspace that an unqualified name is in. */
int cql_scope_keyspace(struct cql_scope *scope, const struct cql_qualified_name *name,
                       const char **keyspace_out);
/* Whether a table's rows are made when asked, and not stored. */
bool cql_scope_is_virtual(const struct cql *cql, const struct table *table);
/* Whether clients may not change what is in a keyspace. */
bool cql_scope_is_system(const char *keyspace);
#endif

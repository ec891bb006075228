/* cql_type: resolves, compares and makes types for statements.
 *
 * Its specification is tests/cql/cassandra/ddl_types.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_TYPE_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_TYPE_H

#include "query/cql/common/cql_scope.h"

int cql_type_resolve(struct cql_scope *scope, const struct cql_type *type,
                     const struct type **type_out);
/* The name is in the scope's arena. */
const char *cql_type_name(struct cql_scope *scope, const struct type *type);

/* Whether Cassandra takes a value of type `from` as one of type `to`, with the same bytes. */
bool cql_type_fits(const struct type *to, const struct type *from);

/* Make a frozen type.  The arguments must live as long as the type. */
const struct type *cql_type_of(struct arena *arena, enum type_kind kind,
                               const struct type *const *arguments, uint32_t count);
const struct type *cql_type_collection_of(struct arena *arena, enum type_kind kind,
                                          const struct type *element);
#endif

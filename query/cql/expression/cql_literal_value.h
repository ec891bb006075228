/* cql_literal_value: a literal of one value, such as 12, 'x' or 1h, as a value of a type.
 *
 * Its specification is tests/cql/cassandra/type_literals.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_LITERAL_VALUE_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_LITERAL_VALUE_H

#include "query/cql/syntax/cql_ast.h"
#include "storage/schema/type.h"

/* The type it has where nothing says which is meant. */
const struct type *cql_literal_value_natural(const struct cql_term *term);
/* Whether a literal of this kind may stand for the type at all. */
bool cql_literal_value_fits(const struct cql_term *term, const struct type *type);
/* STRING, INTEGER ...: its kind in Cassandra's refusals. */
const char *cql_literal_value_kind(const struct cql_term *term);
/* Appends the serialized value; ERROR_INVALID in Cassandra's words. */
must_check int cql_literal_value(const struct cql_term *term, const struct type *type,
                                 struct buffer *value, struct error *err);
#endif

/* cql_literal_value: makes values of literals such as 12, 'x' or 1h.
 *
 * Its specification is tests/cql/cassandra/type_literals.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_LITERAL_VALUE_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_LITERAL_VALUE_H

#include "query/cql/syntax/cql_ast.h"
#include "storage/schema/type.h"

/* Returns the literal's natural type: the type that it has if its place wants none. */
const struct type *cql_literal_value_natural(const struct cql_term *term);
/* Whether this kind of literal may have the type.  The literal's text is not checked. */
bool cql_literal_value_fits(const struct cql_term *term, const struct type *type);
/* Returns the name that Cassandra's errors give to the kind of literal: STRING, INTEGER ... */
const char *cql_literal_value_kind(const struct cql_term *term);
/* Append the serialized value.  ERROR_INVALID, in Cassandra's words: the text is no value of the
 * type. */
must_check int cql_literal_value(const struct cql_term *term, const struct type *type,
                                 struct buffer *value, struct error *err);
#endif

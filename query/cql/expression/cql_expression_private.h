/* cql_expression_private: functions that the cql_expression*.c files share. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_EXPRESSION_PRIVATE_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_EXPRESSION_PRIVATE_H

#include "query/cql/expression/cql_expression.h"

/* The arguments of the new expression are NULL. */
struct cql_expression *cql_expression_new(struct cql_scope *scope, enum cql_expression_kind kind,
                                          const struct type *type, uint32_t argument_count);
const char *cql_expression_text(struct cql_scope *scope, const struct cql_term *term);
/* Refuse a term whose type is not known. */
int cql_expression_untyped(struct cql_scope *scope, const struct cql_term *term);
/* Whether a term has a type of its own.  A literal has its natural type if `is_argument`. */
bool cql_expression_is_typed(const struct cql_term *term, bool is_argument);
/* Refuse an expression whose type does not fit the place.  The error calls the expression
 * `what`. */
int cql_expression_fit(struct cql_scope *scope, const struct cql_place *place,
                       const struct cql_expression *expression, const char *what);

/* ---- cql_expression_literal.c ---- */

int cql_expression_literal(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out);
int cql_expression_collection(struct cql_scope *scope, const struct cql_term *term,
                              const struct cql_place *place, struct cql_expression **out);

/* ---- cql_expression_call.c ---- */

int cql_expression_function(struct cql_scope *scope, const struct cql_term *term,
                            const struct cql_place *place, struct cql_expression **out);
int cql_expression_count_rows(struct cql_scope *scope, const struct cql_place *place,
                              struct cql_expression **out);
int cql_expression_operation(struct cql_scope *scope, const struct cql_term *term,
                             const struct cql_place *place, struct cql_expression **out);
int cql_expression_negation(struct cql_scope *scope, const struct cql_term *term,
                            const struct cql_place *place, struct cql_expression **out);
int cql_expression_cast(struct cql_scope *scope, const struct cql_term *term,
                        const struct cql_place *place, struct cql_expression **out);
#endif

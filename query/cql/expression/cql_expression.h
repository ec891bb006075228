/* cql_expression: a term whose names and types are resolved, and its value for a row.
 *
 * A value is serialized in the expression's type; null is a view whose data is NULL.
 *
 * cql_expression.c resolves terms, with calls (cql_expression_call.c) and literals
 * (cql_expression_literal.c); cql_expression_value.c computes values.
 *
 * Its specification is tests/cql/cassandra/type_literals.cql and
 * tests/cql/cassandra/read_order.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_EXPRESSION_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_EXPRESSION_H

#include "query/cql/common/cql_scope.h"
#include "query/cql/expression/cql_row.h"
#include "query/cql/expression/cql_type.h"

enum cql_expression_kind {
    CQL_EXPRESSION_VALUE,                /* a constant: `value` */
    CQL_EXPRESSION_MARKER,               /* the marker of number `index` */
    CQL_EXPRESSION_COLUMN,               /* `column` */
    CQL_EXPRESSION_CALL,
    CQL_EXPRESSION_COLLECTION,           /* a map's arguments are key, value, key, ... */
    CQL_EXPRESSION_FIELD,                /* field `index` of the argument */
    CQL_EXPRESSION_ELEMENT,              /* element of argument 0; its key is argument 1 */
    CQL_EXPRESSION_SLICE,                /* of argument 0, from argument 1 to argument 2; NULL:
                                          * open */
    CQL_EXPRESSION_WRITETIME,            /* of argument 0: all times if `type` is a list, else the
                                          * latest */
    CQL_EXPRESSION_TTL,                  /* in the same way: seconds until expiry */
    CQL_EXPRESSION_AGGREGATE             /* aggregate `index` of the statement */
};

struct cql_function;

struct cql_expression {
    enum cql_expression_kind kind;
    const struct type *type;
    struct bytes value;
    uint32_t index;
    const struct column *column;
    const struct cql_function *function;
    struct cql_expression **arguments;
    uint32_t argument_count;
    const char *receiver;                /* name of the column or argument, for refusals */
    const struct cql_term *named;        /* the term that names the result column; NULL: the
                                          * expression's own term */
};

struct cql_aggregate {
    const struct cql_function *function;
    struct cql_expression *argument;     /* NULL: count(*) */
    const struct type *type;
};

/* What a term may be at its place in the statement. */
struct cql_place {
    const struct type *type;             /* wanted; NULL: any */
    const char *receiver;                /* name of the column or argument, for refusals */
    const struct table *table;           /* its columns may be named; NULL: no columns may be */
    struct cql_aggregate *aggregates;    /* array of CQL_AGGREGATES_MAX; NULL: none are allowed */
    uint32_t *aggregate_count;
    bool is_argument;                    /* with `type` NULL, a literal gets its natural type */
    bool is_checked;                     /* the literal that has the term as an item was checked */
    const char *misfit;                  /* error for a type that does not fit; NULL: the usual
                                          * one */
};
enum { CQL_AGGREGATES_MAX = 256 };

/* ERROR_INVALID with the fault: the term is refused. */
int cql_expression_resolve(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out);
/* Resolve a term in which columns and aggregates are refused. */
int cql_expression_resolve_value(struct cql_scope *scope, const struct cql_term *term,
                                 const struct type *type, const char *receiver,
                                 struct cql_expression **out);

/* Returns the name of a part for errors, such as value(l) or key(m). */
const char *cql_expression_part(struct cql_scope *scope, const char *part, const char *of);
/* Returns the field's index; -1: there is no such field, or `type` is no user type. */
int cql_expression_udt_field(const struct type *type, struct bytes name);

/* ---- values ---- */

struct cql_context {
    struct arena *arena;
    struct cql_fault *fault;
    const struct cql_value *values;      /* bound, by marker number */
    const struct cql_row *row;
    const struct bytes *aggregates;      /* values, by `index` of the expressions */
    struct world *world;                 /* for now() and uuid() */
    struct store *store;
    int64_t now_s;
};

struct cql_context cql_expression_context(struct cql_execution *execution, struct arena *arena);

/* Compute the value for the context's row.  Returns 0, or CQL_UNSET if the expression is an unset
 * marker, or a negative code with the fault. */
enum { CQL_UNSET = 1 };
int cql_expression_value(const struct cql_expression *expression,
                         const struct cql_context *context, struct bytes *value_out);
#endif

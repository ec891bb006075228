/* cql_expression: a term whose names and types are resolved, and its value for a row.
 *
 * Expressions are, among others, the values of INSERT, the right sides of relations, and the
 * selectors of SELECT.  Only selectors and functions after GROUP BY have columns in them, and only
 * selectors have aggregates.  A value is serialized in the expression's type; null is a view whose
 * data is NULL.
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
    CQL_EXPRESSION_CALL,                 /* `function` of the arguments */
    CQL_EXPRESSION_COLLECTION,           /* of the arguments; a map's are key, value, key, ... */
    CQL_EXPRESSION_FIELD,                /* field `index` of the argument */
    CQL_EXPRESSION_ELEMENT,              /* of argument 0 at argument 1 */
    CQL_EXPRESSION_SLICE,                /* of argument 0, from argument 1 to argument 2, each NULL
                                          * where the slice is open */
    CQL_EXPRESSION_WRITETIME,            /* of argument 0: the times of all its cells if `type` is
                                          * a list, else the time of its latest cell */
    CQL_EXPRESSION_TTL,                  /* seconds until expiry, of the same cells */
    CQL_EXPRESSION_AGGREGATE             /* the result of the statement's aggregate `index` */
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
    const char *receiver;                /* the name of the column or argument, for refusals */
    const struct cql_term *named;        /* the term that names a result column; NULL: the term
                                          * from which the expression was resolved */
};

/* An aggregate of a SELECT: its function, and the expression whose values it gets. */
struct cql_aggregate {
    const struct cql_function *function;
    struct cql_expression *argument;     /* NULL: count(*) */
    const struct type *type;             /* of the result */
};

/* The place of a term: what it may contain, and what its value is for. */
struct cql_place {
    const struct type *type;             /* that the value must have; NULL: any */
    const char *receiver;                /* the name of the column or argument, for refusals */
    const struct table *table;           /* whose columns may be named; NULL: none may */
    struct cql_aggregate *aggregates;    /* CQL_AGGREGATES_MAX of them; NULL: none may be used */
    uint32_t *aggregate_count;
    bool is_argument;                    /* where `type` is NULL, a literal gets its natural type */
    bool is_checked;                     /* the term is an item of a literal of a collection, whose
                                          * items were compared with its type already */
    const char *misfit;                  /* the refusal of a value of another type; or NULL */
};
enum { CQL_AGGREGATES_MAX = 256 };

/* Resolve the term at a place.  ERROR_INVALID with the fault: the term is refused. */
int cql_expression_resolve(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out);
/* Resolve a term that gives a value of `type` to `receiver`, and has no columns or aggregates. */
int cql_expression_resolve_value(struct cql_scope *scope, const struct cql_term *term,
                                 const struct type *type, const char *receiver,
                                 struct cql_expression **out);

/* The name that refusals give to a part of the receiver `of`: value(l), key(m). */
const char *cql_expression_part(struct cql_scope *scope, const char *part, const char *of);
/* The number of a user type's field of this name; -1: there is none, or `type` is no user type. */
int cql_expression_udt_field(const struct type *type, struct bytes name);

/* ---- values ---- */

struct cql_context {
    struct arena *arena;                 /* for values that are computed */
    struct cql_fault *fault;
    const struct cql_value *values;      /* bound, by marker number */
    const struct cql_row *row;           /* NULL where no columns are used */
    const struct bytes *aggregates;      /* results, by the `index` of expressions */
    struct world *world;                 /* for now() and uuid() */
    struct store *store;
    int64_t now_s;
};

struct cql_context cql_expression_context(struct cql_execution *execution, struct arena *arena);

/* 0 with the value; CQL_UNSET where the expression is a marker that is unset; negative: refused. */
enum { CQL_UNSET = 1 };
int cql_expression_value(const struct cql_expression *expression,
                         const struct cql_context *context, struct bytes *value_out);
#endif

/* cql_expression: a term whose names and types are known, and its value for a row.
 *
 * The same expressions are the values of INSERT, the right sides of relations, and what SELECT
 * computes; only the last ones name columns and hold aggregates.  A value is serialized in the
 * expression's type; null is a view whose data is NULL.
 *
 * cql_expression.c resolves terms, with calls (cql_expression_call.c) and literals
 * (cql_expression_literal.c); cql_expression_value.c works values out.
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
    CQL_EXPRESSION_MARKER,               /* number `index` */
    CQL_EXPRESSION_COLUMN,               /* `column` */
    CQL_EXPRESSION_CALL,                 /* `function` of the arguments */
    CQL_EXPRESSION_COLLECTION,           /* of the arguments; a map's are key and value in turn */
    CQL_EXPRESSION_FIELD,                /* field `index` of the argument */
    CQL_EXPRESSION_ELEMENT,              /* of argument 0 at argument 1 */
    CQL_EXPRESSION_SLICE,                /* of argument 0 from 1 to 2; either may be NULL */
    CQL_EXPRESSION_WRITETIME,            /* of the column; `index`: 1 the latest of all cells */
    CQL_EXPRESSION_TTL,
    CQL_EXPRESSION_AGGREGATE             /* `index`: its place among the statement's aggregates */
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
    const char *receiver;                /* what the value is for, in refusals */
    const struct cql_term *named;        /* whose name a result column has; NULL: its own term's */
};

/* An aggregate of a SELECT: what it is fed with, and its function. */
struct cql_aggregate {
    const struct cql_function *function;
    struct cql_expression *argument;     /* NULL: count(*) */
    const struct type *type;             /* of the result */
};

/* What a term may hold, and for what it is. */
struct cql_place {
    const struct type *type;             /* wanted; NULL: whatever comes out */
    const char *receiver;                /* the name of what gets the value */
    const struct table *table;           /* columns may be named; NULL: none */
    struct cql_aggregate *aggregates;    /* room for CQL_AGGREGATES_MAX; NULL: none may stand */
    uint32_t *aggregate_count;
    bool is_argument;                    /* a literal brings its own type where none is wanted */
    bool is_checked;                     /* the literal around it was found to fit its type */
    const char *misfit;                  /* how a result of another type is refused; or NULL */
};
enum { CQL_AGGREGATES_MAX = 256 };

int cql_expression_resolve(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out);
/* For a value of `type` named `receiver`: neither columns nor aggregates. */
int cql_expression_resolve_value(struct cql_scope *scope, const struct cql_term *term,
                                 const struct type *type, const char *receiver,
                                 struct cql_expression **out);

/* What a part of something is called in refusals: value(l), key(m). */
const char *cql_expression_part(struct cql_scope *scope, const char *part, const char *of);
/* The number of the field that a user type has under the name; -1: it has none, or is of another
 * kind. */
int cql_expression_udt_field(const struct type *type, struct bytes name);

/* ---- values ---- */

struct cql_context {
    struct arena *arena;                 /* for what is made */
    struct cql_fault *fault;
    const struct cql_value *values;      /* bound, by marker number */
    const struct cql_row *row;           /* NULL: no columns are asked for */
    const struct bytes *aggregates;      /* results, by place */
    struct world *world;                 /* for now() and uuid() */
    struct store *store;
    int64_t now_s;
};

struct cql_context cql_expression_context(struct cql_execution *execution, struct arena *arena);

/* 0 and the value; CQL_UNSET when the expression is a marker that was left unset; or refused. */
enum { CQL_UNSET = 1 };
int cql_expression_value(const struct cql_expression *expression,
                         const struct cql_context *context, struct bytes *value_out);
#endif

/* cql_function: the functions, operators and aggregates of CQL. */
#ifndef DAYBOOK_QUERY_CQL_CQL_FUNCTION_H
#define DAYBOOK_QUERY_CQL_CQL_FUNCTION_H

#include "query/cql/cql_expression.h"

enum { CQL_ARGUMENTS_MAX = 64 };

/* A call: the arguments' types are known, the result's is worked out. */
struct cql_call {
    const struct cql_function *function;
    const struct type *types[CQL_ARGUMENTS_MAX];
    uint32_t count;
    const struct type *result;
    const struct table *table;           /* token() has its key's types */
};

struct cql_function {
    const char *name;                    /* lower case; operators by their sign */
    enum type_kind kind;                 /* of the type it converts to or from, where it does */
    uint32_t arguments_min;
    uint32_t arguments_max;
    bool is_aggregate;
    bool takes_null;                     /* else a null argument makes the result null */
    /* The type that argument `index` should have, where only its literal or marker stands there;
     * NULL: whatever it is. */
    const struct type *(*wants)(const struct cql_call *call, uint32_t index);
    /* The result's type; NULL: the arguments' types do not fit. */
    const struct type *(*result)(const struct cql_call *call);
    int (*value)(const struct cql_expression *call, const struct bytes *arguments,
                 const struct cql_context *context, struct bytes *value_out);
};

/* NULL when there is none. */
const struct cql_function *cql_function_find(struct bytes name);
/* + - * / %, and _ for negation. */
const struct cql_function *cql_function_operator(char operation);
/* CAST to a type: converts the argument's value; NULL when Cassandra has no such conversion. */
const struct cql_function *cql_function_cast(const struct type *from, const struct type *to);

/* ---- aggregates ---- */

const struct cql_function *cql_function_aggregate(struct bytes name);

struct cql_accumulator;
struct cql_accumulator *cql_accumulator_new(const struct cql_aggregate *aggregate);
void cql_accumulator_free(struct cql_accumulator *accumulator);
/* A row's value; CQL_NULL counts for count(*) only. */
int cql_accumulator_add(struct cql_accumulator *accumulator, struct bytes value,
                        struct cql_fault *fault);
/* What the store's stats of a partition say: its rows, how many have a value, and their exact sum.
 * For count(*), count and sum of the column that the stats are of. */
int cql_accumulator_add_stats(struct cql_accumulator *accumulator,
                              const struct partition_stats *stats, struct cql_fault *fault);
/* The result in `arena`, and back to nothing. */
int cql_accumulator_result(struct cql_accumulator *accumulator, struct arena *arena,
                           struct cql_fault *fault, struct bytes *value_out);
#endif

/* cql_function: the functions, operators and aggregates of CQL.
 *
 * Each file has a table of its functions: operators and CAST (cql_function_number.c), mathematics
 * (cql_function_math.c), times (cql_function_time.c), collections (cql_function_collection.c);
 * cql_function.c has the others and the lookup by name.
 *
 * Its specification is tests/cql/cassandra/function_*.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_FUNCTION_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_FUNCTION_H

#include "query/cql/expression/cql_expression.h"

enum { CQL_ARGUMENTS_MAX = 64 };

/* A call that is being resolved.  A function's `wants` may use the types of the arguments before
 * `index`; its `result` may use all types. */
struct cql_call {
    const struct cql_function *function;
    const struct type *types[CQL_ARGUMENTS_MAX];
    uint32_t count;
    uint32_t index;
    const struct type *result;           /* type that the call's place wants; NULL: any */
    const struct table *table;           /* for token() */
    struct arena *arena;
};

struct cql_function {
    const char *name;                    /* in lower case, or an operator's sign */
    enum type_kind kind;                 /* of the result, or of the argument that is converted */
    uint32_t arguments_min;
    uint32_t arguments_max;
    bool is_aggregate;
    bool takes_null;                     /* else a null argument makes the result null */
    /* Returns the type of argument call->index; if the member or the result is NULL, any type fits.
     * If the function has one signature, the argument must fit this type.  If it has several, only
     * a literal or a marker takes this type. */
    const struct type *(*wants)(const struct cql_call *call);
    /* Returns the type of the result; NULL: the types of the arguments do not fit. */
    const struct type *(*result)(const struct cql_call *call);
    int (*value)(const struct cql_expression *call, const struct bytes *arguments,
                 const struct cql_context *context, struct bytes *value_out);
    bool is_overloaded;                  /* has several signatures */
    /* How errors describe the argument, such as "a map argument"; NULL: by its type and number. */
    const char *requires;
    const char *parameter;               /* the argument's type in these errors, such as "map" */
};

/* NULL: no function has this name. */
const struct cql_function *cql_function_find(struct bytes name);
/* `operation` is + - * / or %, or _ for negation. */
const struct cql_function *cql_function_operator(char operation);
/* NULL: Cassandra does not convert between the types. */
const struct cql_function *cql_function_cast(const struct type *from, const struct type *to);
bool cql_function_casts_to(const struct type *to);

/* Each table ends with a function without a name. */
extern const struct cql_function cql_function_math[], cql_function_time[],
    cql_function_collection[], cql_function_aggregate[];
/* NULL: no function in the table has this name. */
const struct cql_function *cql_function_in(const struct cql_function *table, struct bytes name);

/* ---- what functions share ---- */

bool cql_function_is(const struct cql_call *call, uint32_t index, enum type_kind kind);
const struct type *cql_function_kind(const struct cql_call *call);
/* The type of the first argument; NULL: it is no number. */
const struct type *cql_function_number(const struct cql_call *call);
/* The value of a function that changes only the type of its argument. */
int cql_function_same(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value_out);
/* The value of abs, exp, log, log10, round and negation. */
int cql_function_math_value(const struct cql_expression *call, const struct bytes *arguments,
                            const struct cql_context *context, struct bytes *value_out);
/* Returns the buffer's content as a value; an empty buffer makes an empty value, not null. */
struct bytes cql_function_keep(const struct buffer *value);
/* Fill the fault with 0x1400 (function failure). */
int cql_function_fails(const struct cql_expression *call, const struct cql_context *context,
                       const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Add a duration to a timestamp or date (`sign` 1), or subtract it (-1). */
int cql_function_time_shift(const struct cql_expression *call, const struct bytes *arguments,
                            int sign, const struct cql_context *context, struct bytes *value_out);
#endif

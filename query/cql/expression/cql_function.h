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

/* A call that is being resolved.  When `wants` is called, the types of the arguments before number
 * `index` are known; when `result` is called, the types of all arguments. */
struct cql_call {
    const struct cql_function *function;
    const struct type *types[CQL_ARGUMENTS_MAX];
    uint32_t count;
    uint32_t index;
    const struct type *result;           /* that the place requires; NULL: any */
    const struct table *table;           /* token() takes values of its partition key */
    struct arena *arena;                 /* for a result type that is made */
};

struct cql_function {
    const char *name;                    /* in lower case, or the sign of an operator */
    enum type_kind kind;                 /* of the type that the function makes, or converts from */
    uint32_t arguments_min;
    uint32_t arguments_max;
    bool is_aggregate;
    bool takes_null;                     /* else the result is null if an argument is */
    /* The type of argument call->index.  If the function has one signature, the argument must fit
     * this type.  If it has several, a literal or a marker gets this type.  NULL, or a result of
     * NULL: any type. */
    const struct type *(*wants)(const struct cql_call *call);
    /* The type of the result; NULL: the types of the arguments do not fit. */
    const struct type *(*result)(const struct cql_call *call);
    int (*value)(const struct cql_expression *call, const struct bytes *arguments,
                 const struct cql_context *context, struct bytes *value_out);
    bool is_overloaded;                  /* has several signatures */
    /* How refusals describe the argument, such as "a map argument"; NULL: they name its type and
     * its number instead. */
    const char *requires;
    const char *parameter;               /* the argument's type in Cassandra's signatures */
};

/* NULL when there is none. */
const struct cql_function *cql_function_find(struct bytes name);
/* + - * / %, and _ for negation. */
const struct cql_function *cql_function_operator(char operation);
/* The function of a CAST; NULL where Cassandra does not convert between the types. */
const struct cql_function *cql_function_cast(const struct type *from, const struct type *to);
/* Whether there is a CAST to a type at all. */
bool cql_function_casts_to(const struct type *to);

/* The tables of the files, each ended by a function without a name.  Aggregates are computed by
 * cql_accumulator.c. */
extern const struct cql_function cql_function_math[], cql_function_time[],
    cql_function_collection[], cql_function_aggregate[];
/* The function of a name in one table; NULL when there is none. */
const struct cql_function *cql_function_in(const struct cql_function *table, struct bytes name);

/* ---- what functions share ---- */

bool cql_function_is(const struct cql_call *call, uint32_t index, enum type_kind kind);
/* The type of the function's `kind`. */
const struct type *cql_function_kind(const struct cql_call *call);
/* The type of the first argument; NULL: the argument is no number. */
const struct type *cql_function_number(const struct cql_call *call);
/* The value of a function that changes the type of its argument and not its bytes. */
int cql_function_same(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value_out);
/* The value of abs, exp, log, log10, round and of the negation, by the name of the function. */
int cql_function_math_value(const struct cql_expression *call, const struct bytes *arguments,
                            const struct cql_context *context, struct bytes *value_out);
/* The value in a buffer of the context's arena; an empty value is not null. */
struct bytes cql_function_keep(const struct buffer *value);
/* Fill the fault with 0x1400: the function failed for these arguments. */
int cql_function_fails(const struct cql_expression *call, const struct cql_context *context,
                       const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A timestamp or date plus (`sign` 1) or minus (-1) a duration. */
int cql_function_time_shift(const struct cql_expression *call, const struct bytes *arguments,
                            int sign, const struct cql_context *context, struct bytes *value_out);
#endif

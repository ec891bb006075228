/* cql_function: the functions, operators and aggregates of CQL.
 *
 * Each file has a table of its functions: of numbers with operators and CAST
 * (cql_function_number.c), of mathematics (cql_function_math.c), of times (cql_function_time.c), of
 * collections (cql_function_collection.c); cql_function.c has the others and finds a name.
 *
 * Its specification is tests/cql/cassandra/function_*.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_FUNCTION_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_FUNCTION_H

#include "query/cql/expression/cql_expression.h"

enum { CQL_ARGUMENTS_MAX = 64 };

/* A call: the arguments' types are known, the result's is worked out. */
struct cql_call {
    const struct cql_function *function;
    const struct type *types[CQL_ARGUMENTS_MAX];
    uint32_t count;
    const struct type *result;
    const struct table *table;           /* token() has its key's types */
    struct arena *arena;                 /* for a type that is made up */
};

struct cql_function {
    const char *name;                    /* lower case; operators by their sign */
    enum type_kind kind;                 /* of the type it converts to or from, where it does */
    uint32_t arguments_min;
    uint32_t arguments_max;
    bool is_aggregate;
    bool takes_null;                     /* else a null argument makes the result null */
    /* The type that argument `index` should have: of the one signature, or, of a function that has
     * several, what a literal or marker there is taken for.  NULL: whatever it is. */
    const struct type *(*wants)(const struct cql_call *call, uint32_t index);
    /* The result's type; NULL: the arguments' types do not fit. */
    const struct type *(*result)(const struct cql_call *call);
    int (*value)(const struct cql_expression *call, const struct bytes *arguments,
                 const struct cql_context *context, struct bytes *value_out);
    bool is_overloaded;                  /* has several signatures */
    /* Of functions that take whatever type has a property, as refusals name it: "a map argument";
     * NULL: of named types. */
    const char *requires;
    const char *parameter;               /* the same as Cassandra's list of arguments has it */
};

/* NULL when there is none. */
const struct cql_function *cql_function_find(struct bytes name);
/* + - * / %, and _ for negation. */
const struct cql_function *cql_function_operator(char operation);
/* CAST to a type: converts the argument's value; NULL when Cassandra has no such conversion. */
const struct cql_function *cql_function_cast(const struct type *from, const struct type *to);
/* Whether anything can be cast to a type. */
bool cql_function_casts_to(const struct type *to);

/* Tables of their own files, which cql_function_find looks into; a function without a name ends
 * each.  Aggregates are computed by cql_accumulator.c. */
extern const struct cql_function cql_function_math[], cql_function_time[],
    cql_function_collection[], cql_function_aggregate[];
/* The one of a table; NULL when there is none. */
const struct cql_function *cql_function_in(const struct cql_function *table, struct bytes name);

/* ---- what functions share ---- */

bool cql_function_is(const struct cql_call *call, uint32_t index, enum type_kind kind);
/* The type that the function's `kind` names. */
const struct type *cql_function_kind(const struct cql_call *call);
/* The value of a function that only says of which type its argument is. */
int cql_function_same(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value_out);
/* The value of a function of one number of the result's type, by its name. */
int cql_function_math_value(const struct cql_expression *call, const struct bytes *arguments,
                            const struct cql_context *context, struct bytes *value_out);
/* What was made in a buffer of the context's arena: a value, also where it is empty. */
struct bytes cql_function_keep(const struct buffer *value);
/* A failure while a function ran: 0x1400. */
int cql_function_fails(const struct cql_expression *call, const struct cql_context *context,
                       const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A timestamp or date, and a duration that is added (`sign` 1) or taken away (-1). */
int cql_function_time_shift(const struct cql_expression *call, const struct bytes *arguments,
                            int sign, const struct cql_context *context, struct bytes *value_out);
#endif

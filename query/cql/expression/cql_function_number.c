#include <math.h>

#include "query/cql/expression/cql_function.h"
#include "query/cql/expression/cql_json.h"
#include "query/cql/expression/cql_number.h"

static bool is_text(enum type_kind kind)
{
    return kind == TYPE_TEXT || kind == TYPE_ASCII;
}

/* `value` must not be empty.  ERROR_INVALID with the fault: the value is no number of `kind`.
 * `used` is the end of the error's text: "cast" or "computed with". */
static int read_number(const struct cql_expression *argument, struct bytes value,
                       enum type_kind kind, const struct cql_context *context, const char *used,
                       struct cql_number *number_out)
{
    struct cql_number number;
    int rc = cql_number_read(argument->type->kind, value, &number);
    if (rc == 0)
        rc = cql_number_convert(&number, kind, number_out);
    if (rc == 0)
        return 0;
    return cql_invalid(context->fault, "%s cannot be %s",
                       rc == ERROR_INVALID ? "NaN or infinity" : "a number of over 256 bits", used);
}

static int cast_number(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    struct cql_number number;
    if (arguments[0].size == 0)
        return 0;
    int rc =
        read_number(call->arguments[0], arguments[0], call->type->kind, context, "cast", &number);
    if (rc != 0)
        return rc;
    *value = cql_number_keep(&number, context->arena);
    return 0;
}

static int cast_text(const struct cql_expression *call, const struct bytes *arguments,
                     const struct cql_context *context, struct bytes *value)
{
    struct buffer text = {.arena = context->arena};
    if (arguments[0].size == 0 && !is_text(call->arguments[0]->type->kind))
        return 0;
    cql_json_format_plain(call->arguments[0]->type, arguments[0], &text);
    *value = cql_function_keep(&text);
    return 0;
}

static bool is_time(enum type_kind kind)
{
    return kind == TYPE_TIMEUUID || kind == TYPE_TIMESTAMP || kind == TYPE_DATE;
}

bool cql_function_casts_to(const struct type *to)
{
    return (cql_number_is(to->kind) && to->kind != TYPE_COUNTER) || to->kind == TYPE_TEXT ||
           to->kind == TYPE_ASCII || to->kind == TYPE_DATE || to->kind == TYPE_TIMESTAMP;
}

const struct cql_function *cql_function_cast(const struct type *from, const struct type *to)
{
    static const struct cql_function number = {.name = "cast", .value = cast_number};
    static const struct cql_function text = {.name = "cast", .value = cast_text};
    static const struct cql_function same = {.name = "cast", .value = cql_function_same};
    bool is_printed = from->argument_count == 0 && from->kind != TYPE_BLOB &&
                      from->kind != TYPE_TEXT && from->kind != TYPE_DURATION;
    if (cql_number_is(from->kind) && cql_number_is(to->kind))
        return &number;
    if (from->kind == TYPE_TIMESTAMP && to->kind == TYPE_BIGINT)
        return &same;
    if (is_printed && (to->kind == TYPE_TEXT || to->kind == TYPE_ASCII))
        return &text;
    const char *time = to->kind == TYPE_DATE        ? "to_date"
                       : to->kind == TYPE_TIMESTAMP ? "to_timestamp"
                                                    : NULL;
    return time != NULL && is_time(from->kind) ? cql_function_find(bytes_text(time)) : NULL;
}

/* ---- operators ---- */

static enum type_kind wider(enum type_kind a, enum type_kind b)
{
    if (cql_number_is_integer(a) && cql_number_is_integer(b)) {
        enum type_kind kind = type_fixed_size(a) >= type_fixed_size(b) ? a : b;
        return kind == TYPE_COUNTER ? TYPE_BIGINT : kind;
    }
    if (a == TYPE_DECIMAL || b == TYPE_DECIMAL)
        return TYPE_DECIMAL;
    if (a == TYPE_VARINT || b == TYPE_VARINT)
        return cql_number_is_real(a) || cql_number_is_real(b) ? TYPE_DECIMAL : TYPE_VARINT;
    return type_fixed_size(a) < 8 && type_fixed_size(b) < 8 ? TYPE_FLOAT : TYPE_DOUBLE;
}

static const struct type *operator_result(const struct cql_call *call)
{
    enum type_kind a = call->types[0]->kind;
    enum type_kind b = call->types[call->count - 1]->kind;
    char operation = call->function->name[0];
    if (operation == '+' && is_text(a) && is_text(b))
        return call->types[a == TYPE_ASCII ? 1 : 0];
    if ((operation == '+' || operation == '-') && b == TYPE_DURATION)
        return a == TYPE_TIMESTAMP || a == TYPE_DATE ? call->types[0] : NULL;
    return cql_number_is(a) && cql_number_is(b) ? type_builtin(wider(a, b)) : NULL;
}

static int fail_by_zero(const struct cql_expression *call, const struct cql_context *context)
{
    struct buffer types = {.arena = context->arena};
    enum type_kind kind = call->type->kind;
    char operation = call->function->name[0];
    const char *why = "/ by zero";
    if (kind == TYPE_VARINT || kind == TYPE_DECIMAL) {
        why = kind == TYPE_DECIMAL && operation == '%' ? "Division by zero"
                                                       : "BigInteger divide by zero";
    }
    type_print(call->arguments[0]->type, &types);
    buffer_printf(&types, " %c ", operation);
    type_print(call->arguments[1]->type, &types);
    return cql_function_fails(call, context, "the operation '%.*s' failed: %s",
                              CQL_SHOW(buffer_view(&types)), why);
}

static int integer_operation(char operation, int64_t a, int64_t b, int64_t *result)
{
    uint64_t left = (uint64_t)a;
    uint64_t right = (uint64_t)b;
    switch (operation) {
    case '+':
        *result = (int64_t)(left + right);
        return 0;
    case '-':
        *result = (int64_t)(left - right);
        return 0;
    case '*':
        *result = (int64_t)(left * right);
        return 0;
    default:
        if (b == 0)
            return ERROR_INVALID;
        /* The machine traps if it divides the least integer by -1; here the quotient wraps. */
        if (b == -1)
            *result = operation == '/' ? (int64_t)(0 - left) : 0;
        else
            *result = operation == '/' ? a / b : a % b;
        return 0;
    }
}

static double real_operation(char operation, double a, double b)
{
    switch (operation) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    default:
        return fmod(a, b);
    }
}

/* ERROR_INVALID: division by zero.  ERROR_LIMIT: over 256 bits. */
static int decimal_operation(char operation, enum type_kind kind, struct decimal a,
                             struct decimal b, struct decimal *result)
{
    switch (operation) {
    case '+':
        return decimal_add(a, b, result);
    case '-':
        return decimal_subtract(a, b, result);
    case '*':
        return decimal_multiply(a, b, result);
    case '/':
        return kind == TYPE_VARINT ? decimal_divide(a, b, 0, DECIMAL_DOWN, result)
                                   : decimal_quotient(a, b, result);
    default:
        return decimal_remainder(a, b, result);
    }
}

static int compute(const struct cql_expression *call, const struct cql_number in[2],
                   struct cql_number *result)
{
    char operation = call->function->name[0];
    if (cql_number_is_integer(result->kind))
        return integer_operation(operation, in[0].integer, in[1].integer, &result->integer);
    if (!cql_number_is_real(result->kind)) {
        return decimal_operation(operation, result->kind, in[0].decimal, in[1].decimal,
                                 &result->decimal);
    }
    result->real = real_operation(operation, in[0].real, in[1].real);
    return 0;
}

static int join_texts(const struct bytes *arguments, const struct cql_context *context,
                      struct bytes *value)
{
    struct buffer joined = {.arena = context->arena};
    buffer_append_bytes(&joined, arguments[0]);
    buffer_append_bytes(&joined, arguments[1]);
    *value = cql_function_keep(&joined);
    return 0;
}

static int operator_value(const struct cql_expression *call, const struct bytes *arguments,
                          const struct cql_context *context, struct bytes *value)
{
    struct cql_number in[2];
    struct cql_number result = {.kind = call->type->kind};
    char operation = call->function->name[0];
    if (is_text(result.kind))
        return join_texts(arguments, context, value);
    if (call->arguments[1]->type->kind == TYPE_DURATION)
        return cql_function_time_shift(call, arguments, operation == '+' ? 1 : -1, context, value);
    for (uint32_t i = 0; i < 2; i++) {
        if (arguments[i].size == 0)
            return 0;
        int rc = read_number(call->arguments[i], arguments[i], result.kind, context,
                             "computed with", &in[i]);
        if (rc != 0)
            return rc;
    }
    int rc = compute(call, in, &result);
    if (rc == ERROR_INVALID)
        return fail_by_zero(call, context);
    if (rc != 0)
        return cql_invalid(context->fault, "the result of '%c' has over 256 bits", operation);
    *value = cql_number_keep(&result, context->arena);
    return 0;
}

#define OPERATOR(name, count, value)                                                               \
    {                                                                                              \
        name, TYPE_INT, count, count, false, false, NULL, operator_result, value, true, NULL, NULL \
    }

const struct cql_function *cql_function_operator(char operation)
{
    static const struct cql_function operators[] = {
        OPERATOR("+", 2, operator_value),
        OPERATOR("-", 2, operator_value),
        OPERATOR("*", 2, operator_value),
        OPERATOR("/", 2, operator_value),
        OPERATOR("%", 2, operator_value),
        OPERATOR("_", 1, cql_function_math_value),
        {.name = NULL},
    };
    const struct cql_function *found = cql_function_in(operators, bytes_of(&operation, 1));
    check(found != NULL);
    return found;
}

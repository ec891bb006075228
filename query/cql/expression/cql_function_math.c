/* exp and logarithms of integers and varints are computed as doubles and truncated.  As in Java,
 * halves are rounded away from zero in decimals and up in floats and doubles. */
#include <math.h>
#include <string.h>

#include "query/cql/expression/cql_function.h"
#include "query/cql/expression/cql_number.h"

static const struct type *wanted_number(const struct cql_call *call)
{
    bool is_number = call->result != NULL && cql_number_is(call->result->kind);
    return is_number ? call->result : NULL;
}

static int refuse_large(const struct cql_context *context)
{
    return cql_invalid(context->fault, "a number of over 256 bits cannot be computed with");
}

static int negate(struct cql_number *number)
{
    number->integer = (int64_t)(0 - (uint64_t)number->integer);
    number->real = -number->real;
    return decimal_subtract(decimal_from(0, number->decimal.scale), number->decimal,
                            &number->decimal);
}

static int compute_negation(const struct cql_expression *call, struct cql_number *number,
                            const struct cql_context *context)
{
    (void)call;
    return negate(number) == 0 ? 0 : refuse_large(context);
}

static int compute_abs(const struct cql_expression *call, struct cql_number *number,
                       const struct cql_context *context)
{
    (void)call;
    bool is_negative = number->integer < 0 || decimal_is_negative(number->decimal);
    if (is_negative && negate(number) != 0)
        return cql_invalid(context->fault, "the result of abs has over 256 bits");
    number->real = fabs(number->real);
    return 0;
}

static double curve_at(const char *name, double at)
{
    if (strcmp(name, "exp") == 0)
        return exp(at);
    return strcmp(name, "log") == 0 ? log(at) : log10(at);
}

static int compute_curve(const struct cql_expression *call, struct cql_number *number,
                         const struct cql_context *context)
{
    struct cql_number real;
    const char *name = call->function->name;
    if (call->type->kind == TYPE_DECIMAL)
        return cql_invalid(context->fault, "%s of a decimal is not supported by daybook", name);
    if (cql_number_convert(number, TYPE_DOUBLE, &real) != 0)
        return refuse_large(context);
    real.real = curve_at(name, real.real);
    if (cql_number_convert(&real, call->type->kind, number) != 0) {
        return cql_function_fails(call, context, "the result of %s is no %s", name,
                                  call->type->kind == TYPE_VARINT ? "varint" : "number");
    }
    return 0;
}

static int compute_round(const struct cql_expression *call, struct cql_number *number,
                         const struct cql_context *context)
{
    (void)call;
    if (number->kind == TYPE_DECIMAL && decimal_divide(number->decimal, decimal_from(1, 0), 0,
                                                       DECIMAL_HALF_UP, &number->decimal) != 0) {
        return cql_invalid(context->fault, "the result of round has over 256 bits");
    }
    if (cql_number_is_real(number->kind) && isfinite(number->real)) {
        double whole = floor(number->real);
        number->real = number->real - whole >= 0.5 ? whole + 1 : whole;
    }
    return 0;
}

static const struct computation {
    const char *function;
    int (*compute)(const struct cql_expression *call, struct cql_number *number,
                   const struct cql_context *context);
} computations[] = {
    {"_", compute_negation}, {"abs", compute_abs},     {"exp", compute_curve},
    {"log", compute_curve},  {"log10", compute_curve}, {"round", compute_round},
};

static const struct computation *computation_of(const struct cql_function *function)
{
    const struct computation *computation = computations;
    while (strcmp(computation->function, function->name) != 0) {
        computation++;
        check(computation < computations + sizeof(computations) / sizeof(computations[0]));
    }
    return computation;
}

int cql_function_math_value(const struct cql_expression *call, const struct bytes *arguments,
                            const struct cql_context *context, struct bytes *value)
{
    struct cql_number number;
    if (arguments[0].size == 0)
        return 0;
    if (cql_number_read(call->type->kind, arguments[0], &number) != 0)
        return refuse_large(context);
    int rc = computation_of(call->function)->compute(call, &number, context);
    if (rc == 0)
        *value = cql_number_keep(&number, context->arena);
    return rc;
}

#define NUMBER_FUNCTION(name)                                                                      \
    {                                                                                              \
        name, TYPE_INT, 1, 1, false, false, wanted_number, cql_function_number,                    \
            cql_function_math_value, true, NULL, NULL                                              \
    }

const struct cql_function cql_function_math[] = {
    NUMBER_FUNCTION("abs"),   NUMBER_FUNCTION("exp"),   NUMBER_FUNCTION("log"),
    NUMBER_FUNCTION("log10"), NUMBER_FUNCTION("round"), {.name = NULL},
};

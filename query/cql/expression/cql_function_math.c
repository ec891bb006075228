/* abs, exp, log, log10 and round, of every type of number; the result has the argument's type.
 *
 * Integers and varints are computed with as doubles and cut: exp(7) is 1096, log10(7) is 0.  Java
 * rounds halves away from zero in decimals and up in doubles: round(-2.5) is -2. */
#include <math.h>
#include <string.h>

#include "query/cql/expression/cql_function.h"
#include "query/cql/expression/cql_number.h"

static const struct type *wanted_number(const struct cql_call *call, uint32_t index)
{
    (void)index;
    bool is_number = call->result != NULL && cql_number_is(call->result->kind);
    return is_number ? call->result : NULL;
}

static const struct type *same_number(const struct cql_call *call)
{
    return cql_number_is(call->types[0]->kind) ? call->types[0] : NULL;
}

static int read_number(const struct cql_expression *call, struct bytes argument,
                       const struct cql_context *context, struct cql_number *number)
{
    return cql_number_read(call->type->kind, argument, number) == 0
               ? 0
               : cql_invalid(context->fault, "a number of over 256 bits cannot be computed with");
}

static int abs_value(const struct cql_expression *call, const struct bytes *arguments,
                     const struct cql_context *context, struct bytes *value)
{
    struct cql_number number;
    if (arguments[0].size == 0)
        return 0;
    int rc = read_number(call, arguments[0], context, &number);
    if (rc != 0)
        return rc;
    if (number.integer < 0)
        number.integer = cql_number_wrap(number.kind, (int64_t)(0 - (uint64_t)number.integer));
    number.real = fabs(number.real);
    if (decimal_is_negative(number.decimal) &&
        decimal_subtract(decimal_from(0, number.decimal.scale), number.decimal, &number.decimal) !=
            0) {
        return cql_invalid(context->fault, "the result of abs has over 256 bits");
    }
    *value = cql_number_keep(&number, context->arena);
    return 0;
}

static double curve_at(const char *name, double at)
{
    if (strcmp(name, "exp") == 0)
        return exp(at);
    return strcmp(name, "log") == 0 ? log(at) : log10(at);
}

/* exp, log and log10. */
static int curve_value(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    struct cql_number number;
    struct cql_number real = {.kind = TYPE_DOUBLE};
    const char *name = call->function->name;
    if (arguments[0].size == 0)
        return 0;
    int rc = read_number(call, arguments[0], context, &number);
    if (rc != 0)
        return rc;
    if (call->type->kind == TYPE_DECIMAL)
        return cql_invalid(context->fault, "%s of a decimal is not supported by daybook", name);
    if (cql_number_convert(&number, TYPE_DOUBLE, &real) != 0)
        return cql_invalid(context->fault, "a number of over 256 bits cannot be computed with");
    real.real = curve_at(name, real.real);
    if (cql_number_convert(&real, call->type->kind, &number) != 0) {
        return cql_function_fails(call, context, "the result of %s is no %s", name,
                                  call->type->kind == TYPE_VARINT ? "varint" : "number");
    }
    *value = cql_number_keep(&number, context->arena);
    return 0;
}

static int round_value(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    struct cql_number number;
    if (arguments[0].size == 0)
        return 0;
    int rc = read_number(call, arguments[0], context, &number);
    if (rc != 0)
        return rc;
    if (number.kind == TYPE_DECIMAL && decimal_divide(number.decimal, decimal_from(1, 0), 0,
                                                      DECIMAL_HALF_UP, &number.decimal) != 0) {
        return cql_invalid(context->fault, "the result of round has over 256 bits");
    }
    if (cql_number_is_real(number.kind) && isfinite(number.real)) {
        double whole = floor(number.real);
        number.real = number.real - whole >= 0.5 ? whole + 1 : whole;
    }
    *value = cql_number_keep(&number, context->arena);
    return 0;
}

#define NUMBER_FUNCTION(name, value)                                                               \
    {                                                                                              \
        name, TYPE_INT, 1, 1, false, false, wanted_number, same_number, value, true, NULL, NULL    \
    }

const struct cql_function *cql_function_math(struct bytes name)
{
    static const struct cql_function functions[] = {
        NUMBER_FUNCTION("abs", abs_value),     NUMBER_FUNCTION("exp", curve_value),
        NUMBER_FUNCTION("log", curve_value),   NUMBER_FUNCTION("log10", curve_value),
        NUMBER_FUNCTION("round", round_value),
    };
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (bytes_equal(bytes_text(functions[i].name), name))
            return &functions[i];
    return NULL;
}

/* Arithmetic, conversions between numbers, and aggregates.
 *
 * Integers wrap as Java's do; float and double are binary; decimals and varints are exact within
 * 256 bits, past which a statement is refused.  The type of a result is Cassandra's: the wider of
 * two integers; float with what fits it, double past that; decimal as soon as one is decimal, or a
 * varint meets a float.  A sum of integers has their type and wraps, their average truncates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/cql/cql_function.h"
#include "query/cql/cql_json.h"
#include "storage/base/bigint.h"
#include "storage/base/memory.h"

/* A number in the widest form that its type needs. */
struct number {
    enum type_kind kind;
    int64_t integer;                     /* tinyint to bigint, counter */
    double real;                         /* float, double */
    struct decimal decimal;              /* varint, decimal */
};

static bool is_integer(enum type_kind kind)
{
    return kind == TYPE_TINYINT || kind == TYPE_SMALLINT || kind == TYPE_INT ||
           kind == TYPE_BIGINT || kind == TYPE_COUNTER;
}

static bool is_real(enum type_kind kind)
{
    return kind == TYPE_FLOAT || kind == TYPE_DOUBLE;
}

static bool is_number(enum type_kind kind)
{
    return is_integer(kind) || is_real(kind) || kind == TYPE_VARINT || kind == TYPE_DECIMAL;
}

/* ---- in and out of serialized values ---- */

static int varint_decimal(struct bytes value, struct decimal *decimal)
{
    struct buffer text = {0};
    bigint_format(value, &text);
    int rc = decimal_parse(buffer_view(&text), decimal);
    buffer_release(&text);
    return rc;
}

static int number_read(enum type_kind kind, struct bytes value, struct number *number)
{
    *number = (struct number){.kind = kind};
    switch ((int)kind) {
    case TYPE_TINYINT:
        number->integer = (int8_t)value.data[0];
        return 0;
    case TYPE_SMALLINT:
        number->integer = (int16_t)load_u16_be(value.data);
        return 0;
    case TYPE_INT:
        number->integer = value_int(value);
        return 0;
    case TYPE_BIGINT:
    case TYPE_COUNTER:
        number->integer = value_bigint(value);
        return 0;
    case TYPE_FLOAT: {
        uint32_t bits = load_u32_be(value.data);
        float real;
        memcpy(&real, &bits, sizeof(real));
        number->real = (double)real;
        return 0;
    }
    case TYPE_DOUBLE: {
        uint64_t bits = load_u64_be(value.data);
        memcpy(&number->real, &bits, sizeof(bits));
        return 0;
    }
    case TYPE_VARINT:
        return varint_decimal(value, &number->decimal);
    default:
        return decimal_deserialize(value, &number->decimal);
    }
}

static void varint_write(struct decimal decimal, struct buffer *value)
{
    struct buffer text = {0};
    decimal.scale = 0;
    decimal_append(&text, decimal);
    int rc = bigint_parse(buffer_view(&text), value);
    check(rc == 0);
    buffer_release(&text);
}

static void number_write(const struct number *number, struct buffer *value)
{
    switch ((int)number->kind) {
    case TYPE_TINYINT:
        buffer_put_u8(value, (uint8_t)number->integer);
        return;
    case TYPE_SMALLINT:
        buffer_put_u16_be(value, (uint16_t)number->integer);
        return;
    case TYPE_INT:
        buffer_put_u32_be(value, (uint32_t)number->integer);
        return;
    case TYPE_BIGINT:
    case TYPE_COUNTER:
        value_put_bigint(value, number->integer);
        return;
    case TYPE_FLOAT: {
        float real = (float)number->real;
        uint32_t bits;
        memcpy(&bits, &real, sizeof(bits));
        buffer_put_u32_be(value, bits);
        return;
    }
    case TYPE_DOUBLE: {
        uint64_t bits;
        memcpy(&bits, &number->real, sizeof(bits));
        buffer_put_u64_be(value, bits);
        return;
    }
    case TYPE_VARINT:
        varint_write(number->decimal, value);
        return;
    default:
        decimal_serialize(value, number->decimal);
        return;
    }
}

static struct bytes number_keep(const struct number *number, struct arena *arena)
{
    struct buffer value = {0};
    number_write(number, &value);
    struct bytes kept = arena_copy(arena, buffer_view(&value));
    buffer_release(&value);
    return kept;
}

/* ---- conversions ---- */

static double decimal_double(struct decimal decimal)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format(decimal, text);
    return strtod(text, NULL);
}

static int64_t double_integer(double real)
{
    if (isnan(real)) {
        return 0;
    }
    if (real >= 9223372036854775808.0) {
        return INT64_MAX;
    }
    return real <= -9223372036854775808.0 ? INT64_MIN : (int64_t)real;
}

/* The digits before the point, the low 64 bits of them. */
static int64_t decimal_integer(struct decimal decimal)
{
    char text[DECIMAL_TEXT_MAX];
    struct decimal whole;
    size_t length = decimal_format(decimal, text);
    const char *point = memchr(text, '.', length);
    size_t digits = point == NULL ? length : (size_t)(point - text);
    int rc = decimal_parse(bytes_of(text, digits), &whole);
    return rc == 0 ? (int64_t)whole.limb[0] : 0;
}

static int double_decimal(double real, struct decimal *decimal)
{
    char text[64];
    if (!isfinite(real)) {
        return ERROR_INVALID;
    }
    int length = snprintf(text, sizeof(text), "%.17g", real);
    for (int digits = 1; digits < 17; digits++) {
        char shorter[64];
        int size = snprintf(shorter, sizeof(shorter), "%.*g", digits, real);
        if (fabs(strtod(shorter, NULL) - real) <= 0.0) {
            memcpy(text, shorter, (size_t)size + 1);
            length = size;
            break;
        }
    }
    return decimal_parse(bytes_of(text, (size_t)length), decimal);
}

static int64_t wrap(enum type_kind kind, int64_t integer)
{
    switch ((int)kind) {
    case TYPE_TINYINT:
        return (int8_t)integer;
    case TYPE_SMALLINT:
        return (int16_t)integer;
    case TYPE_INT:
        return (int32_t)integer;
    default:
        return integer;
    }
}

static int number_convert(const struct number *from, enum type_kind kind, struct number *to)
{
    *to = (struct number){.kind = kind};
    if (is_integer(kind)) {
        int64_t integer = from->integer;
        if (is_real(from->kind)) {
            integer = double_integer(from->real);
        } else if (!is_integer(from->kind)) {
            integer = decimal_integer(from->decimal);
        }
        to->integer = wrap(kind, integer);
        return 0;
    }
    if (is_real(kind)) {
        to->real = is_real(from->kind)      ? from->real
                   : is_integer(from->kind) ? (double)from->integer
                                            : decimal_double(from->decimal);
        return 0;
    }
    if (is_real(from->kind)) {
        int rc = double_decimal(from->real, &to->decimal);
        return rc == 0 && kind == TYPE_VARINT ? decimal_round(to->decimal, 0, &to->decimal) : rc;
    }
    to->decimal =
        is_integer(from->kind) ? decimal_from((int128)from->integer, 0) : from->decimal;
    if (kind == TYPE_VARINT && to->decimal.scale > 0) {
        to->decimal = decimal_from((int128)decimal_integer(to->decimal), 0);
    }
    return 0;
}

static int cast_number(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    struct number from;
    struct number to;
    if (arguments[0].size == 0) {
        return 0;
    }
    if (number_read(call->arguments[0]->type->kind, arguments[0], &from) != 0 ||
        number_convert(&from, call->type->kind, &to) != 0) {
        return cql_invalid(context->fault, "a number of over 256 bits cannot be cast");
    }
    *value = number_keep(&to, context->arena);
    return 0;
}

static int cast_text(const struct cql_expression *call, const struct bytes *arguments,
                     const struct cql_context *context, struct bytes *value)
{
    struct buffer text = {0};
    cql_json_format_plain(call->arguments[0]->type, arguments[0], &text);
    *value = text.size == 0 ? bytes_of("", 0) : arena_copy(context->arena, buffer_view(&text));
    buffer_release(&text);
    return 0;
}

const struct cql_function *cql_function_cast(const struct type *from, const struct type *to)
{
    static const struct cql_function number = {.name = "cast", .value = cast_number};
    static const struct cql_function text = {.name = "cast", .value = cast_text};
    bool is_scalar = from->argument_count == 0 && from->kind != TYPE_BLOB;
    if (is_number(from->kind) && is_number(to->kind)) {
        return &number;
    }
    if (is_scalar && (to->kind == TYPE_TEXT || to->kind == TYPE_ASCII)) {
        return &text;
    }
    const char *time = to->kind == TYPE_DATE        ? "to_date"
                       : to->kind == TYPE_TIMESTAMP ? "to_timestamp"
                                                    : NULL;
    bool is_time = from->kind == TYPE_TIMEUUID || from->kind == TYPE_TIMESTAMP ||
                   from->kind == TYPE_DATE;
    return time != NULL && is_time ? cql_function_find(bytes_text(time)) : NULL;
}

/* ---- operators ---- */

static int rank(enum type_kind kind)
{
    switch ((int)kind) {
    case TYPE_TINYINT:
        return 1;
    case TYPE_SMALLINT:
        return 2;
    case TYPE_INT:
        return 3;
    default:
        return 4;
    }
}

static enum type_kind wider(enum type_kind a, enum type_kind b)
{
    if (is_integer(a) && is_integer(b)) {
        enum type_kind kind = rank(a) >= rank(b) ? a : b;
        return kind == TYPE_COUNTER ? TYPE_BIGINT : kind;
    }
    if (a == TYPE_DECIMAL || b == TYPE_DECIMAL) {
        return TYPE_DECIMAL;
    }
    if (a == TYPE_VARINT || b == TYPE_VARINT) {
        return is_real(a) || is_real(b) ? TYPE_DECIMAL : TYPE_VARINT;
    }
    bool is_float = (a == TYPE_FLOAT || rank(a) < 4) && (b == TYPE_FLOAT || rank(b) < 4);
    return is_float ? TYPE_FLOAT : TYPE_DOUBLE;
}

static const struct type *operator_result(const struct cql_call *call)
{
    enum type_kind a = call->types[0]->kind;
    enum type_kind b = call->types[call->count - 1]->kind;
    return is_number(a) && is_number(b) ? type_builtin(wider(a, b)) : NULL;
}

static int by_zero(const struct cql_expression *call, const struct cql_context *context)
{
    struct buffer types = {0};
    type_print(call->arguments[0]->type, &types);
    buffer_printf(&types, " %s ", call->function->name);
    type_print(call->arguments[1]->type, &types);
    int rc = cql_refuse(context->fault, CQL_FUNCTION_FAILURE,
                        "the operation '%.*s' failed: / by zero", (int)types.size,
                        (const char *)types.data);
    buffer_release(&types);
    context->fault->error.keyspace = "system";
    context->fault->error.name = call->function->name;
    return rc;
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
        if (b == 0) {
            return ERROR_INVALID;
        }
        /* The one quotient that does not fit wraps to itself. */
        if (b == -1) {
            *result = operation == '/' ? (int64_t)(0 - left) : 0;
        } else {
            *result = operation == '/' ? a / b : a % b;
        }
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

static int decimal_operation(char operation, struct decimal a, struct decimal b,
                             struct decimal *result)
{
    switch (operation) {
    case '+':
        return decimal_add(a, b, result);
    case '-':
        return decimal_subtract(a, b, result);
    case '*':
        return decimal_multiply(a, b, result);
    default:
        return ERROR_UNSUPPORTED;
    }
}

static int operator_value(const struct cql_expression *call, const struct bytes *arguments,
                          const struct cql_context *context, struct bytes *value)
{
    struct number in[2];
    struct number result = {.kind = call->type->kind};
    char operation = call->function->name[0];
    for (uint32_t i = 0; i < 2; i++) {
        struct number read;
        if (arguments[i].size == 0) {
            return 0;
        }
        if (number_read(call->arguments[i]->type->kind, arguments[i], &read) != 0 ||
            number_convert(&read, call->type->kind, &in[i]) != 0) {
            return cql_invalid(context->fault, "a number of over 256 bits cannot be computed with");
        }
    }
    if (is_integer(result.kind)) {
        if (integer_operation(operation, in[0].integer, in[1].integer, &result.integer) != 0) {
            return by_zero(call, context);
        }
        result.integer = wrap(result.kind, result.integer);
    } else if (is_real(result.kind)) {
        result.real = real_operation(operation, in[0].real, in[1].real);
    } else {
        int rc = decimal_operation(operation, in[0].decimal, in[1].decimal, &result.decimal);
        if (rc == ERROR_UNSUPPORTED) {
            return cql_invalid(context->fault, "'%c' of varint and decimal is not supported yet",
                               operation);
        }
        if (rc != 0) {
            return cql_invalid(context->fault, "the result of '%c' has over 256 bits", operation);
        }
    }
    *value = number_keep(&result, context->arena);
    return 0;
}

static int negation_value(const struct cql_expression *call, const struct bytes *arguments,
                          const struct cql_context *context, struct bytes *value)
{
    struct number number;
    if (arguments[0].size == 0) {
        return 0;
    }
    if (number_read(call->type->kind, arguments[0], &number) != 0 ||
        decimal_subtract(decimal_from(0, number.decimal.scale), number.decimal,
                         &number.decimal) != 0) {
        return cql_invalid(context->fault, "a number of over 256 bits cannot be computed with");
    }
    number.integer = wrap(number.kind, (int64_t)(0 - (uint64_t)number.integer));
    number.real = -number.real;
    *value = number_keep(&number, context->arena);
    return 0;
}

const struct cql_function *cql_function_operator(char operation)
{
    static const struct cql_function operators[] = {
        {"+", TYPE_INT, 2, 2, false, false, NULL, operator_result, operator_value},
        {"-", TYPE_INT, 2, 2, false, false, NULL, operator_result, operator_value},
        {"*", TYPE_INT, 2, 2, false, false, NULL, operator_result, operator_value},
        {"/", TYPE_INT, 2, 2, false, false, NULL, operator_result, operator_value},
        {"%", TYPE_INT, 2, 2, false, false, NULL, operator_result, operator_value},
        {"_", TYPE_INT, 1, 1, false, false, NULL, operator_result, negation_value},
    };
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (operators[i].name[0] == operation) {
            return &operators[i];
        }
    }
    check(false);
    return NULL;
}

/* ---- aggregates ---- */

enum { COUNT, SUM, AVG, MIN, MAX };

struct cql_accumulator {
    int what;
    bool counts_rows;
    const struct type *type;             /* of what comes in */
    enum type_kind result;
    uint64_t count;
    struct number sum;
    double correction;                   /* what a compensated sum of reals has lost */
    bool has_special;                    /* NaN or infinity came: no compensation */
    double plain;                        /* the sum without it */
    bool has_best;
    struct buffer best;
};

static const struct type *count_result(const struct cql_call *call)
{
    (void)call;
    return type_builtin(TYPE_BIGINT);
}

static const struct type *sum_result(const struct cql_call *call)
{
    enum type_kind kind = call->types[0]->kind;
    return is_number(kind) ? type_builtin(kind == TYPE_COUNTER ? TYPE_BIGINT : kind) : NULL;
}

static const struct type *best_result(const struct cql_call *call)
{
    enum type_kind kind = call->types[0]->kind;
    return kind == TYPE_COUNTER ? type_builtin(TYPE_BIGINT) : call->types[0];
}

const struct cql_function *cql_function_aggregate(struct bytes name)
{
    static const struct cql_function aggregates[] = {
        [COUNT] = {"count", TYPE_BIGINT, 1, 1, true, true, NULL, count_result, NULL},
        [SUM] = {"sum", TYPE_BIGINT, 1, 1, true, true, NULL, sum_result, NULL},
        [AVG] = {"avg", TYPE_BIGINT, 1, 1, true, true, NULL, sum_result, NULL},
        [MIN] = {"min", TYPE_BIGINT, 1, 1, true, true, NULL, best_result, NULL},
        [MAX] = {"max", TYPE_BIGINT, 1, 1, true, true, NULL, best_result, NULL},
    };
    for (int i = COUNT; i <= MAX; i++) {
        if (bytes_equal(bytes_text(aggregates[i].name), name)) {
            return &aggregates[i];
        }
    }
    return NULL;
}

static int what_of(const struct cql_function *function)
{
    return (int)(function - cql_function_aggregate(bytes_text("count")));
}

static void accumulator_clear(struct cql_accumulator *accumulator)
{
    accumulator->count = 0;
    accumulator->sum = (struct number){.kind = accumulator->result};
    accumulator->correction = 0;
    accumulator->plain = 0;
    accumulator->has_special = false;
    accumulator->has_best = false;
    buffer_clear(&accumulator->best);
}

struct cql_accumulator *cql_accumulator_new(const struct cql_aggregate *aggregate)
{
    struct cql_accumulator *accumulator = memory_zeroed(1, sizeof(*accumulator));
    accumulator->what = what_of(aggregate->function);
    accumulator->counts_rows = aggregate->argument == NULL;
    accumulator->type = aggregate->argument == NULL ? NULL : aggregate->argument->type;
    accumulator->result = aggregate->type->kind;
    accumulator_clear(accumulator);
    return accumulator;
}

void cql_accumulator_free(struct cql_accumulator *accumulator)
{
    if (accumulator != NULL) {
        buffer_release(&accumulator->best);
        memory_free(accumulator);
    }
}

/* Kahan's sum, as Cassandra adds floats. */
static void add_real(struct cql_accumulator *accumulator, double real)
{
    accumulator->has_special |= !isfinite(real);
    accumulator->plain += real;
    double corrected = real - accumulator->correction;
    double sum = accumulator->sum.real + corrected;
    accumulator->correction = (sum - accumulator->sum.real) - corrected;
    accumulator->sum.real = sum;
}

static int add_number(struct cql_accumulator *accumulator, struct bytes value,
                      struct cql_fault *fault)
{
    struct number number;
    if (number_read(accumulator->type->kind, value, &number) != 0) {
        return cql_invalid(fault, "a number of over 256 bits cannot be summed");
    }
    if (is_integer(number.kind)) {
        accumulator->sum.integer =
            (int64_t)((uint64_t)accumulator->sum.integer + (uint64_t)number.integer);
        return 0;
    }
    if (is_real(number.kind)) {
        add_real(accumulator, number.real);
        return 0;
    }
    if (decimal_add(accumulator->sum.decimal, number.decimal, &accumulator->sum.decimal) != 0) {
        return cql_invalid(fault, "a sum has over 256 bits");
    }
    return 0;
}

static void keep_best(struct cql_accumulator *accumulator, struct bytes value)
{
    int order = accumulator->has_best
                    ? type_compare(accumulator->type, value, buffer_view(&accumulator->best))
                    : 0;
    if (!accumulator->has_best || (accumulator->what == MIN ? order < 0 : order > 0)) {
        buffer_clear(&accumulator->best);
        buffer_append_bytes(&accumulator->best, value);
        accumulator->has_best = true;
    }
}

int cql_accumulator_add(struct cql_accumulator *accumulator, struct bytes value,
                        struct cql_fault *fault)
{
    if (value.data == NULL && !accumulator->counts_rows) {
        return 0;
    }
    if (accumulator->what == COUNT) {
        accumulator->count++;
        return 0;
    }
    if (accumulator->what == MIN || accumulator->what == MAX) {
        keep_best(accumulator, value);
        return 0;
    }
    if (value.size == 0) {
        return 0;
    }
    accumulator->count++;
    return add_number(accumulator, value, fault);
}

int cql_accumulator_add_stats(struct cql_accumulator *accumulator,
                              const struct partition_stats *stats, struct cql_fault *fault)
{
    uint64_t values = stats_value_count(stats);
    accumulator->count += accumulator->counts_rows ? stats->rows : values;
    if (accumulator->what == COUNT || values == 0) {
        return 0;
    }
    if (decimal_add(accumulator->sum.decimal, stats_sum(stats), &accumulator->sum.decimal) != 0) {
        return cql_invalid(fault, "a sum has over 256 bits");
    }
    return 0;
}

static int average(struct cql_accumulator *accumulator, struct cql_fault *fault)
{
    struct number *sum = &accumulator->sum;
    if (accumulator->count == 0) {
        return 0;
    }
    if (is_integer(sum->kind)) {
        sum->integer /= (int64_t)accumulator->count;
        return 0;
    }
    if (is_real(sum->kind)) {
        sum->real /= (double)accumulator->count;
        return 0;
    }
    return cql_invalid(fault, "avg of varint and decimal is not supported yet: divide sum by "
                              "count");
}

int cql_accumulator_result(struct cql_accumulator *accumulator, struct arena *arena,
                           struct cql_fault *fault, struct bytes *value_out)
{
    int rc = 0;
    struct number count = {.kind = TYPE_BIGINT, .integer = (int64_t)accumulator->count};
    *value_out = CQL_NULL;
    if (accumulator->what == COUNT) {
        *value_out = number_keep(&count, arena);
    } else if (accumulator->what == MIN || accumulator->what == MAX) {
        if (accumulator->has_best) {
            *value_out = accumulator->best.size == 0
                             ? bytes_of("", 0)
                             : arena_copy(arena, buffer_view(&accumulator->best));
        }
    } else {
        if (accumulator->has_special) {
            accumulator->sum.real = accumulator->plain;
        }
        rc = accumulator->what == AVG ? average(accumulator, fault) : 0;
        accumulator->sum.integer = wrap(accumulator->result, accumulator->sum.integer);
        *value_out = number_keep(&accumulator->sum, arena);
    }
    accumulator_clear(accumulator);
    return rc;
}

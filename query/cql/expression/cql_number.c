#include "query/cql/expression/cql_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bigint.h"

bool cql_number_is_integer(enum type_kind kind)
{
    return kind == TYPE_TINYINT || kind == TYPE_SMALLINT || kind == TYPE_INT ||
           kind == TYPE_BIGINT || kind == TYPE_COUNTER;
}

bool cql_number_is_real(enum type_kind kind)
{
    return kind == TYPE_FLOAT || kind == TYPE_DOUBLE;
}

bool cql_number_is(enum type_kind kind)
{
    return cql_number_is_integer(kind) || cql_number_is_real(kind) || kind == TYPE_VARINT ||
           kind == TYPE_DECIMAL;
}

/* ---- serialized values ---- */

int cql_number_read(enum type_kind kind, struct bytes value, struct cql_number *number)
{
    check(value.size > 0);
    *number = (struct cql_number){.kind = kind};
    if (cql_number_is_integer(kind))
        number->integer = type_value_integer(value);
    else if (cql_number_is_real(kind))
        number->real = type_value_floating(value);
    else
        return type_decimal(type_builtin(kind), value, &number->decimal);
    return 0;
}

static void varint_write(struct decimal decimal, struct buffer *value)
{
    struct buffer text = {.arena = value->arena};
    decimal.scale = 0;
    decimal_append(&text, decimal);
    int rc = bigint_parse(buffer_view(&text), value);
    check(rc == 0);
}

struct bytes cql_number_keep(const struct cql_number *number, struct arena *arena)
{
    struct buffer value = {.arena = arena};
    if (cql_number_is_integer(number->kind))
        type_value_put_integer(&value, type_fixed_size(number->kind), number->integer);
    else if (cql_number_is_real(number->kind))
        type_value_put_floating(&value, number->kind == TYPE_FLOAT, number->real);
    else if (number->kind == TYPE_VARINT)
        varint_write(number->decimal, &value);
    else
        decimal_serialize(&value, number->decimal);
    return buffer_view(&value);
}

/* ---- conversions ---- */

static double decimal_double(struct decimal decimal)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format(decimal, text);
    return strtod(text, NULL);
}

/* As in Java, digits after the point are dropped, and a number out of range becomes the nearest
 * bound.  The range is bigint's for bigint and counter, otherwise int's.  For smallint and tinyint
 * cql_number_keep keeps the low bits. */
static int64_t double_integer(double real, enum type_kind kind)
{
    bool is_long = kind == TYPE_BIGINT || kind == TYPE_COUNTER;
    int64_t least = is_long ? INT64_MIN : INT32_MIN;
    int64_t greatest = is_long ? INT64_MAX : INT32_MAX;
    if (isnan(real))
        return 0;
    if (real >= -(double)least)
        return greatest;
    return real <= (double)least ? least : (int64_t)real;
}

/* Returns the low 64 bits of the integer part. */
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

/* The decimal has the fewest digits that distinguish the number from all others of its type. */
static int real_decimal(enum type_kind kind, double real, struct decimal *decimal)
{
    char text[64];
    int length = 0;
    if (!isfinite(real))
        return ERROR_INVALID;
    for (int digits = 1; digits <= 17; digits++) {
        length = snprintf(text, sizeof(text), "%.*g", digits, real);
        double read = kind == TYPE_FLOAT ? (double)strtof(text, NULL) : strtod(text, NULL);
        if (fabs(read - real) <= 0.0)
            break;
    }
    return decimal_parse(bytes_of(text, (size_t)length), decimal);
}

int cql_number_convert(const struct cql_number *from, enum type_kind kind, struct cql_number *to)
{
    *to = (struct cql_number){.kind = kind};
    if (cql_number_is_integer(kind)) {
        to->integer = cql_number_is_real(from->kind)      ? double_integer(from->real, kind)
                      : cql_number_is_integer(from->kind) ? from->integer
                                                          : decimal_integer(from->decimal);
        return 0;
    }
    if (cql_number_is_real(kind)) {
        to->real = cql_number_is_real(from->kind)      ? from->real
                   : cql_number_is_integer(from->kind) ? (double)from->integer
                                                       : decimal_double(from->decimal);
        return 0;
    }
    int rc = 0;
    if (cql_number_is_real(from->kind)) {
        rc = real_decimal(from->kind, from->real, &to->decimal);
    } else {
        to->decimal = cql_number_is_integer(from->kind) ? decimal_from((int128)from->integer, 0)
                                                        : from->decimal;
    }
    if (rc == 0 && kind == TYPE_VARINT && to->decimal.scale != 0)
        rc = decimal_divide(to->decimal, decimal_from(1, 0), 0, DECIMAL_DOWN, &to->decimal);
    return rc;
}

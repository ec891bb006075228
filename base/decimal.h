/* decimal: exact decimal numbers of money, a 256-bit integer and a scale.
 *
 * The value is unscaled * 10^-scale.  Only functions whose names say so round.  Scales follow
 * BigDecimal and Cassandra: a sum has the larger scale of its terms, a product the sum of the
 * scales.  256 bits hold every product of a 128-bit sum with a rate of 18 digits and every sum of
 * 2^60 such products, so with the limits on input (18 digits, scale 18) nothing overflows.  A
 * function whose result could overflow returns ERROR_LIMIT all the same.  Division is in
 * decimal_divide.c. */
#ifndef DAYBOOK_BASE_DECIMAL_H
#define DAYBOOK_BASE_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

struct decimal {
    uint64_t limb[4];      /* two's complement, least significant first */
    int32_t scale;
};

enum {
    DECIMAL_TEXT_MAX = 128,            /* bytes of the longest plain text within the limits here */
    DECIMAL_INPUT_DIGITS_MAX = 18,     /* significant digits of an amount or rate in text */
    DECIMAL_INPUT_SCALE_MAX = 18,
    DECIMAL_SCALE_MIN = -40,         /* scales of every decimal; beyond them is ERROR_LIMIT */
    DECIMAL_SCALE_MAX = 120,
    DECIMAL_SERIALIZED_MAX = 36        /* bytes */
};

/* `scale` lies within the limits: code that reads a scale from outside checks it first. */
struct decimal decimal_from(int128 unscaled, int32_t scale);

/* Whether the unscaled value fits 128 bits; only then `*unscaled_out` is meaningful. */
bool decimal_to_int128(struct decimal value, int128 *unscaled_out);

/* Parse an amount or a rate: `digits[.digits]` without sign and exponent, within the input limits
 * above.  ERROR_INVALID for another form, ERROR_LIMIT for too many digits or too large a scale.
 * Leading zeros are no significant digits. */
must_check int decimal_parse_input(struct bytes text, struct decimal *value_out);

/* Whether it is a value that decimal_parse_input can give. */
bool decimal_is_input(struct decimal value);

/* Parse any plain or exponent form, with or without sign, as CQL literals have it.  ERROR_INVALID
 * for another form, ERROR_LIMIT for more than 256 bits or a scale beyond the limits. */
must_check int decimal_parse(struct bytes text, struct decimal *value_out);

must_check int decimal_add(struct decimal a, struct decimal b, struct decimal *sum_out);
must_check int decimal_subtract(struct decimal a, struct decimal b, struct decimal *difference_out);
must_check int decimal_multiply(struct decimal a, struct decimal b, struct decimal *product_out);

enum decimal_rounding { DECIMAL_DOWN, DECIMAL_HALF_UP, DECIMAL_HALF_EVEN };

/* a / b to `scale` digits after the point.  ERROR_INVALID when `b` is zero. */
must_check int decimal_divide(struct decimal a, struct decimal b, int32_t scale,
                              enum decimal_rounding rounding, struct decimal *quotient_out);
/* The quotient of CQL's operator /, rounded half up: it has at least 32 significant digits, and at
 * least as many digits after the point as 32, the scale of `a` and the scale of `b`.  Then zeros at
 * its end are removed, so 200 / 2 is 1E+2. */
must_check int decimal_quotient(struct decimal a, struct decimal b, struct decimal *quotient_out);
/* a - b * (a / b cut to an integer), with the scale of Java's BigDecimal.remainder: that of `a`
 * where the scale of `b` is not larger. */
must_check int decimal_remainder(struct decimal a, struct decimal b,
                                 struct decimal *remainder_out);

int decimal_compare(struct decimal a, struct decimal b);       /* by value: 0.50 equals 0.5 */
bool decimal_is_zero(struct decimal value);
bool decimal_is_negative(struct decimal value);

/* Half even to `scale` digits after the point; a value of fewer digits is filled with zeros. */
must_check int decimal_round(struct decimal value, int32_t scale, struct decimal *rounded_out);

/* Plain digits, never an exponent, keeping the scale: 0.00250.  Returns the length; `text` has
 * DECIMAL_TEXT_MAX bytes and is NUL-terminated. */
size_t decimal_format(struct decimal value, char *text);
void decimal_append(struct buffer *buffer, struct decimal value);

/* Cassandra's serialized decimal: 4-byte big-endian scale, then the unscaled two's complement in
 * the fewest bytes, big-endian.  Longer forms than needed are read, too; a scale without further
 * bytes is ERROR_INVALID. */
void decimal_serialize(struct buffer *buffer, struct decimal value);
/* Write the same to `bytes`, which has room for DECIMAL_SERIALIZED_MAX; returns their number. */
size_t decimal_store(struct decimal value, uint8_t *bytes);
must_check int decimal_deserialize(struct bytes serialized, struct decimal *value_out);
#endif

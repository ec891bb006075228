/* decimal: exact decimal numbers for money: a 256-bit integer and a scale.
 *
 * The value is unscaled * 10^-scale.  Only decimal_round, decimal_divide and decimal_quotient
 * round.  Scales are those of Java's BigDecimal, which Cassandra uses: a sum has the larger scale
 * of its terms, and a product the sum of the scales.
 *
 * Input has at most 18 digits and scale 18.  256 bits hold every product of a 128-bit sum with a
 * rate of 18 digits, and every sum of 2^60 such products of one scale.  A function returns
 * ERROR_LIMIT when its result does not fit.  Division is in decimal_divide.c. */
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
    DECIMAL_TEXT_MAX = 128,            /* bytes that decimal_format writes at most */
    DECIMAL_INPUT_DIGITS_MAX = 18,     /* significant digits of an amount or rate in text */
    DECIMAL_INPUT_SCALE_MAX = 18,
    DECIMAL_SCALE_MIN = -40,           /* the scales of all decimals; ERROR_LIMIT outside them */
    DECIMAL_SCALE_MAX = 120,
    DECIMAL_SERIALIZED_MAX = 36        /* bytes */
};

/* `scale` lies within the limits above: the caller checks a scale that comes from outside. */
struct decimal decimal_from(int128 unscaled, int32_t scale);

/* Whether the unscaled value fits 128 bits; only then `*unscaled_out` is meaningful. */
bool decimal_to_int128(struct decimal value, int128 *unscaled_out);
/* The number as 64 bits and a scale; false where the unscaled value is wider, or the scale is
 * negative or above `scale_max`. */
bool decimal_split(struct decimal value, uint8_t scale_max, int64_t *unscaled_out,
                   uint8_t *scale_out);

/* Parse an amount or a rate: `digits[.digits]` without sign and exponent, within the input limits
 * above.  ERROR_INVALID for another form, ERROR_LIMIT for too many digits or too large a scale.
 * Leading zeros are no significant digits. */
must_check int decimal_parse_input(struct bytes text, struct decimal *value_out);

/* Whether decimal_parse_input can return `value`. */
bool decimal_is_input(struct decimal value);

/* Parse a CQL literal: digits with or without a sign, a point and an exponent.  ERROR_INVALID for
 * another form, ERROR_LIMIT for more than 256 bits or a scale outside the limits. */
must_check int decimal_parse(struct bytes text, struct decimal *value_out);

must_check int decimal_add(struct decimal a, struct decimal b, struct decimal *sum_out);
must_check int decimal_subtract(struct decimal a, struct decimal b, struct decimal *difference_out);
must_check int decimal_multiply(struct decimal a, struct decimal b, struct decimal *product_out);

enum decimal_rounding { DECIMAL_DOWN, DECIMAL_HALF_UP, DECIMAL_HALF_EVEN };

/* a / b, rounded to `scale` digits after the point.  ERROR_INVALID when `b` is zero. */
must_check int decimal_divide(struct decimal a, struct decimal b, int32_t scale,
                              enum decimal_rounding rounding, struct decimal *quotient_out);
/* The quotient of CQL's operator /, rounded half up.  It is computed to at least 32 significant
 * digits, with at least 32 digits after the point and at least as many as `a` and `b` have.  The
 * zeros at its end are then removed, so 200 / 2 is 1E+2.  ERROR_INVALID when `b` is zero. */
must_check int decimal_quotient(struct decimal a, struct decimal b, struct decimal *quotient_out);
/* a - b * (a / b cut to an integer).  The scale is that of Java's BigDecimal.remainder: the scale
 * of `a` or, where `b` has a larger scale, one between these two.  ERROR_INVALID when `b` is
 * zero. */
must_check int decimal_remainder(struct decimal a, struct decimal b,
                                 struct decimal *remainder_out);

int decimal_compare(struct decimal a, struct decimal b);       /* by value: 0.50 equals 0.5 */
bool decimal_is_zero(struct decimal value);
bool decimal_is_negative(struct decimal value);

/* Round half even to `scale` digits after the point; a value that has fewer gets zeros. */
must_check int decimal_round(struct decimal value, int32_t scale, struct decimal *rounded_out);

/* Write plain digits without an exponent, as many after the point as the scale: 0.00250.  `text`
 * has room for DECIMAL_TEXT_MAX bytes, and ends with a NUL.  Returns its length without the NUL. */
size_t decimal_format(struct decimal value, char *text);
void decimal_append(struct buffer *buffer, struct decimal value);

/* Cassandra's serialized decimal: 4-byte big-endian scale, then the unscaled two's complement in
 * the fewest bytes, big-endian.  decimal_deserialize also reads an unscaled value in more bytes
 * than it needs; an empty one is ERROR_INVALID. */
void decimal_serialize(struct buffer *buffer, struct decimal value);
/* Write the serialized form to `bytes`, which has room for DECIMAL_SERIALIZED_MAX.  Returns its
 * size in bytes. */
size_t decimal_store(struct decimal value, uint8_t *bytes);
must_check int decimal_deserialize(struct bytes serialized, struct decimal *value_out);
#endif

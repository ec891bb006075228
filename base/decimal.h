/* decimal: exact decimal numbers for money: unscaled * 10^-scale, with an unscaled integer of 256
 * bits.
 *
 * Scales follow Java's BigDecimal: a sum has the larger of the two scales, and a product has the
 * sum of the scales.  Only decimal_round, decimal_divide and decimal_quotient round.
 *
 * A function returns ERROR_LIMIT when its result does not fit.  The product of a 128-bit sum and a
 * rate of 18 digits has at most 188 bits, so 2^60 such products can be added.  Division is in
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
    DECIMAL_TEXT_MAX = 128,            /* bytes, with the NUL */
    DECIMAL_INPUT_DIGITS_MAX = 18,
    DECIMAL_INPUT_SCALE_MAX = 18,
    DECIMAL_SCALE_MIN = -40,           /* a result with a scale outside MIN..MAX is ERROR_LIMIT */
    DECIMAL_SCALE_MAX = 120,
    DECIMAL_SERIALIZED_MAX = 36
};

/* The caller must ensure that `scale` is in DECIMAL_SCALE_MIN..DECIMAL_SCALE_MAX. */
struct decimal decimal_from(int128 unscaled, int32_t scale);

/* False: the unscaled value does not fit into 128 bits, and `*unscaled_out` has no meaning. */
bool decimal_to_int128(struct decimal value, int128 *unscaled_out);
/* False: the unscaled value does not fit into 64 bits, or the scale is outside 0..scale_max; the
 * results then have no meaning. */
bool decimal_split(struct decimal value, uint8_t scale_max, int64_t *unscaled_out,
                   uint8_t *scale_out);

/* Parse an amount or a rate: `digits[.digits]`.  ERROR_INVALID for another form, ERROR_LIMIT for
 * too many digits (without leading zeros) or too large a scale. */
must_check int decimal_parse_input(struct bytes text, struct decimal *value_out);

/* Whether decimal_parse_input can return `value`. */
bool decimal_is_input(struct decimal value);

/* Parse a CQL literal: digits with or without a sign, a point and an exponent.  ERROR_INVALID for
 * another form. */
must_check int decimal_parse(struct bytes text, struct decimal *value_out);

must_check int decimal_add(struct decimal a, struct decimal b, struct decimal *sum_out);
must_check int decimal_subtract(struct decimal a, struct decimal b, struct decimal *difference_out);
must_check int decimal_multiply(struct decimal a, struct decimal b, struct decimal *product_out);

enum decimal_rounding { DECIMAL_DOWN, DECIMAL_HALF_UP, DECIMAL_HALF_EVEN };

/* a / b, rounded to `scale` digits after the point.  ERROR_INVALID when `b` is zero. */
must_check int decimal_divide(struct decimal a, struct decimal b, int32_t scale,
                              enum decimal_rounding rounding, struct decimal *quotient_out);
/* The quotient of CQL's operator /, rounded half up.  Its scale is at least 32, at least those of
 * `a` and `b`, and large enough for 32 significant digits.  Then trailing zeros are removed, so
 * 200 / 2 is 1E+2.  ERROR_INVALID when `b` is zero. */
must_check int decimal_quotient(struct decimal a, struct decimal b, struct decimal *quotient_out);
/* The scale is that of Java's BigDecimal.remainder.  ERROR_INVALID when `b` is zero. */
must_check int decimal_remainder(struct decimal a, struct decimal b,
                                 struct decimal *remainder_out);

int decimal_compare(struct decimal a, struct decimal b);       /* by value: 0.50 equals 0.5 */
bool decimal_is_zero(struct decimal value);
bool decimal_is_negative(struct decimal value);

/* Round half even to `scale` digits after the point. */
must_check int decimal_round(struct decimal value, int32_t scale, struct decimal *rounded_out);

/* Write plain digits, of which `value.scale` are after the point: 0.00250.  `text` has room for
 * DECIMAL_TEXT_MAX bytes.  Returns the length without the final NUL. */
size_t decimal_format(struct decimal value, char *text);
void decimal_append(struct buffer *buffer, struct decimal value);

/* Cassandra's serialized decimal: 4-byte big-endian scale, then the unscaled value as big-endian
 * two's complement in the fewest bytes.  decimal_deserialize also accepts more bytes than the value
 * needs; ERROR_INVALID when there is no byte after the scale. */
void decimal_serialize(struct buffer *buffer, struct decimal value);
/* `bytes` has room for DECIMAL_SERIALIZED_MAX.  Returns the size. */
size_t decimal_store(struct decimal value, uint8_t *bytes);
must_check int decimal_deserialize(struct bytes serialized, struct decimal *value_out);
#endif

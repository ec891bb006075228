/* bigint: computes with integers of any size in Cassandra's serialized form, by GMP.
 *
 * A number is big-endian two's complement bytes (Java's BigInteger.toByteArray); an empty view is
 * zero.  Callers must limit the sizes. */
#ifndef DAYBOOK_BASE_BIGINT_H
#define DAYBOOK_BASE_BIGINT_H

#include <stdint.h>

#include "base/decimal.h"

/* Compare a * 10^-a_scale with b * 10^-b_scale: <0, 0, >0.  Time grows with the difference of the
 * scales. */
int bigint_compare_scaled(struct bytes a, int32_t a_scale, struct bytes b, int32_t b_scale);

void bigint_format(struct bytes number, struct buffer *text);

/* Append a * 10^a_digits / (b * 10^b_digits), rounded to an integer.  `b` must not be zero. */
void bigint_divide(struct bytes a, uint32_t a_digits, struct bytes b, uint32_t b_digits,
                   enum decimal_rounding rounding, struct buffer *quotient);

/* ERROR_INVALID unless `text` is `-?digits`. */
must_check int bigint_parse(struct bytes text, struct buffer *number);
#endif

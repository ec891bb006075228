/* bigint: computes, by means of GMP, with integers of any size as Cassandra serializes them.
 *
 * A number is big-endian two's complement bytes (Java's BigInteger.toByteArray).  Numbers are
 * written in the fewest bytes.  They may be read from more bytes than they need; an empty view is
 * read as zero.  Callers bound the sizes. */
#ifndef DAYBOOK_BASE_BIGINT_H
#define DAYBOOK_BASE_BIGINT_H

#include <stdint.h>

#include "base/decimal.h"

/* Compare a * 10^-a_scale with b * 10^-b_scale: <0, 0, >0.  The time that this takes grows with
 * the difference of the scales. */
int bigint_compare_scaled(struct bytes a, int32_t a_scale, struct bytes b, int32_t b_scale);

/* Append the number as decimal digits, with a leading '-' when it is negative. */
void bigint_format(struct bytes number, struct buffer *text);

/* Append a * 10^a_digits / (b * 10^b_digits), rounded to an integer; `b` is not zero. */
void bigint_divide(struct bytes a, uint32_t a_digits, struct bytes b, uint32_t b_digits,
                   enum decimal_rounding rounding, struct buffer *quotient);

/* Parse a text of the form `-?digits`, and append its number to `number` in the fewest bytes.
 * ERROR_INVALID for any other text. */
must_check int bigint_parse(struct bytes text, struct buffer *number);
#endif

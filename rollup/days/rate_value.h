/* rate_value: a rate as a value of the column that holds it in a stream's table of rates.
 *
 * The column may be of any type of numbers.  It holds the share (0.25) or, where the stream's
 * definition says so, percent (25). */
#ifndef DAYBOOK_ROLLUP_DAYS_RATE_VALUE_H
#define DAYBOOK_ROLLUP_DAYS_RATE_VALUE_H

#include "base/decimal.h"
#include "rollup/click_stream.h"

/* The share that a value stands for.  ERROR_INVALID: the value is no number.  The share may lie
 * outside of 0 to 1, if it was written before the stream was defined. */
must_check int rate_value_read(const struct click_stream_rates *rates, const struct table *table,
                               struct bytes value, struct decimal *rate_out);

/* Whether the value may be written: a share from 0 to 1, or 0 to 100 percent, with no more digits
 * than an amount may have.  ERROR_INVALID: the error's text says which values may be written. */
must_check int rate_value_check(const struct click_stream_rates *rates, const struct table *table,
                                struct bytes value, struct error *err);

/* Append the value of a rate.  ERROR_INVALID: the column's type has no value that is exactly this
 * rate; the error's text says what could be done. */
must_check int rate_value_make(const struct click_stream_rates *rates, const struct table *table,
                               struct decimal rate, struct buffer *value, struct error *err);
#endif

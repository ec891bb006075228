/* rate_value: a rate as a value of the column that a stream's table of rates has for it.
 *
 * The column is of any type of numbers, and holds the share (0.25) or, where the stream's
 * definition says so, percent (25).  Everything that reads or writes such a value does it here, so
 * that both always mean the same. */
#ifndef DAYBOOK_ROLLUP_DAYS_RATE_VALUE_H
#define DAYBOOK_ROLLUP_DAYS_RATE_VALUE_H

#include "base/decimal.h"
#include "rollup/click_stream.h"

/* The share that a value stands for.  ERROR_INVALID: it is no number; what it is may lie outside of
 * 0 to 1, for a table had other doors before it had a stream. */
must_check int rate_value_read(const struct click_stream_rates *rates, const struct table *table,
                               struct bytes value, struct decimal *rate_out);

/* Whether it may be written: a share of 0 to 1, of an amount's digits.  ERROR_INVALID says what
 * would do. */
must_check int rate_value_check(const struct click_stream_rates *rates, const struct table *table,
                                struct bytes value, struct error *err);

/* The value of a rate, appended.  ERROR_INVALID where the column's type has none that reads back as
 * this rate, with what would do. */
must_check int rate_value_make(const struct click_stream_rates *rates, const struct table *table,
                               struct decimal rate, struct buffer *value, struct error *err);
#endif

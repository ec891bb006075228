/* rate_effect: gathers day by day what changed rates do to figures, and prints it.
 *
 *     reseller_id  day         clicks  rate        amount
 *     supaboobs    2013-11-29  2       20% -> 25%  0.003000 -> 0.003750
 *     1 day of 1 reseller, 2 clicks: amount 0.003000 -> 0.003750
 *
 * Days may be added before the change is made, as a reading of figures gives them, or after it, as
 * the rollup prices them, in any order.  What is printed is the same: it follows from their clicks
 * and gross, from the rates before, and from the edits. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_RATE_EFFECT_H
#define DAYBOOK_ROLLUP_COMMANDS_RATE_EFFECT_H

#include "rollup/commands/rate_file.h"
#include "rollup/days/rollup.h"

enum { EFFECT_DAYS_PRINTED_MAX = 100 };        /* the first by reseller, a reseller's last ones */

struct rate_effect;

/* The effect of `edits` made to `rates`; both are copied. */
struct rate_effect *rate_effect_new(const struct rate_table *rates, const struct rate_edit *edits,
                                    uint32_t count);
void rate_effect_free(struct rate_effect *effect);           /* NULL is fine */

/* Add a day of an edited reseller, each at most once; its rate and amount are ignored.  It costs
 * least when the days of one reseller follow one another.  ERROR_LIMIT: an amount, or the sum of
 * them, has too many digits. */
must_check int rate_effect_add(struct rate_effect *effect, const struct day_figure *figure);

/* Append a table of the days whose rate changes, and a line with their sums. */
void rate_effect_print(const struct rate_effect *effect, struct buffer *text);
#endif

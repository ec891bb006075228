/* rate_effect: what changed rates do to figures, gathered day by day and printed.
 *
 *     reseller_id  day         clicks  rate        amount
 *     supaboobs    2013-11-29  2       20% -> 25%  0.003000 -> 0.003750
 *     1 day of 1 reseller, 2 clicks: amount 0.003000 -> 0.003750
 *
 * Days come before the change is made, as a reader of figures has them, or after it, as the rollup
 * prices them, in any order: what is printed follows from their clicks and gross, from the rates
 * before and from the edits, and is the same. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_RATE_EFFECT_H
#define DAYBOOK_ROLLUP_COMMANDS_RATE_EFFECT_H

#include "rollup/commands/rate_file.h"
#include "rollup/days/rollup.h"

enum { EFFECT_DAYS_PRINTED_MAX = 100 };        /* the first by reseller, a reseller's last ones */

struct rate_effect;

/* Of `edits` made to `rates`; both are copied. */
struct rate_effect *rate_effect_new(const struct rate_table *rates, const struct rate_edit *edits,
                                    uint32_t count);
void rate_effect_free(struct rate_effect *effect);           /* NULL is fine */

/* A day of an edited reseller, each at most once; its rate and amount are not looked at.  It costs
 * least when days of one reseller follow one another.  ERROR_LIMIT: an amount, or the sum of them,
 * has too many digits. */
must_check int rate_effect_add(struct rate_effect *effect, const struct day_figure *figure);

/* The days whose rate is another, and the sum of all of them. */
void rate_effect_print(const struct rate_effect *effect, struct buffer *text);
#endif

/* rate_effect: sums up, day by day, how figures change with rates, and prints the result.
 *
 *     reseller_id  day         clicks  rate        amount
 *     supaboobs    2013-11-29       2  20% -> 25%  0.003000 -> 0.003750
 *     1 day of 1 reseller, 2 clicks: amount 0.003000 -> 0.003750
 *
 * Days may be added before or after the rates are changed, and in any order. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_RATE_EFFECT_H
#define DAYBOOK_ROLLUP_COMMANDS_RATE_EFFECT_H

#include "rollup/commands/rate_file.h"
#include "rollup/days/rollup.h"

enum { EFFECT_DAYS_PRINTED_MAX = 100 };        /* days, by reseller, then newest day first */

struct rate_effect;

/* `rates` and `edits` are copied. */
struct rate_effect *rate_effect_new(const struct rate_table *rates, const struct rate_edit *edits,
                                    uint32_t count);
void rate_effect_free(struct rate_effect *effect);           /* NULL is fine */

/* Add a day of an edited reseller; rate and amount of `figure` are ignored.  A day must not be
 * added twice.  ERROR_LIMIT: an amount or a sum of amounts has too many digits. */
must_check int rate_effect_add(struct rate_effect *effect, const struct day_figure *figure);

void rate_effect_print(const struct rate_effect *effect, struct buffer *text);
/* Print a JSON object with the same days and sums.  Rates and amounts are null where a day is
 * unpriced.  `is_applied`: whether the rates were changed.
 *
 *     {"applied": false, "days": 1, "resellers": 1, "clicks": 2, "old_amount": "0.003000",
 *      "new_amount": "0.003750", "rows": [
 *       {"reseller_id": "supaboobs", "day": "2013-11-29", "clicks": 2, "old_rate": "0.20", ...}
 *     ]} */
void rate_effect_print_json(const struct rate_effect *effect, bool is_applied,
                            struct buffer *text);
#endif

/* rate: the share of a click's amount that a reseller earns, from a day on.
 *
 * Each rate of a reseller is in effect from its day up to before the day of the next one:
 *
 *     ──────────┬──────────────┬───────────────▶ days
 *       no rate │ 0.2          │ 0.25
 *          2013-01-01     2013-05-01
 *
 * struct rate_table has the rates of all resellers in memory. */
#ifndef DAYBOOK_ROLLUP_DAYS_RATE_H
#define DAYBOOK_ROLLUP_DAYS_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/decimal.h"

/* Parse `0.25`, `25%` or `100%`; digits and scale are limited like those of amounts.
 * ERROR_INVALID: the error's text says why, and may suggest what was meant. */
must_check int rate_parse(struct bytes text, struct decimal *rate_out, struct error *err);
/* ERROR_INVALID: the error's text may suggest what was meant: 2013-04-01 for 2013-4-1. */
must_check int rate_parse_day(struct bytes text, int32_t *day_out, struct error *err);

/* An id has 1 to RATE_RESELLER_SIZE_MAX bytes of valid UTF-8 without control characters; else
 * ERROR_INVALID. */
enum { RATE_RESELLER_SIZE_MAX = 4096 };
must_check int rate_check_reseller(struct bytes reseller, struct error *err);

/* Append the rate in the form that `rate load` reads: a fraction, but the rate 1 as 100%. */
void rate_append_text(struct buffer *text, struct decimal rate);
/* The rate in percent: 0.125 is 12.5.  ERROR_LIMIT: the rate has too many digits; a rate that was
 * written before its stream was defined may have so many. */
must_check int rate_percent(struct decimal rate, struct decimal *percent_out);
/* Write the rate in percent: 0.125 as 12.5%.  A rate that has too many digits for that is written
 * as a fraction.  `text` has room for RATE_PERCENT_TEXT_MAX bytes; returns how many are written. */
enum { RATE_PERCENT_TEXT_MAX = DECIMAL_TEXT_MAX + 1 };
size_t rate_format_percent(struct decimal rate, char *text);
void rate_append_percent(struct buffer *text, struct decimal rate);

struct rate {
    int32_t since;
    struct decimal rate;
};

#define RATE_DAY_END INT32_MAX             /* after every day */

struct rate_table;

struct rate_table *rate_table_new(void);
void rate_table_free(struct rate_table *table);              /* NULL is fine */

/* Set the rate from `since` on; true if the table changed, even if only the rate's scale did. */
bool rate_table_set(struct rate_table *table, struct bytes reseller, int32_t since,
                    struct decimal rate);
/* Remove the rates that begin on a day from `from` up to before `until`; true if there were any. */
bool rate_table_remove(struct rate_table *table, struct bytes reseller, int32_t from,
                       int32_t until);

/* The rate in effect on `day`, of `count` rates, oldest first; NULL: none is in effect.  `rates`
 * may be NULL if `count` is 0. */
const struct rate *rate_at(const struct rate *rates, uint32_t count, int32_t day);
/* The rate of a reseller in effect on `day`; NULL: none is in effect.  Valid until the table
 * changes. */
const struct rate *rate_table_at(const struct rate_table *table, struct bytes reseller,
                                 int32_t day);
/* The first day after `since` on which a rate begins, or RATE_DAY_END. */
int32_t rate_table_next(const struct rate_table *table, struct bytes reseller, int32_t since);

/* A copy of all rates of a reseller, oldest first; the caller frees it by memory_free.  NULL: there
 * are none. */
struct rate *rate_table_rates(const struct rate_table *table, struct bytes reseller,
                              uint32_t *count_out);
/* The resellers that have or had rates, ascending by bytes.  The caller frees the array by
 * memory_free; the names in it belong to the table. */
struct bytes *rate_table_resellers(const struct rate_table *table, uint32_t *count_out);
#endif

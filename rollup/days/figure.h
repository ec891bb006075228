/* figure: a day's clicks, gross, rate and amount, and its row in amount_by_day.
 *
 * A figure is computed from the stats of the day's partition and a rate, and from nothing else:
 *
 *     clicks = rows    gross = exact sum of amounts    amount = gross x rate, or null
 */
#ifndef DAYBOOK_ROLLUP_DAYS_FIGURE_H
#define DAYBOOK_ROLLUP_DAYS_FIGURE_H

#include "rollup/days/dirty.h"
#include "rollup/days/rate.h"
#include "rollup/days/rollup.h"

/* Make the figure of (reseller, day), with the state DAY_OPEN; `rate` may be NULL.  ERROR_LIMIT: a
 * product has more than 256 bits. */
must_check int figure_make(struct bytes reseller, int32_t day, const struct partition_stats *stats,
                           const struct rate *rate, struct day_figure *figure_out);

/* Price the figure at `rate`, which may be NULL.  A figure that has the same rate with the same
 * digits stays as it is. */
must_check int figure_price(struct day_figure *figure, const struct rate *rate);

static inline bool figure_same_digits(struct decimal a, struct decimal b)
{
    return a.scale == b.scale && decimal_compare(a, b) == 0;
}

/* Whether two figures of one day have equal numbers; figure_identical: also the same scales and the
 * same state. */
bool figure_equal(const struct day_figure *a, const struct day_figure *b);
bool figure_identical(const struct day_figure *a, const struct day_figure *b);

const char *figure_state_name(enum day_state state);
void figure_append_rate(struct buffer *text, const struct day_figure *figure);

/* The figure's reseller is a view of the row.  ERROR_CORRUPT: the rollup cannot have written the
 * row. */
must_check int figure_read(const struct table *table, const struct page_row *row,
                           struct day_figure *figure_out, struct error *err);

/* `token` is the murmur3_token of the figure's reseller, whose bytes must be valid until the batch
 * is applied.  Rows of one reseller that are added one after the other become one mutation if their
 * days descend. */
void figure_write(struct write_batch *batch, const struct table *table, int64_t token,
                  const struct day_figure *figure);
void figure_delete(struct write_batch *batch, const struct table *table,
                   const struct day_figure *figure);

/* The slice of amount_by_day from day `from` to day `to`, both included; days descend in this
 * table.  `text` has the bytes of the bounds and must be valid until the read has begun. */
struct day_slice_text {
    char from[16];
    char to[16];
};
struct slice figure_slice(int32_t from, int32_t to, struct day_slice_text *text);
#endif

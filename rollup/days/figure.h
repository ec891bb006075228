/* figure: what is known of a day, and its row in amount_by_day.
 *
 * A figure follows from a partition's stats and a rate, and from nothing else:
 *
 *     clicks = rows    gross = exact sum of amounts    amount = gross x rate, or null
 */
#ifndef DAYBOOK_ROLLUP_DAYS_FIGURE_H
#define DAYBOOK_ROLLUP_DAYS_FIGURE_H

#include "rollup/days/dirty.h"
#include "rollup/days/rate.h"
#include "rollup/days/rollup.h"

/* The figure of (reseller, day), open; `rate` may be NULL.  ERROR_LIMIT when a product leaves 256
 * bits, which the limits on input exclude. */
must_check int figure_make(struct bytes reseller, int32_t day, const struct partition_stats *stats,
                           const struct rate *rate, struct day_figure *figure_out);

/* The figure at another rate, which may be NULL; unchanged where the rate is the same, digits
 * included. */
must_check int figure_price(struct day_figure *figure, const struct rate *rate);

/* Whether two numbers are equal and have the same scale. */
static inline bool figure_same_digits(struct decimal a, struct decimal b)
{
    return a.scale == b.scale && decimal_compare(a, b) == 0;
}

/* Same day's numbers: by value, or by every digit and state as the row has them. */
bool figure_equal(const struct day_figure *a, const struct day_figure *b);
bool figure_identical(const struct day_figure *a, const struct day_figure *b);

const char *figure_state_name(enum day_state state);
/* Its rate as a person reads it: 25%, or "unpriced". */
void figure_append_rate(struct buffer *text, const struct day_figure *figure);

/* A row of amount_by_day.  `reseller` is a view into the row.  ERROR_CORRUPT for what the rollup
 * cannot have written. */
must_check int figure_read(const struct table *table, const struct page_row *row,
                           struct day_figure *figure_out, struct error *err);
/* Whose rows are written: the partition, as both tables have it.  The reseller's bytes, and the
 * marks', live until the batch is applied. */
struct figure_place {
    struct bytes reseller;
    int64_t token;                     /* murmur3_token of it */
};

/* Rows of one reseller that are written one after the other are one mutation if days descend;
 * entries of the ledger, if they ascend. */
void figure_write(struct write_batch *batch, const struct table *table,
                  const struct figure_place *place, const struct day_figure *figure);
void figure_delete(struct write_batch *batch, const struct table *table,
                   const struct day_figure *figure);

/* The slice of amount_by_day for some days, inclusive; there they descend.  `text` holds the
 * bounds' bytes and lives until the read was started. */
struct day_slice_text {
    char from[16];
    char to[16];
};
struct slice figure_slice(int32_t from, int32_t to, struct day_slice_text *text);
#endif

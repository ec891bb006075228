/* dirty_overlay: figures, computed in memory, of the days of some resellers whose rows may be out
 * of date.
 *
 *     days that are out of date  ──stats × rate──▶  figures in memory ──▶ a reader
 *     every other row            ──rate──▶          the row's figure, priced at this rate
 *
 * A reader need not wait for the rollup, because only the days that it reads are computed.
 *
 * A figure contains only durable writes: reading waits until a changed rate is durable.  All writes
 * that were acknowledged before the reading began are included.
 *
 * In a read-only store each reading loads the marks of its resellers.
 *
 * Each reader has an overlay of its own, and uses it for one group of resellers after the other.
 * All functions run on the engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DIRTY_OVERLAY_H
#define DAYBOOK_ROLLUP_DAYS_DIRTY_OVERLAY_H

#include "rollup/days/rollup.h"

struct dirty_overlay;

struct dirty_overlay *dirty_overlay_new(struct rollup *rollup);
/* `overlay` may be NULL.  No reading may be under way. */
void dirty_overlay_free(struct dirty_overlay *overlay);

/* The number of the reseller's days that dirty_overlay_read would have to compute, but at most
 * `most`.  0 in a read-only store, where the number is not known. */
uint32_t dirty_overlay_owed(const struct rollup *rollup, struct bytes reseller, int32_t from,
                            int32_t to, uint32_t most);

/* Compute the resellers' days from `from` to `to` whose rows are out of date; `done` is called
 * once, perhaps before the call returns.  `resellers` and their bytes are borrowed as long as the
 * figures are used. */
void dirty_overlay_read(struct dirty_overlay *overlay, const struct bytes *resellers,
                        uint32_t count, int32_t from, int32_t to, store_done done, void *context);

/* The figures computed for resellers[reseller], days descending, valid until the next reading.
 * They include days without clicks.  All have the state DAY_OPEN, because only the row of a day
 * says whether it is published. */
const struct day_figure *dirty_overlay_figures(const struct dirty_overlay *overlay,
                                               uint32_t reseller, uint32_t *count_out);

/* Price the figure of a row at the rate in effect.  Any row may have an old rate, because a changed
 * rate does not mark its days one by one.  ERROR_LIMIT as in figure_make. */
must_check int dirty_overlay_price(const struct dirty_overlay *overlay, uint32_t reseller,
                                   struct day_figure *figure);
#endif

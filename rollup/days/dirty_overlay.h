/* dirty_overlay: the days of some resellers that their rows may not be right about, as they are
 * now.
 *
 *     days of theirs that are out of date ──stats × rate──▶ figures in memory ──▶ a reader
 *     every other row                      ──its rate──▶  the same row, or at another rate
 *
 * A reader so need not wait for the rollup to write, which works off everybody's days, and only
 * what he asks for is worked out.  It is the same arithmetic on the same exact sums, so the row
 * that the rollup will write is the figure he saw.
 *
 * Only what is durable is shown: stats are read so, and where a changed rate is not yet durable,
 * reading waits until it is.  What was acknowledged before the reading began is in it.
 *
 * In a read-only store, which nobody's clicks change, no marks are loaded when it is opened: those
 * of the resellers asked for are read first.
 *
 * One for each reader, used for some resellers after the others.  Engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DIRTY_OVERLAY_H
#define DAYBOOK_ROLLUP_DAYS_DIRTY_OVERLAY_H

#include "rollup/days/rollup.h"

struct dirty_overlay;

struct dirty_overlay *dirty_overlay_new(struct rollup *rollup);
/* No reading is under way; NULL is fine. */
void dirty_overlay_free(struct dirty_overlay *overlay);

/* How many days of the reseller dirty_overlay_read would have to work out, or `most` if there are
 * as many: all are begun in one turn.  Nothing is known of it in a read-only store: 0. */
uint32_t dirty_overlay_owed(const struct rollup *rollup, struct bytes reseller, int32_t from,
                            int32_t to, uint32_t most);

/* Work out those of the resellers' days of `from` to `to` whose rows are out of date; `done` comes
 * once, perhaps before the call returns.  `resellers` and their bytes are borrowed as long as the
 * figures are used. */
void dirty_overlay_read(struct dirty_overlay *overlay, const struct bytes *resellers,
                        uint32_t count, int32_t from, int32_t to, store_done done, void *context);

/* What was worked out for resellers[reseller], day descending, valid until the next reading.  A day
 * without clicks is among them; all are open, as only a row tells whether its day is published. */
const struct day_figure *dirty_overlay_figures(const struct dirty_overlay *overlay,
                                               uint32_t reseller, uint32_t *count_out);

/* A row's figure at the rate that is in effect: the days of a changed rate are not dirty one by
 * one.  ERROR_LIMIT as figure_make. */
must_check int dirty_overlay_price(const struct dirty_overlay *overlay, uint32_t reseller,
                                   struct day_figure *figure);
#endif

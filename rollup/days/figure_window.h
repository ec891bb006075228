/* figure_window: figures of many resellers, kept packed until they can be given in order.
 *
 * amount_by_day is stored in the order of tokens, in which it is read at the speed of a scan, and
 * wanted in the order of names.  Between the two lies the window: of resellers numbered by name, it
 * takes each one's figures whenever they come, and gives all of them by number.  It is bounded, as
 * all windows together are: where figures take more, the upper half of this window's is dropped,
 * and read again when what is below has been given.
 *
 *     names      0   1   2   3   4   5   6   7        come in the order  5 2 7 0 ...
 *     kept       x   .   x   .   .   x   .   x        too much: end is 5
 *     kept       x   .   x   .   .   |                then 3 1 4, and given: 0 1 2 3 4
 */
#ifndef DAYBOOK_ROLLUP_DAYS_FIGURE_WINDOW_H
#define DAYBOOK_ROLLUP_DAYS_FIGURE_WINDOW_H

#include "base/quota.h"
#include "rollup/days/rollup.h"

struct figure_window;

/* Where `quota`, which all windows share, is over its limit, a window drops half of what it has if
 * that is more than the quota's `little`, so that each gets on; but it keeps one reseller whole
 * however many days that has: some 15 bytes each. */
struct figure_window *figure_window_new(struct quota *quota);
void figure_window_free(struct figure_window *window);       /* NULL is fine */

/* Forget everything; resellers are numbered below `count` from now on. */
void figure_window_begin(struct figure_window *window, uint32_t count);

/* Keep a figure; its reseller is not looked at.  Of one reseller they come in the order in which
 * they are given, with nobody else's in between.  Those of resellers at or past the end are
 * dropped. */
void figure_window_add(struct figure_window *window, uint32_t reseller,
                       const struct day_figure *figure);

/* Resellers from here on are not kept: `count`, or less where there was no room. */
uint32_t figure_window_end(const struct figure_window *window);

/* The next figure by number, its reseller left empty; false: that was the last. */
bool figure_window_next(struct figure_window *window, uint32_t *reseller_out,
                        struct day_figure *figure_out);
#endif

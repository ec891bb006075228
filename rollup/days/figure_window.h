/* figure_window: figures of many resellers, kept packed until they can be given in order.
 *
 * amount_by_day is stored in the order of tokens, in which it is read at the speed of a scan, but
 * figures are given in the order of names.  A window takes figures of resellers, which are numbered
 * by name, in any order of resellers, and gives them in the order of the numbers.  All windows
 * together are limited: where figures take more, this window drops the upper half of its own, which
 * is read again when the lower half has been given.
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

/* Where `quota`, which all windows share, is over its limit, a window drops half of its figures if
 * they take more than the quota's `little`, so that no window is starved.  The figures of one
 * reseller are kept whole, however many they are, at some 15 bytes each. */
struct figure_window *figure_window_new(struct quota *quota);
void figure_window_free(struct figure_window *window);       /* NULL is fine */

/* Forget everything; resellers are numbered below `count` from now on. */
void figure_window_begin(struct figure_window *window, uint32_t count);

/* Keep a figure of the reseller with that number (the figure's own `reseller` is ignored).  Figures
 * of one reseller come in the order in which they are to be given, with no others in between.
 * Those of resellers at or past figure_window_end are dropped. */
void figure_window_add(struct figure_window *window, uint32_t reseller,
                       const struct day_figure *figure);

/* The number from which on resellers' figures are not kept: `count`, or less where figures were
 * dropped. */
uint32_t figure_window_end(const struct figure_window *window);

/* The next figure by number, its reseller left empty; false: that was the last. */
bool figure_window_next(struct figure_window *window, uint32_t *reseller_out,
                        struct day_figure *figure_out);
#endif

/* figure_window: keeps the figures of many resellers, packed, to return them in the order of names.
 *
 * amount_by_day is stored in the order of tokens, and is read fast only in this order.  But a
 * reader gets the figures in the order of the resellers' names.  Resellers are numbered by name.  A
 * window takes figures of resellers in any order, and returns them in the order of the numbers.
 * When the memory of all windows is used up, a window drops the upper half of its figures, which
 * its user reads again.
 *
 *     names      0   1   2   3   4   5   6   7        read in the order  5 2 7 0 ...
 *     kept       x   .   x   .   .   x   .   x        over the limit: from 5 on dropped
 *     kept       x   .   x   .   .   |                then 3 1 4 read; given: 0 1 2 3 4
 */
#ifndef DAYBOOK_ROLLUP_DAYS_FIGURE_WINDOW_H
#define DAYBOOK_ROLLUP_DAYS_FIGURE_WINDOW_H

#include "base/quota.h"
#include "rollup/days/rollup.h"

struct figure_window;

/* All windows share `quota`.  When it is over its limit, a window drops half of its figures, but
 * only if they take more bytes than `little` (quota.h).  The figures of one reseller are kept or
 * dropped together, however many they are. */
struct figure_window *figure_window_new(struct quota *quota);
void figure_window_free(struct figure_window *window);       /* NULL is fine */

/* Remove all figures.  From now on resellers have the numbers below `count`. */
void figure_window_begin(struct figure_window *window, uint32_t count);

/* Keep a figure of the reseller with that number (the figure's own `reseller` is ignored).  Figures
 * of one reseller are added in the order in which they are to be returned, without figures of other
 * resellers in between.  Figures of resellers from figure_window_end on are dropped. */
void figure_window_add(struct figure_window *window, uint32_t reseller,
                       const struct day_figure *figure);

/* The window keeps the figures of the resellers below the result, which is `count`, or less if
 * figures were dropped. */
uint32_t figure_window_end(const struct figure_window *window);

/* The next figure in the order of the resellers' numbers.  Its member `reseller` is empty.  False:
 * there is no further figure. */
bool figure_window_next(struct figure_window *window, uint32_t *reseller_out,
                        struct day_figure *figure_out);
#endif

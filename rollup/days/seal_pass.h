/* seal_pass: finds the days whose clicks have expired, and seals them (seal.h), one by one.
 *
 *     days    ... 26  27  28 | 29  30  today
 *                 sealed     |  kept, with `keep 2 days`
 *
 * A pass goes through the published rows of amount_by_day, reseller by reseller.  A server begins a
 * pass by itself when days have expired, or when a sealed day with late clicks is no longer dirty.
 * `daybook rollup` begins a pass, too, and after `daybook retention set` a server begins one at
 * once.  retention.seal_from is the first day that may be due for a seal, so that a pass does not
 * go through earlier days again.
 *
 * Between two days the engine thread does other work.  Each seal waits until the previous seal is
 * durable, so at most one seal is under way. */
#ifndef DAYBOOK_ROLLUP_DAYS_SEAL_PASS_H
#define DAYBOOK_ROLLUP_DAYS_SEAL_PASS_H

#include "rollup/days/rollup_private.h"

struct seal_totals {
    uint64_t days;
    uint64_t clicks;
    struct decimal gross;
    uint64_t days_left;                /* due, but changed or out of date, so left to the next
                                        * pass */
    uint64_t days_too_large;           /* not sealed, as their ads do not fit into one batch */
    uint64_t unread;                   /* days, or resellers with all of their days, that could not
                                        * be read, and are left to the next pass */
};
/* If anything could not be read, `err` names the first, though all else was sealed. */
typedef void (*seal_pass_done)(void *context, int status, const struct error *err,
                               const struct seal_totals *totals);

/* The last day that has expired; false: none has, or the clock is in doubt. */
bool seal_pass_horizon(const struct rollup *rollup, int32_t *day_out);

/* Begin a pass.  `change` is the seals' row of the table `change`.  It is copied, and the copy gets
 * an id and a time.  Its texts are borrowed until `done`, which may be NULL.  `is_dry`: only count.
 * ERROR_FULL: a pass is under way.  ERROR_CLOSED: the rollup is closing or has failed. */
must_check int seal_pass_begin(struct rollup *rollup, const struct change_row *change, bool is_dry,
                               seal_pass_done done, void *context, struct error *err);

/* In a server whose clicks expire: start a timer that begins a pass if a seal may be due, and
 * starts itself again. */
void seal_pass_tick_in(struct rollup *rollup, int64_t delay_ms);
#endif

/* seal_pass: finds the days whose clicks have expired, and seals them (seal.h), one by one.
 *
 *     days    ... 26  27  28 | 29  30  today
 *                 sealed     |  kept, with `keep 2 days`
 *
 * A pass goes through the published rows of amount_by_day, reseller by reseller.  A server begins
 * one by itself when days have expired, or late clicks of a sealed day have settled; `daybook
 * rollup` and `daybook retention set` begin one too.  What a pass went through is not gone through
 * again: seal_from is the first day that may have something due.
 *
 * Between two days the engine thread does other things, and a seal waits for the one before it to
 * be durable, so at any moment at most one is under way. */
#ifndef DAYBOOK_ROLLUP_DAYS_SEAL_PASS_H
#define DAYBOOK_ROLLUP_DAYS_SEAL_PASS_H

#include "rollup/days/rollup_private.h"

struct seal_totals {
    uint64_t days;
    uint64_t clicks;
    struct decimal gross;
    uint64_t days_left;                /* due, but changed or read meanwhile: the next pass's */
    uint64_t days_too_large;           /* their ads do not fit one frame */
};
typedef void (*seal_pass_done)(void *context, int status, const struct error *err,
                               const struct seal_totals *totals);

/* The last day that has expired; false: none has, clicks are kept for ever. */
bool seal_pass_horizon(const struct rollup *rollup, int32_t *day_out);

/* Begin one.  `change`: who and why, copied, its texts until `done`; its id and time are given
 * here.  `is_dry`: only count.  ERROR_FULL: one is under way.  `done` may be NULL. */
must_check int seal_pass_begin(struct rollup *rollup, const struct change_row *change, bool is_dry,
                               seal_pass_done done, void *context, struct error *err);

/* The server's timer: begin a pass if there is reason to, and look again in a while. */
void seal_pass_tick(struct timer *timer);
void seal_pass_tick_in(struct rollup *rollup, int64_t delay_ms);
#endif

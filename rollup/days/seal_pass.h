/* seal_pass: finds the days whose clicks have expired, and seals them (seal.h), one by one.
 *
 *     days    ... 26  27  28 | 29  30  today
 *                 sealed     |  kept, with `keep 2 days`
 *
 * A pass begins at retention.seal_from, the first day that may be due for a seal.
 *
 * At most one seal is under way: each waits until the previous one is durable. */
#ifndef DAYBOOK_ROLLUP_DAYS_SEAL_PASS_H
#define DAYBOOK_ROLLUP_DAYS_SEAL_PASS_H

#include "rollup/days/rollup_private.h"

struct seal_totals {
    uint64_t days;
    uint64_t clicks;
    struct decimal gross;
    uint64_t days_left;                /* due, but changed or out of date: left to the next pass */
    uint64_t days_too_large;           /* not sealed: their ads do not fit into one batch */
    uint64_t unread;                   /* days and whole resellers that could not be read: left to
                                        * the next pass */
};
/* If days or resellers could not be read, `err` names the first of them; the others were
 * processed. */
typedef void (*seal_pass_done)(void *context, int status, const struct error *err,
                               const struct seal_totals *totals);

/* The last day that has expired; false: none has, or the clock is in doubt. */
bool seal_pass_horizon(const struct rollup *rollup, int32_t *day_out);

/* Begin a pass.  `change` is the seals' row of the table `change`; the pass gives it an id and a
 * time.  Its texts are borrowed until `done`, which may be NULL.  `is_dry`: only count.
 * ERROR_FULL: a pass is under way.  ERROR_CLOSED: the rollup is closing or has failed. */
must_check int seal_pass_begin(struct rollup *rollup, const struct change_row *change, bool is_dry,
                               seal_pass_done done, void *context, struct error *err);

/* In a server, if clicks expire: start a timer that begins a pass when a seal may be due, and then
 * starts itself again. */
void seal_pass_tick_in(struct rollup *rollup, int64_t delay_ms);
#endif

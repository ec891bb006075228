/* look_timer: starts a server's refreshes of days that are dirty or to be published.
 *
 * The pause before a refresh is four times as long as the last refresh took, but 250 to 850 ms.  So
 * refreshes mostly take no more than a fifth of the engine thread's time. */
#ifndef DAYBOOK_ROLLUP_DAYS_LOOK_TIMER_H
#define DAYBOOK_ROLLUP_DAYS_LOOK_TIMER_H

#include "base/world/world.h"

struct look_timer {
    struct world *world;
    struct timer timer;
    bool is_on;                        /* false: never fires (no server, or the rollup is
                                        * closing) */
    int64_t at_us;                     /* when it fires, by the monotonic clock; INT64_MAX: not
                                        * set */
    int64_t refresh_took_us;           /* how long the last refresh took; set by the rollup */
};

/* `is_on` false: the timer never fires. */
void look_timer_init(struct look_timer *look, struct world *world, bool is_on,
                     void (*fire)(struct timer *timer), void *context);
/* Stop the timer for good: setting a time has no effect from now on. */
void look_timer_stop(struct look_timer *look);
/* Fire at a time of the wall clock, unless an earlier time is set. */
void look_timer_at(struct look_timer *look, int64_t at_us);
/* Fire after a pause, which depends on how long the last refresh took. */
void look_timer_soon(struct look_timer *look);
/* To be called when the timer has fired, before a time is set again. */
void look_timer_fired(struct look_timer *look);
#endif

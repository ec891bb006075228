/* look_timer: when a server refreshes what is dirty or due by itself.
 *
 * The longer a refresh takes, the longer the pause before the next, so that refreshes take about a
 * fifth of the engine thread; but the pause is short enough to keep figures within a second of the
 * clicks.  Of two times that were set, the earlier one counts. */
#ifndef DAYBOOK_ROLLUP_DAYS_LOOK_TIMER_H
#define DAYBOOK_ROLLUP_DAYS_LOOK_TIMER_H

#include "base/world/world.h"

struct look_timer {
    struct world *world;
    struct timer timer;
    bool is_on;                        /* a server's, and the rollup is not closing */
    int64_t at_us;                     /* when it fires; monotonic; INT64_MAX: it is not set */
    int64_t refresh_took_us;           /* how long the last refresh took; set by the rollup */
};

/* `is_on` false: the timer never fires. */
void look_timer_init(struct look_timer *look, struct world *world, bool is_on,
                     void (*fire)(struct timer *timer), void *context);
/* It does not fire any more, whatever is set. */
void look_timer_stop(struct look_timer *look);
/* Fire at a time of the wall clock. */
void look_timer_at(struct look_timer *look, int64_t at_us);
/* Fire after the pause that follows from the last refresh. */
void look_timer_soon(struct look_timer *look);
/* The timer has fired: the next time may be set. */
void look_timer_fired(struct look_timer *look);
#endif

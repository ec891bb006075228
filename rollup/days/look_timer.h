/* look_timer: when a server looks at what is dirty or due, by itself.
 *
 * Looks grow apart with the refresh, so that it takes about a fifth of the engine thread, up to a
 * length that keeps figures within a second of clicks.  A look that is asked for twice comes at the
 * earlier time. */
#ifndef DAYBOOK_ROLLUP_DAYS_LOOK_TIMER_H
#define DAYBOOK_ROLLUP_DAYS_LOOK_TIMER_H

#include "base/world/world.h"

struct look_timer {
    struct world *world;
    struct timer timer;
    bool is_on;                        /* a server's, and not closing */
    int64_t at_us;                     /* monotonic; INT64_MAX: not started */
    int64_t refresh_took_us;           /* the last work, from beginning to end: the owner's */
};

/* `is_on` false: no look ever comes. */
void look_timer_init(struct look_timer *look, struct world *world, bool is_on,
                     void (*fire)(struct timer *timer), void *context);
/* For ever. */
void look_timer_stop(struct look_timer *look);
/* At a time of the wall clock. */
void look_timer_at(struct look_timer *look, int64_t at_us);
/* In as long as the last work asks for. */
void look_timer_soon(struct look_timer *look);
/* The look has come: the next one may be asked for. */
void look_timer_fired(struct look_timer *look);
#endif

/* look_timer: see the header. */
#include "rollup/days/look_timer.h"

#include "base/error.h"

/* A tick is the pause before a refresh.  A figure is late by at most one tick and one refresh. */
#define TICK_US     INT64_C(250000)
#define TICK_MAX_US INT64_C(850000)
#define WORK_SHARE  4 /* a tick is this many times as long as the last refresh */

void look_timer_init(struct look_timer *look, struct world *world, bool is_on,
                     void (*fire)(struct timer *timer), void *context)
{
    check(fire != NULL);
    *look = (struct look_timer){.world = world,
                                .timer = {.fire = fire, .context = context},
                                .is_on = is_on,
                                .at_us = INT64_MAX};
}

void look_timer_stop(struct look_timer *look)
{
    look->is_on = false;
    world_timer_stop(look->world, &look->timer);
}

void look_timer_at(struct look_timer *look, int64_t at_us)
{
    int64_t delay_us = at_us - world_wall_us(look->world);
    int64_t look_at_us = world_monotonic_us(look->world) + (delay_us > 0 ? delay_us : 0);
    if (!look->is_on || look_at_us >= look->at_us)
        return;
    int64_t delay_ms = delay_us > 0 ? (delay_us + 999) / 1000 : 0;
    look->at_us = look_at_us;
    look->world->executor->timer_start(look->world->executor, &look->timer, delay_ms);
}

void look_timer_soon(struct look_timer *look)
{
    int64_t tick_us = look->refresh_took_us * WORK_SHARE;
    if (tick_us < TICK_US)
        tick_us = TICK_US;
    if (tick_us > TICK_MAX_US)
        tick_us = TICK_MAX_US;
    look_timer_at(look, world_wall_us(look->world) + tick_us);
}

void look_timer_fired(struct look_timer *look)
{
    look->at_us = INT64_MAX;
}

/* test_look_timer: looks come at the earliest time that was asked for, and never while it is off.
 */
#include "rollup/days/look_timer.h"

#include <criterion/criterion.h>

#include "tests/sim/sim_world.h"

enum { MS = 1000 };

struct looks {
    struct sim_world *sim;
    struct look_timer timer;
    int count;
};

static void look(struct timer *timer)
{
    struct looks *looks = timer->context;
    look_timer_fired(&looks->timer);
    looks->count++;
}

static void start(struct looks *looks, bool is_on)
{
    looks->sim = sim_world_new(1);
    look_timer_init(&looks->timer, sim_world_interface(looks->sim), is_on, look, looks);
}

static int64_t in_ms(const struct looks *looks, int64_t ms)
{
    struct clock *clock = looks->timer.world->clock;
    return clock->wall_us(clock) + ms * MS;
}

Test(look_timer, the_earliest_look_that_was_asked_for_comes_and_only_that)
{
    struct looks looks = {0};
    start(&looks, true);
    look_timer_at(&looks.timer, in_ms(&looks, 500));
    look_timer_at(&looks.timer, in_ms(&looks, 100));
    look_timer_at(&looks.timer, in_ms(&looks, 900));
    sim_world_run_us(looks.sim, 99 * MS);
    cr_assert_eq(looks.count, 0);
    sim_world_run_us(looks.sim, 2 * MS);
    cr_assert_eq(looks.count, 1);
    sim_world_run_us(looks.sim, 2000 * MS);
    cr_assert_eq(looks.count, 1, "the later ones were not asked for again");
    look_timer_at(&looks.timer, in_ms(&looks, -5)); /* what is past is due now */
    sim_world_run_us(looks.sim, 1 * MS);
    cr_assert_eq(looks.count, 2);
    look_timer_stop(&looks.timer);
    sim_world_free(looks.sim);
}

/* After work of 150 ms a look comes 600 ms later: the work then has a fifth of the thread. */
Test(look_timer, looks_grow_apart_with_the_work_up_to_a_limit)
{
    static const struct {
        int64_t work_ms, look_ms;
    } cases[] = {{0, 250}, {150, 600}, {10000, 850}};
    struct looks looks = {0};
    start(&looks, true);
    for (int i = 0; i < 3; i++) {
        looks.count = 0;
        looks.timer.refresh_took_us = cases[i].work_ms * MS;
        look_timer_soon(&looks.timer);
        sim_world_run_us(looks.sim, (cases[i].look_ms - 1) * MS);
        cr_assert_eq(looks.count, 0, "case %d", i);
        sim_world_run_us(looks.sim, 2 * MS);
        cr_assert_eq(looks.count, 1, "case %d", i);
    }
    look_timer_stop(&looks.timer);
    sim_world_free(looks.sim);
}

Test(look_timer, none_comes_where_it_is_off_or_was_stopped)
{
    struct looks looks = {0};
    start(&looks, false);
    look_timer_soon(&looks.timer);
    sim_world_run_us(looks.sim, 2000 * MS);
    cr_assert_eq(looks.count, 0);
    sim_world_free(looks.sim);
    start(&looks, true);
    look_timer_soon(&looks.timer);
    look_timer_stop(&looks.timer);
    look_timer_soon(&looks.timer);
    sim_world_run_us(looks.sim, 2000 * MS);
    cr_assert_eq(looks.count, 0);
    sim_world_free(looks.sim);
}

/* test_loop: the loop's turns, and how long they keep others waiting. */
#include "base/world/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <uv.h>

#include "base/world/loop_times.h"
#include "base/metrics.h"

enum { SLOW_US = 3000 };

struct fixture {
    struct loop *loop;
    struct metrics *metrics;
    struct world *world;
    char path[32];
    bool has_fired;
    bool is_done;
};

static void setup(struct fixture *f)
{
    struct error err = {0};
    *f = (struct fixture){.loop = loop_new(), .metrics = metrics_new(), .path = "loopXXXXXX"};
    cr_assert_not_null(mkdtemp(f->path));
    loop_show_times(f->loop, f->metrics);
    cr_assert_eq(world_uv_open(f->path, false, loop_uv(f->loop), &f->world, &err), 0);
}

static void teardown(struct fixture *f)
{
    world_uv_close(f->world);
    loop_show_times(f->loop, NULL);
    loop_free(f->loop);
    metrics_free(f->metrics);
    rmdir(f->path);
}

static const struct metric *times_of(const struct fixture *f, const char *cause)
{
    const struct metric *metric = metrics_first(f->metrics);
    char labels[64] = "";
    if (strcmp(cause, "turn") != 0)
        snprintf(labels, sizeof labels, "cause=\"%s\"", cause);
    while (metric != NULL && strcmp(metric->labels, labels) != 0)
        metric = metric->next;
    cr_assert_not_null(metric);
    return metric;
}

static uint64_t count_of(const struct metric *metric)
{
    return metric->count;
}

static void fire_slowly(struct timer *timer)
{
    struct fixture *f = timer->context;
    usleep(SLOW_US);
    f->has_fired = true;
}

Test(loop, a_timer_that_takes_long_shows_as_a_timer_and_a_turn)
{
    struct fixture f;
    setup(&f);
    struct timer timer = {.fire = fire_slowly, .context = &f};
    f.world->executor->timer_start(f.world->executor, &timer, 1);
    while (!f.has_fired)
        (void)loop_step(f.loop);
    cr_assert_eq(count_of(times_of(&f, "timer")), 1);
    cr_assert_geq(times_of(&f, "timer")->value, SLOW_US);
    cr_assert_eq(count_of(times_of(&f, "turn")), 1);
    cr_assert_geq(times_of(&f, "turn")->value, times_of(&f, "timer")->value);
    teardown(&f);
}

Test(loop, a_turn_of_work_in_pieces_counts_as_a_timer_too)
{
    struct fixture f;
    setup(&f);
    struct timer timer = {.fire = fire_slowly, .context = &f};
    f.world->executor->timer_start(f.world->executor, &timer, 0);
    while (!f.has_fired)
        (void)loop_step(f.loop);
    cr_assert_eq(count_of(times_of(&f, "timer")), 1);
    cr_assert_geq(times_of(&f, "timer")->value, SLOW_US);
    teardown(&f);
}

struct slow_job {
    struct job job;
    struct fixture *fixture;
};

static void run_nothing(struct job *job)
{
    (void)job;
}

static void done_slowly(struct job *job)
{
    struct slow_job *slow = (struct slow_job *)(void *)job;
    usleep(SLOW_US);
    slow->fixture->is_done = true;
}

Test(loop, the_end_of_a_job_shows_under_its_lane)
{
    struct fixture f;
    setup(&f);
    struct slow_job slow = {.job = {.run = run_nothing, .done = done_slowly}, .fixture = &f};
    f.world->executor->submit(f.world->executor, LANE_MERGE, &slow.job);
    while (!f.is_done)
        (void)loop_step(f.loop);
    cr_assert_eq(count_of(times_of(&f, "merge")), 1);
    cr_assert_geq(times_of(&f, "merge")->value, SLOW_US);
    cr_assert_eq(count_of(times_of(&f, "background")), 0);
    teardown(&f);
}

Test(loop, waiting_is_no_part_of_a_turn)
{
    struct fixture f;
    setup(&f);
    struct timer timer = {.fire = fire_slowly, .context = &f};
    f.world->executor->timer_start(f.world->executor, &timer, 200);
    while (!f.has_fired)
        (void)loop_step(f.loop);
    cr_assert_lt(times_of(&f, "turn")->value, 150000);
    teardown(&f);
}

Test(loop, nothing_is_measured_until_it_is_to_be_shown)
{
    struct fixture f;
    setup(&f);
    loop_show_times(f.loop, NULL);
    struct timer timer = {.fire = fire_slowly, .context = &f};
    f.world->executor->timer_start(f.world->executor, &timer, 0);
    while (!f.has_fired)
        (void)loop_step(f.loop);
    cr_assert_eq(count_of(times_of(&f, "turn")), 0);
    teardown(&f);
}

/* ---- looking again ---- */

enum { TRIES = 10000 };

static void fire_at_once(struct timer *timer)
{
    struct fixture *f = timer->context;
    f->has_fired = true;
}

/* Whether one of so many steps after two quick turns comes back with nothing called, where it would
 * have slept until `fallback` fires. */
static bool looks_again(struct fixture *f, int tries)
{
    struct executor *executor = f->world->executor;
    struct timer quick = {.fire = fire_at_once, .context = f};
    struct timer fallback = {.fire = fire_at_once, .context = f};
    bool has_looked = false;
    for (int i = 0; !has_looked && i < tries; i++) {
        for (int turn = 0; turn < 2; turn++) {
            executor->timer_start(executor, &quick, 0);
            (void)loop_step(f->loop);
        }
        executor->timer_start(executor, &fallback, 2);
        f->has_fired = false;
        (void)loop_step(f->loop);
        has_looked = !f->has_fired;
        executor->timer_stop(executor, &fallback);
    }
    return has_looked;
}

Test(loop, it_looks_again_only_when_told_to)
{
    struct fixture f;
    setup(&f);
    cr_assert_not(looks_again(&f, 10));
    if (uv_available_parallelism() > 1) {
        loop_poll_beside(f.loop, 10000, f.world);
        cr_assert(looks_again(&f, TRIES), "not once in %d times", TRIES);
    }
    loop_poll_beside(f.loop, 0, NULL);
    cr_assert_not(looks_again(&f, 10));
    teardown(&f);
}

struct held_job {
    struct job job;
    uv_sem_t go_on;
    bool is_done;
};

static void run_until_told(struct job *job)
{
    uv_sem_wait(&((struct held_job *)(void *)job)->go_on);
}

static void held_done(struct job *job)
{
    ((struct held_job *)(void *)job)->is_done = true;
}

Test(loop, it_sleeps_at_once_while_a_job_computes)
{
    struct fixture f;
    setup(&f);
    struct held_job held = {.job = {.run = run_until_told, .done = held_done}};
    cr_assert_eq(uv_sem_init(&held.go_on, 0), 0);
    loop_poll_beside(f.loop, 10000, f.world);
    f.world->executor->submit(f.world->executor, LANE_MERGE, &held.job);
    cr_assert(world_uv_computes(f.world, 0));
    cr_assert_not(looks_again(&f, 10));
    uv_sem_post(&held.go_on);
    while (!held.is_done)
        (void)loop_step(f.loop);
    cr_assert_not(world_uv_computes(f.world, 0));
    cr_assert(world_uv_computes(f.world, INT64_C(3600000000000)), "within the last hour");
    f.world->executor->submit(f.world->executor, LANE_READ, &held.job);
    cr_assert_not(world_uv_computes(f.world, 0));
    held.is_done = false;
    uv_sem_post(&held.go_on);
    while (!held.is_done)
        (void)loop_step(f.loop);
    loop_poll_beside(f.loop, 0, NULL);
    uv_sem_destroy(&held.go_on);
    teardown(&f);
}

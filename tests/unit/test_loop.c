/* test_loop: the loop's turns, and how long they keep others waiting. */
#include "storage/base/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "storage/base/loop_times.h"
#include "storage/base/metrics.h"

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
    char labels[64];
    snprintf(labels, sizeof labels, "cause=\"%s\"", cause);
    while (metric != NULL && strcmp(metric->labels, labels) != 0)
        metric = metric->next;
    cr_assert_not_null(metric);
    return metric;
}

static uint64_t count_of(const struct metric *histogram)
{
    uint64_t count = 0;
    for (int i = 0; i < METRIC_BUCKETS; i++)
        count += histogram->buckets[i];
    return count;
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

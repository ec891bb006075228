/* sim_world: clock, randomness and executor of the simulation; the disk is sim_disk.
 *
 * A step collects what could happen now -- the first job of each lane runs, the first finished job
 * of each lane is done, a timer that is due fires -- and draws one.  Only if there is nothing does
 * time go on to the next timer. */
#include "tests/sim/sim_world.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash64.h"
#include "base/memory.h"
#include "tests/sim/sim_random.h"

#define SIM_WALL_START_US INT64_C(1385600000000000) /* 2013-11-28T00:53:20Z */

struct sim_lane {
    struct job *waiting;  /* first is next to run */
    struct job *finished; /* run, first is next to be done */
    bool is_stalled;
};

struct sim_timer {
    struct timer *timer;
    int64_t due_us;
    struct sim_timer *next;
};

struct sim_world {
    struct world world;
    struct sim_disk *sim_disk;
    struct clock clock;
    struct random random;
    struct executor executor;
    struct sim_random order; /* of steps */
    struct sim_random bytes; /* for the engine; apart, so that neither moves the other */
    int64_t monotonic_us;
    int64_t wall_offset_us;
    int64_t boot_offset_us;
    struct sim_lane lanes[LANE_COUNT];
    const struct sim_lane *running; /* NULL: none */
    struct sim_timer *timers;
};

/* Something that a step can do. */
struct sim_action {
    struct sim_lane *lane; /* NULL: fire `timer` */
    bool is_done;          /* of the lane: call done, else run */
    struct sim_timer *timer;
};

static struct sim_world *sim_of_clock(struct clock *clock)
{
    return (struct sim_world *)(void *)((char *)clock - offsetof(struct sim_world, clock));
}

static struct sim_world *sim_of_executor(struct executor *executor)
{
    return (struct sim_world *)(void *)((char *)executor - offsetof(struct sim_world, executor));
}

/* ---- clock and randomness ---- */

static int64_t sim_monotonic_us(struct clock *clock)
{
    return sim_of_clock(clock)->monotonic_us;
}

static int64_t sim_wall_us(struct clock *clock)
{
    const struct sim_world *sim = sim_of_clock(clock);
    return sim->monotonic_us + sim->wall_offset_us;
}

static int64_t sim_boottime_us(struct clock *clock)
{
    const struct sim_world *sim = sim_of_clock(clock);
    return sim->monotonic_us + sim->boot_offset_us;
}

static void sim_fill(struct random *random, void *to, size_t size)
{
    struct sim_world *sim =
        (struct sim_world *)(void *)((char *)random - offsetof(struct sim_world, random));
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)to)[i] = (uint8_t)(sim_random_next(&sim->bytes) >> 56);
}

/* ---- executor ---- */

static void job_list_append(struct job **list, struct job *job)
{
    while (*list != NULL)
        list = &(*list)->next;
    job->next = NULL;
    *list = job;
}

static struct job *job_list_take(struct job **list)
{
    struct job *job = *list;
    *list = job->next;
    return job;
}

static void sim_submit(struct executor *executor, enum executor_lane lane, struct job *job)
{
    job_list_append(&sim_of_executor(executor)->lanes[lane].waiting, job);
}

static void sim_timer_stop(struct executor *executor, struct timer *timer)
{
    struct sim_timer **link = &sim_of_executor(executor)->timers;
    while (*link != NULL && (*link)->timer != timer)
        link = &(*link)->next;
    timer->handle = NULL;
    if (*link == NULL)
        return;
    struct sim_timer *stopped = *link;
    *link = stopped->next;
    memory_free(stopped);
}

static void sim_timer_start(struct executor *executor, struct timer *timer, int64_t delay_ms)
{
    struct sim_world *sim = sim_of_executor(executor);
    sim_timer_stop(executor, timer);
    struct sim_timer *started = memory_alloc(sizeof *started);
    *started = (struct sim_timer){
        .timer = timer,
        .due_us = sim->monotonic_us + (delay_ms > 0 ? delay_ms * 1000 : 0),
        .next = sim->timers,
    };
    sim->timers = started;
    timer->handle = started;
}

static struct sim_timer *sim_next_timer(const struct sim_world *sim)
{
    struct sim_timer *first = NULL;
    for (struct sim_timer *timer = sim->timers; timer != NULL; timer = timer->next)
        if (first == NULL || timer->due_us < first->due_us)
            first = timer;
    return first;
}

/* The first of the due timers is a choice, so timers fire in the order of their times. */
static size_t sim_collect(struct sim_world *sim, struct sim_action actions[2 * LANE_COUNT + 1])
{
    size_t count = 0;
    for (size_t i = 0; i < LANE_COUNT; i++) {
        struct sim_lane *lane = &sim->lanes[i];
        if (lane->is_stalled)
            continue;
        if (lane->waiting != NULL)
            actions[count++] = (struct sim_action){.lane = lane};
        if (lane->finished != NULL)
            actions[count++] = (struct sim_action){.lane = lane, .is_done = true};
    }
    struct sim_timer *timer = sim_next_timer(sim);
    if (timer != NULL && timer->due_us <= sim->monotonic_us)
        actions[count++] = (struct sim_action){.timer = timer};
    return count;
}

static void sim_act(struct sim_world *sim, const struct sim_action *action)
{
    if (action->lane == NULL) {
        struct timer *timer = action->timer->timer;
        sim_timer_stop(&sim->executor, timer);
        timer->fire(timer);
    } else if (action->is_done) {
        struct job *job = job_list_take(&action->lane->finished);
        job->done(job);
    } else {
        struct job *job = job_list_take(&action->lane->waiting);
        sim->running = action->lane;
        job->run(job);
        sim->running = NULL;
        job_list_append(&action->lane->finished, job);
    }
}

/* Do one thing; false if there is none before `until_us`. */
static bool sim_step_until(struct sim_world *sim, int64_t until_us)
{
    struct sim_action actions[2 * LANE_COUNT + 1];
    size_t count = sim_collect(sim, actions);
    if (count == 0) {
        const struct sim_timer *timer = sim_next_timer(sim);
        if (timer == NULL || timer->due_us > until_us)
            return false;
        sim->monotonic_us = timer->due_us;
        count = sim_collect(sim, actions);
    }
    sim_act(sim, &actions[sim_random_below(&sim->order, count)]);
    return true;
}

static bool sim_step(struct executor *executor)
{
    return sim_step_until(sim_of_executor(executor), INT64_MAX);
}

/* ---- the world ---- */

static struct sim_world *sim_world_with(struct sim_disk *disk, uint64_t seed)
{
    struct sim_world *sim = memory_zeroed(1, sizeof *sim);
    sim->sim_disk = disk;
    sim->clock = (struct clock){
        .wall_us = sim_wall_us,
        .monotonic_us = sim_monotonic_us,
        .boottime_us = sim_boottime_us,
        .boot_id = {1},
    };
    sim->random.fill = sim_fill;
    sim->executor = (struct executor){
        .submit = sim_submit,
        .timer_start = sim_timer_start,
        .timer_stop = sim_timer_stop,
        .step = sim_step,
    };
    sim->world = (struct world){
        .disk = sim_disk_interface(disk),
        .clock = &sim->clock,
        .random = &sim->random,
        .executor = &sim->executor,
    };
    sim->order.state = seed;
    sim->bytes.state = ~seed;
    sim->wall_offset_us = SIM_WALL_START_US;
    return sim;
}

struct sim_world *sim_world_new(uint64_t seed)
{
    return sim_world_with(sim_disk_new(), seed);
}

void sim_world_free(struct sim_world *sim)
{
    if (sim == NULL)
        return;
    /* Their owners may be gone already. */
    while (sim->timers != NULL) {
        struct sim_timer *next = sim->timers->next;
        memory_free(sim->timers);
        sim->timers = next;
    }
    sim_disk_free(sim->sim_disk);
    memory_free(sim);
}

struct world *sim_world_interface(struct sim_world *sim)
{
    return &sim->world;
}

struct sim_disk *sim_world_disk(struct sim_world *sim)
{
    return sim->sim_disk;
}

static struct sim_world *sim_world_after(const struct sim_world *old, struct sim_disk *disk,
                                         uint64_t seed)
{
    struct sim_world *sim = sim_world_with(disk, seed);
    sim->monotonic_us = old->monotonic_us;
    sim->wall_offset_us = old->wall_offset_us;
    sim->boot_offset_us = old->boot_offset_us;
    memcpy(sim->clock.boot_id, old->clock.boot_id, BOOT_ID_SIZE);
    return sim;
}

static struct sim_world *sim_world_booted(struct sim_world *sim)
{
    sim_world_reboot(sim, 0);
    return sim;
}

struct sim_world *sim_world_crash(const struct sim_world *old, uint64_t seed)
{
    return sim_world_booted(sim_world_after(old, sim_disk_crash(old->sim_disk, seed), seed));
}

struct sim_world *sim_world_crash_number(const struct sim_world *old, uint64_t number)
{
    struct sim_disk *disk = sim_disk_crash_number(old->sim_disk, number);
    return sim_world_booted(sim_world_after(old, disk, number));
}

struct sim_world *sim_world_restart(const struct sim_world *old, uint64_t seed)
{
    return sim_world_after(old, sim_disk_restart(old->sim_disk), seed);
}

uint64_t sim_world_hash(const struct sim_world *sim)
{
    const uint64_t parts[] = {
        sim_disk_hash(sim->sim_disk),
        sim->order.state,
        sim->bytes.state,
        (uint64_t)sim->monotonic_us,
        (uint64_t)sim->wall_offset_us,
        (uint64_t)sim->boot_offset_us,
        hash64(sim->clock.boot_id, BOOT_ID_SIZE),
    };
    return hash64(parts, sizeof parts);
}

void sim_world_advance_us(struct sim_world *sim, int64_t us)
{
    check(us >= 0);
    sim->monotonic_us += us;
}

void sim_world_set_wall_us(struct sim_world *sim, int64_t wall_us)
{
    sim->wall_offset_us = wall_us - sim->monotonic_us;
}

void sim_world_sleep_us(struct sim_world *sim, int64_t us)
{
    check(us >= 0);
    sim->wall_offset_us += us;
    sim->boot_offset_us += us;
}

void sim_world_reboot(struct sim_world *sim, int64_t off_us)
{
    check(off_us >= 0);
    sim->wall_offset_us += off_us;
    sim->boot_offset_us = -sim->monotonic_us;
    store_u64(sim->clock.boot_id, load_u64(sim->clock.boot_id) + 1);
}

enum executor_lane sim_world_running(const struct sim_world *sim)
{
    return sim->running == NULL ? LANE_COUNT : (enum executor_lane)(sim->running - sim->lanes);
}

void sim_world_stall(struct sim_world *sim, enum executor_lane lane, bool is_stalled)
{
    sim->lanes[lane].is_stalled = is_stalled;
}

void sim_world_stall_merges(struct sim_world *sim, bool is_stalled)
{
    sim_world_stall(sim, LANE_MERGE, is_stalled);
    sim_world_stall(sim, LANE_MERGE_BESIDE, is_stalled);
}

void sim_world_run_us(struct sim_world *sim, int64_t us)
{
    int64_t until_us = sim->monotonic_us + us;
    while (sim_step_until(sim, until_us))
        ;
    if (sim->monotonic_us < until_us)
        sim->monotonic_us = until_us;
}

/* world_uv: the world of the program: POSIX files, system clocks, and a libuv loop with a thread
 * for each lane.
 *
 * What must hold: a job is passed to its lane under the lane's mutex, and back under the mutex of
 * the finished jobs.
 *
 *     engine: submit -> lane.queue (mutex, condition) -> lane's thread: run
 *     -> finished (mutex, uv_async) -> engine: done
 *
 * Waking a thread delays the acknowledgements that wait for jobs, so a lane's thread is woken only
 * if it sleeps, and the engine only for the first finished job.
 *
 * A timer with a delay of 0 fires at most once between two polls of all sockets.  libuv does not
 * ensure that: its timer, restarted by its own callback, fires again before the poll.
 *
 *     turn: timers that are due -> those with a delay of 0, each once -> poll, callbacks
 *
 * Only the engine thread receives signals. */
#include "base/world/world.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>
#include <time.h>
#include <uv.h>

#include "base/world/disk_posix.h"
#include "base/world/loop_times.h"
#include "base/memory.h"
#include "base/text_file.h"
#include "base/world/thread.h"
#include "base/uuid.h"

_Static_assert((int)LANE_COUNT < (int)MEMORY_HEAPS,
               "a heap for each lane, and for the engine thread");

struct world_uv;

struct job_queue {
    struct job *first;
    struct job *last; /* valid if `first` is not NULL */
};

struct lane {
    uv_mutex_t mutex;
    uv_cond_t wanted; /* signals a job, or is_stopping */
    struct job_queue queue;
    bool is_sleeping;
    bool is_stopping;
    bool has_thread;
    uv_thread_t thread;
    struct world_uv *world;
};

/* A handle in `turns` whose timer was stopped has no owner. */
struct timer_handle {
    uv_timer_t uv;
    struct timer *owner;
    bool is_in_turns;
    STAILQ_ENTRY(timer_handle) link;
    struct world_uv *world;
};

STAILQ_HEAD(timer_handles, timer_handle);

struct world_uv {
    struct world world;
    struct clock clock;
    struct random random;
    struct executor executor;
    uv_loop_t *loop;
    uv_loop_t own_loop;
    bool owns_loop;
    uv_async_t finished_async;
    uv_mutex_t finished_mutex;
    struct job_queue finished; /* jobs that have run and whose `done` is to be called */
    size_t jobs_under_way;     /* submitted, `done` not yet called; engine thread only */
    size_t jobs_computing;     /* those of them that are not on latency lanes */
    uint64_t computed_ns;      /* when one of jobs_computing last ended */
    struct lane lanes[LANE_COUNT];
    struct timer_handles spare_timers;
    struct timer_handles turns; /* timers with a delay of 0 */
    uv_idle_t turns_idle;       /* active while `turns` is not empty */
    size_t handles_open;
};

static struct world_uv *world_of_executor(struct executor *executor)
{
    return (struct world_uv *)(void *)((char *)executor - offsetof(struct world_uv, executor));
}

static void job_queue_put(struct job_queue *queue, struct job *job)
{
    job->next = NULL;
    if (queue->first == NULL)
        queue->first = job;
    else
        queue->last->next = job;
    queue->last = job;
}

static struct job *job_queue_take(struct job_queue *queue)
{
    struct job *job = queue->first;
    queue->first = job->next;
    return job;
}

/* ---- lanes ---- */

static void lane_finish(struct world_uv *world, struct job *job)
{
    uv_mutex_lock(&world->finished_mutex);
    bool is_first = world->finished.first == NULL;
    job_queue_put(&world->finished, job);
    uv_mutex_unlock(&world->finished_mutex);
    if (is_first)
        check(uv_async_send(&world->finished_async) == 0);
}

/* Jobs of latency lanes mostly wait for the disk. */
static enum thread_kind lane_kind(enum executor_lane lane)
{
    bool is_background = lane == LANE_BACKGROUND || lane == LANE_MERGE ||
                         lane == LANE_MERGE_BESIDE || lane == LANE_COPY;
    if (lane == LANE_LOG || lane == LANE_LOG_FILES || lane == LANE_READ)
        return THREAD_LATENCY;
    return is_background ? THREAD_BACKGROUND : THREAD_BATCH;
}

static void lane_main(void *argument)
{
    struct lane *lane = argument;
    thread_set(lane_kind((enum executor_lane)(lane - lane->world->lanes)));
    uv_mutex_lock(&lane->mutex);
    for (;;) {
        while (lane->queue.first == NULL && !lane->is_stopping) {
            lane->is_sleeping = true;
            uv_cond_wait(&lane->wanted, &lane->mutex);
        }
        lane->is_sleeping = false;
        if (lane->queue.first == NULL)
            break;
        struct job *job = job_queue_take(&lane->queue);
        uv_mutex_unlock(&lane->mutex);
        job->run(job);
        lane_finish(lane->world, job);
        uv_mutex_lock(&lane->mutex);
    }
    uv_mutex_unlock(&lane->mutex);
}

/* The new thread inherits the signal mask, which blocks all signals. */
static void lane_start(struct lane *lane)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    check(uv_thread_create(&lane->thread, lane_main, lane) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    lane->has_thread = true;
}

static void lane_stop(struct lane *lane)
{
    if (lane->has_thread) {
        uv_mutex_lock(&lane->mutex);
        lane->is_stopping = true;
        uv_cond_signal(&lane->wanted);
        uv_mutex_unlock(&lane->mutex);
        uv_thread_join(&lane->thread);
    }
    uv_cond_destroy(&lane->wanted);
    uv_mutex_destroy(&lane->mutex);
}

static void executor_uv_submit(struct executor *executor, enum executor_lane index, struct job *job)
{
    struct world_uv *world = world_of_executor(executor);
    struct lane *lane = &world->lanes[index];
    if (world->jobs_under_way++ == 0)
        uv_ref((uv_handle_t *)&world->finished_async);
    if (!lane->has_thread)
        lane_start(lane);
    job->lane = index;
    world->jobs_computing += lane_kind(index) != THREAD_LATENCY;
    uv_mutex_lock(&lane->mutex);
    job_queue_put(&lane->queue, job);
    bool is_sleeping = lane->is_sleeping;
    lane->is_sleeping = false;
    uv_mutex_unlock(&lane->mutex);
    if (is_sleeping)
        uv_cond_signal(&lane->wanted);
}

static void executor_uv_finished(uv_async_t *async)
{
    struct world_uv *world = async->data;
    uv_mutex_lock(&world->finished_mutex);
    struct job_queue queue = world->finished;
    world->finished.first = NULL;
    uv_mutex_unlock(&world->finished_mutex);
    while (queue.first != NULL) {
        /* `done` may free the job or submit it again. */
        struct job *job = job_queue_take(&queue);
        if (--world->jobs_under_way == 0)
            uv_unref((uv_handle_t *)&world->finished_async);
        if (lane_kind(job->lane) != THREAD_LATENCY) {
            world->jobs_computing--;
            world->computed_ns = uv_hrtime();
        }
        enum loop_cause cause = LOOP_JOB + job->lane;
        int64_t began_ns = loop_times_begin(world->loop->data);
        job->done(job);
        loop_times_end(world->loop->data, cause, began_ns);
    }
}

bool world_uv_computes(const struct world *base, int64_t ns)
{
    const struct world_uv *world = (const struct world_uv *)base;
    return world->jobs_computing > 0 || uv_hrtime() < world->computed_ns + (uint64_t)ns;
}

static bool executor_uv_step(struct executor *executor)
{
    struct world_uv *world = world_of_executor(executor);
    if (!uv_loop_alive(world->loop))
        return false;
    uv_run(world->loop, UV_RUN_ONCE);
    return true;
}

/* ---- timers ---- */

static void timer_let_go(struct timer *timer)
{
    struct timer_handle *handle = timer->handle;
    handle->owner = NULL;
    timer->handle = NULL;
    if (!handle->is_in_turns)
        STAILQ_INSERT_HEAD(&handle->world->spare_timers, handle, link);
}

static void timer_fire(struct timer *timer, struct loop_times *times)
{
    /* `fire` may start the timer again. */
    timer_let_go(timer);
    int64_t began_ns = loop_times_begin(times);
    timer->fire(timer);
    loop_times_end(times, LOOP_TIMER, began_ns);
}

static void timer_handle_fired(uv_timer_t *uv)
{
    struct timer_handle *handle = uv->data;
    timer_fire(handle->owner, uv->loop->data);
}

/* Timers that are started meanwhile fire in the next turn. */
static void turns_fire(uv_idle_t *idle)
{
    struct world_uv *world = idle->data;
    struct timer_handles due = STAILQ_HEAD_INITIALIZER(due);
    STAILQ_CONCAT(&due, &world->turns);
    while (!STAILQ_EMPTY(&due)) {
        struct timer_handle *handle = STAILQ_FIRST(&due);
        struct timer *timer = handle->owner;
        STAILQ_REMOVE_HEAD(&due, link);
        handle->is_in_turns = false;
        if (timer == NULL) {
            STAILQ_INSERT_HEAD(&world->spare_timers, handle, link);
            continue;
        }
        timer_fire(timer, world->loop->data);
    }
    if (STAILQ_EMPTY(&world->turns))
        uv_idle_stop(idle);
}

static void turns_add(struct world_uv *world, struct timer_handle *handle)
{
    handle->is_in_turns = true;
    STAILQ_INSERT_TAIL(&world->turns, handle, link);
    check(uv_idle_start(&world->turns_idle, turns_fire) == 0);
}

static struct timer_handle *timer_handle_take(struct world_uv *world)
{
    struct timer_handle *handle = STAILQ_FIRST(&world->spare_timers);
    if (handle != NULL) {
        STAILQ_REMOVE_HEAD(&world->spare_timers, link);
        return handle;
    }
    handle = memory_zeroed(1, sizeof *handle);
    handle->world = world;
    check(uv_timer_init(world->loop, &handle->uv) == 0);
    handle->uv.data = handle;
    world->handles_open++;
    return handle;
}

static void executor_uv_timer_stop(struct executor *executor, struct timer *timer)
{
    (void)executor;
    if (timer->handle == NULL)
        return;
    struct timer_handle *handle = timer->handle;
    uv_timer_stop(&handle->uv);
    timer_let_go(timer);
}

static void executor_uv_timer_start(struct executor *executor, struct timer *timer,
                                    int64_t delay_ms)
{
    struct world_uv *world = world_of_executor(executor);
    executor_uv_timer_stop(executor, timer);
    struct timer_handle *handle = timer_handle_take(world);
    handle->owner = timer;
    timer->handle = handle;
    if (delay_ms <= 0) {
        turns_add(world, handle);
        return;
    }
    /* libuv adds the delay to the loop's time, which may be old. */
    uv_update_time(world->loop);
    check(uv_timer_start(&handle->uv, timer_handle_fired, (uint64_t)delay_ms, 0) == 0);
}

/* ---- clock and randomness ---- */

static int64_t clock_read_us(clockid_t id)
{
    struct timespec now;
    check(clock_gettime(id, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t clock_uv_wall_us(struct clock *clock)
{
    (void)clock;
    return clock_read_us(CLOCK_REALTIME);
}

static int64_t clock_uv_monotonic_us(struct clock *clock)
{
    (void)clock;
    return clock_read_us(CLOCK_MONOTONIC);
}

static int64_t clock_uv_boottime_us(struct clock *clock)
{
    (void)clock;
    return clock_read_us(CLOCK_BOOTTIME);
}

/* Write zeros if the boot id is unknown. */
static void boot_id_read(uint8_t id_out[BOOT_ID_SIZE])
{
    struct buffer text = {0};
    if (text_file_read("/proc/sys/kernel/random/boot_id", UUID_TEXT_SIZE + 1, &text, NULL) != 0 ||
        text.size < UUID_TEXT_SIZE || !uuid_from_text(bytes_of(text.data, UUID_TEXT_SIZE), id_out))
        memset(id_out, 0, BOOT_ID_SIZE);
    buffer_release(&text);
}

static void random_uv_fill(struct random *random, void *to, size_t size)
{
    (void)random;
    size_t done = 0;
    while (done < size) {
        ssize_t count = getrandom((char *)to + done, size - done, 0);
        check(count > 0 || errno == EINTR);
        done += count > 0 ? (size_t)count : 0;
    }
}

/* ---- the world ---- */

static void world_uv_init(struct world_uv *world)
{
    world->clock = (struct clock){
        .wall_us = clock_uv_wall_us,
        .monotonic_us = clock_uv_monotonic_us,
        .boottime_us = clock_uv_boottime_us,
    };
    boot_id_read(world->clock.boot_id);
    world->random = (struct random){.fill = random_uv_fill, .is_system = true};
    world->executor = (struct executor){
        .submit = executor_uv_submit,
        .timer_start = executor_uv_timer_start,
        .timer_stop = executor_uv_timer_stop,
        .step = executor_uv_step,
    };
    world->world.clock = &world->clock;
    world->world.random = &world->random;
    world->world.executor = &world->executor;
    check(uv_mutex_init(&world->finished_mutex) == 0);
    for (size_t i = 0; i < LANE_COUNT; i++) {
        world->lanes[i].world = world;
        check(uv_mutex_init(&world->lanes[i].mutex) == 0);
        check(uv_cond_init(&world->lanes[i].wanted) == 0);
    }
}

int world_uv_open(const char *path, bool create, void *loop, struct world **world_out,
                  struct error *err)
{
    *world_out = NULL;
    struct world_uv *world = memory_zeroed(1, sizeof *world);
    int rc = disk_posix_open(path, create, &world->world.disk, err);
    if (rc < 0) {
        memory_free(world);
        return rc;
    }
    world->owns_loop = loop == NULL;
    world->loop = loop != NULL ? loop : &world->own_loop;
    if (world->owns_loop)
        check(uv_loop_init(world->loop) == 0);
    world_uv_init(world);
    check(uv_async_init(world->loop, &world->finished_async, executor_uv_finished) == 0);
    world->finished_async.data = world;
    check(uv_idle_init(world->loop, &world->turns_idle) == 0);
    world->turns_idle.data = world;
    STAILQ_INIT(&world->spare_timers);
    STAILQ_INIT(&world->turns);
    world->handles_open = 2;
    uv_unref((uv_handle_t *)&world->finished_async);
    *world_out = &world->world;
    return 0;
}

static void world_uv_handle_closed(struct world_uv *world)
{
    if (--world->handles_open == 0 && !world->owns_loop)
        memory_free(world);
}

static void world_uv_own_closed(uv_handle_t *handle)
{
    world_uv_handle_closed(handle->data);
}

static void world_uv_timer_closed(uv_handle_t *uv)
{
    struct timer_handle *handle = uv->data;
    struct world_uv *world = handle->world;
    memory_free(handle);
    world_uv_handle_closed(world);
}

void world_uv_close(struct world *base)
{
    if (base == NULL)
        return;
    struct world_uv *world = (struct world_uv *)base;
    check(world->jobs_under_way == 0);
    for (size_t i = 0; i < LANE_COUNT; i++)
        lane_stop(&world->lanes[i]);
    uv_mutex_destroy(&world->finished_mutex);
    disk_posix_close(world->world.disk);
    struct timer_handle *handle;
    STAILQ_CONCAT(&world->spare_timers, &world->turns);
    STAILQ_FOREACH(handle, &world->spare_timers, link)
    {
        check(handle->owner == NULL);
        uv_close((uv_handle_t *)&handle->uv, world_uv_timer_closed);
    }
    uv_close((uv_handle_t *)&world->finished_async, world_uv_own_closed);
    uv_close((uv_handle_t *)&world->turns_idle, world_uv_own_closed);
    if (!world->owns_loop)
        return;
    uv_run(world->loop, UV_RUN_DEFAULT);
    check(uv_loop_close(world->loop) == 0);
    memory_free(world);
}

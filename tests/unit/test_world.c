/* test_world: the real disk, clock, lanes and timers. */
#include "base/world/world.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/world/thread.h"

/* A world on a fresh directory, which is removed with all its files at the end. */
struct fixture {
    char path[64];
    struct world *world;
    struct disk *disk;
};

static void setup(struct fixture *f)
{
    struct error err = {0};
    snprintf(f->path, sizeof f->path, "build/test_world_XXXXXX");
    cr_assert_neq(mkdtemp(f->path), NULL);
    cr_assert_eq(world_uv_open(f->path, true, NULL, &f->world, &err), 0, "%s", err.text);
    f->disk = f->world->disk;
}

struct names {
    char text[400];
    struct disk *disk;
};

static void remove_name(void *context, const char *name)
{
    struct names *names = context;
    names->disk->remove(names->disk, name);
}

static void add_name(void *context, const char *name)
{
    struct names *names = context;
    size_t length = strlen(names->text);
    snprintf(names->text + length, sizeof names->text - length, "%s,", name);
}

static void teardown(struct fixture *f)
{
    struct names names = {.disk = f->disk};
    cr_assert_eq(f->disk->list(f->disk, "", remove_name, &names), 0);
    world_uv_close(f->world);
    cr_assert_eq(rmdir(f->path), 0);
}

static struct disk_file *open_file(struct disk *disk, const char *path, int flags)
{
    struct disk_file *file;
    struct error err = {0};
    cr_assert_eq(disk->open(disk, path, flags, &file, &err), 0, "%s", err.text);
    return file;
}

static void put_file(struct disk *disk, const char *path, const char *text)
{
    struct disk_file *file = open_file(disk, path, DISK_WRITE | DISK_CREATE);
    cr_assert_eq(disk->write(disk, file, 0, text, strlen(text)), 0);
    cr_assert_eq(disk->sync(disk, file), 0);
    disk->close(disk, file);
}

Test(world, what_is_written_is_read_back)
{
    struct fixture f;
    setup(&f);
    put_file(f.disk, "a", "hello");
    struct disk_file *file = open_file(f.disk, "a", DISK_READ);
    char text[10] = "";
    cr_assert_eq(f.disk->size(f.disk, file), 5);
    cr_assert_eq(f.disk->read(f.disk, file, 0, text, sizeof text), 5);
    cr_assert_str_eq(text, "hello");
    cr_assert_eq(f.disk->read(f.disk, file, 3, text, 2), 2);
    cr_assert_eq(memcmp(text, "lo", 2), 0);
    cr_assert_eq(f.disk->read(f.disk, file, 5, text, 2), 0);
    cr_assert_eq(f.disk->write(f.disk, file, 0, "x", 1), -EBADF);
    f.disk->close(f.disk, file);
    teardown(&f);
}

Test(world, open_minds_what_exists)
{
    struct fixture f;
    struct disk_file *file;
    struct error err = {0};
    setup(&f);
    cr_assert_eq(f.disk->open(f.disk, "a", DISK_READ, &file, &err), -ENOENT);
    cr_assert_str_eq(err.text, "open a: No such file or directory");
    cr_assert_eq(f.disk->open(f.disk, "a", DISK_WRITE, &file, NULL), -ENOENT);
    put_file(f.disk, "a", "");
    cr_assert_eq(f.disk->open(f.disk, "a", DISK_WRITE | DISK_CREATE, &file, NULL), -EEXIST);
    cr_assert_eq(file, NULL);
    teardown(&f);
}

Test(world, direct_files_end_where_they_end)
{
    enum { SIZE = 3 * 4096 };
    struct fixture f;
    setup(&f);
    struct disk_file *file = open_file(f.disk, "a", DISK_WRITE | DISK_CREATE | DISK_DIRECT);
    uint8_t *data = memory_aligned(SIZE);
    memset(data, 'x', SIZE);
    cr_assert_eq(f.disk->write(f.disk, file, 4096, data, SIZE), 0);
    cr_assert_eq(f.disk->sync(f.disk, file), 0);
    cr_assert_eq(f.disk->read(f.disk, file, 0, data, SIZE), SIZE);
    cr_assert_eq(data[0], 0);
    cr_assert_eq(data[4096], 'x');
    f.disk->close(f.disk, file);
    char path[100];
    snprintf(path, sizeof path, "%s/a", f.path);
    cr_assert_eq(truncate(path, 5000), 0);
    file = open_file(f.disk, "a", DISK_READ | DISK_DIRECT);
    cr_assert_eq(f.disk->read(f.disk, file, 0, data, SIZE), 5000);
    f.disk->close(f.disk, file);
    memory_free(data);
    teardown(&f);
}

Test(world, allocate_gives_zeros_of_just_that_size)
{
    struct fixture f;
    setup(&f);
    put_file(f.disk, "a", "old text that is longer than nothing");
    struct disk_file *file = open_file(f.disk, "a", DISK_WRITE);
    uint64_t size = ((uint64_t)2 << 20) + 4096;
    cr_assert_eq(f.disk->allocate(f.disk, file, size), 0);
    cr_assert_eq(f.disk->size(f.disk, file), (int64_t)size);
    uint8_t *data = memory_aligned(size);
    cr_assert_eq(f.disk->read(f.disk, file, 0, data, size), (int64_t)size);
    for (size_t i = 0; i < size; i++)
        if (data[i] != 0)
            cr_assert_fail("byte %zu is %d", i, data[i]);
    cr_assert_eq(f.disk->allocate(f.disk, file, 4096), 0);
    cr_assert_eq(f.disk->size(f.disk, file), 4096);
    memory_free(data);
    f.disk->close(f.disk, file);
    teardown(&f);
}

Test(world, names_are_listed_in_byte_order)
{
    struct fixture f;
    struct names names = {.disk = NULL};
    setup(&f);
    cr_assert_eq(f.disk->make_directory(f.disk, "d"), 0);
    cr_assert_eq(f.disk->make_directory(f.disk, "d"), 0);
    put_file(f.disk, "d/b", "");
    put_file(f.disk, "d/B", "");
    put_file(f.disk, "d/a10", "");
    put_file(f.disk, "d/a9", "");
    cr_assert_eq(f.disk->rename(f.disk, "d/b", "d/c"), 0);
    cr_assert_eq(f.disk->sync_directory(f.disk, "d"), 0);
    cr_assert_eq(f.disk->sync_directory(f.disk, ""), 0);
    cr_assert_eq(f.disk->list(f.disk, "d", add_name, &names), 0);
    cr_assert_str_eq(names.text, "B,a10,a9,c,");
    cr_assert_eq(f.disk->list(f.disk, "none", add_name, &names), -ENOENT);
    cr_assert_eq(f.disk->remove(f.disk, "d"), -ENOTEMPTY);
    cr_assert_eq(f.disk->remove(f.disk, "d/B"), 0);
    cr_assert_eq(f.disk->remove(f.disk, "d/B"), -ENOENT);
    cr_assert_eq(f.disk->remove(f.disk, "d/a10"), 0);
    cr_assert_eq(f.disk->remove(f.disk, "d/a9"), 0);
    cr_assert_eq(f.disk->remove(f.disk, "d/c"), 0);
    cr_assert_eq(f.disk->remove(f.disk, "d"), 0);
    teardown(&f);
}

static int lock_of_another(const char *path, enum disk_lock kind, struct error *err)
{
    struct world *other;
    cr_assert_eq(world_uv_open(path, false, NULL, &other, err), 0);
    int rc = other->disk->lock(other->disk, kind, err);
    world_uv_close(other);
    return rc;
}

Test(world, an_exclusive_lock_keeps_everybody_off_and_names_its_holder)
{
    struct fixture f;
    struct error err = {0};
    char expected[64];
    setup(&f);
    cr_assert_eq(f.disk->lock(f.disk, DISK_LOCK_EXCLUSIVE, &err), 0);
    snprintf(expected, sizeof expected, "process %d has the directory", (int)getpid());
    cr_assert_eq(lock_of_another(f.path, DISK_LOCK_EXCLUSIVE, &err), ERROR_BUSY);
    cr_assert_str_eq(err.text, expected);
    cr_assert_eq(lock_of_another(f.path, DISK_LOCK_SHARED, &err), ERROR_BUSY);
    cr_assert_str_eq(err.text, expected);
    f.disk->unlock(f.disk);
    cr_assert_eq(lock_of_another(f.path, DISK_LOCK_SHARED, &err), 0);
    cr_assert_eq(lock_of_another(f.path, DISK_LOCK_EXCLUSIVE, &err), 0);
    teardown(&f);
}

Test(world, readers_share_and_create_nothing)
{
    struct fixture f;
    struct error err = {0};
    struct names names = {.disk = NULL};
    setup(&f);
    cr_assert_eq(f.disk->lock(f.disk, DISK_LOCK_SHARED, &err), 0);
    cr_assert_eq(lock_of_another(f.path, DISK_LOCK_SHARED, &err), 0);
    cr_assert_eq(lock_of_another(f.path, DISK_LOCK_EXCLUSIVE, &err), ERROR_BUSY);
    cr_assert_str_eq(err.text, "another process is reading the directory");
    cr_assert_eq(f.disk->list(f.disk, "", add_name, &names), 0);
    cr_assert_str_eq(names.text, "");
    teardown(&f);
}

Test(world, a_lock_ends_with_its_process)
{
    struct fixture f;
    struct error err = {0};
    setup(&f);
    pid_t child = fork();
    if (child == 0) {
        struct world *other;
        int rc = world_uv_open(f.path, false, NULL, &other, &err);
        if (rc == 0)
            rc = other->disk->lock(other->disk, DISK_LOCK_EXCLUSIVE, &err);
        _exit(rc == 0 ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    cr_assert_eq(f.disk->lock(f.disk, DISK_LOCK_EXCLUSIVE, &err), 0, "%s", err.text);
    teardown(&f);
}

Test(world, a_directory_that_is_not_there_is_named)
{
    struct world *world;
    struct error err = {0};
    cr_assert_eq(world_uv_open("./no_such_directory", false, NULL, &world, &err), -ENOENT);
    cr_assert_str_eq(err.text, "open directory ./no_such_directory: No such file or directory");
    cr_assert_eq(world, NULL);
}

/* ---- executor ---- */

struct counted_job {
    struct job job;
    struct executor *executor;
    int64_t ran;   /* order among the jobs of the lane */
    int64_t *runs; /* of the lane: one thread touches it at a time */
    int64_t *dones;
    int submit_again;
};

static void counted_run(struct job *job)
{
    struct counted_job *counted = (struct counted_job *)job;
    counted->ran = (*counted->runs)++;
}

static void counted_done(struct job *job)
{
    struct counted_job *counted = (struct counted_job *)job;
    (*counted->dones)++;
    if (counted->submit_again-- > 0)
        counted->executor->submit(counted->executor, LANE_LOG, job);
}

Test(world, jobs_of_a_lane_run_in_their_order_and_all_come_back)
{
    enum { COUNT = 3000 };
    struct fixture f;
    setup(&f);
    struct executor *executor = f.world->executor;
    struct counted_job *jobs = memory_zeroed(COUNT, sizeof *jobs);
    int64_t runs[LANE_COUNT] = {0};
    int64_t dones = 0;
    for (int i = 0; i < COUNT; i++) {
        jobs[i].job = (struct job){.run = counted_run, .done = counted_done};
        jobs[i].runs = &runs[i % LANE_COUNT];
        jobs[i].dones = &dones;
        executor->submit(executor, (enum executor_lane)(i % LANE_COUNT), &jobs[i].job);
        if (i % 100 == 0)
            executor->step(executor);
    }
    while (executor->step(executor))
        ;
    cr_assert_eq(dones, COUNT);
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(jobs[i].ran, i / LANE_COUNT);
    memory_free(jobs);
    teardown(&f);
}

struct turn_job {
    struct job job;
    uint32_t policy;  /* of the thread that runs it, */
    int32_t nice;     /* its niceness, */
    uint64_t turn_ns; /* and the length of its turn; 0: the system does not say */
};

/* sched_getattr(2): its size, the policy, in the third of its 8 bytes the niceness, and as the
 * fourth the turn's length. */
static void turn_run(struct job *job)
{
    struct turn_job *turn = (struct turn_job *)job;
    uint64_t attributes[6] = {0};
    if (syscall(SYS_sched_getattr, 0, attributes, sizeof attributes, 0) != 0)
        return;
    turn->policy = (uint32_t)(attributes[0] >> 32);
    turn->nice = (int32_t)(uint32_t)attributes[2];
    turn->turn_ns = attributes[3];
}

static void turn_done(struct job *job)
{
    (void)job;
}

Test(world, who_works_for_long_puts_off_nobody_who_is_waited_for)
{
    struct fixture f;
    struct turn_job jobs[LANE_COUNT] = {0};
    struct turn_job usual = {0};
    turn_run(&usual.job);
    setup(&f);
    thread_set(THREAD_LATENCY);
    for (int lane = 0; lane < LANE_COUNT; lane++) {
        jobs[lane].job = (struct job){.run = turn_run, .done = turn_done};
        f.world->executor->submit(f.world->executor, (enum executor_lane)lane, &jobs[lane].job);
    }
    while (f.world->executor->step(f.world->executor))
        ;
    teardown(&f);
    if (usual.turn_ns == 0)
        cr_skip_test("the system has no turns of a thread's own");
    for (int lane = 0; lane < LANE_COUNT; lane++) {
        bool is_latency = lane == LANE_LOG || lane == LANE_LOG_FILES || lane == LANE_READ;
        bool is_background = lane == LANE_BACKGROUND || lane == LANE_MERGE ||
                             lane == LANE_MERGE_BESIDE || lane == LANE_COPY;
        cr_expect_eq(jobs[lane].policy, is_latency ? SCHED_OTHER : SCHED_BATCH, "lane %d", lane);
        cr_expect_eq(jobs[lane].nice > usual.nice, is_background, "lane %d", lane);
        cr_expect_lt(jobs[lane].turn_ns, usual.turn_ns, "lane %d", lane);
    }
}

Test(world, a_job_may_be_submitted_again_when_it_is_done)
{
    struct fixture f;
    int64_t runs = 0;
    int64_t dones = 0;
    setup(&f);
    struct counted_job job = {
        .job = {.run = counted_run, .done = counted_done},
        .executor = f.world->executor,
        .runs = &runs,
        .dones = &dones,
        .submit_again = 500,
    };
    job.executor->submit(job.executor, LANE_LOG, &job.job);
    while (job.executor->step(job.executor))
        ;
    cr_assert_eq(runs, 501);
    cr_assert_eq(dones, 501);
    teardown(&f);
}

Test(world, step_says_when_nothing_is_left)
{
    struct fixture f;
    setup(&f);
    cr_assert_not(f.world->executor->step(f.world->executor));
    teardown(&f);
}

struct ticking {
    struct timer timer;
    struct executor *executor;
    int fired;
    int again;
};

static void tick(struct timer *timer)
{
    struct ticking *ticking = timer->context;
    cr_assert_eq(timer->handle, NULL);
    ticking->fired++;
    if (ticking->again-- > 0)
        ticking->executor->timer_start(ticking->executor, timer, 1);
}

Test(world, timers_fire_once_per_start_and_not_before_their_time)
{
    struct fixture f;
    setup(&f);
    struct clock *clock = f.world->clock;
    struct ticking ticking = {.executor = f.world->executor, .again = 3};
    ticking.timer = (struct timer){.fire = tick, .context = &ticking};
    int64_t start_us = clock->monotonic_us(clock);
    ticking.executor->timer_start(ticking.executor, &ticking.timer, 1000000);
    world_timer_start(f.world, &ticking.timer, tick, &ticking, 10);
    world_timer_start(f.world, &ticking.timer, tick, &ticking, 20);
    while (ticking.executor->step(ticking.executor))
        ;
    cr_assert_eq(ticking.fired, 4);
    cr_assert_geq(clock->monotonic_us(clock) - start_us, 20000);
    teardown(&f);
}

static void tick_at_once(struct timer *timer)
{
    struct ticking *ticking = timer->context;
    ticking->fired++;
    if (ticking->again-- > 0)
        ticking->executor->timer_start(ticking->executor, timer, 0);
}

/* Work that is cut into turns must not keep the loop from everything else. */
Test(world, a_timer_that_starts_itself_without_delay_fires_once_a_turn)
{
    struct fixture f;
    setup(&f);
    struct executor *executor = f.world->executor;
    struct ticking tickings[2] = {{.executor = executor, .again = 1000},
                                  {.executor = executor, .again = 1000}};
    for (int i = 0; i < 2; i++) {
        tickings[i].timer = (struct timer){.fire = tick_at_once, .context = &tickings[i]};
        executor->timer_start(executor, &tickings[i].timer, 0);
    }
    for (int turn = 1; turn <= 20; turn++) {
        executor->step(executor);
        cr_assert_eq(tickings[0].fired, turn < 10 ? turn : 10);
        cr_assert_eq(tickings[1].fired, turn);
        if (turn == 10)
            executor->timer_stop(executor, &tickings[0].timer);
    }
    executor->timer_stop(executor, &tickings[1].timer);
    executor->timer_start(executor, &tickings[0].timer, 0);
    executor->timer_start(executor, &tickings[0].timer, 1);
    while (executor->step(executor))
        ;
    cr_assert_eq(tickings[0].fired, 1001, "a start takes the place of the one before it");
    cr_assert_eq(tickings[1].fired, 20);
    teardown(&f);
}

Test(world, a_stopped_timer_does_not_fire)
{
    struct fixture f;
    setup(&f);
    struct ticking ticking = {.executor = f.world->executor};
    ticking.timer = (struct timer){.fire = tick, .context = &ticking};
    ticking.executor->timer_stop(ticking.executor, &ticking.timer);
    ticking.executor->timer_start(ticking.executor, &ticking.timer, 1);
    ticking.executor->timer_stop(ticking.executor, &ticking.timer);
    cr_assert_eq(ticking.timer.handle, NULL);
    while (ticking.executor->step(ticking.executor))
        ;
    cr_assert_eq(ticking.fired, 0);
    teardown(&f);
}

Test(world, clocks_go_on_and_random_bytes_differ)
{
    struct fixture f;
    uint8_t a[600];
    uint8_t b[600];
    setup(&f);
    int64_t before = f.world->clock->monotonic_us(f.world->clock);
    usleep(2000);
    cr_assert_geq(f.world->clock->monotonic_us(f.world->clock), before + 2000);
    cr_assert_gt(f.world->clock->wall_us(f.world->clock), INT64_C(1600000000000000));
    f.world->random->fill(f.world->random, a, sizeof a);
    f.world->random->fill(f.world->random, b, sizeof b);
    cr_assert_neq(memcmp(a, b, sizeof a), 0);
    teardown(&f);
}

/* test_sim_world: the simulation keeps, loses and tears what it should, and is deterministic. */
#include "tests/sim/sim_world.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/memory.h"

static struct disk_file *open_file(struct sim_disk *sim, const char *path, int flags)
{
    struct disk *disk = sim_disk_interface(sim);
    struct disk_file *file;
    struct error err = {0};
    cr_assert_eq(disk->open(disk, path, flags, &file, &err), 0, "%s", err.text);
    return file;
}

static struct disk_file *make_file(struct sim_disk *sim, const char *path)
{
    return open_file(sim, path, DISK_WRITE | DISK_CREATE);
}

static void write_text(struct sim_disk *sim, struct disk_file *file, uint64_t at, const char *text)
{
    struct disk *disk = sim_disk_interface(sim);
    cr_assert_eq(disk->write(disk, file, at, text, strlen(text)), 0);
}

/* The content as text in static memory; NULL if there is no such file. */
static const char *content_of(struct sim_disk *sim, const char *path)
{
    static char text[100];
    struct disk *disk = sim_disk_interface(sim);
    struct disk_file *file;
    if (disk->open(disk, path, DISK_READ, &file, NULL) < 0)
        return NULL;
    int64_t size = disk->read(disk, file, 0, text, sizeof text - 1);
    cr_assert_geq(size, 0);
    text[size] = '\0';
    disk->close(disk, file);
    return text;
}

/* Two files, one of which is synced, in a synced directory. */
static struct sim_disk *synced_disk(struct disk_file **synced_out, struct disk_file **unsynced_out)
{
    struct sim_disk *sim = sim_disk_new();
    struct disk *disk = sim_disk_interface(sim);
    *synced_out = make_file(sim, "synced");
    *unsynced_out = make_file(sim, "unsynced");
    write_text(sim, *synced_out, 0, "hello");
    cr_assert_eq(disk->sync(disk, *synced_out), 0);
    cr_assert_eq(disk->sync_directory(disk, ""), 0);
    return sim;
}

Test(sim_disk, what_was_synced_survives_every_crash)
{
    struct disk_file *synced;
    struct disk_file *unsynced;
    struct sim_disk *sim = synced_disk(&synced, &unsynced);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_disk *after = sim_disk_crash(sim, seed);
        cr_assert_str_eq(content_of(after, "synced"), "hello");
        cr_assert_str_eq(content_of(after, "unsynced"), "");
        sim_disk_free(after);
    }
    sim_disk_free(sim);
}

Test(sim_disk, an_unsynced_write_is_sometimes_there_and_sometimes_not)
{
    struct disk_file *synced;
    struct disk_file *unsynced;
    struct sim_disk *sim = synced_disk(&synced, &unsynced);
    int counts[2] = {0};
    write_text(sim, synced, 1, "ELL");
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sim_disk *after = sim_disk_crash(sim, seed);
        const char *text = content_of(after, "synced");
        cr_assert(strcmp(text, "hello") == 0 || strcmp(text, "hELLo") == 0);
        counts[strcmp(text, "hELLo") == 0]++;
        sim_disk_free(after);
    }
    cr_assert_gt(counts[0], 50);
    cr_assert_gt(counts[1], 50);
    cr_assert_str_eq(content_of(sim, "synced"), "hELLo");
    sim_disk_free(sim);
}

/* Count the sectors that are there, and check that none is torn in itself. */
static int whole_sectors(struct sim_disk *sim, const char *path, size_t count, size_t sector)
{
    struct disk *disk = sim_disk_interface(sim);
    struct disk_file *file = open_file(sim, path, DISK_READ);
    uint8_t *data = memory_zeroed(count, sector);
    cr_assert_geq(disk->read(disk, file, 0, data, count * sector), 0);
    int whole = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 1; k < sector; k++)
            cr_assert_eq(data[i * sector + k], data[i * sector]);
        whole += data[i * sector] == 'x';
    }
    memory_free(data);
    disk->close(disk, file);
    return whole;
}

Test(sim_disk, a_torn_write_leaves_any_of_its_sectors)
{
    enum { SECTORS = 6, SECTOR = 512 };
    struct sim_disk *sim = sim_disk_new();
    struct disk *disk = sim_disk_interface(sim);
    struct disk_file *file = make_file(sim, "a");
    char data[SECTORS * SECTOR];
    bool seen[SECTORS + 1] = {0};
    memset(data, 'x', sizeof data);
    cr_assert_eq(disk->sync_directory(disk, ""), 0);
    cr_assert_eq(disk->write(disk, file, 0, data, sizeof data), 0);
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct sim_disk *after = sim_disk_crash(sim, seed);
        seen[whole_sectors(after, "a", SECTORS, SECTOR)] = true;
        sim_disk_free(after);
    }
    for (size_t i = 0; i <= SECTORS; i++)
        cr_assert(seen[i], "%zu sectors never happened", i);
    sim_disk_free(sim);
}

Test(sim_disk, names_are_lost_until_their_directory_is_synced)
{
    struct sim_disk *sim = sim_disk_new();
    struct disk *disk = sim_disk_interface(sim);
    int there = 0;
    cr_assert_eq(disk->make_directory(disk, "d"), 0);
    struct disk_file *file = make_file(sim, "d/a");
    write_text(sim, file, 0, "text");
    cr_assert_eq(disk->sync(disk, file), 0);
    cr_assert_eq(disk->sync_directory(disk, "d"), 0);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_disk *after = sim_disk_crash(sim, seed);
        there += content_of(after, "d/a") != NULL;
        sim_disk_free(after);
    }
    /* The directory itself was never synced into the root. */
    cr_assert(there > 20 && there < 80);
    cr_assert_eq(disk->sync_directory(disk, ""), 0);
    struct sim_disk *after = sim_disk_crash(sim, 7);
    cr_assert_str_eq(content_of(after, "d/a"), "text");
    sim_disk_free(after);
    sim_disk_free(sim);
}

Test(sim_disk, a_rename_is_atomic)
{
    struct disk_file *synced;
    struct disk_file *unsynced;
    struct sim_disk *sim = synced_disk(&synced, &unsynced);
    struct disk *disk = sim_disk_interface(sim);
    int renamed = 0;
    cr_assert_eq(disk->rename(disk, "synced", "unsynced"), 0);
    cr_assert_str_eq(content_of(sim, "unsynced"), "hello");
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_disk *after = sim_disk_crash(sim, seed);
        bool is_renamed = content_of(after, "synced") == NULL;
        cr_assert_str_eq(content_of(after, "unsynced"), is_renamed ? "hello" : "");
        renamed += is_renamed;
        sim_disk_free(after);
    }
    cr_assert(renamed > 20 && renamed < 80);
    sim_disk_free(sim);
}

Test(sim_disk, a_removed_file_comes_back_unless_its_directory_was_synced)
{
    struct disk_file *synced;
    struct disk_file *unsynced;
    struct sim_disk *sim = synced_disk(&synced, &unsynced);
    struct disk *disk = sim_disk_interface(sim);
    int there = 0;
    cr_assert_eq(disk->remove(disk, "synced"), 0);
    cr_assert_eq(disk->remove(disk, "synced"), -ENOENT);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_disk *after = sim_disk_crash(sim, seed);
        there += content_of(after, "synced") != NULL;
        sim_disk_free(after);
    }
    cr_assert(there > 20 && there < 80);
    cr_assert_eq(disk->sync_directory(disk, ""), 0);
    struct sim_disk *after = sim_disk_crash(sim, 1);
    cr_assert_eq(content_of(after, "synced"), NULL);
    sim_disk_free(after);
    sim_disk_free(sim);
}

Test(sim_disk, a_failed_sync_is_not_made_good_by_the_next_one)
{
    struct disk_file *synced;
    struct disk_file *unsynced;
    struct sim_disk *sim = synced_disk(&synced, &unsynced);
    struct disk *disk = sim_disk_interface(sim);
    int lost = 0;
    write_text(sim, synced, 0, "HELLO");
    sim_disk_fail(sim, SIM_SYNC, 1, -EIO, false);
    cr_assert_eq(disk->sync(disk, synced), -EIO);
    cr_assert_eq(disk->sync(disk, synced), 0);
    cr_assert_str_eq(content_of(sim, "synced"), "HELLO");
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct sim_disk *after = sim_disk_crash(sim, seed);
        lost += strcmp(content_of(after, "synced"), "hello") == 0;
        sim_disk_free(after);
    }
    cr_assert_gt(lost, 20);
    sim_disk_free(sim);
}

Test(sim_disk, the_chosen_call_fails_once_or_for_ever)
{
    struct disk_file *synced;
    struct disk_file *unsynced;
    struct sim_disk *sim = synced_disk(&synced, &unsynced);
    struct disk *disk = sim_disk_interface(sim);
    sim_disk_fail(sim, SIM_WRITE, 2, -EIO, false);
    cr_assert_eq(disk->write(disk, unsynced, 0, "abcd", 4), 0);
    cr_assert_eq(disk->write(disk, unsynced, 0, "EFGH", 4), -EIO);
    cr_assert_str_eq(content_of(sim, "unsynced"), "EFcd");
    cr_assert_eq(disk->write(disk, unsynced, 0, "ijkl", 4), 0);
    sim_disk_fail(sim, SIM_WRITE, 1, -EIO, true);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(disk->write(disk, unsynced, 0, "abcd", 4), -EIO);
    sim_disk_fail(sim, SIM_WRITE, 0, 0, false);
    cr_assert_eq(disk->write(disk, unsynced, 0, "abcd", 4), 0);
    cr_assert_eq(sim_disk_calls(sim, SIM_WRITE), 1 + 7);
    sim_disk_free(sim);
}

Test(sim_disk, a_full_disk_says_so_and_goes_on_when_there_is_room)
{
    struct sim_disk *sim = sim_disk_new();
    struct disk *disk = sim_disk_interface(sim);
    struct disk_file *a = make_file(sim, "a");
    struct disk_file *b = make_file(sim, "b");
    sim_disk_set_space(sim, 10000);
    cr_assert_eq(disk->allocate(disk, a, 8192), 0);
    cr_assert_eq(disk->allocate(disk, b, 4096), -ENOSPC);
    cr_assert_eq(disk->write(disk, a, 8000, "12345678", 8), 0);
    cr_assert_eq(disk->write(disk, b, 2000, "12345678", 8), -ENOSPC);
    cr_assert_eq(disk->remove(disk, "a"), 0);
    cr_assert_eq(sim_disk_used(sim), 8192);
    disk->close(disk, a);
    cr_assert_eq(sim_disk_used(sim), 0);
    cr_assert_eq(disk->allocate(disk, b, 4096), 0);
    cr_assert_eq(disk->size(disk, b), 4096);
    sim_disk_free(sim);
}

Test(sim_disk, a_restart_keeps_everything_and_frees_the_lock)
{
    struct disk_file *synced;
    struct disk_file *unsynced;
    struct error err = {0};
    struct sim_disk *sim = synced_disk(&synced, &unsynced);
    struct disk *disk = sim_disk_interface(sim);
    cr_assert_eq(disk->lock(disk, DISK_LOCK_EXCLUSIVE, &err), 0);
    cr_assert_eq(disk->lock(disk, DISK_LOCK_EXCLUSIVE, &err), ERROR_BUSY);
    write_text(sim, unsynced, 0, "new");
    cr_assert_eq(disk->rename(disk, "unsynced", "renamed"), 0);
    struct sim_disk *after = sim_disk_restart(sim);
    struct disk *disk_after = sim_disk_interface(after);
    cr_assert_str_eq(content_of(after, "renamed"), "new");
    cr_assert_eq(content_of(after, "unsynced"), NULL);
    cr_assert_eq(disk_after->lock(disk_after, DISK_LOCK_EXCLUSIVE, &err), 0);
    sim_disk_free(after);
    sim_disk_free(sim);
}

Test(sim_disk, a_flipped_bit_stays_flipped)
{
    struct disk_file *synced;
    struct disk_file *unsynced;
    struct sim_disk *sim = synced_disk(&synced, &unsynced);
    sim_disk_flip_bit(sim, "synced", 5);
    cr_assert_str_eq(content_of(sim, "synced"), "Hello");
    struct sim_disk *after = sim_disk_crash(sim, 3);
    cr_assert_str_eq(content_of(after, "synced"), "Hello");
    sim_disk_free(after);
    sim_disk_free(sim);
}

struct collected {
    char text[100];
};

static void collect(void *context, const char *name)
{
    struct collected *collected = context;
    strncat(collected->text, name, 20);
    strncat(collected->text, " ", 2);
}

Test(sim_disk, names_are_listed_in_byte_order_per_directory)
{
    struct sim_disk *sim = sim_disk_new();
    struct disk *disk = sim_disk_interface(sim);
    struct collected root = {{0}};
    struct collected below = {{0}};
    cr_assert_eq(disk->make_directory(disk, "d"), 0);
    make_file(sim, "d/b");
    make_file(sim, "d/a");
    make_file(sim, "z");
    make_file(sim, "B");
    cr_assert_eq(disk->list(disk, "", collect, &root), 0);
    cr_assert_str_eq(root.text, "B d z ");
    cr_assert_eq(disk->list(disk, "d", collect, &below), 0);
    cr_assert_str_eq(below.text, "a b ");
    cr_assert_eq(disk->list(disk, "x", collect, &below), -ENOENT);
    cr_assert_eq(disk->remove(disk, "d"), -ENOTEMPTY);
    sim_disk_free(sim);
}

static void count_call(void *context, enum sim_call call)
{
    ((int *)context)[call]++;
}

Test(sim_disk, the_watcher_sees_every_call)
{
    struct disk_file *synced;
    struct disk_file *unsynced;
    struct sim_disk *sim = synced_disk(&synced, &unsynced);
    struct disk *disk = sim_disk_interface(sim);
    int counts[SIM_CALL_COUNT] = {0};
    sim_disk_watch(sim, count_call, counts);
    cr_assert_eq(disk->sync(disk, synced), 0);
    cr_assert_eq(disk->sync(disk, synced), 0);
    cr_assert_eq(disk->size(disk, synced), 5);
    cr_assert_eq(counts[SIM_SYNC], 2);
    cr_assert_eq(counts[SIM_SIZE], 1);
    cr_assert_eq(counts[SIM_WRITE], 0);
    sim_disk_free(sim);
}

/* ---- the world ---- */

struct trace {
    struct buffer text;
};

struct traced_job {
    struct job job;
    struct trace *trace;
    char name;
};

static void traced_run(struct job *job)
{
    struct traced_job *traced = (struct traced_job *)job;
    buffer_put_u8(&traced->trace->text, (uint8_t)traced->name);
}

static void traced_done(struct job *job)
{
    struct traced_job *traced = (struct traced_job *)job;
    buffer_put_u8(&traced->trace->text, (uint8_t)(traced->name - 'a' + 'A'));
}

enum { TRACED_JOBS = 12 };

/* What happened, in order: lower case for run, upper case for done.  Job i is on lane i mod 3. */
static void trace_of_seed(uint64_t seed, char text[2 * TRACED_JOBS + 1])
{
    struct sim_world *sim = sim_world_new(seed);
    struct executor *executor = sim_world_interface(sim)->executor;
    struct trace trace = {{0}};
    struct traced_job jobs[TRACED_JOBS];
    for (int i = 0; i < TRACED_JOBS; i++) {
        jobs[i] = (struct traced_job){
            .job = {.run = traced_run, .done = traced_done},
            .trace = &trace,
            .name = (char)('a' + i),
        };
        executor->submit(executor, (enum executor_lane)(i % LANE_COUNT), &jobs[i].job);
    }
    while (executor->step(executor))
        ;
    cr_assert_eq(trace.text.size, 2 * TRACED_JOBS);
    memcpy(text, trace.text.data, 2 * TRACED_JOBS);
    text[2 * TRACED_JOBS] = '\0';
    buffer_release(&trace.text);
    sim_world_free(sim);
}

Test(sim_world, the_same_seed_gives_the_same_order_and_another_another)
{
    char first[2 * TRACED_JOBS + 1];
    char second[2 * TRACED_JOBS + 1];
    int different = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        trace_of_seed(seed, first);
        trace_of_seed(seed, second);
        cr_assert_str_eq(first, second);
        trace_of_seed(seed + 1, second);
        different += strcmp(first, second) != 0;
    }
    cr_assert_gt(different, 15);
}

Test(sim_world, jobs_of_one_lane_keep_their_order)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        char text[2 * TRACED_JOBS + 1];
        trace_of_seed(seed, text);
        for (int i = 0; i < TRACED_JOBS; i++) {
            const char *run = strchr(text, 'a' + i);
            const char *done = strchr(text, 'A' + i);
            cr_assert_lt(run, done);
            if (i < LANE_COUNT)
                continue;
            cr_assert_gt(run, strchr(text, 'a' + i - LANE_COUNT));
            cr_assert_gt(done, strchr(text, 'A' + i - LANE_COUNT));
        }
    }
}

struct ticking {
    struct timer timer;
    struct world *world;
    int64_t fired_at_us;
    int count;
    int64_t again_ms;
};

static void tick(struct timer *timer)
{
    struct ticking *ticking = timer->context;
    cr_assert_eq(timer->handle, NULL);
    ticking->count++;
    ticking->fired_at_us = ticking->world->clock->monotonic_us(ticking->world->clock);
    if (ticking->again_ms > 0)
        ticking->world->executor->timer_start(ticking->world->executor, timer, ticking->again_ms);
}

static struct ticking ticking_of(struct sim_world *sim)
{
    return (struct ticking){.timer = {.fire = tick}, .world = sim_world_interface(sim)};
}

Test(sim_world, timers_fire_in_the_order_of_their_times)
{
    struct sim_world *sim = sim_world_new(1);
    struct executor *executor = sim_world_interface(sim)->executor;
    struct ticking early = ticking_of(sim);
    struct ticking late = ticking_of(sim);
    struct ticking stopped = ticking_of(sim);
    early.timer.context = &early;
    late.timer.context = &late;
    stopped.timer.context = &stopped;
    executor->timer_start(executor, &late.timer, 500);
    executor->timer_start(executor, &early.timer, 900);
    executor->timer_start(executor, &early.timer, 20);
    executor->timer_start(executor, &stopped.timer, 1);
    executor->timer_stop(executor, &stopped.timer);
    while (executor->step(executor))
        ;
    cr_assert_eq(early.fired_at_us, 20000);
    cr_assert_eq(late.fired_at_us, 500000);
    cr_assert_eq(early.count + late.count, 2);
    cr_assert_eq(stopped.count, 0);
    sim_world_free(sim);
}

Test(sim_world, run_goes_on_for_its_time_only)
{
    struct sim_world *sim = sim_world_new(1);
    struct world *world = sim_world_interface(sim);
    struct ticking ticking = ticking_of(sim);
    ticking.timer.context = &ticking;
    ticking.again_ms = 10;
    world->executor->timer_start(world->executor, &ticking.timer, 10);
    sim_world_run_us(sim, 95000);
    cr_assert_eq(ticking.count, 9);
    cr_assert_eq(world->clock->monotonic_us(world->clock), 95000);
    sim_world_free(sim);
}

Test(sim_world, time_moves_by_hand_and_the_wall_clock_may_jump)
{
    struct sim_world *sim = sim_world_new(1);
    struct clock *clock = sim_world_interface(sim)->clock;
    int64_t wall_us = clock->wall_us(clock);
    sim_world_advance_us(sim, 7);
    cr_assert_eq(clock->monotonic_us(clock), 7);
    cr_assert_eq(clock->wall_us(clock), wall_us + 7);
    sim_world_set_wall_us(sim, 1000);
    cr_assert_eq(clock->wall_us(clock), 1000);
    cr_assert_eq(clock->monotonic_us(clock), 7);
    sim_world_free(sim);
}

Test(sim_world, a_crash_is_a_new_world_and_the_old_one_goes_on)
{
    struct sim_world *sim = sim_world_new(1);
    struct sim_disk *disk = sim_world_disk(sim);
    struct disk_file *file = make_file(disk, "a");
    write_text(disk, file, 0, "text");
    sim_world_advance_us(sim, 1000);
    struct sim_world *after = sim_world_crash(sim, 2);
    struct sim_world *again = sim_world_restart(sim, 3);
    struct clock *clock = sim_world_interface(after)->clock;
    cr_assert_eq(clock->monotonic_us(clock), 1000);
    write_text(disk, file, 0, "more");
    cr_assert_str_eq(content_of(disk, "a"), "more");
    cr_assert_str_eq(content_of(sim_world_disk(again), "a"), "text");
    sim_world_free(sim);
    sim_world_free(after);
    sim_world_free(again);
    sim_world_free(NULL);
}

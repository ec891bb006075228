/* world: the interface to everything that is not deterministic: disk, clock, randomness, threads.
 *
 * The program runs on world_uv.c: POSIX files, and libuv's loop and threads.  Tests run on
 * tests/sim/, which is deterministic: it loses, tears, reorders and fails writes, sets the time,
 * and runs jobs in an order drawn from a seed.
 *
 * Threads: the engine thread owns all mutable state.  A lane is a thread that runs one job after
 * the other.  The `run` of a job is called on its lane's thread; it reads inputs that do not change
 * while it runs, and uses no other state of the engine.  The `done` of a job is called on the
 * engine thread.  Disk calls may block, except read_now, is_linked and free_bytes.  The engine
 * thread makes those that block only while it opens or closes a directory, and when it releases the
 * last reference to a segment that is no longer live. */
#ifndef DAYBOOK_BASE_WORLD_WORLD_H
#define DAYBOOK_BASE_WORLD_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"

/* ---- disk: one data directory ---- */

enum disk_open_flag {
    DISK_READ = 1,             /* must exist */
    DISK_WRITE = 2,            /* read and write; must exist unless DISK_CREATE */
    DISK_CREATE = 4,           /* must not exist */
    DISK_DIRECT = 8            /* bypasses the page cache where the file system supports that;
                                * offset, size and memory address must be multiples of 4096 */
};

enum disk_lock { DISK_LOCK_SHARED, DISK_LOCK_EXCLUSIVE };

struct disk_file;

/* Paths are relative to the data directory.  A call that fails returns a negative code; one that
 * succeeds returns 0, or a number of bytes.  A read returns fewer bytes than `size` only at
 * the end of the file.  A write writes all bytes or fails. */
struct disk {
    /* The number of reads of segments that failed or returned other bytes than were written.  The
     * code that reads segments counts them, on any thread. */
    _Atomic uint64_t failed_reads;
    int (*open)(struct disk *disk, const char *path, int flags, struct disk_file **file_out,
                struct error *err);
    void (*close)(struct disk *disk, struct disk_file *file);
    int64_t (*read)(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                    size_t size);
    /* Read if the system has the bytes in memory; -EAGAIN if not. */
    int64_t (*read_now)(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                        size_t size);
    int (*write)(struct disk *disk, struct disk_file *file, uint64_t offset, const void *from,
                 size_t size);
    int (*sync)(struct disk *disk, struct disk_file *file);              /* fdatasync */
    /* Make the file `size` bytes, zero-filled and with its blocks allocated, and sync it. */
    int (*allocate)(struct disk *disk, struct disk_file *file, uint64_t size);
    int64_t (*size)(struct disk *disk, struct disk_file *file);
    /* Whether the open file still has a name; true if that cannot be found out. */
    bool (*is_linked)(struct disk *disk, struct disk_file *file);
    /* How many bytes the process can still write on the directory's file system; UINT64_MAX if that
     * cannot be found out. */
    uint64_t (*free_bytes)(struct disk *disk);
    int (*rename)(struct disk *disk, const char *from, const char *to);
    int (*remove)(struct disk *disk, const char *path);      /* a file or an empty directory */
    /* Give the file `path` a second name: `to_path` on the disk `to`.  The file is never written
     * again.  After an error, such as -EXDEV for another file system, the caller copies it. */
    int (*link)(struct disk *disk, const char *path, struct disk *to, const char *to_path);
    int (*make_directory)(struct disk *disk, const char *path);          /* fine if it exists */
    int (*sync_directory)(struct disk *disk, const char *path);          /* "" is the root */
    /* Call `each` with every name in a directory except "." and "..", in byte order. */
    int (*list)(struct disk *disk, const char *path, void (*each)(void *context, const char *name),
                void *context);
    /* Lock the directory until `unlock` or the end of the process.  ERROR_BUSY when another process
     * has the lock; `err` then contains the pid of that process, if it is known. */
    int (*lock)(struct disk *disk, enum disk_lock kind, struct error *err);
    void (*unlock)(struct disk *disk);
};

/* ---- clock; for randomness see base/random.h ---- */

enum { BOOT_ID_SIZE = 16 };

struct clock {
    int64_t (*wall_us)(struct clock *clock);           /* microseconds since 1970; may go back */
    int64_t (*monotonic_us)(struct clock *clock);      /* never goes back */
    /* The time since the machine was booted, including its sleep; it never goes back. */
    int64_t (*boottime_us)(struct clock *clock);
    uint8_t boot_id[BOOT_ID_SIZE];                     /* differs for each boot; zeros: not known */
};

/* ---- executor: lanes, timers, the loop ---- */

enum executor_lane {
    LANE_LOG,                  /* writes and syncs of the commit log: acknowledgements wait for
                                * them, so the lane has no other jobs */
    LANE_LOG_FILES,            /* makes files of the log: a frame may wait for the next file, so
                                * this must not wait for a flush */
    LANE_COMPUTE,              /* what the engine thread needs soon: parses lines, makes memory
                                * ready; never waits for the disk */
    LANE_READ,                 /* reads for queries, and of the log at opening */
    LANE_SCAN,                 /* scans of whole tables, checks of segments; queries must not wait
                                * for them */
    LANE_SCAN_BESIDE,          /* the second half of such a scan, on another processor */
    LANE_BACKGROUND,           /* flushes, the manifest, clock marks, freeing memory */
    LANE_MERGE,                /* merges of columnar runs, which may take minutes */
    LANE_MERGE_BESIDE,         /* merges of row runs; these do not wait for LANE_MERGE */
    LANE_LOGIN,                /* checks of passwords, which are slow on purpose */
    LANE_COPY,                 /* backups, which may wait long for another disk */
    LANE_COUNT
};

/* A member of the caller's struct, which must not be freed before `done` is called. */
struct job {
    void (*run)(struct job *job);          /* on the lane's thread */
    void (*done)(struct job *job);         /* on the engine thread, after `run` */
    struct job *next;                      /* private to the executor, as the next member */
    enum executor_lane lane;
};

struct timer {
    void (*fire)(struct timer *timer);     /* on the engine thread, once per start */
    void *context;                         /* the owner's */
    void *handle;                          /* private to the executor; NULL when idle */
};

struct executor {
    void (*submit)(struct executor *executor, enum executor_lane lane, struct job *job);
    /* With a delay of 0 the timer fires in the next turn of the loop.  If its own `fire` has
     * started it, sockets and jobs are handled before it fires again, so work can be divided into
     * pieces. */
    void (*timer_start)(struct executor *executor, struct timer *timer, int64_t delay_ms);
    void (*timer_stop)(struct executor *executor, struct timer *timer);  /* an idle one is fine */
    /* Handle the events that are ready; if none is, wait for one.  For callers that run no loop
     * (commands on a directory, tests).  False when there is nothing to wait for. */
    bool (*step)(struct executor *executor);
};

struct world {
    struct disk *disk;
    struct clock *clock;
    struct random *random;
    struct executor *executor;
};

static inline int64_t world_wall_us(const struct world *world)
{
    return world->clock->wall_us(world->clock);
}
static inline int64_t world_monotonic_us(const struct world *world)
{
    return world->clock->monotonic_us(world->clock);
}
/* Set the members of the caller's job or timer, and call the executor's function.  The caller
 * zeroes a timer before its first start.  A timer that runs is stopped and started again. */
static inline void world_submit(const struct world *world, enum executor_lane lane, struct job *job,
                                void (*run)(struct job *job), void (*done)(struct job *job))
{
    *job = (struct job){.run = run, .done = done};
    world->executor->submit(world->executor, lane, job);
}
static inline void world_timer_start(const struct world *world, struct timer *timer,
                                     void (*fire)(struct timer *timer), void *context,
                                     int64_t delay_ms)
{
    timer->fire = fire;
    timer->context = context;
    world->executor->timer_start(world->executor, timer, delay_ms);
}
static inline void world_timer_stop(const struct world *world, struct timer *timer)
{
    world->executor->timer_stop(world->executor, timer);
}

/* Open the world of the program on the directory `path`, which must exist unless `create`.  `loop`
 * is a uv_loop_t that the caller runs, and closes after world_uv_close; NULL: the world makes and
 * runs its own. */
must_check int world_uv_open(const char *path, bool create, void *loop, struct world **world_out,
                             struct error *err);
/* Whether a job of this world computes, or has done so within the last `ns` nanoseconds.  Jobs of
 * the log and of reads do not count, because they mostly wait for the disk.  Engine thread. */
bool world_uv_computes(const struct world *world, int64_t ns);
/* Before this call all files are closed, all jobs are done and all timers are stopped. */
void world_uv_close(struct world *world);
#endif

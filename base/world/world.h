/* world: the interface to everything that is not deterministic: disk, clock, randomness, threads.
 *
 * Tests run on the deterministic tests/sim/ instead of world_uv.c.
 *
 * The engine thread owns all mutable state.  A job's `run` is called on its lane's thread, and
 * must read only inputs that do not change; `done` is called on the engine thread.  Disk calls may
 * block, except read_now, is_linked and free_bytes.  The engine thread may make blocking calls
 * only to open or close a directory, and to release the last reference to a dead segment. */
#ifndef DAYBOOK_BASE_WORLD_WORLD_H
#define DAYBOOK_BASE_WORLD_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/random.h"

/* ---- disk: one data directory ---- */

enum disk_open_flag {
    DISK_READ = 1,             /* the file must exist */
    DISK_WRITE = 2,            /* also for reading; the file must exist unless DISK_CREATE */
    DISK_CREATE = 4,           /* the file must not exist */
    DISK_DIRECT = 8            /* bypasses the page cache if possible; offset, size and address must
                                * be multiples of 4096 */
};

enum disk_lock { DISK_LOCK_SHARED, DISK_LOCK_EXCLUSIVE };

struct disk_file;

/* Paths are relative to the data directory.  A call returns a negative code if it fails, else 0 or
 * a number of bytes.  A read returns fewer bytes only at the end of the file.  A write writes all
 * bytes or fails. */
struct disk {
    /* The number of reads of segments that failed or returned wrong bytes, on any thread. */
    _Atomic uint64_t failed_reads;
    int (*open)(struct disk *disk, const char *path, int flags, struct disk_file **file_out,
                struct error *err);
    void (*close)(struct disk *disk, struct disk_file *file);
    int64_t (*read)(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                    size_t size);
    /* -EAGAIN if the bytes are not in memory. */
    int64_t (*read_now)(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                        size_t size);
    int (*write)(struct disk *disk, struct disk_file *file, uint64_t offset, const void *from,
                 size_t size);
    int (*sync)(struct disk *disk, struct disk_file *file);              /* fdatasync */
    /* Make the file `size` bytes of zeros, and sync it. */
    int (*allocate)(struct disk *disk, struct disk_file *file, uint64_t size);
    int64_t (*size)(struct disk *disk, struct disk_file *file);
    /* Whether the open file still has a name; true if unknown. */
    bool (*is_linked)(struct disk *disk, struct disk_file *file);
    /* UINT64_MAX: unknown. */
    uint64_t (*free_bytes)(struct disk *disk);
    int (*rename)(struct disk *disk, const char *from, const char *to);
    int (*remove)(struct disk *disk, const char *path);      /* a file or an empty directory */
    /* Make a hard link to the file: `to_path` on the disk `to`.  After an error, such as -EXDEV,
     * the caller must copy the file. */
    int (*link)(struct disk *disk, const char *path, struct disk *to, const char *to_path);
    int (*make_directory)(struct disk *disk, const char *path);          /* fine if it exists */
    int (*sync_directory)(struct disk *disk, const char *path);          /* "" is the root */
    /* Call `each` with the names in byte order, without "." and "..". */
    int (*list)(struct disk *disk, const char *path, void (*each)(void *context, const char *name),
                void *context);
    /* The lock ends with `unlock` or the process.  ERROR_BUSY when another process has the
     * lock; `err` contains the pid, if known. */
    int (*lock)(struct disk *disk, enum disk_lock kind, struct error *err);
    void (*unlock)(struct disk *disk);
};

/* ---- clock; for randomness see base/random.h ---- */

enum { BOOT_ID_SIZE = 16 };

struct clock {
    int64_t (*wall_us)(struct clock *clock);           /* microseconds since 1970; may go back */
    int64_t (*monotonic_us)(struct clock *clock);      /* never goes back */
    /* Time since boot, including suspended time; never goes back. */
    int64_t (*boottime_us)(struct clock *clock);
    uint8_t boot_id[BOOT_ID_SIZE];                     /* zeros: unknown */
};

/* ---- executor: lanes, timers, the loop ---- */

enum executor_lane {
    LANE_LOG,                  /* the commit log alone, as acknowledgements wait for it */
    LANE_LOG_FILES,            /* makes files of the log; must not wait for a flush */
    LANE_COMPUTE,              /* urgent work for the engine thread; never waits for the disk */
    LANE_READ,                 /* reads for queries, and of the log at opening */
    LANE_SCAN,                 /* scans of whole tables, checks of segments */
    LANE_SCAN_BESIDE,          /* the second part of a scan, beside the first */
    LANE_BACKGROUND,           /* flushes, the manifest, clock marks, freeing memory */
    LANE_MERGE,                /* merges of columnar runs; may take minutes */
    LANE_MERGE_BESIDE,         /* merges of row runs */
    LANE_LOGIN,
    LANE_VIEW,                 /* makes what people see, out of memory alone */
    LANE_COPY,
    LANE_COUNT
};

/* A job must not be freed before `done` is called. */
struct job {
    void (*run)(struct job *job);          /* on the lane's thread */
    void (*done)(struct job *job);         /* on the engine thread */
    struct job *next;                      /* private, as the next member */
    enum executor_lane lane;
};

struct timer {
    void (*fire)(struct timer *timer);     /* on the engine thread, once per start */
    void *context;
    void *handle;                          /* private; NULL when idle */
};

struct executor {
    void (*submit)(struct executor *executor, enum executor_lane lane, struct job *job);
    /* A delay of 0 means the next turn of the loop, after sockets and jobs. */
    void (*timer_start)(struct executor *executor, struct timer *timer, int64_t delay_ms);
    void (*timer_stop)(struct executor *executor, struct timer *timer);  /* idle is fine */
    /* Handle the events that are ready.  If none is ready, wait for the first one and handle it.
     * False: there is nothing to wait for. */
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
static inline void world_submit(const struct world *world, enum executor_lane lane, struct job *job,
                                void (*run)(struct job *job), void (*done)(struct job *job))
{
    *job = (struct job){.run = run, .done = done};
    world->executor->submit(world->executor, lane, job);
}
/* The caller zeroes a timer before its first start.  If the timer runs, it is restarted. */
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

/* `path` must exist unless `create`.  `loop` is a uv_loop_t that the caller closes after
 * world_uv_close; NULL: the world has its own. */
must_check int world_uv_open(const char *path, bool create, void *loop, struct world **world_out,
                             struct error *err);
/* Whether a job runs or waits, or has ended within the last `ns` nanoseconds.  Jobs of LANE_LOG,
 * LANE_LOG_FILES and LANE_READ do not count.  Engine thread only. */
bool world_uv_computes(const struct world *world, int64_t ns);
/* All files must be closed, all jobs done and all timers stopped. */
void world_uv_close(struct world *world);
#endif

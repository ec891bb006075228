/* backup: see the header.
 *
 * A task is one backup, or the following of one directory.  A task that follows continues after its
 * first point:
 *
 *     opening ─▶ point ─▶ waiting ──tick──▶ tail ─▶ waiting …      a point again when it is due
 *        ▲         │ error         │ error    │
 *        └─────────┴──── closing ◀─┴──────────┘                    later it is opened again
 *
 * The copied log must have no gap.  Therefore each snapshot is held until the next one is taken,
 * also after an error.  When the store's disk has more log than log_max, the store keeps only the
 * log that the copy under way needs.  That copy is completed, because otherwise fast writes could
 * prevent the first point for ever.  The next snapshot is copied as a point; moments between that
 * copy and this point cannot be restored. */
#include "storage/backup/backup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "storage/backup/backup_following.h"
#include "storage/backup/backup_point.h"
#include "base/log.h"
#include "base/memory.h"
#include "storage/engine/engine.h"

enum { WATCH_MS = 500, SNAPSHOT_RETRY_MS = 10 };

struct task {
    struct job job;
    struct backup *backup;
    struct backup_options options; /* options.path points to `path` */
    char *path;
    struct backup_handler handler; /* all NULL after `done` was called */
    void *context;
    struct disk *target;          /* locked; NULL: not open */
    struct engine_snapshot *held; /* being copied, or copied last */
    struct backup_copy *copy;
    struct backup_progress progress;
    struct timer timer; /* runs only while no job is under way */
    int status;
    struct error err;
    char failure[256]; /* of the last try; "" when it succeeded */
    bool is_ending;    /* the task is freed when its directory is closed */
    bool has_let_go;   /* the store no longer keeps newer log files */
    /* Of a task that follows: */
    bool is_recorded;   /* the record is written (backup_following.h) */
    bool is_unfollowed; /* the task removes the record when it closes */
    bool removes;
    bool needs_point;
    struct backup_tail tail;
    uint64_t frame; /* the last frame that is copied and synced */
    uint64_t frame_point;
    uint64_t point;
    uint64_t log_bytes; /* copied since the newest point */
    int64_t point_ms;
    int64_t taken_us; /* when the snapshot of `frame` was taken */
    int64_t began_us;
};

struct backup {
    struct store *store;
    struct world *world;
    struct task *once;
    struct task *follow;
    struct timer watch;
    store_done closed;
    void *closed_context;
    bool is_closing;
    int64_t closing_us;
    struct metric *metric_done;
    struct metric *metric_last;
    struct metric *metric_failed;
    struct metric *metric_lag_frames;
    struct metric *metric_lag_s;
};

static void task_open(struct task *task);
static void task_close(struct task *task);

static void submit(struct task *task, void (*run)(struct job *job), void (*done)(struct job *job))
{
    world_submit(task->backup->world, LANE_COPY, &task->job, run, done);
}

static void wait_ms(struct task *task, int64_t ms, void (*fire)(struct timer *timer))
{
    world_timer_start(task->backup->world, &task->timer, fire, task, ms);
}

static void release_held(struct task *task)
{
    if (task->held != NULL) {
        engine_snapshot_release(task->backup->store, task->held);
        task->held = NULL;
    }
}

static void call_done(struct task *task, int status, const struct error *err)
{
    struct backup_handler handler = task->handler;
    task->handler = (struct backup_handler){0};
    if (handler.done != NULL)
        handler.done(task->context, status, err, &task->progress);
}

/* ---- the end of a task ---- */

static void backup_free_if_idle(struct backup *backup)
{
    if (!backup->is_closing || backup->once != NULL || backup->follow != NULL)
        return;
    world_timer_stop(backup->world, &backup->watch);
    store_done closed = backup->closed;
    void *context = backup->closed_context;
    memory_free(backup);
    closed(context, 0, NULL);
}

static void task_free(struct task *task)
{
    struct backup *backup = task->backup;
    if (backup->once == task)
        backup->once = NULL;
    else
        backup->follow = NULL;
    release_held(task);
    memory_free(task->path);
    memory_free(task);
    backup_free_if_idle(backup);
}

static void retry_fire(struct timer *timer)
{
    task_open(timer->context);
}

static void note_failure(struct task *task)
{
    char before[sizeof(task->failure)];
    memcpy(before, task->failure, sizeof(before));
    snprintf(task->failure, sizeof(task->failure), "%.255s", task->err.text);
    if (task->options.follows && strcmp(before, task->failure) != 0)
        log_event(LOG_WARNING, "backup_waits", log_text("path", task->path),
                  log_text("reason", task->failure));
}

static void note_success(struct task *task)
{
    if (task->failure[0] != '\0')
        log_event(LOG_NOTICE, "backup_goes_on", log_text("path", task->path));
    task->failure[0] = '\0';
}

/* If backup_unfollow was called meanwhile, close again, to remove the record. */
static void close_done(struct job *job)
{
    struct task *task = (struct task *)job;
    struct backup *backup = task->backup;
    int status = task->status;
    if (task->is_unfollowed && !task->removes) {
        task_close(task);
        return;
    }
    if (status != 0 && !task->is_ending) {
        backup->metric_failed->value++;
        note_failure(task);
        task->needs_point = true; /* the path may name another directory at the next opening */
        task->tail = (struct backup_tail){0};
        if (task->has_let_go)
            engine_snapshot_let_go(backup->store, task->held);
    }
    if (task->options.follows && !task->is_ending && !backup->is_closing &&
        task->handler.done == NULL) {
        wait_ms(task, BACKUP_RETRY_MS, retry_fire);
        return;
    }
    struct error err = task->err;
    call_done(task, status, &err);
    task_free(task);
}

static void close_run(struct job *job)
{
    struct task *task = (struct task *)job;
    if (task->removes)
        task->status = backup_following_remove(task->backup->world->disk, &task->err);
    if (task->target != NULL) {
        task->options.close(task->target);
        task->target = NULL;
    }
}

static void task_close(struct task *task)
{
    task->removes = task->is_unfollowed;
    submit(task, close_run, close_done);
}

static bool goes_on(struct task *task)
{
    if (task->is_ending && task->status >= 0)
        task->status = error_set(&task->err, ERROR_CLOSED, "the backup was stopped");
    if (task->status < 0)
        task_close(task);
    return task->status >= 0;
}

/* ---- copying ---- */

static void copied(struct task *task);

static void step_run(struct job *job)
{
    struct task *task = (struct task *)job;
    task->status = backup_copy_step(task->copy, &task->err);
}

static void step_done(struct job *job)
{
    struct task *task = (struct task *)job;
    task->progress = *backup_copy_progress(task->copy);
    if (task->status > 0 && !task->is_ending) {
        if (task->handler.progress != NULL)
            task->handler.progress(task->context, &task->progress);
        submit(task, step_run, step_done);
        return;
    }
    backup_copy_free(task->copy);
    task->copy = NULL;
    if (goes_on(task))
        copied(task);
}

static void copy_begin(struct task *task, bool is_tail)
{
    struct backup *backup = task->backup;
    struct backup_copy_options options = {.source = backup->world->disk,
                                          .target = task->target,
                                          .snapshot = task->held,
                                          .is_tail = is_tail,
                                          .tail = task->tail,
                                          .copies = task->options.copies,
                                          .keep = task->options.keep,
                                          .now_us = world_wall_us(backup->world)};
    task->began_us = world_monotonic_us(backup->world);
    task->copy = backup_copy_new(&options);
    submit(task, step_run, step_done);
}

static int take_next(struct task *task)
{
    bool has_held = task->held != NULL && !task->has_let_go;
    struct engine_snapshot *next;
    int rc = engine_snapshot_take(task->backup->store, has_held ? task->frame : UINT64_MAX, &next,
                                  &task->err);
    if (rc == 0) {
        release_held(task);
        task->held = next;
        task->has_let_go = false;
    }
    return rc;
}

static void copy_next(struct task *task);

static void copy_again(struct timer *timer)
{
    copy_next(timer->context);
}

static bool point_is_due(const struct task *task)
{
    return task->needs_point ||
           (task->held->frame > task->frame_point &&
            (task->log_bytes >= BACKUP_POINT_LOG_BYTES ||
             world_monotonic_us(task->backup->world) / 1000 - task->point_ms >= BACKUP_POINT_MS));
}

/* While the store publishes a purge, no snapshot can be taken. */
static void copy_next(struct task *task)
{
    task->status = take_next(task);
    if (task->status == ERROR_BUSY && !task->is_ending)
        wait_ms(task, SNAPSHOT_RETRY_MS, copy_again);
    else if (task->status != 0)
        task_close(task);
    else
        copy_begin(task, !point_is_due(task));
}

/* ---- following ---- */

static void tick(struct timer *timer)
{
    struct task *task = timer->context;
    struct backup *backup = task->backup;
    struct store_status status;
    store_status(backup->store, &status);
    task->status = 0;
    if (status.frame_durable == task->frame && !task->needs_point) {
        task->taken_us = world_monotonic_us(backup->world);
        if (backup->is_closing)
            task_close(task);
        else
            wait_ms(task, BACKUP_TICK_MS, tick);
        return;
    }
    copy_next(task);
}

static uint64_t tail_bytes(const struct task *task)
{
    const struct backup_tail *before = &task->tail;
    const struct backup_tail *after = &task->progress.tail;
    return after->file_id == before->file_id ? after->size - before->size : after->size;
}

static void note_point(struct task *task)
{
    task->needs_point = task->has_let_go;
    task->frame_point = task->held->frame;
    task->point = task->progress.point;
    task->point_ms = world_monotonic_us(task->backup->world) / 1000;
    task->log_bytes = 0;
}

/* ---- recording that the directory follows ---- */

static void record_run(struct job *job)
{
    struct task *task = (struct task *)job;
    const struct backup_following following = {
        .path = task->path, .keep = task->options.keep, .copies = task->options.copies};
    task->status = backup_following_write(task->backup->world->disk, &following, &task->err);
}

static void record_done(struct job *job)
{
    struct task *task = (struct task *)job;
    if (!goes_on(task))
        return;
    task->is_recorded = true;
    call_done(task, 0, NULL);
    wait_ms(task, BACKUP_TICK_MS, tick);
}

static void copied(struct task *task)
{
    if (task->progress.point != 0) {
        task->backup->metric_done->value++;
        task->backup->metric_last->value = world_wall_us(task->backup->world) / 1000000;
    }
    if (!task->options.follows) {
        release_held(task);
        task_close(task);
        return;
    }
    task->log_bytes += tail_bytes(task);
    if (task->progress.point != 0)
        note_point(task);
    task->tail = task->progress.tail;
    task->frame = task->held->frame;
    task->taken_us = task->began_us;
    note_success(task);
    if (!task->is_recorded) {
        submit(task, record_run, record_done);
        return;
    }
    wait_ms(task, BACKUP_TICK_MS, tick);
}

/* ---- opening ---- */

/* The record names a directory that had points.  If it has none now, its disk is not mounted, or
 * the directory was replaced.  A new backup in it would be mistaken for the old one. */
static int gone(const struct task *task, struct error *err)
{
    return error_set(err, ERROR_NOT_FOUND,
                     "%s has followed, and now has no backup in it; mount its disk, or begin anew "
                     "with daybook backup --stop and then --follow",
                     task->path);
}

static int open_check(const struct task *task, struct disk *disk, struct error *err)
{
    uint64_t *numbers;
    size_t count;
    int rc = backup_point_list(disk, &numbers, &count, err);
    memory_free(numbers);
    return rc == 0 && count == 0 && task->is_recorded ? gone(task, err) : rc;
}

static void open_run(struct job *job)
{
    struct task *task = (struct task *)job;
    struct disk *disk = NULL;
    task->status = task->options.open(task->options.path, !task->is_recorded, &disk, &task->err);
    if (task->status == -ENOENT && task->is_recorded)
        task->status = gone(task, &task->err);
    if (task->status != 0)
        return;
    /* The check must come first, because locking makes a file. */
    task->status = open_check(task, disk, &task->err);
    if (task->status == 0)
        task->status = disk->lock(disk, DISK_LOCK_EXCLUSIVE, &task->err);
    if (task->status != 0) {
        task->options.close(disk);
        return;
    }
    task->target = disk;
}

static void open_done(struct job *job)
{
    struct task *task = (struct task *)job;
    if (goes_on(task))
        copy_next(task);
}

static void task_open(struct task *task)
{
    submit(task, open_run, open_done);
}

static void task_end(struct task *task)
{
    task->is_ending = true;
    if (task->copy != NULL)
        backup_copy_cancel(task->copy);
    if (task->timer.handle != NULL) {
        world_timer_stop(task->backup->world, &task->timer);
        task->status = 0;
        task_close(task);
    }
}

/* ---- the watch: metrics, and the kept log, which must not fill the disk ---- */

static void limit_log(struct task *task, uint64_t log_bytes)
{
    if (task == NULL || task->held == NULL || task->has_let_go ||
        log_bytes <= task->options.log_max)
        return;
    task->has_let_go = task->needs_point = true;
    log_event(LOG_WARNING, "backup_log_let_go", log_text("path", task->path),
              log_number("frame", (int64_t)task->held->frame));
    if (task->copy != NULL)
        engine_snapshot_narrow(task->backup->store, task->held);
    else
        engine_snapshot_let_go(task->backup->store, task->held);
}

static void watch(struct timer *timer)
{
    struct backup *backup = timer->context;
    struct backup_status status;
    struct engine_status engine;
    backup_status(backup, &status);
    backup->metric_lag_frames->value = (int64_t)status.lag_frames;
    backup->metric_lag_s->value = (status.lag_us + 999999) / 1000000;
    engine_status(backup->store, &engine);
    if (backup->follow == NULL && backup->once == NULL)
        return;
    world_timer_start(backup->world, &backup->watch, watch, backup, WATCH_MS);
    limit_log(backup->once, engine.log_bytes);
    if (status.lag_frames > 0)
        limit_log(backup->follow, engine.log_bytes);
    if (backup->follow != NULL && backup->is_closing &&
        world_monotonic_us(backup->world) - backup->closing_us > BACKUP_DRAIN_MS * 1000)
        task_end(backup->follow);
}

/* ---- the interface ---- */

struct backup *backup_new(struct store *store, struct world *world, struct metrics *metrics)
{
    struct backup *backup = memory_zeroed(1, sizeof(*backup));
    backup->store = store;
    backup->world = world;
    backup->metric_done =
        metrics_add(metrics, METRIC_COUNTER, "daybook_backups_total", "", "Points of backups made");
    backup->metric_last = metrics_add(metrics, METRIC_GAUGE, "daybook_backup_timestamp_seconds", "",
                                      "When the last point of this process was made, since 1970.");
    backup->metric_last->value = METRIC_UNKNOWN;
    backup->metric_failed = metrics_add(metrics, METRIC_COUNTER, "daybook_backup_failures_total",
                                        "", "Backups, and tries to follow, that failed");
    backup->metric_lag_frames =
        metrics_add(metrics, METRIC_GAUGE, "daybook_backup_lag_frames", "",
                    "Frames on disk that the following backup does not have");
    backup->metric_lag_s = metrics_add(metrics, METRIC_GAUGE, "daybook_backup_lag_seconds", "",
                                       "How long the oldest of these has waited, rounded up");
    return backup;
}

int backup_start(struct backup *backup, const struct backup_options *options,
                 const struct backup_handler *handler, void *context, struct error *err)
{
    struct task **place = options->follows ? &backup->follow : &backup->once;
    if (backup->is_closing)
        return error_set(err, ERROR_CLOSED, "the store is closing");
    if (!backup->store->capabilities.files)
        return error_set(err, ERROR_UNSUPPORTED, "this store has no files that could be copied");
    if (*place != NULL) {
        return error_set(err, ERROR_BUSY,
                         options->follows ? "%s follows already; daybook backup --stop ends it"
                                          : "a backup to %s is under way; wait for its end",
                         (*place)->options.path);
    }
    struct task *task = memory_zeroed(1, sizeof(*task));
    task->backup = backup;
    task->options = *options;
    task->path = memory_string(options->path);
    task->options.path = task->path;
    if (options->log_max == 0)
        task->options.log_max = BACKUP_LOG_MAX;
    if (options->follows && options->keep == 0)
        task->options.keep = BACKUP_KEEP_FOLLOWING;
    task->handler = *handler;
    task->context = context;
    task->needs_point = true;
    task->taken_us = world_monotonic_us(backup->world);
    *place = task;
    if (backup->watch.handle == NULL)
        world_timer_start(backup->world, &backup->watch, watch, backup, WATCH_MS);
    task_open(task);
    return 0;
}

int backup_resume(struct backup *backup,
                  int (*open)(const char *path, bool create, struct disk **disk_out,
                              struct error *err),
                  void (*close)(struct disk *disk), struct error *err)
{
    static const struct backup_handler none;
    struct backup_following following;
    int rc = backup_following_read(backup->world->disk, &following, err);
    if (rc != 0)
        return rc == -ENOENT ? 0 : rc;
    const struct backup_options options = {.path = following.path,
                                           .follows = true,
                                           .copies = following.copies,
                                           .keep = following.keep,
                                           .open = open,
                                           .close = close};
    rc = backup_start(backup, &options, &none, NULL, err);
    if (rc == 0)
        backup->follow->is_recorded = true;
    backup_following_release(&following);
    return rc;
}

bool backup_unfollow(struct backup *backup, const struct backup_handler *handler, void *context)
{
    struct task *task = backup->follow;
    struct error err = {0};
    if (task == NULL || task->is_ending)
        return false;
    call_done(task, error_set(&err, ERROR_CLOSED, "the backup was stopped"), &err);
    task->handler = *handler;
    task->context = context;
    task->is_unfollowed = true;
    task_end(task);
    return true;
}

void backup_status(struct backup *backup, struct backup_status *status)
{
    const struct task *task = backup->follow;
    struct store_status store;
    *status = (struct backup_status){0};
    if (task == NULL || task->is_ending)
        return;
    store_status(backup->store, &store);
    status->is_following = true;
    snprintf(status->path, sizeof(status->path), "%s", task->options.path);
    status->frame = task->frame;
    status->lag_frames = store.frame_durable - task->frame;
    status->lag_us =
        status->lag_frames > 0 ? world_monotonic_us(backup->world) - task->taken_us : 0;
    status->point = task->point;
    snprintf(status->failure, sizeof(status->failure), "%s", task->failure);
}

void backup_stop(struct backup *backup)
{
    if (backup->once != NULL && !backup->once->is_ending)
        task_end(backup->once);
}

void backup_close(struct backup *backup, store_done done, void *context)
{
    struct task *follow = backup->follow;
    backup_stop(backup);
    backup->is_closing = true;
    backup->closing_us = world_monotonic_us(backup->world);
    backup->closed = done;
    backup->closed_context = context;
    if (follow != NULL && follow->failure[0] != '\0') {
        task_end(follow);
    } else if (follow != NULL && follow->timer.handle != NULL && !follow->is_ending) {
        world_timer_stop(backup->world, &follow->timer);
        tick(&follow->timer);
    } else {
        backup_free_if_idle(backup);
    }
}

/* backup_bench: a store of clicks, its backup on a disk of its own, and what is restored from that.
 *
 * Clicks are written one a frame, click i with i cents, so that rows and sum of the one partition
 * say which beginning of the writes is there: N rows and N (N + 1) / 2 cents, or it is none.  The
 * store and its backup are two simulated disks.  What is restored is opened by the engine. */
#ifndef DAYBOOK_TESTS_SIM_BACKUP_BENCH_H
#define DAYBOOK_TESTS_SIM_BACKUP_BENCH_H

#include "storage/backup/backup.h"
#include "storage/backup/backup_restore.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_world.h"

enum {
    BACKUP_BENCH_LOG_FILE = 64 << 10,
    BACKUP_BENCH_LONG_LOG_FILE = 1 << 20, /* where all of it stays, also if it is not kept */
    BACKUP_BENCH_CLICKS_MAX = 1000
};

struct backup_bench {
    struct sim_world *sim;
    struct sim_disk *target;
    struct engine_fixture fixture;
    uint64_t memtable_rows_max;
    bool keeps_no_log;             /* so that deleted clicks are purged, but while it is held */
    struct metrics *metrics;
    struct backup *backup;
    uint32_t written;
    uint32_t acknowledged;
    bool may_fail;                 /* calls of the store's own disk are made to fail, */
    bool has_failed;               /* and one has ended the store */
    uint64_t log_max;              /* backup.h */
    uint64_t archive_bytes;        /* of log; 0: 8 MiB */
    /* Of each click's acknowledgement; [0]: before the first. */
    int64_t times_us[BACKUP_BENCH_CLICKS_MAX];
};

/* ---- life ---- */

/* With a new directory, and a new target. */
void backup_bench_start(struct backup_bench *bench, uint64_t seed);
/* With what `sim` has, which is the bench's from then on, and this target. */
void backup_bench_open(struct backup_bench *bench, struct sim_world *sim, struct sim_disk *target);
/* Close cleanly, unless the store has failed, and keep the target; or free that, too. */
void backup_bench_close(struct backup_bench *bench);
void backup_bench_stop(struct backup_bench *bench);
/* Backups are opened here from now on, whoever makes them. */
void backup_bench_point_at(struct sim_disk *target);
/* As backup_options has them. */
int backup_bench_open_target(const char *path, bool create, struct disk **disk_out,
                             struct error *err);
void backup_bench_close_target(struct disk *disk);

/* ---- writes and backups ---- */

struct backup_bench_ended {
    bool is_done;
    int status;
    struct error err;
};

void backup_bench_set_ended(void *context, int status, const struct error *err);
void backup_bench_step_until(struct backup_bench *bench, const bool *is_done);
/* So many clicks, each until it is acknowledged; fewer where the store fails. */
void backup_bench_write(struct backup_bench *bench, uint32_t count);

/* Begin a backup, or to follow; `ended` says how it went.  The other is a struct backup_handler's
 * `done` for it. */
void backup_bench_begin(struct backup_bench *bench, struct backup_bench_ended *ended, bool follows,
                        uint32_t keep);
void backup_bench_done(void *context, int status, const struct error *err,
                       const struct backup_progress *progress);
/* A whole one; while it runs `writes` clicks are written, between its steps.  Returns the status;
 * the other fails the test unless that is 0. */
int backup_bench_back_up(struct backup_bench *bench, uint32_t writes,
                         struct backup_bench_ended *ended);
void backup_bench_expect(struct backup_bench *bench);

/* ---- restores ---- */

struct backup_bench_restored {
    int status;
    struct error err;
    uint32_t clicks;
    struct backup_restored report;
};

/* How many clicks there are; fails the test unless they are the first so many. */
uint32_t backup_bench_clicks(struct engine_fixture *fixture);
/* Restore and open, in a world of its own or in `sim`. */
struct backup_bench_restored backup_bench_restore(struct sim_disk *target,
                                                  enum backup_moment moment, int64_t time_us);
struct backup_bench_restored backup_bench_restore_to(struct sim_disk *target,
                                                     enum backup_moment moment, int64_t time_us,
                                                     struct sim_world *sim);
void backup_bench_expect_restored(struct backup_bench *bench, enum backup_moment moment,
                                  uint32_t clicks);

/* Delete the click that has this rank among its equals. */
void backup_bench_delete_rank(struct backup_bench *bench, const struct click *click, int64_t rank);
/* The rows of a table of the store (clicks with their ranks); and of what is restored in a world of
 * its own, which returns its status. */
struct buffer backup_bench_rows_here(struct backup_bench *bench, uint32_t table_id);
int backup_bench_rows(struct sim_disk *target, enum backup_moment moment, int64_t time_us,
                      uint32_t table_id, struct buffer *rows_out, struct error *err);

/* ---- crashes ---- */

struct backup_bench_crashes {
    struct backup_bench *bench;
    uint64_t count;
    uint32_t promised;             /* clicks of the newest point that was reported done */
    enum backup_moment moment;
    bool is_checking;
};

/* For sim_disk_watch of the target: its power fails before the call, and what is left of it is
 * restored. */
void backup_bench_crash_before(void *context, enum sim_call call);
#endif

/* backup: makes backups of a store while the store works.
 *
 * One backup may run at a time.  Beside it, one backup directory may follow the store: it gets the
 * log soon after each write, and from time to time a point, which is a complete backup of one
 * moment.  The data directory holds the path of the following directory, from when its first point
 * is complete until backup_unfollow.
 *
 * Copying happens on the copy lane, since the target disk may be slow.  Writes and reads of the
 * store do not wait for copying, but the store's disk keeps the files that are still to be copied.
 * Engine thread only. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_H

#include "base/metrics.h"
#include "storage/backup/backup_copy.h"
#include "storage/engine/store.h"

enum {
    BACKUP_KEEP_FOLLOWING = 2,         /* points that a following directory keeps by default */
    BACKUP_TICK_MS = 100,              /* between checks for new log */
    BACKUP_RETRY_MS = 1000,            /* after an error */
    BACKUP_DRAIN_MS = 10000            /* see backup_close */
};
/* A following directory gets a point after BACKUP_POINT_LOG_BYTES of log or after BACKUP_POINT_MS,
 * whichever comes first.  When the store's disk has more than log_max bytes of log (by default
 * BACKUP_LOG_MAX), log files are no longer kept for a backup, except those that the copy under way
 * needs. */
#define BACKUP_POINT_LOG_BYTES (UINT64_C(256) << 20)
#define BACKUP_POINT_MS INT64_C(600000)
#define BACKUP_LOG_MAX (UINT64_C(4) << 30)

struct backup;

struct backup_options {
    const char *path;                  /* of the backup; copied */
    bool follows;                      /* the directory then follows the store */
    bool copies;                       /* never make hard links */
    uint32_t keep;                     /* points to keep; 0: all, but BACKUP_KEEP_FOLLOWING
                                        * in a directory that follows */
    uint64_t log_max;                  /* bytes; 0: BACKUP_LOG_MAX */
    /* Like disk_posix_open and disk_posix_close; called on the copy lane. */
    int (*open)(const char *path, bool create, struct disk **disk_out, struct error *err);
    void (*close)(struct disk *disk);
};

struct backup_handler {
    void (*progress)(void *context, const struct backup_progress *progress);     /* may be NULL */
    /* Called once, when the backup is complete or has failed.  With `follows` the backup
     * counts as complete when its first point is complete and the directory is recorded. */
    void (*done)(void *context, int status, const struct error *err,
                 const struct backup_progress *progress);
};

struct backup_status {
    bool is_following;
    char path[256];
    uint64_t frame;                    /* the last frame that is copied and synced */
    uint64_t lag_frames;               /* frames that are durable and not copied */
    int64_t lag_us;                    /* the oldest of these has waited at most so long */
    uint64_t point;                    /* number of the newest; 0: none yet */
    char failure[256];                 /* why copying cannot continue now, or "" */
};

/* Store, world and metrics must outlive the backup. */
struct backup *backup_new(struct store *store, struct world *world, struct metrics *metrics);
/* ERROR_UNSUPPORTED: the store has no snapshots of files.  ERROR_BUSY: with `follows`, a directory
 * follows already; otherwise, another backup is under way.  ERROR_CLOSED: after backup_close. */
must_check int backup_start(struct backup *backup, const struct backup_options *options,
                            const struct backup_handler *handler, void *context,
                            struct error *err);
/* Resume following: the record in the data directory (backup_following.h) names the directory that
 * follows.  Returns 0 if there is no record.  Whatever fails after this call is tried again, also
 * when that directory is missing or has no point. */
must_check int backup_resume(struct backup *backup,
                             int (*open)(const char *path, bool create, struct disk **disk_out,
                                         struct error *err),
                             void (*close)(struct disk *disk), struct error *err);
/* Stop following for good; the copied files stay.  `done` is called when the record's removal is
 * durable or has failed.  False: no directory follows, and `done` is not called. */
bool backup_unfollow(struct backup *backup, const struct backup_handler *handler, void *context);
void backup_status(struct backup *backup, struct backup_status *status_out);
/* Make a backup that is under way fail; a directory that follows is not affected. */
void backup_stop(struct backup *backup);
/* Stop a backup, and end following until the next start.  A following directory whose last try did
 * not fail first gets the frames that are durable now, within BACKUP_DRAIN_MS.  `done` is called
 * when all jobs have ended and `backup` is freed. */
void backup_close(struct backup *backup, store_done done, void *context);
#endif

/* backup: makes backups of a store while it works: one at a time, and one directory that follows
 * it.
 *
 * The path of a directory that follows is kept in the data directory, from the time its first point
 * is complete until backup_unfollow.
 *
 * Copying happens on the copy lane, whose disk may be slow: neither writes nor reads of the store
 * wait for it; only disk space of the store stays in use.  Engine thread only. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_H

#include "base/metrics.h"
#include "storage/backup/backup_copy.h"
#include "storage/engine/store.h"

enum {
    BACKUP_KEEP_FOLLOWING = 2,         /* points that a following directory keeps by default */
    BACKUP_TICK_MS = 100,              /* between looks at the log */
    BACKUP_RETRY_MS = 1000,            /* after an error */
    BACKUP_DRAIN_MS = 10000
};
/* A following directory gets a point after so many bytes of log, or so much time, whichever comes
 * first.  With more than BACKUP_LOG_MAX bytes of log on the disk of the store, log files are no
 * longer kept for it. */
#define BACKUP_POINT_LOG_BYTES (UINT64_C(256) << 20)
#define BACKUP_POINT_MS INT64_C(600000)
#define BACKUP_LOG_MAX (UINT64_C(4) << 30)

struct backup;

struct backup_options {
    const char *path;                  /* of the backup; copied */
    bool follows;
    bool copies;                       /* never make hard links */
    uint32_t keep;                     /* points; 0: all, or BACKUP_KEEP_FOLLOWING */
    uint64_t log_max;                  /* bytes; 0: BACKUP_LOG_MAX */
    /* As disk_posix_open and disk_posix_close, on the copy lane. */
    int (*open)(const char *path, bool create, struct disk **disk_out, struct error *err);
    void (*close)(struct disk *disk);
};

struct backup_handler {
    void (*progress)(void *context, const struct backup_progress *progress);     /* may be NULL */
    /* Called once: when the backup is complete or has failed; of a following one, when its first
     * point is complete, or it has failed before. */
    void (*done)(void *context, int status, const struct error *err,
                 const struct backup_progress *progress);
};

struct backup_status {
    bool is_following;
    char path[256];
    uint64_t frame;                    /* the last one that is copied and synced */
    uint64_t lag_frames;               /* durable, and not copied */
    int64_t lag_us;                    /* how long the oldest of them waits; 0: there is none */
    uint64_t point;                    /* the newest; 0: none yet */
    char failure[256];                 /* why it cannot continue now, or "" */
};

/* All three outlive the backup. */
struct backup *backup_new(struct store *store, struct world *world, struct metrics *metrics);
/* ERROR_UNSUPPORTED: the store has no snapshots of files.  ERROR_BUSY: another backup is under way,
 * or a directory follows already. */
must_check int backup_start(struct backup *backup, const struct backup_options *options,
                            const struct backup_handler *handler, void *context,
                            struct error *err);
/* Continue to follow into the directory that the data directory names (backup_following.h).  What
 * fails is tried again, also where the directory has no point.  0, too, when nothing follows. */
must_check int backup_resume(struct backup *backup,
                             int (*open)(const char *path, bool create, struct disk **disk_out,
                                         struct error *err),
                             void (*close)(struct disk *disk), struct error *err);
/* Stop following for good; what was copied stays.  `done` is called when that is durable.  False:
 * no directory follows, and nothing is called. */
bool backup_unfollow(struct backup *backup, const struct backup_handler *handler, void *context);
void backup_status(struct backup *backup, struct backup_status *status_out);
/* Stop a backup that is under way, which then fails; a directory that follows is not affected. */
void backup_stop(struct backup *backup);
/* Stop a backup, and end following: a directory that follows, and has not failed, first gets what
 * is durable now, for at most BACKUP_DRAIN_MS.  `done` is called when nothing is under way any more
 * and `backup` is freed. */
void backup_close(struct backup *backup, store_done done, void *context);
#endif

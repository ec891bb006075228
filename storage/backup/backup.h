/* backup: backups of a store while it works: one at a time, and one directory that follows it.
 *
 * A directory that follows is remembered once its first point stands, until it is told to stop.
 *
 * Copying happens on the copy lane, whose disk may be as slow as it likes: neither writes nor reads
 * of the store wait for it, only disk space does.  Engine thread only. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_H

#include "base/metrics.h"
#include "storage/backup/backup_copy.h"
#include "storage/engine/store.h"

enum {
    BACKUP_KEEP_FOLLOWING = 2,         /* points that a following directory keeps unless told */
    BACKUP_TICK_MS = 100,              /* how often the log is looked at */
    BACKUP_RETRY_MS = 1000,            /* after an error */
    BACKUP_DRAIN_MS = 10000
};
/* Of a following directory: a point is made after so much log or time, whichever comes first; and
 * with more log than BACKUP_LOG_MAX on the disk of the store nothing is held back for it. */
#define BACKUP_POINT_LOG_BYTES (UINT64_C(256) << 20)
#define BACKUP_POINT_MS INT64_C(600000)
#define BACKUP_LOG_MAX (UINT64_C(4) << 30)

struct backup;

struct backup_options {
    const char *path;                  /* of the backup; copied */
    bool follows;
    bool copies;                       /* never a hard link */
    uint32_t keep;                     /* points; 0: all, or BACKUP_KEEP_FOLLOWING */
    uint64_t log_max;                  /* bytes; 0: BACKUP_LOG_MAX */
    /* As disk_posix_open and disk_posix_close, on the copy lane. */
    int (*open)(const char *path, bool create, struct disk **disk_out, struct error *err);
    void (*close)(struct disk *disk);
};

struct backup_handler {
    void (*progress)(void *context, const struct backup_progress *progress);     /* may be NULL */
    /* Called once: when the backup is there or has failed; when a following one has caught up for
     * the first time, or has failed before. */
    void (*done)(void *context, int status, const struct error *err,
                 const struct backup_progress *progress);
};

struct backup_status {
    bool is_following;
    char path[256];
    uint64_t frame;                    /* the last one that is copied and synced */
    uint64_t lag_frames;               /* durable, and not copied */
    int64_t lag_us;                    /* since when the oldest of them waits; 0: none */
    uint64_t point;                    /* the newest; 0: none yet */
    char failure[256];                 /* why it does not go on now, or "" */
};

/* All three outlive it. */
struct backup *backup_new(struct store *store, struct world *world, struct metrics *metrics);
/* ERROR_UNSUPPORTED: the store has no snapshots of files.  ERROR_BUSY: another backup is under way,
 * or a directory follows already. */
must_check int backup_start(struct backup *backup, const struct backup_options *options,
                            const struct backup_handler *handler, void *context,
                            struct error *err);
/* Go on following where the data directory says so (backup_following.h): as with a first try that
 * went well, what fails is tried again; a directory without a point fails, too.  0 as well when
 * nothing follows. */
must_check int backup_resume(struct backup *backup,
                             int (*open)(const char *path, bool create, struct disk **disk_out,
                                         struct error *err),
                             void (*close)(struct disk *disk), struct error *err);
/* Stop following, also in the next life; what was copied stays; `done` when that is durable.
 * False: none did, and nobody is called. */
bool backup_unfollow(struct backup *backup, const struct backup_handler *handler, void *context);
void backup_status(struct backup *backup, struct backup_status *status_out);
/* Stop a backup that is under way, which fails; one that follows goes on. */
void backup_stop(struct backup *backup);
/* The same; one that follows, and is not failing, copies what is durable now first, for at most
 * BACKUP_DRAIN_MS.  `done` when nothing is under way any more, and the struct is gone. */
void backup_close(struct backup *backup, store_done done, void *context);
#endif

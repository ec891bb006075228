/* backup: makes backups of a store while the store works.
 *
 * One backup may run at a time.  Beside it, one backup directory may follow the store: it gets the
 * log's new frames soon after each write, and from time to time a point (a backup of one moment).
 * The data directory holds the path of that directory, from its first point until backup_unfollow.
 *
 * The store keeps files on its disk until they are copied.  Engine thread only. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_H

#include "base/metrics.h"
#include "storage/backup/backup_copy.h"
#include "storage/engine/store.h"

enum {
    BACKUP_KEEP_FOLLOWING = 2,         /* points to keep, by default */
    BACKUP_TICK_MS = 100,
    BACKUP_RETRY_MS = 1000,
    BACKUP_DRAIN_MS = 10000            /* see backup_close */
};
/* A following directory gets a point after so much log or time, whichever comes first. */
#define BACKUP_POINT_LOG_BYTES (UINT64_C(256) << 20)
#define BACKUP_POINT_MS INT64_C(600000)
#define BACKUP_LOG_MAX (UINT64_C(4) << 30)

struct backup;

struct backup_options {
    const char *path;                  /* of the backup; copied */
    bool follows;
    bool copies;                       /* never make hard links */
    uint32_t keep;                     /* points to keep; 0: all, or BACKUP_KEEP_FOLLOWING if
                                        * `follows` */
    uint64_t log_max;                  /* bytes; when the store has more log, it keeps only what the
                                        * copy under way needs; 0: BACKUP_LOG_MAX */
    /* Called on the copy lane; as disk_posix_open and disk_posix_close. */
    int (*open)(const char *path, bool create, struct disk **disk_out, struct error *err);
    void (*close)(struct disk *disk);
};

struct backup_handler {
    void (*progress)(void *context, const struct backup_progress *progress);     /* may be NULL */
    /* Called once.  With `follows`: when the first point is durable, and so is the path of the
     * backup in the data directory (backup_following.h). */
    void (*done)(void *context, int status, const struct error *err,
                 const struct backup_progress *progress);
};

struct backup_status {
    bool is_following;
    char path[256];
    uint64_t frame;                    /* the last frame that is copied and synced */
    uint64_t lag_frames;               /* number of durable frames that are not copied */
    int64_t lag_us;                    /* the oldest of these frames has waited no longer than
                                        * this */
    uint64_t point;                    /* the newest that this process made; 0: none */
    char failure[256];                 /* why copying has stopped for now, or "" */
};

/* Store, world and metrics must outlive the backup. */
struct backup *backup_new(struct store *store, struct world *world, struct metrics *metrics);
/* ERROR_UNSUPPORTED: the store has no snapshots of files.  ERROR_BUSY: with `follows`, a directory
 * follows already; otherwise, another backup is under way.  ERROR_CLOSED: after backup_close. */
must_check int backup_start(struct backup *backup, const struct backup_options *options,
                            const struct backup_handler *handler, void *context,
                            struct error *err);
/* Resume following the directory in the record (backup_following.h).  Returns 0 if there is no
 * record.  If that directory cannot be opened or written, following is tried again every second. */
must_check int backup_resume(struct backup *backup,
                             int (*open)(const char *path, bool create, struct disk **disk_out,
                                         struct error *err),
                             void (*close)(struct disk *disk), struct error *err);
/* Stop following for good; the copied files stay.  `done` is called when the record's removal is
 * durable or has failed.  False: no directory follows, and `done` is not called. */
bool backup_unfollow(struct backup *backup, const struct backup_handler *handler, void *context);
void backup_status(struct backup *backup, struct backup_status *status_out);
/* Make a backup that is under way fail; following continues. */
void backup_stop(struct backup *backup);
/* Stop a backup, and end following until the next start of the program.  If a directory follows and
 * the last copy to it did not fail, the durable frames are copied to it first, for BACKUP_DRAIN_MS
 * at most.  `done` is called when `backup` is freed. */
void backup_close(struct backup *backup, store_done done, void *context);
#endif

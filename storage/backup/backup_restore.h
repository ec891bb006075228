/* backup_restore: makes a new data directory from a backup, as of a moment.
 *
 * The functions wait for the disk.  A directory that was restored only in part has no manifest, and
 * every command refuses it. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_RESTORE_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_RESTORE_H

#include "base/world/world.h"

enum backup_moment {
    BACKUP_AT_POINT,                   /* the newest point */
    BACKUP_LATEST,                     /* the newest point, and the log after it */
    BACKUP_AT_TIME                     /* all frames begun up to a time */
};

struct backup_restore_options {
    struct disk *source;
    struct world *world;               /* of the new, empty directory */
    enum backup_moment moment;
    int64_t time_us;
    bool is_new;                       /* the new directory gets an id of its own */
    void (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total);  /* may be NULL */
    void *context;
};

struct backup_restored {
    uint64_t point;
    uint64_t frame;
    int64_t timestamp_us;              /* no restored write is later; 0: there is none */
    bool is_cut;                       /* the log ends within a frame, which is not restored */
};

/* ERROR_NOT_FOUND: no point, or none early enough.  ERROR_EXISTS: the directory is not empty.
 * ERROR_CORRUPT: the backup is damaged.  ERROR_CONFLICT: the moment is after a purge that the point
 * does not have.  Files that were written before an error stay in the directory. */
must_check int backup_restore(const struct backup_restore_options *options,
                              struct backup_restored *restored_out, struct error *err);

struct backup_point;
/* Call `each` for every point of the backup, oldest first.  If `status` is negative, only the
 * point's number is set. */
must_check int backup_restore_list(struct disk *source,
                                   void (*each)(void *context, const struct backup_point *point,
                                                int status, const struct error *err),
                                   void *context, struct error *err);
#endif

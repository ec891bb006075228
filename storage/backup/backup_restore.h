/* backup_restore: makes a new data directory from a backup, as of a moment.
 *
 * The functions block, so only a command that does nothing else may call them.  The manifest is
 * written last, and every command refuses a directory without a manifest, so a directory that was
 * restored only in part is never used. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_RESTORE_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_RESTORE_H

#include "base/world/world.h"

enum backup_moment {
    BACKUP_AT_POINT,                   /* the newest point, as it was made */
    BACKUP_LATEST,                     /* the newest point, and the log that was copied after it */
    BACKUP_AT_TIME                     /* all frames that were begun up to a time */
};

struct backup_restore_options {
    struct disk *source;               /* the backup */
    struct world *world;               /* of the new directory, which is empty */
    enum backup_moment moment;
    int64_t time_us;                   /* BACKUP_AT_TIME: microseconds since 1970 */
    bool is_new;                       /* give the new directory a host id of its own */
    void (*progress)(void *context, uint64_t bytes_done, uint64_t bytes_total);  /* may be NULL */
    void *context;
};

struct backup_restored {
    uint64_t point;                    /* the number of the point that was used */
    uint64_t frame;                    /* the last frame that was restored */
    int64_t timestamp_us;              /* no restored write is later; 0: there is none */
    bool is_cut;                       /* the copied log ends within a frame; that frame is
                                        * not restored */
};

/* ERROR_NOT_FOUND: no point, or none early enough; ERROR_EXISTS: the directory is not empty;
 * ERROR_CORRUPT: the backup is damaged, and the message names the file or the frame;
 * ERROR_CONFLICT: the moment is after a purge that the point does not have.  Files that were
 * written before an error stay in the directory. */
must_check int backup_restore(const struct backup_restore_options *options,
                              struct backup_restored *restored_out, struct error *err);

struct backup_point;
/* Call `each` for every point of the backup, oldest first.  If a point cannot be read, `status` is
 * negative and only the point's number is set. */
must_check int backup_restore_list(struct disk *source,
                                   void (*each)(void *context, const struct backup_point *point,
                                                int status, const struct error *err),
                                   void *context, struct error *err);
#endif

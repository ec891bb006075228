/* backup_copy: copies the files of a snapshot to another disk, in steps that can be stopped.
 *
 * Each step is a job on the copy lane.  While it runs, no other thread uses the copy, except for
 * backup_copy_cancel.  Files that the backup already has are not copied again, so that an
 * interrupted copy is continued and repeated backups are short. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_COPY_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_COPY_H

#include "storage/engine/engine.h"

/* How far the log is copied: all files with ids below `file_id`, and `size` bytes of file
 * `file_id`. */
struct backup_tail {
    uint32_t file_id;
    uint64_t size;
};

struct backup_copy_options {
    struct disk *source;
    struct disk *target;
    const struct engine_snapshot *snapshot;     /* disks and snapshot outlive the copy */
    bool is_tail;                      /* copy only the log after `tail`; make no point */
    struct backup_tail tail;           /* log that is copied and synced already */
    bool copies;                       /* never make hard links */
    uint32_t keep;                     /* points to keep, with the new one; 0: all */
    int64_t now_us;
};

struct backup_progress {
    uint64_t bytes_total;              /* to be read */
    uint64_t bytes_done;
    uint32_t segments;                 /* of the point */
    uint32_t segments_linked;          /* of these, made as hard links */
    uint32_t segments_copied;
    uint64_t point;                    /* the point's number once it is complete; else 0 */
    struct backup_tail tail;           /* log that is copied and synced by now */
};

struct backup_copy;

struct backup_copy *backup_copy_new(const struct backup_copy_options *options);
/* 1: there is more to do; 0: everything is copied and synced.  An error ends the copy.
 * ERROR_CONFLICT: the backup is of another directory, or of a history of this directory that a
 * restore has replaced. */
must_check int backup_copy_step(struct backup_copy *copy, struct error *err);
/* From any thread.  Every later step fails with ERROR_CLOSED.  A step that is under way does not
 * write bytes that it reads from now on, so that the snapshot may be released meanwhile. */
void backup_copy_cancel(struct backup_copy *copy);
const struct backup_progress *backup_copy_progress(const struct backup_copy *copy);
void backup_copy_free(struct backup_copy *copy);               /* closes the open files */
#endif

/* backup_copy: copies the files of a snapshot to another disk, in steps that can be stopped.
 *
 * Each step is a job on the copy lane; meanwhile other threads may call only backup_copy_cancel.
 * Files that the backup already has are not copied again. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_COPY_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_COPY_H

#include "storage/engine/engine.h"

/* How far the log is copied: all files before `file_id`, and `size` bytes of `file_id`. */
struct backup_tail {
    uint32_t file_id;
    uint64_t size;
};

struct backup_copy_options {
    struct disk *source;
    struct disk *target;
    const struct engine_snapshot *snapshot;     /* disks and snapshot are borrowed */
    bool is_tail;                      /* copy only the log after `tail` */
    struct backup_tail tail;           /* copied and synced before */
    bool copies;                       /* never make hard links */
    uint32_t keep;                     /* points to keep, the new one included; 0: all */
    int64_t now_us;
};

struct backup_progress {
    uint64_t bytes_total;              /* to be read */
    uint64_t bytes_done;
    uint32_t segments;
    uint32_t segments_linked;
    uint32_t segments_copied;
    uint64_t point;                    /* the point's number; 0: not complete, or a tail */
    struct backup_tail tail;           /* copied and synced by now */
};

struct backup_copy;

struct backup_copy *backup_copy_new(const struct backup_copy_options *options);
/* 1: there is more to do; 0: everything is copied and synced.  An error ends the copy.
 * ERROR_CONFLICT: the backup is of another directory, or of a history of this directory that a
 * restore has replaced. */
must_check int backup_copy_step(struct backup_copy *copy, struct error *err);
/* From any thread.  Every later step fails with ERROR_CLOSED.  The snapshot may then be released,
 * because a step under way writes no bytes that it reads from now on. */
void backup_copy_cancel(struct backup_copy *copy);
const struct backup_progress *backup_copy_progress(const struct backup_copy *copy);
void backup_copy_free(struct backup_copy *copy);
#endif

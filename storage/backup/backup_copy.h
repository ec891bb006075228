/* backup_copy: copies the files of a snapshot to another disk, in steps that can be stopped.
 *
 * Each step is a job on the copy lane, which shares nothing while it runs.  Files that the backup
 * already has are not copied again: so an interrupted copy is continued, and a copy after another
 * one is short. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_COPY_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_COPY_H

#include "storage/engine/engine.h"

/* How far the log is copied: the files below `file_id` whole, and `size` bytes of that file. */
struct backup_tail {
    uint32_t file_id;
    uint64_t size;
};

struct backup_copy_options {
    struct disk *source;
    struct disk *target;
    const struct engine_snapshot *snapshot;     /* these three outlive the copy */
    bool is_tail;                      /* only the log, behind `tail`, and no point */
    struct backup_tail tail;           /* what was copied and synced before; all zero: nothing */
    bool copies;                       /* never make hard links */
    uint32_t keep;                     /* points that are kept, with the new one; 0: all */
    int64_t now_us;
};

struct backup_progress {
    uint64_t bytes_total;              /* to be read */
    uint64_t bytes_done;
    uint32_t segments;                 /* of the point, */
    uint32_t segments_linked;          /* and how many of them were linked or copied */
    uint32_t segments_copied;
    uint64_t point;                    /* its number once it is complete; else 0 */
    struct backup_tail tail;
};

struct backup_copy;

struct backup_copy *backup_copy_new(const struct backup_copy_options *options);
/* 1: there is more to do; 0: everything is copied and synced.  An error ends it:  ERROR_CONFLICT
 * when the backup is of another directory or of another course of this one. */
must_check int backup_copy_step(struct backup_copy *copy, struct error *err);
/* From any thread: steps fail with ERROR_CLOSED from now on, and what is read from now on is not
 * written, so that the snapshot may be released while a step is under way. */
void backup_copy_cancel(struct backup_copy *copy);
const struct backup_progress *backup_copy_progress(const struct backup_copy *copy);
void backup_copy_free(struct backup_copy *copy);               /* closes what is open */
#endif

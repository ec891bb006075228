/* backup_copy: the files of a snapshot onto another disk, in steps small enough to be stopped.
 *
 * Runs on the copy lane, one step a job, and shares nothing while a step runs.  What it found in
 * the backup already is not copied again: so a copy that was cut short goes on, and one that was
 * made before makes the next one short. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_COPY_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_COPY_H

#include "storage/engine/engine.h"

/* How far the log is copied: all of the files below `file_id`, and so many bytes of that one. */
struct backup_tail {
    uint32_t file_id;
    uint64_t size;
};

struct backup_copy_options {
    struct disk *source;
    struct disk *target;
    const struct engine_snapshot *snapshot;     /* these three outlive the copy */
    bool is_tail;                      /* only the log, behind `tail`, and no point */
    struct backup_tail tail;           /* copied before and synced; all-zero: nothing */
    bool copies;                       /* never a hard link */
    uint32_t keep;                     /* points that stay, this one among them; 0: all */
    int64_t now_us;
};

struct backup_progress {
    uint64_t bytes_total;              /* to be read */
    uint64_t bytes_done;
    uint32_t segments;                 /* of the point; of these: */
    uint32_t segments_linked;
    uint32_t segments_copied;
    uint64_t point;                    /* its number, once it is there; else 0 */
    struct backup_tail tail;
};

struct backup_copy;

struct backup_copy *backup_copy_new(const struct backup_copy_options *options);
/* 1: there is more to do; 0: everything is there and synced.  An error ends it: ERROR_CONFLICT when
 * the backup is of another directory or of another course of this one. */
must_check int backup_copy_step(struct backup_copy *copy, struct error *err);
/* From any thread: steps fail with ERROR_CLOSED from now on, and what is read from now on is not
 * written: the snapshot's files may go though a step is under way. */
void backup_copy_cancel(struct backup_copy *copy);
const struct backup_progress *backup_copy_progress(const struct backup_copy *copy);
void backup_copy_free(struct backup_copy *copy);               /* closes what is open */
#endif

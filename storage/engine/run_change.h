/* run_change: collects the segments that a job wrote and the segments that they replace, and then
 * exchanges them.
 *
 *     run_change_add, _remove ──▶ run_change_publish ──▶ run_change_apply ──▶ run_change_release
 *     (a job: files)              (a job: manifest)      (engine thread: run_set)
 *
 * Discard a change that is not published, or whose publication fails with a temporary error
 * (error_is_passing).  After any other error, the manifest may name the added segments, and their
 * files must stay.
 *
 * A struct that is all zero except for `runs` is an empty change. */
#ifndef DAYBOOK_STORAGE_ENGINE_RUN_CHANGE_H
#define DAYBOOK_STORAGE_ENGINE_RUN_CHANGE_H

#include "storage/engine/run_set.h"

struct run_change {
    struct run_set *runs;
    struct segment_info *infos;
    struct segment **added;            /* referenced */
    uint32_t added_count;
    uint64_t *removed;                 /* ids */
    uint32_t removed_count;
};

/* Open a written segment, and add it; any thread.  A segment without contents has no file, and is
 * not added. */
must_check int run_change_add(struct run_change *change, const struct segment_info *info,
                              const struct table *table, struct error *err);
void run_change_remove(struct run_change *change, const struct segment *segment);
/* Add the segments of the change to `edit`, and apply `edit` to the manifest. */
must_check int run_change_publish(const struct run_change *change, struct manifest_edit edit,
                                  struct error *err);
void run_change_apply(struct run_change *change);
/* Have the files of the added segments removed when they are closed. */
void run_change_discard(struct run_change *change);
/* Close added segments that are not live; any thread.  This takes long if a large file was
 * removed. */
void run_change_release(struct run_change *change);
#endif

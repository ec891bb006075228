/* run_change: a change of the live runs: the segments that were written and those they replace.
 *
 *     run_change_add, _remove ──▶ run_change_publish ──▶ run_change_apply ──▶ run_change_release
 *     (a job: files)              (a job: manifest)      (engine thread: run_set)
 *
 * Flushes, merges and the restamping of a directory all replace runs in these steps.  Up to the
 * publication no manifest names what was added: a change that is given up before it, or of which a
 * publication that can be tried again has failed, is discarded, which removes the files.
 *
 * All zero but for `runs`: nothing changes. */
#ifndef DAYBOOK_STORAGE_ENGINE_RUN_CHANGE_H
#define DAYBOOK_STORAGE_ENGINE_RUN_CHANGE_H

#include "storage/engine/run_set.h"

struct run_change {
    struct run_set *runs;
    struct segment_info *infos;        /* of what was added */
    struct segment **added;            /* the same; referenced */
    uint32_t added_count;
    uint64_t *removed;                 /* ids */
    uint32_t removed_count;
};

/* Open a segment that was written and take it in; one that holds nothing has no file, and is left
 * out.  Any thread. */
must_check int run_change_add(struct run_change *change, const struct segment_info *info,
                              const struct table *table, struct error *err);
void run_change_remove(struct run_change *change, const struct segment *segment);
/* Apply `edit` to the manifest, with the segments of the change filled in. */
must_check int run_change_publish(const struct run_change *change, struct manifest_edit edit,
                                  struct error *err);
/* Swap the segments in memory, after the manifest did. */
void run_change_apply(struct run_change *change);
/* Remove the files of what was added, when they are closed. */
void run_change_discard(struct run_change *change);
/* Close what was added and is not live, which takes long for a large file that was removed.  Any
 * thread. */
void run_change_release(struct run_change *change);
#endif

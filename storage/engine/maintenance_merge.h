/* maintenance_merge: a compaction's work on the merge lane: runs in, files out.
 *
 *   engine thread           merge lane              engine thread       background lane
 *   chooses, references ──▶ writes the outputs ──▶ may it still be? ──▶ manifest ──▶ swaps
 *   (maintenance_compact.c)      (maintenance_merge.c)        (maintenance_compact.c)
 *
 * Shared by these two files only. */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_MERGE_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_MERGE_H

#include "base/world/pace.h"
#include "storage/engine/compact_plan.h"
#include "storage/engine/maintenance_private.h"
#include "storage/engine/partition_reader.h"
#include "storage/engine/run_change.h"

struct segment_list {
    struct segment **segments;         /* referenced; ascending by frame_first */
    uint32_t count;
};

struct compact_job {
    struct job job;                    /* the merge, the publication, and what is let go */
    struct maintenance *maintenance;
    struct schema *schema;             /* referenced: the table's */
    const struct table *table;
    enum segment_kind kind;
    bool splits;                       /* as in compact_choice */
    int32_t day;
    bool may_purge;                    /* rows that the overwrites delete, and these deletions */
    bool is_awaited;                   /* who asked for merges is not told before it is over */
    bool drops_tombstones;             /* row: nothing older is left that they could hide, */
    int64_t drops_before_us;           /* and nothing that was written before this is elsewhere */
    bool clients_give_times;           /* so that a later write may be one that they would hide */
    int64_t now_s;
    struct segment_list inputs;
    struct segment_list beside;        /* of a columnar merge: the table's other columnar runs */
    struct segment_list overwrites;    /* of a columnar merge: the table's row runs */

    /* The merge lane's, until it is done. */
    struct segment_list pass;          /* the inputs of the output being written; borrowed */
    bool takes_day;                    /* of a split: the day, or else the rest */
    struct partition_reader *reader;   /* over the overwrites */
    struct view overwrite_view;
    struct partition_index *purged;    /* the partitions whose deletions went with their rows */
    bool has_dropped;                  /* a tombstone, at least */
    struct pace pace;                  /* hurries: there are too many runs to rest */

    struct run_change change;          /* the outputs for the inputs */
    uint64_t purge;                    /* its number in the manifest; 0: it is none */
    int status;                        /* ERROR_CLOSED: told to end */
    struct error err;
};

/* Write the outputs of compact->inputs; on the merge lane. */
void maintenance_merge_run(struct job *job);
#endif

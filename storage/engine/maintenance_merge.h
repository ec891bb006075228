/* maintenance_merge: does the work of a merge on a merge lane: it reads runs, and writes new runs.
 *
 *   engine thread           merge lane              engine thread       background lane
 *   chooses, references ──▶ writes the outputs ──▶ checks again ──▶ manifest ──▶ swaps
 *   (maintenance_compact.c)      (maintenance_merge.c)        (maintenance_compact.c)
 *
 * Only maintenance_drop.h and the .c files that maintenance.h names include this header. */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_MERGE_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_MERGE_H

#include "storage/engine/compact_plan.h"
#include "storage/engine/maintenance_private.h"
#include "storage/engine/partition_reader.h"
#include "storage/engine/run_change.h"

struct segment_list {
    struct segment **segments;         /* a reference to each; in the order of frame_first until
                                        * maintenance_drop_find moves segments */
    uint32_t count;
};

struct compact_job {
    struct job job;                    /* the merge, its publication, and the release of its runs */
    struct maintenance *maintenance;
    struct schema *schema;             /* referenced: the table's */
    const struct table *table;
    enum segment_kind kind;
    bool splits;                       /* as in compact_choice */
    int32_t day;                       /* as in compact_choice */
    bool purges;                       /* as in compact_choice */
    uint64_t purge_frame;              /* as in compact_choice */
    bool may_purge;                    /* drop rows that the overwrites delete, and deletions */
    bool is_awaited;                   /* requests for merges are answered only after it */
    bool drops_tombstones;             /* of row runs: tombstones may be dropped, because no older
                                        * run has rows that they hide */
    int64_t drops_before_us;           /* tombstones from this time on stay: when the merge began,
                                        * memtables had writes from this time on only */
    bool clients_give_times;           /* a later write may have an earlier time */
    int64_t now_s;                     /* what expired before this time is removed for good */
    struct segment_list inputs;
    struct segment_list beside;        /* of a columnar merge: the table's other columnar runs */
    struct segment_list overwrites;    /* of a columnar merge: the table's row runs */
    uint32_t unread;                   /* how many segments of `beside` and `overwrites` could not
                                        * be read when the merge began; the merge reads none of
                                        * them.  All inputs could be read */

    /* Used on the merge lane until the merge is done: */
    struct segment_list pass;          /* the inputs of the output being written; not referenced */
    bool takes_day;                    /* of a split: the output gets the day, else the rest */
    struct partition_reader *reader;   /* over the overwrites */
    struct view overwrite_view;
    struct partition_index *purged;    /* partitions whose deletions are dropped with their rows */
    bool drops_whole;                  /* columnar runs are dropped unread; of the others only the
                                        * overwrites are merged */
    bool has_dropped;                  /* at least one tombstone was dropped */

    struct run_change change;          /* replaces the inputs by the outputs */
    uint64_t purge;                    /* the purge's number in the manifest, from the publication
                                        * on; 0: none yet */
    int status;                        /* ERROR_CLOSED: the merge ended early */
    struct error err;
};

/* Append a segment; the list takes over the reference. */
void maintenance_merge_list_add(struct segment_list *list, struct segment *segment);

/* Write the outputs of compact->inputs; on the merge lane. */
void maintenance_merge_run(struct job *job);
#endif

/* maintenance_merge: the work of a merge on a merge lane: reads runs and writes new ones.
 *
 *   engine thread           merge lane              engine thread       background lane
 *   chooses, references ──▶ writes the outputs ──▶ checks again ──▶ manifest ──▶ swaps
 *   (maintenance_compact.c)      (maintenance_merge.c)        (maintenance_compact.c) */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_MERGE_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_MERGE_H

#include "storage/engine/compact_plan.h"
#include "storage/engine/maintenance_private.h"
#include "storage/engine/partition_reader.h"
#include "storage/engine/run_change.h"

struct segment_list {
    struct segment **segments;         /* referenced; in the order of frame_first until
                                        * maintenance_drop_find moves segments */
    uint32_t count;
};

struct compact_job {
    struct job job;
    struct maintenance *maintenance;
    struct schema *schema;             /* referenced: the table's */
    const struct table *table;
    enum segment_kind kind;
    bool splits;                       /* this and the next three: as in compact_choice */
    int32_t day;
    bool purges;
    uint64_t purge_frame;
    bool may_purge;                    /* drop the rows that overwrites delete, and these
                                        * deletions */
    bool is_awaited;                   /* the `done` of engine_compact waits for the merge */
    bool drops_tombstones;             /* of row runs: the tombstones hide no rows of older runs */
    int64_t drops_before_us;           /* tombstones from this time on stay */
    bool clients_give_times;           /* a later write may have an earlier time */
    int64_t now_s;                     /* data that expired before this time is removed */
    struct segment_list inputs;
    struct segment_list beside;        /* of a columnar merge: the table's other columnar runs */
    struct segment_list overwrites;    /* of a columnar merge: the table's row runs */
    uint32_t unread;                   /* number of unreadable segments in `beside` and
                                        * `overwrites` when the merge began */

    /* Used on the merge lane until the merge is done: */
    struct segment_list pass;          /* inputs of the output being written; not referenced */
    bool takes_day;                    /* of a split: the output gets the rows of `day`; false: it
                                        * gets the other rows */
    struct partition_reader *reader;
    struct view overwrite_view;
    struct partition_index *purged;    /* partitions whose deletions and rows are dropped */
    bool drops_whole;                  /* columnar runs are dropped unread, and only overwrites are
                                        * merged */
    bool has_dropped;

    struct run_change change;
    uint64_t purge;                    /* the purge's number in the manifest; 0: not published
                                        * yet */
    int status;                        /* ERROR_CLOSED: the merge ended early */
    struct error err;
};

/* Takes over the reference to the segment. */
void maintenance_merge_list_add(struct segment_list *list, struct segment *segment);

/* Write the outputs of compact->inputs. */
void maintenance_merge_run(struct job *job);
#endif

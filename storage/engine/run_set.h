/* run_set: the live segments, the sums of their partitions, and what the manifest says of them.
 *
 *     flush, merge ──manifest_edit──▶ manifest on disk       (a job, on LANE_BACKGROUND)
 *                  ──add, remove────▶ run_set in memory      (the engine thread, after it)
 *
 * What must hold: segments stand sorted by (table, kind, first frame, id), so the runs of one table
 * are neighbours and its append-only runs come in the order of their frames, on which ranks depend.
 * Runs of different days may cover the same frames; those that share a day never do.
 *
 * The manifest on disk may be one edit ahead of this: the job that made it has ended and is not yet
 * reported.  What counts for readers and snapshots is what is here, and its files exist as long as
 * it is.
 *
 * Engine thread, except where a function says otherwise. */
#ifndef DAYBOOK_STORAGE_ENGINE_RUN_SET_H
#define DAYBOOK_STORAGE_ENGINE_RUN_SET_H

#include <stdatomic.h>

#include "storage/cell/partition_index.h"
#include "storage/engine/engine_env.h"
#include "storage/manifest/manifest.h"
#include "storage/schema/schema.h"
#include "storage/segment/segment.h"

struct run_set {
    struct engine_env *env;
    struct manifest *manifest;
    struct segment **segments;         /* in their order; referenced */
    uint32_t count;
    uint64_t bytes;                    /* of memory, of all of them */
    struct reader_pool *readers;       /* what their readers leave for the next ones */
    struct partition_index **indexes;  /* sums of sealed append-only runs, one per event table */
    uint32_t index_count;
    /* Taken by jobs.  Ahead of the manifest's after a job that failed, so that a file which such a
     * job left behind is never taken for another. */
    atomic_uint_fast64_t id_next;

    struct schema *schema;             /* referenced: the manifest's, as of frame_flushed */
    uint64_t frame_flushed;            /* every frame up to here is in segments */
    int64_t timestamp_us;              /* the last one that was given up to frame_flushed; 0: not
                                        * known, for a directory of an older format */
    uint64_t purges;                   /* published ones, as in manifest_state */
};

/* Takes the manifest.  No segment is open yet: run_recover.h. */
void run_set_init(struct run_set *runs, struct engine_env *env, struct manifest *manifest);
void run_set_release(struct run_set *runs);

void run_set_add(struct run_set *runs, struct segment *segment);       /* takes the reference */
/* Its file goes when its last reader does. */
void run_set_remove(struct run_set *runs, uint64_t segment_id);

/* The sums of a segment that memory did not know join its table's index. */
void run_set_index_segment(struct run_set *runs, struct segment *segment);
/* Work the partition's sums out again, from the segments of now. */
void run_set_index_partition(struct run_set *runs, uint32_t table_id, int64_t token,
                             struct bytes key);
/* NULL: the table has no append-only runs. */
struct partition_index *run_set_index(const struct run_set *runs, uint32_t table_id);

/* segment_open, and its days.  `table` NULL: it is gone.  Any thread. */
must_check int run_set_open_segment(struct run_set *runs, const struct segment_info *info,
                                    const struct table *table, struct segment **segment_out,
                                    struct error *err);
/* A number for a segment that is to be written.  Any thread. */
uint64_t run_set_next_id(struct run_set *runs);

/* The frames up to `frame` are in segments now, with the schema of then, and no later timestamp
 * than `given_us` (0: none was given) is in them. */
void run_set_note_flushed(struct run_set *runs, uint64_t frame, int64_t given_us,
                          struct schema *schema);

/* Whether the partition has anything in an overwrite run; and whether any of the table may. */
bool run_set_has_overwrites(const struct run_set *runs, const struct table *table, int64_t token,
                            struct bytes key);
bool run_set_may_have_overwrites(const struct run_set *runs, const struct table *table);

/* Bytes of memory: of the indexes; of all that stays whatever is flushed. */
uint64_t run_set_index_bytes(const struct run_set *runs);
uint64_t run_set_kept_bytes(const struct run_set *runs);
#endif

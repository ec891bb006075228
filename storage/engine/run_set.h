/* run_set: the live segments, the sums of their partitions, and the state of the manifest.
 *
 *     flush, merge ──manifest_edit──▶ manifest on disk       (a job, on LANE_BACKGROUND)
 *                  ──add, remove────▶ run_set in memory      (then the engine thread)
 *
 * What must hold: segments are sorted by (table, kind, first frame, id).  Ranks depend on that
 * order.  No two row runs of a table share a frame, nor two columnar runs of it that share a day.
 *
 * The manifest on disk may be one edit ahead of the run_set.  A segment's file exists as long as
 * the segment is in the run_set.
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
    struct segment **segments;         /* referenced */
    uint32_t count;
    uint64_t bytes;                    /* memory of all segments */
    struct reader_pool *readers;
    struct partition_index **indexes;  /* sums of append-only segments, by event table */
    uint32_t index_count;
    /* A failed job does not give its ids back, because its files may still exist. */
    atomic_uint_fast64_t id_next;

    struct schema *schema;             /* referenced: the manifest's, as of frame_flushed */
    uint64_t frame_flushed;            /* every frame up to here is in segments */
    int64_t timestamp_us;              /* the last write timestamp given up to frame_flushed; 0: not
                                        * known (older format) */
    uint64_t purges;                   /* as in manifest_state */
};

/* Takes over the manifest. */
void run_set_init(struct run_set *runs, struct engine_env *env, struct manifest *manifest);
void run_set_release(struct run_set *runs);

void run_set_add(struct run_set *runs, struct segment *segment);       /* takes over the
                                                                        * reference */
/* The segment's file is removed when its last reader releases it. */
void run_set_remove(struct run_set *runs, uint64_t segment_id);

void run_set_index_segment(struct run_set *runs, struct segment *segment);
/* Compute the sums of the partition again, from the present segments. */
void run_set_index_partition(struct run_set *runs, uint32_t table_id, int64_t token,
                             struct bytes key);
/* NULL: the table has no append-only runs. */
struct partition_index *run_set_index(const struct run_set *runs, uint32_t table_id);

/* Any thread.  `table` NULL: the table was dropped. */
must_check int run_set_open_segment(struct run_set *runs, const struct segment_info *info,
                                    const struct table *table, struct segment **segment_out,
                                    struct error *err);
/* Any thread. */
uint64_t run_set_next_id(struct run_set *runs);

/* `schema` and `given_us` (the last timestamp given, 0: none) are the flushed memtable's. */
void run_set_note_flushed(struct run_set *runs, uint64_t frame, int64_t given_us,
                          struct schema *schema);

/* Whether an overwrite segment has anything of the partition; and whether the table has overwrite
 * segments. */
bool run_set_has_overwrites(const struct run_set *runs, const struct table *table, int64_t token,
                            struct bytes key);
bool run_set_may_have_overwrites(const struct run_set *runs, const struct table *table);

/* Bytes of the sums by partition; and of these, the segments and the pool of readers together.
 * Flushes free none of these. */
uint64_t run_set_index_bytes(const struct run_set *runs);
uint64_t run_set_kept_bytes(const struct run_set *runs);
#endif

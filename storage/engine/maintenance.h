/* maintenance: flushes and merges, in the background, and what is asked for of them.
 *
 *     frozen memtable ──flush──▶ segments ──merge, perhaps with a purge──▶ fewer segments
 *
 * maintenance_flush.c has the flush, maintenance_compact.c chooses merges and publishes them,
 * maintenance_merge.c and maintenance_drop.c do a merge's work, and maintenance.c is what both
 * kinds of jobs share: a job that finds the disk full is tried again, one that fails for good fails
 * the engine.
 *
 * What must hold: a memtable is flushed only when its frames are durable, and the log forgets
 * frames only when the manifest names the segments that hold them.
 *
 * Engine thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_H

#include "storage/engine/callbacks.h"
#include "storage/engine/sequencer.h"
#include "storage/engine/view.h"

struct flush_job;
struct compact_job;
struct purge_tried;

/* Jobs that wait when the system is short of something, and are tried again. */
enum maintenance_kind { MAINTENANCE_FLUSH, MAINTENANCE_MERGE, MAINTENANCE_KINDS };

struct maintenance {
    struct engine_env *env;
    struct engine_clock *clock;
    struct sequencer *sequencer;
    struct memtable_set *memtables;
    struct run_set *runs;

    struct flush_job *flush;           /* under way */
    struct callbacks flush_waiters;    /* until `flush_until` is in segments */
    uint64_t flush_until;              /* the newest frame when the last of them asked */

    struct compact_job *compactions[SEGMENT_KINDS];    /* under way; by kind of runs */
    struct callbacks compact_askers;   /* until flushed, */
    struct callbacks compact_waiters;  /* then merged up to compact_until */
    uint64_t compact_until;            /* newest in segments when it was asked */
    struct timer compact_timer;        /* until a closed day has been quiet for long enough */
    atomic_bool merge_ends;            /* read by the merge */
    struct purge_tried *purges;        /* by table: what need not be tried again */
    uint32_t purge_count;
    uint64_t purges_begun;             /* numbers given to purges that are to be published */
    uint32_t purges_under_way;         /* being published: no snapshot meanwhile */

    struct timer retry_timer;          /* runs while flush and merge wait for space */
    int job_status[MAINTENANCE_KINDS]; /* why the last one is to be tried again; 0: it is not */
    struct metric *metric_flushes;
    struct metric *metric_compactions;
    void (*on_change)(void *context);  /* job_status may be otherwise */
    void *context;
};

/* The parts outlive it; callback, context and metrics are the caller's to set. */
void maintenance_init(struct maintenance *maintenance, struct sequencer *sequencer,
                      struct run_set *runs);
void maintenance_release(struct maintenance *maintenance);

/* Begin what there is to do, if anything. */
void maintenance_start_flush(struct maintenance *maintenance);
void maintenance_start_compaction(struct maintenance *maintenance);
/* While opening: write the frozen memtables on this thread. */
must_check int maintenance_flush_now(struct maintenance *maintenance, struct error *err);

/* As engine_flush and engine_compact. */
must_check int maintenance_flush(struct maintenance *maintenance, store_done done, void *context,
                                 struct error *err);
must_check int maintenance_compact(struct maintenance *maintenance, store_done done, void *context,
                                   struct error *err);

/* Jobs found the disk full, and are tried again in a while. */
bool maintenance_is_waiting_for_space(const struct maintenance *maintenance);
/* Why jobs wait; 0: they do not. */
int maintenance_status(const struct maintenance *maintenance);
/* The engine has failed: tell all who asked for a flush or a merge. */
void maintenance_fail(struct maintenance *maintenance);
/* The store closes: a merge that is under way ends soon. */
void maintenance_end_merges(struct maintenance *maintenance);
/* No timer fires any more. */
void maintenance_stop(struct maintenance *maintenance);
#endif

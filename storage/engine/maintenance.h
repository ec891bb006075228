/* maintenance: flushes and merges in the background, and the calls that request them.
 *
 *     frozen memtable ──flush──▶ segments ──merge, perhaps with a purge──▶ fewer segments
 *
 * maintenance_flush.c does flushes, maintenance_compact.c chooses merges and publishes them, and
 * maintenance_merge.c and maintenance_drop.c do the work of a merge.  maintenance.c has what
 * flushes and merges share: a job that is short of disk space, descriptors or memory is tried
 * again.
 *
 * What must hold: a memtable is flushed only when its frames are durable, and the log reuses the
 * files of frames only when the manifest names the segments that hold these frames.
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

/* The kinds of jobs, each of which is tried again when the system is short of something. */
enum maintenance_kind { MAINTENANCE_FLUSH, MAINTENANCE_MERGE, MAINTENANCE_KINDS };

struct maintenance {
    struct engine_env *env;
    struct engine_clock *clock;
    struct sequencer *sequencer;
    struct memtable_set *memtables;
    struct run_set *runs;

    struct flush_job *flush;           /* under way */
    struct callbacks flush_waiters;    /* until `flush_until` is in segments */
    uint64_t flush_until;              /* the newest frame when the last waiter was added */

    struct compact_job *compactions[SEGMENT_KINDS];    /* under way; by kind of runs */
    struct callbacks compact_requests; /* wait for a flush, then become compact_waiters */
    struct callbacks compact_waiters;  /* wait until runs are merged up to compact_until */
    uint64_t compact_until;            /* the newest frame in segments after the last request's
                                        * flush */
    struct timer compact_timer;        /* until a day or its deletions are old enough for a merge */
    atomic_bool merge_ends;            /* set when the store closes: merges end early */
    struct purge_tried *purges;        /* by table id: which purges need not be tried again */
    uint32_t purge_count;
    uint32_t purge_count_max;          /* that `purges` has room for */
    uint64_t purges_begun;             /* number of the last purge that began its publication */
    uint32_t purges_under_way;         /* being published: no snapshot is taken meanwhile */

    struct timer retry_timer;          /* runs while flushes and merges wait for a resource */
    int job_status[MAINTENANCE_KINDS]; /* the error of a job that is to be tried again; or 0 */
    struct metric *metric_flushes;
    struct metric *metric_compactions;
    void (*on_change)(void *context);  /* job_status may have changed */
    void *context;
};

/* The parts outlive the maintenance.  The caller sets on_change, context and metrics. */
void maintenance_init(struct maintenance *maintenance, struct sequencer *sequencer,
                      struct run_set *runs);
void maintenance_release(struct maintenance *maintenance);

/* Begin a flush, or merges, if there is anything to do. */
void maintenance_start_flush(struct maintenance *maintenance);
void maintenance_start_compaction(struct maintenance *maintenance);
/* While opening: write the frozen memtables on this thread. */
must_check int maintenance_flush_now(struct maintenance *maintenance, struct error *err);

/* As engine_flush and engine_compact. */
must_check int maintenance_flush(struct maintenance *maintenance, store_done done, void *context,
                                 struct error *err);
must_check int maintenance_compact(struct maintenance *maintenance, store_done done, void *context,
                                   struct error *err);

/* Whether jobs were short of disk space, descriptors or memory, and wait for their next try. */
bool maintenance_is_waiting_for_space(const struct maintenance *maintenance);
/* The error for which jobs wait; 0: none waits. */
int maintenance_status(const struct maintenance *maintenance);
/* The engine has failed: call the callbacks that wait for a flush or a merge. */
void maintenance_fail(struct maintenance *maintenance);
/* Stop the timers. */
void maintenance_stop(struct maintenance *maintenance);
#endif

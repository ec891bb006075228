/* maintenance: flushes and merges in the background, and the calls that request them.
 *
 *     frozen memtable ──flush──▶ segments ──merge, perhaps with a purge──▶ fewer segments
 *
 * A job that is short of disk space, descriptors or memory is retried.
 *
 * What must hold: a memtable is flushed only when its frames are durable.  The log reuses the files
 * of frames only when the manifest names the segments with these frames.
 *
 * Engine thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_H

#include "base/log.h"
#include "storage/engine/callbacks.h"
#include "storage/engine/sequencer.h"
#include "storage/engine/view.h"

struct flush_job;
struct compact_job;
struct purge_tried;

enum maintenance_kind { MAINTENANCE_FLUSH, MAINTENANCE_MERGE, MAINTENANCE_KINDS };

struct maintenance {
    struct engine_env *env;
    struct engine_clock *clock;
    struct sequencer *sequencer;
    struct memtable_set *memtables;
    struct run_set *runs;

    struct flush_job *flush;
    struct callbacks flush_waiters;    /* until frame `flush_until` is in segments */
    uint64_t flush_until;

    struct compact_job *compactions[SEGMENT_KINDS];    /* under way, by kind of runs */
    struct callbacks compact_requests; /* wait for a flush, then become compact_waiters */
    struct callbacks compact_waiters;  /* wait until runs up to compact_until are merged */
    uint64_t compact_until;            /* the newest frame in segments after the last requested
                                        * flush */
    struct timer compact_timer;
    atomic_bool merge_ends;
    struct purge_tried *purges;        /* by table id: the purges that were tried */
    uint32_t purge_count;
    uint32_t purge_count_max;
    uint64_t purges_begun;
    uint32_t purges_under_way;         /* number of purges being published; no snapshot is taken
                                        * meanwhile */

    struct timer retry_timer;
    int job_status[MAINTENANCE_KINDS]; /* the error after which a job is retried; or 0 */
    struct log_group failures[MAINTENANCE_KINDS];
    struct metric *metric_flushes;
    struct metric *metric_compactions;
    void (*on_change)(void *context);  /* job_status may have changed */
    void *context;
};

/* The caller sets on_change, context and metrics. */
void maintenance_init(struct maintenance *maintenance, struct sequencer *sequencer,
                      struct run_set *runs);
void maintenance_release(struct maintenance *maintenance);

void maintenance_start_flush(struct maintenance *maintenance);
void maintenance_start_compaction(struct maintenance *maintenance);
/* Write the frozen memtables on this thread, while opening. */
must_check int maintenance_flush_now(struct maintenance *maintenance, struct error *err);

/* As engine_flush and engine_compact. */
must_check int maintenance_flush(struct maintenance *maintenance, store_done done, void *context,
                                 struct error *err);
must_check int maintenance_compact(struct maintenance *maintenance, store_done done, void *context,
                                   struct error *err);

/* Whether jobs were short of disk space, descriptors or memory, and wait for their next try. */
bool maintenance_is_waiting_for_space(const struct maintenance *maintenance);
/* The error after which a job waits for its next try; 0: no job waits. */
int maintenance_status(const struct maintenance *maintenance);
/* Call all waiting callbacks after the engine has failed. */
void maintenance_fail(struct maintenance *maintenance);
void maintenance_stop(struct maintenance *maintenance);
#endif

/* shortage: finds what the engine is short of, and reports when a shortage begins and ends.
 *
 * There is one shortage at a time, though several things may wait: the log's next file, a flush, a
 * merge, or batches for which there is no memory.  The first of these in this order counts.
 * Status, metrics, log lines and connections all show the same shortage.
 *
 * What must hold: a shortage is reported as long as it lasts, without a gap between two tries.  So
 * a failed flush or merge counts until a later one succeeds.  Full memory is usual under load: a
 * flush ends it within a second or two.  So full memory counts only once no batch was applied for
 * five seconds.
 *
 * Engine thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_SHORTAGE_H
#define DAYBOOK_STORAGE_ENGINE_SHORTAGE_H

#include "base/metrics.h"
#include "storage/engine/maintenance.h"

struct shortage_listener;

struct shortage {
    struct engine_env *env;
    const struct maintenance *maintenance;
    struct store_waiting waiting;      /* the present shortage */
    struct shortage_listener *listeners;
    uint32_t listener_count;
    struct timer stall_timer;
    struct timer report_timer;
    int64_t refused_since_us;          /* since when memory is too full for batches; 0: it is not */
    struct metric *metrics[STORE_SHORTAGES];   /* the first is NULL */
};

void shortage_init(struct shortage *shortage, const struct maintenance *maintenance);
void shortage_release(struct shortage *shortage);
void shortage_add_metrics(struct shortage *shortage, struct metrics *metrics);

/* Find out again what is short, and report a change.  The log must be open. */
void shortage_update(struct shortage *shortage);
/* A batch was answered ERROR_FULL. */
void shortage_batch_refused(struct shortage *shortage);
/* As store_on_waiting. */
void shortage_on_change(struct shortage *shortage, store_waiting_changed changed, void *context);
/* Stop the timers. */
void shortage_stop(struct shortage *shortage);
#endif

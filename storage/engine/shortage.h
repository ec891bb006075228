/* shortage: finds the resource of which the engine is short, and reports when a shortage begins and
 * ends.
 *
 * If several of these wait for a resource, the first one counts: the log's next file, a flush, a
 * merge, batches for which there is no memory.
 *
 * What must hold: a shortage is reported without a gap.  So a failed flush or merge counts until a
 * later one succeeds.  Full memory is usual under load, and counts only when no batch was applied
 * for five seconds.
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
    struct store_waiting waiting;
    struct shortage_listener *listeners;
    uint32_t listener_count;
    struct timer stall_timer;
    struct timer report_timer;
    int64_t refused_since_us;          /* 0: batches are not refused */
    struct metric *metrics[STORE_SHORTAGES];   /* by enum store_shortage; the first is NULL */
};

void shortage_init(struct shortage *shortage, const struct maintenance *maintenance);
void shortage_release(struct shortage *shortage);
void shortage_add_metrics(struct shortage *shortage, struct metrics *metrics);

/* The log must be open. */
void shortage_update(struct shortage *shortage);
void shortage_batch_refused(struct shortage *shortage);
/* As store_on_waiting. */
void shortage_on_change(struct shortage *shortage, store_waiting_changed changed, void *context);
void shortage_stop(struct shortage *shortage);
#endif

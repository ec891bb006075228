/* shortage: what the engine is short of, told when it begins and when it is over.
 *
 * There is one answer, whatever waits: the log's next file, a flush, a merge, or batches for which
 * there is no memory.  The first of them that is short counts, since it keeps the others waiting,
 * too.  Status, metrics, the log of events and the doors all read this one.
 *
 * Correct means: it is reported while it lasts, and not for a moment between two tries.  So a
 * failed flush or merge counts until one was done, and full memory, which a flush ends within a
 * second or two under any load, counts when no batch was applied for five seconds.
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
    struct store_waiting waiting;      /* the answer */
    struct shortage_listener *listeners;
    uint32_t listener_count;
    struct timer stall_timer;
    struct timer tell_timer;
    int64_t refused_since_us;          /* batches are, as memory is full; 0: the last was applied */
    struct metric *metrics[STORE_SHORTAGES];   /* the first is NULL */
};

void shortage_init(struct shortage *shortage, const struct maintenance *maintenance);
void shortage_release(struct shortage *shortage);
void shortage_add_metrics(struct shortage *shortage, struct metrics *metrics);

/* The answer may be another.  The log must be open. */
void shortage_update(struct shortage *shortage);
/* A batch was answered ERROR_FULL, or applied. */
void shortage_batch_refused(struct shortage *shortage);
static inline void shortage_batch_applied(struct shortage *shortage)
{
    shortage->refused_since_us = 0;
}
/* As store_on_waiting. */
void shortage_on_change(struct shortage *shortage, store_waiting_changed changed, void *context);
/* No timer fires any more. */
void shortage_stop(struct shortage *shortage);
#endif

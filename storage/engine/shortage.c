#include "storage/engine/shortage.h"

#include <errno.h>

#include "base/memory.h"

enum { STALL_US = 5000000, STALL_LOOK_MS = 1000 };

struct shortage_listener {
    store_waiting_changed changed;
    void *context;
};

void shortage_init(struct shortage *shortage, const struct maintenance *maintenance)
{
    *shortage = (struct shortage){
        .env = maintenance->env, .maintenance = maintenance, .waiting = {.path = ""}};
}

void shortage_release(struct shortage *shortage)
{
    memory_free(shortage->listeners);
}

/* ---- what is short ---- */

static enum store_shortage shortage_of(int status)
{
    if (status == -EMFILE || status == -ENFILE)
        return STORE_SHORT_OF_DESCRIPTORS;
    return status == -ENOMEM ? STORE_SHORT_OF_MEMORY : STORE_SHORT_OF_DISK;
}

static int64_t monotonic_us(const struct shortage *shortage)
{
    return world_monotonic_us(shortage->env->world);
}

static bool is_stalled(const struct shortage *shortage)
{
    return shortage->refused_since_us != 0 &&
           monotonic_us(shortage) - shortage->refused_since_us >= STALL_US &&
           memtable_set_is_full(shortage->maintenance->memtables);
}

static struct store_waiting waiting_now(const struct shortage *shortage)
{
    struct commit_log_shortage log =
        commit_log_status(shortage->maintenance->sequencer->log)->shortage;
    int job_status = maintenance_status(shortage->maintenance);
    if (shortage->env->failed == 0 && log.status != 0)
        return (struct store_waiting){.shortage = shortage_of(log.status),
                                      .stops_writes = log.stops_frames,
                                      .path = "log",
                                      .needed_bytes = log.bytes};
    if (shortage->env->failed == 0 && job_status != 0)
        return (struct store_waiting){.shortage = shortage_of(job_status),
                                      .stops_writes =
                                          memtable_set_is_full(shortage->maintenance->memtables),
                                      .path = "segments"};
    if (shortage->env->failed == 0 && is_stalled(shortage))
        return (struct store_waiting){
            .shortage = STORE_SHORT_OF_MEMORY, .stops_writes = true, .path = ""};
    return (struct store_waiting){.path = ""};
}

static void set_metrics(const struct shortage *shortage)
{
    for (uint32_t i = 0; i < STORE_SHORTAGES; i++)
        if (shortage->metrics[i] != NULL)
            shortage->metrics[i]->value = shortage->waiting.shortage == i;
}

/* Listeners are called from the loop, because a listener may be in the middle of a refused call of
 * store_apply. */
static void report_fire(struct timer *timer)
{
    struct shortage *shortage = timer->context;
    for (uint32_t i = 0; i < shortage->listener_count; i++)
        shortage->listeners[i].changed(shortage->listeners[i].context, &shortage->waiting);
}

static void report_soon(struct shortage *shortage)
{
    if (shortage->report_timer.handle == NULL && !shortage->env->is_closing)
        world_timer_start(shortage->env->world, &shortage->report_timer, report_fire, shortage, 0);
}

void shortage_update(struct shortage *shortage)
{
    struct store_waiting now = waiting_now(shortage);
    struct store_waiting *was = &shortage->waiting;
    if (now.shortage == was->shortage && now.stops_writes == was->stops_writes)
        return;
    now.since_us = was->shortage == STORE_SHORT_OF_NOTHING ? monotonic_us(shortage) : was->since_us;
    shortage->waiting = now;
    set_metrics(shortage);
    report_soon(shortage);
}

static void stall_fire(struct timer *timer)
{
    struct shortage *shortage = timer->context;
    shortage_update(shortage);
    if (shortage->refused_since_us != 0)
        world_timer_start(shortage->env->world, timer, stall_fire, shortage, STALL_LOOK_MS);
}

void shortage_batch_refused(struct shortage *shortage)
{
    shortage_update(shortage);
    if (shortage->refused_since_us != 0 || !memtable_set_is_full(shortage->maintenance->memtables))
        return;
    shortage->refused_since_us = monotonic_us(shortage);
    if (shortage->stall_timer.handle == NULL)
        world_timer_start(shortage->env->world, &shortage->stall_timer, stall_fire, shortage,
                          STALL_LOOK_MS);
}

void shortage_add_metrics(struct shortage *shortage, struct metrics *metrics)
{
    for (uint32_t i = STORE_SHORT_OF_NOTHING + 1; i < STORE_SHORTAGES; i++) {
        struct buffer label = {0};
        buffer_printf(&label, "reason=\"%s\"", store_shortage_name((enum store_shortage)i));
        buffer_put_u8(&label, '\0');
        shortage->metrics[i] =
            metrics_add(metrics, METRIC_GAUGE, "daybook_waiting", (const char *)label.data,
                        "1 while the store waits for it");
        buffer_release(&label);
    }
}

/* ---- listeners ---- */

void shortage_on_change(struct shortage *shortage, store_waiting_changed changed, void *context)
{
    struct shortage_listener *listeners = shortage->listeners;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < shortage->listener_count; i++)
        if (listeners[i].context != context)
            listeners[kept++] = listeners[i];
    shortage->listener_count = kept;
    if (changed == NULL)
        return;
    listeners = memory_resize(listeners, (kept + 1) * sizeof(*listeners));
    listeners[shortage->listener_count++] = (struct shortage_listener){changed, context};
    shortage->listeners = listeners;
    if (shortage->waiting.shortage != STORE_SHORT_OF_NOTHING)
        report_soon(shortage);
}

void shortage_stop(struct shortage *shortage)
{
    world_timer_stop(shortage->env->world, &shortage->stall_timer);
    world_timer_stop(shortage->env->world, &shortage->report_timer);
}

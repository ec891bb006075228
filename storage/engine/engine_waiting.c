/* engine_waiting: what the engine is short of, told when it begins and when it is over.
 *
 * There is one answer, whatever waits: the log's next file, a flush, a merge, or batches for which
 * there is no memory.  The first of them that holds counts, since it keeps the others waiting, too.
 * Status, metrics, the log of events and the doors all read this one.
 *
 * Correct means: it is said while it lasts, and not for a moment between two tries.  So a failed
 * flush or merge counts until one was done, and full memory, which a flush ends within a second or
 * two under any load, counts when no batch was applied for STALL_US. */
#include <errno.h>

#include "base/memory.h"
#include "storage/engine/engine_private.h"
#include "storage/manifest/manifest_probe.h"

enum { STALL_US = 5000000, STALL_LOOK_MS = 1000 };

static enum store_shortage shortage_of(int status)
{
    if (status == -EMFILE || status == -ENFILE)
        return STORE_SHORT_OF_DESCRIPTORS;
    return status == -ENOMEM ? STORE_SHORT_OF_MEMORY : STORE_SHORT_OF_DISK;
}

static int64_t monotonic_us(const struct engine *engine)
{
    return engine->env.world->clock->monotonic_us(engine->env.world->clock);
}

static bool is_stalled(const struct engine *engine)
{
    return engine->refused_since_us != 0 &&
           monotonic_us(engine) - engine->refused_since_us >= STALL_US &&
           engine_memory_is_full(engine);
}

static struct store_waiting waiting_now(const struct engine *engine)
{
    struct commit_log_shortage log = commit_log_shortage(engine->log);
    int job_status = engine->job_status[ENGINE_FLUSH] != 0 ? engine->job_status[ENGINE_FLUSH]
                                                           : engine->job_status[ENGINE_MERGE];
    if (engine->env.failed == 0 && log.status != 0)
        return (struct store_waiting){.shortage = shortage_of(log.status),
                                      .stops_writes = log.stops_frames,
                                      .path = "log",
                                      .needed_bytes = log.bytes};
    if (engine->env.failed == 0 && job_status != 0)
        return (struct store_waiting){.shortage = shortage_of(job_status),
                                      .stops_writes = engine_memory_is_full(engine),
                                      .path = "segments"};
    if (engine->env.failed == 0 && is_stalled(engine))
        return (struct store_waiting){
            .shortage = STORE_SHORT_OF_MEMORY, .stops_writes = true, .path = ""};
    return (struct store_waiting){.path = ""};
}

static void show(const struct engine *engine)
{
    for (uint32_t i = 0; i < STORE_SHORTAGES; i++)
        if (engine->metric_waiting[i] != NULL)
            engine->metric_waiting[i]->value = engine->waiting.shortage == i;
}

/* In a turn of its own: whoever is told may be in the middle of a batch that was just refused. */
static void tell_fire(struct timer *timer)
{
    struct engine *engine = timer->context;
    for (uint32_t i = 0; i < engine->waiting_listener_count; i++)
        engine->waiting_listeners[i].changed(engine->waiting_listeners[i].context,
                                             &engine->waiting);
}

static void tell_soon(struct engine *engine)
{
    if (engine->tell_timer.handle != NULL || engine->env.is_closing)
        return;
    engine->tell_timer = (struct timer){.fire = tell_fire, .context = engine};
    engine->env.world->executor->timer_start(engine->env.world->executor, &engine->tell_timer, 0);
}

void engine_waiting_update(void *context)
{
    struct engine *engine = context;
    struct store_waiting now = waiting_now(engine);
    struct store_waiting *was = &engine->waiting;
    if (now.shortage == was->shortage && now.stops_writes == was->stops_writes)
        return;
    now.since_us = was->shortage == STORE_SHORT_OF_NOTHING ? monotonic_us(engine) : was->since_us;
    engine->waiting = now;
    show(engine);
    tell_soon(engine);
}

static void stall_fire(struct timer *timer)
{
    struct engine *engine = timer->context;
    engine_waiting_update(engine);
    if (engine->refused_since_us != 0)
        engine->env.world->executor->timer_start(engine->env.world->executor, timer, STALL_LOOK_MS);
}

void engine_batch_refused(struct engine *engine)
{
    engine_waiting_update(engine);
    if (engine->refused_since_us != 0 || !engine_memory_is_full(engine))
        return;
    engine->refused_since_us = monotonic_us(engine);
    if (engine->stall_timer.handle != NULL)
        return;
    engine->stall_timer = (struct timer){.fire = stall_fire, .context = engine};
    engine->env.world->executor->timer_start(engine->env.world->executor, &engine->stall_timer,
                                             STALL_LOOK_MS);
}

void engine_waiting_metrics(struct engine *engine)
{
    for (uint32_t i = STORE_SHORT_OF_NOTHING + 1; i < STORE_SHORTAGES; i++) {
        struct buffer label = {0};
        buffer_printf(&label, "reason=\"%s\"", store_shortage_name((enum store_shortage)i));
        buffer_put_u8(&label, '\0');
        engine->metric_waiting[i] =
            metrics_add(engine->env.options.metrics, METRIC_GAUGE, "daybook_waiting",
                        (const char *)label.data, "1 while the store waits for it");
        buffer_release(&label);
    }
}

/* ---- who is told ---- */

void engine_on_waiting_op(struct store *store, store_waiting_changed changed, void *context)
{
    struct engine *engine = (struct engine *)store;
    struct waiting_listener *listeners = engine->waiting_listeners;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < engine->waiting_listener_count; i++)
        if (listeners[i].context != context)
            listeners[kept++] = listeners[i];
    engine->waiting_listener_count = kept;
    if (changed == NULL)
        return;
    listeners = memory_resize(listeners, (kept + 1) * sizeof(*listeners));
    listeners[engine->waiting_listener_count++] = (struct waiting_listener){changed, context};
    engine->waiting_listeners = listeners;
    if (engine->waiting.shortage != STORE_SHORT_OF_NOTHING)
        tell_soon(engine);
}

/* ---- what the disk says ---- */

static void count_unlinked(struct engine *engine, struct store_examination *examination)
{
    examination->unlinked = commit_log_unlinked(engine->log, examination->unlinked_path);
    for (uint32_t i = 0; i < engine->segment_count; i++) {
        if (segment_is_linked(engine->segments[i]))
            continue;
        examination->unlinked++;
        segment_path(segment_info(engine->segments[i])->id, examination->unlinked_path);
    }
    if (!manifest_is_linked(engine->manifest)) {
        examination->unlinked++;
        memcpy(examination->unlinked_path, MANIFEST_PATH, sizeof(MANIFEST_PATH));
    }
}

void engine_examine_op(struct store *store, struct store_examination *examination_out)
{
    struct engine *engine = (struct engine *)store;
    struct disk *disk = engine->env.world->disk;
    *examination_out = (struct store_examination){
        .disk_free_bytes = disk->free_bytes(disk),
        .disk_wanted_bytes = commit_log_next_bytes(engine->log) + engine_memtables_bytes(engine)};
    count_unlinked(engine, examination_out);
}

#include "storage/engine/maintenance_merge.h"

#include "base/memory.h"

enum { RETRY_MS = 1000, FAILURE_LOG_US = 60000000 };

void maintenance_init(struct maintenance *maintenance, struct sequencer *sequencer,
                      struct run_set *runs)
{
    *maintenance = (struct maintenance){.env = sequencer->env,
                                        .clock = sequencer->clock,
                                        .sequencer = sequencer,
                                        .memtables = sequencer->memtables,
                                        .runs = runs};
    for (int i = 0; i < MAINTENANCE_KINDS; i++)
        maintenance->failures[i].period_us = FAILURE_LOG_US;
}

void maintenance_release(struct maintenance *maintenance)
{
    memory_free(maintenance->purges);
    callbacks_release(&maintenance->flush_waiters);
    callbacks_release(&maintenance->compact_requests);
    callbacks_release(&maintenance->compact_waiters);
}

/* ---- what is under way ---- */

bool maintenance_is_merging(const struct maintenance *maintenance, uint32_t table_id)
{
    for (uint32_t i = 0; i < SEGMENT_KINDS; i++) {
        const struct compact_job *compact = maintenance->compactions[i];
        if (compact != NULL && (table_id == 0 || compact->table->id == table_id))
            return true;
    }
    return false;
}

/* ---- callbacks ---- */

void maintenance_call_flush_waiters(struct maintenance *maintenance, int status,
                                    const struct error *err)
{
    callbacks_call(&maintenance->flush_waiters, status, err);
}

void maintenance_fail(struct maintenance *maintenance)
{
    const struct engine_env *env = maintenance->env;
    check(env->failed != 0);
    maintenance_call_flush_waiters(maintenance, env->failed, &env->failure);
    callbacks_call(&maintenance->compact_waiters, env->failed, &env->failure);
}

/* ---- jobs that wait for a resource ---- */

static void retry_fire(struct timer *timer)
{
    struct maintenance *maintenance = timer->context;
    maintenance_start_flush(maintenance);
    maintenance_start_compaction(maintenance);
    if (maintenance->flush == NULL)
        maintenance->job_status[MAINTENANCE_FLUSH] = 0;
    if (!maintenance_is_merging(maintenance, 0))
        maintenance->job_status[MAINTENANCE_MERGE] = 0;
    maintenance->on_change(maintenance->context);
}

void maintenance_job_succeeded(struct maintenance *maintenance, enum maintenance_kind kind)
{
    maintenance->job_status[kind] = 0;
    maintenance->on_change(maintenance->context);
}

void maintenance_log_failure(struct maintenance *maintenance, enum maintenance_kind kind,
                             const struct error *err, const char *effect)
{
    static const char *const events[] = {
        [MAINTENANCE_FLUSH] = "flush_failed", [MAINTENANCE_MERGE] = "merge_failed"};
    int64_t now_us = world_monotonic_us(maintenance->env->world);
    uint64_t count;
    if (log_group_admit(&maintenance->failures[kind], now_us, &count))
        log_event(LOG_WARNING, events[kind], log_text("reason", err->text),
                  log_text("effect", effect), log_number("times_count", (int64_t)count));
}

/* A shortage of disk space, descriptors or memory loses nothing, because the data is still in the
 * log, or in the runs to be merged. */
void maintenance_job_failed(struct maintenance *maintenance, enum maintenance_kind kind, int status,
                            const struct error *err)
{
    if (!error_is_passing(status)) {
        maintenance_log_failure(maintenance, kind, err, "nothing more is written");
        engine_env_fail(maintenance->env, status, err->text);
        return;
    }
    maintenance_log_failure(maintenance, kind, err, "it is tried again every second");
    maintenance->job_status[kind] = status;
    maintenance->on_change(maintenance->context);
    maintenance_call_flush_waiters(maintenance, status, err);
    callbacks_call(&maintenance->compact_waiters, status, err);
    if (!maintenance_is_waiting_for_space(maintenance))
        world_timer_start(maintenance->env->world, &maintenance->retry_timer, retry_fire,
                          maintenance, RETRY_MS);
}

bool maintenance_is_waiting_for_space(const struct maintenance *maintenance)
{
    return maintenance->retry_timer.handle != NULL;
}

int maintenance_status(const struct maintenance *maintenance)
{
    const int *status = maintenance->job_status;
    return status[MAINTENANCE_FLUSH] != 0 ? status[MAINTENANCE_FLUSH] : status[MAINTENANCE_MERGE];
}

/* ---- closing ---- */

void maintenance_stop(struct maintenance *maintenance)
{
    world_timer_stop(maintenance->env->world, &maintenance->retry_timer);
    world_timer_stop(maintenance->env->world, &maintenance->compact_timer);
}

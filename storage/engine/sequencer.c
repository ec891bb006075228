#include "storage/engine/sequencer_private.h"

#include "base/murmur3.h"
#include "base/memory.h"
#include "storage/engine/appended_stats.h"

enum { FOLLOW_MS = 4 }; /* the longest that an open frame waits for an announced batch */

struct sequencer_drain {
    void (*call)(void *context);
    void *context;
};

void sequencer_init(struct sequencer *sequencer, struct engine_env *env, struct engine_clock *clock,
                    struct memtable_set *memtables, const struct run_set *runs)
{
    *sequencer =
        (struct sequencer){.env = env, .clock = clock, .memtables = memtables, .runs = runs};
    partition_versions_init(&sequencer->versions);
}

void sequencer_release(struct sequencer *sequencer)
{
    buffer_release(&sequencer->payload);
    buffer_release(&sequencer->scratch);
    frame_waiters_release(&sequencer->waiters);
    partition_versions_release(&sequencer->versions);
    memory_free(sequencer->drains);
}

uint64_t sequencer_applied_frame(const struct sequencer *sequencer)
{
    return sequencer->frame - (sequencer->payload.size == 0);
}

uint64_t sequencer_durable_frame(const struct sequencer *sequencer)
{
    return sequencer->log == NULL ? UINT64_MAX : commit_log_status(sequencer->log)->frame_durable;
}

struct store_version sequencer_version(const struct sequencer *sequencer, uint32_t table_id,
                                       struct bytes key)
{
    int64_t token = murmur3_token(key.data, key.size);
    return (struct store_version){
        .writes = partition_versions_of(&sequencer->versions, table_id, token),
        .appended_rows =
            appended_stats_rows(sequencer->runs, sequencer->memtables, table_id, token, key)};
}

/* ---- callbacks when batches are accepted again ---- */

void sequencer_on_drain(struct sequencer *sequencer, void (*drain)(void *context), void *context)
{
    if (drain == NULL) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < sequencer->drain_count; i++)
            if (sequencer->drains[i].context != context)
                sequencer->drains[kept++] = sequencer->drains[i];
        sequencer->drain_count = kept;
        return;
    }
    sequencer->drains = memory_resize(sequencer->drains, (sequencer->drain_count + 1) *
                                                             sizeof(struct sequencer_drain));
    sequencer->drains[sequencer->drain_count++] = (struct sequencer_drain){drain, context};
}

void sequencer_drain(struct sequencer *sequencer)
{
    if (!sequencer->drain_owed)
        return;
    sequencer->drain_owed = false;
    for (uint32_t i = 0; i < sequencer->drain_count; i++)
        sequencer->drains[i].call(sequencer->drains[i].context);
}

void sequencer_unlock(struct sequencer *sequencer, struct store_write_lock *write_lock)
{
    if (write_lock_release(&sequencer->lock, write_lock))
        sequencer_drain(sequencer);
}

/* ---- freezing ---- */

void sequencer_freeze(struct sequencer *sequencer, uint64_t frame_last)
{
    sequencer->freeze_requested = false;
    memtable_set_freeze(sequencer->memtables, frame_last, engine_clock_given_us(sequencer->clock));
}

void sequencer_request_freeze(struct sequencer *sequencer)
{
    if (sequencer->payload.size > 0) {
        sequencer->freeze_requested = true;
        return;
    }
    sequencer_freeze(sequencer, sequencer->frame - 1);
}

void sequencer_freeze_then(struct sequencer *sequencer, struct freeze_waiter *waiter)
{
    int failed = sequencer->env->failed;
    /* After a failure no frame is sealed, so the open frame never ends. */
    if (failed != 0 && sequencer->payload.size > 0) {
        waiter->resume(waiter, failed);
        return;
    }
    memtable_set_await_freeze(sequencer->memtables, waiter);
    sequencer_request_freeze(sequencer);
}

void sequencer_freeze_table_then(struct sequencer *sequencer, uint32_t table_id,
                                 struct freeze_waiter *waiter)
{
    if (memtable_set_open_has_table(sequencer->memtables, table_id))
        sequencer_freeze_then(sequencer, waiter);
    else
        waiter->resume(waiter, 0);
}

/* ---- frames ---- */

static bool frame_is_ready(const struct sequencer *sequencer)
{
    return sequencer->payload.size > 0 && sequencer->env->failed == 0 &&
           !commit_log_status(sequencer->log)->is_writing &&
           commit_log_has_room(sequencer->log, sequencer->payload.size);
}

/* frame_end must follow in the same turn of the loop, so that all of the frame is in the memtable
 * before the frame is durable. */
static void frame_begin(struct sequencer *sequencer)
{
    sequencer_stop(sequencer);
    commit_log_append(sequencer->log, sequencer->timestamp_us, &sequencer->payload);
    buffer_clear(&sequencer->payload);
    sequencer->writing_us = sequencer->opened_us;
    sequencer->is_followed = false;
}

static void frame_end(struct sequencer *sequencer)
{
    sequencer->frame++;
    if (sequencer->metric_frames != NULL)
        sequencer->metric_frames->value++;
    if (sequencer->freeze_requested || memtable_set_open_is_full(sequencer->memtables))
        sequencer_freeze(sequencer, sequencer->frame - 1);
}

void sequencer_seal_if_idle(struct sequencer *sequencer)
{
    if (!frame_is_ready(sequencer))
        return;
    frame_begin(sequencer);
    frame_end(sequencer);
}

static void seal_fire(struct timer *timer)
{
    sequencer_seal_if_idle(timer->context);
}

/* While the log writes, sequencer_frames_durable seals the open frame instead. */
static void seal_later(struct sequencer *sequencer, int64_t delay_ms)
{
    if (sequencer->seal_timer.handle == NULL && !commit_log_status(sequencer->log)->is_writing)
        world_timer_start(sequencer->env->world, &sequencer->seal_timer, seal_fire, sequencer,
                          delay_ms);
}

/* True: the frame has waited for this batch, and waits for no other. */
static bool payload_follow(struct sequencer *sequencer, bool is_first, bool is_followed)
{
    bool was_followed = !is_first && sequencer->is_followed;
    sequencer->is_followed = is_followed && (is_first || was_followed);
    return was_followed && !is_followed;
}

void sequencer_frames_durable(struct sequencer *sequencer, uint64_t frame)
{
    if (sequencer->writing_us != 0)
        metrics_observe_us(sequencer->metric_commits,
                           world_monotonic_us(sequencer->env->world) - sequencer->writing_us);
    sequencer->writing_us = 0;
    /* The callbacks come last, so that the next frame does not wait for them. */
    if (sequencer->is_followed)
        seal_later(sequencer, FOLLOW_MS);
    else
        sequencer_seal_if_idle(sequencer);
    frame_waiters_call(&sequencer->waiters, frame, 0, NULL);
}

void sequencer_fail(struct sequencer *sequencer)
{
    const struct engine_env *env = sequencer->env;
    check(env->failed != 0);
    frame_waiters_call(&sequencer->waiters, UINT64_MAX, env->failed, &env->failure);
}

void sequencer_stop(struct sequencer *sequencer)
{
    world_timer_stop(sequencer->env->world, &sequencer->seal_timer);
}

/* ---- apply ---- */

static void done_after_all(struct sequencer *sequencer, store_done done, void *context)
{
    uint64_t frame = sequencer_applied_frame(sequencer);
    if (done == NULL)
        return;
    if (frame <= sequencer_durable_frame(sequencer))
        done(context, 0, NULL);
    else
        frame_waiters_add(&sequencer->waiters, frame, done, context);
}

/* The hook is part of this program, so a value of a wrong type is a bug. */
static void run_hook(struct sequencer *sequencer, struct write_batch *batch)
{
    uint32_t mutations = batch->mutation_count;
    uint32_t increments = batch->increment_count;
    struct error err = {0};
    if (sequencer->hooks->commit == NULL)
        return;
    sequencer->hooks->commit(sequencer->hooks->commit_context, batch);
    int rc = write_batch_check(batch, sequencer->memtables->schema, mutations, increments, &err);
    check(rc == 0);
}

static int64_t payload_add(struct sequencer *sequencer, const struct write_batch *batch,
                           const struct sequencer_admitted *admitted)
{
    int64_t timestamp_us = engine_clock_now_us(sequencer->clock);
    size_t before = sequencer->payload.size;
    if (before == 0) {
        sequencer->timestamp_us = timestamp_us;
        sequencer->opened_us = world_monotonic_us(sequencer->env->world);
    }
    if (payload_follow(sequencer, before == 0, batch->is_followed))
        sequencer_stop(sequencer);
    buffer_put_u64(&sequencer->payload, (uint64_t)timestamp_us);
    write_batch_serialize(batch, &admitted->packed, &sequencer->payload);
    check(sequencer->payload.size - before <= admitted->bytes_max);
    return timestamp_us;
}

static void memtable_add(struct sequencer *sequencer, const struct write_batch *batch,
                         int64_t timestamp_us)
{
    struct memtable_set *memtables = sequencer->memtables;
    sequencer->clock->next_us =
        memtable_apply(memtables->open, batch, sequencer->frame, timestamp_us);
    if (memtables->open->oldest_us < memtables->oldest_us)
        memtables->oldest_us = memtables->open->oldest_us;
    partition_versions_advance(&sequencer->versions, batch);
    sequencer->freeze_requested |= memtable_set_meets_overwrites(memtables, batch);
}

int sequencer_apply(struct sequencer *sequencer, struct write_batch *batch,
                    struct store_expectation *expectations, uint32_t expectation_count,
                    store_done done, void *context, struct error *err)
{
    struct sequencer_admitted admitted;
    int rc = sequencer_admit(sequencer, batch, expectations, expectation_count, &admitted, err);
    if (rc != 0)
        return rc;
    if (write_batch_is_empty(batch)) {
        done_after_all(sequencer, done, context);
        return 0;
    }
    run_hook(sequencer, batch);
    int64_t timestamp_us = payload_add(sequencer, batch, &admitted);
    /* The log begins to write first, so that the disk works while the memtable is changed. */
    bool is_begun = !batch->is_followed && !batch->joins_loop_turn && frame_is_ready(sequencer);
    if (is_begun)
        frame_begin(sequencer);
    memtable_add(sequencer, batch, timestamp_us);
    if (done != NULL)
        frame_waiters_add(&sequencer->waiters, sequencer->frame, done, context);
    if (is_begun)
        frame_end(sequencer);
    else if (batch->is_followed)
        seal_later(sequencer, FOLLOW_MS);
    else if (batch->joins_loop_turn)
        seal_later(sequencer, 0);
    memtable_set_make_ready(sequencer->memtables);
    return 0;
}

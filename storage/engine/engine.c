/* engine: one writer, one sequencer: batches into the open frame and memtable, frames into the log.
 *
 * What decides correctness:
 * - A batch is applied to the open memtable and added to the open frame in one call, so memtable
 *   and log hold the same batches in the same order, and a frame is a whole number of batches.
 * - Nobody is told `done`, and no reader sees a batch, before the sync of its frame returned.
 * - At most two frames are not durable: the one the log is writing and the open one.  Memtables
 *   rely on it (wide_memtable.h): they keep three versions of their sums.
 * - A memtable is frozen between two frames only, so runs cover whole frames that follow one
 *   another; it is flushed only when its frames are durable, and the log forgets frames only when
 *   the manifest names the segments that hold them.
 *
 * Happy path of a batch: has the log room, hook, serialize into the open payload, apply, remember
 * who waits.  If the log is idle the frame is sealed at once, or at the end of the turn; else it
 * grows until the write under way returns: the group sizes itself by load.
 *
 * Failure: after a failed write or sync nothing more is ever acknowledged; waiters are told, apply
 * answers ERROR_FAILED, and what runs the engine stops it. */
#include "storage/engine/engine.h"

#include <string.h>

#include "base/memory.h"
#include "base/murmur3.h"
#include "storage/engine/engine_private.h"

enum {
    HOOK_BYTES = 8192,          /* what a hook may add to a batch, and what a batch takes anyway */
    OPEN_PAYLOAD_MAX = 8 << 20, /* past this the open frame takes no more batches */
    FOLLOW_MS = 4,              /* at most, until a frame that waits for a batch is sealed */
    RETRY_MS = 1000             /* until a job that found the disk full is tried again */
};

static struct engine *engine_of(struct store *store)
{
    return (struct engine *)store;
}

uint64_t engine_durable_frame(const struct engine *engine)
{
    return engine->log == NULL ? UINT64_MAX : commit_log_durable_frame(engine->log);
}

/* ---- who waits ---- */

void engine_drain(struct engine *engine)
{
    if (!engine->drain_owed)
        return;
    engine->drain_owed = false;
    for (uint32_t i = 0; i < engine->drain_count; i++)
        engine->drains[i].call(engine->drains[i].context);
}

/* ---- freezing ---- */

/* Nothing of the open memtable's frames needs a flush: they have no rows, and no schema that only
 * the log has. */
bool engine_open_is_empty(const struct engine *engine)
{
    return memtable_is_empty(engine->open) &&
           schema_version(engine->open->schema) <= engine->schema_frozen;
}

void engine_freeze_open(struct engine *engine, uint64_t frame_last)
{
    struct memtable *memtable = engine->open;
    engine->freeze_requested = false;
    if (engine_open_is_empty(engine)) {
        /* Nothing of these frames is in it: who waits for them does not wait for its next rows. */
        memtable->frame_first = frame_last + 1;
    } else {
        memtable_freeze(memtable, frame_last);
        memtable->given_us = engine->timestamp_next_us > 0 ? engine->timestamp_next_us - 1 : 0;
        engine->frozen =
            memory_resize(engine->frozen, (engine->frozen_count + 1) * sizeof(struct memtable *));
        engine->frozen[engine->frozen_count++] = memtable;
        engine->schema_frozen = schema_version(memtable->schema);
        engine->open = memtable_new(engine->schema, frame_last + 1, engine->memory);
    }
    while (engine->freeze_waiters != NULL) {
        struct freeze_waiter *waiter = engine->freeze_waiters;
        engine->freeze_waiters = waiter->next;
        waiter->resume(waiter, 0);
    }
    engine_start_flush(engine);
}

/* Freeze when the open frame holds nothing; else its sealing will. */
void engine_request_freeze(struct engine *engine)
{
    if (engine->payload.size > 0) {
        engine->freeze_requested = true;
        return;
    }
    engine_freeze_open(engine, engine->payload_frame - 1);
}

void engine_freeze_then(struct engine *engine, struct freeze_waiter *waiter)
{
    waiter->next = engine->freeze_waiters;
    engine->freeze_waiters = waiter;
    engine_request_freeze(engine);
}

static bool open_has_table(const struct engine *engine, uint32_t table_id)
{
    int64_t token;
    struct bytes key;
    return memtable_wide(engine->open, table_id) != NULL ||
           narrow_memtable_seek(engine->open->narrow, table_id, INT64_MIN, (struct bytes){0}, false,
                                &token, &key);
}

void engine_freeze_table_then(struct engine *engine, uint32_t table_id,
                              struct freeze_waiter *waiter)
{
    if (open_has_table(engine, table_id))
        engine_freeze_then(engine, waiter);
    else
        waiter->resume(waiter, 0);
}

/* ---- frames ---- */

/* Whether the open frame may be handed to the log: not while one is being written. */
static bool frame_is_ready(const struct engine *engine)
{
    return engine->payload.size > 0 && engine->env.failed == 0 &&
           !commit_log_is_writing(engine->log) &&
           commit_log_has_room(engine->log, engine->payload.size);
}

/* Hand it to the log, which begins to write it.  frame_end follows in the same turn of the loop, so
 * that before the frame is durable all of it is in the memtable. */
static void frame_begin(struct engine *engine)
{
    engine->env.world->executor->timer_stop(engine->env.world->executor, &engine->seal_timer);
    commit_log_append(engine->log, engine->payload_timestamp_us, &engine->payload);
    buffer_clear(&engine->payload);
    engine->payload_is_followed = false;
}

static void frame_end(struct engine *engine)
{
    engine->payload_frame++;
    atomic_fetch_add_explicit(&engine->frames_sealed, 1, memory_order_relaxed);
    if (engine->metric_frames != NULL)
        engine->metric_frames->value++;
    if (engine->freeze_requested || engine_open_is_full(engine))
        engine_freeze_open(engine, engine->payload_frame - 1);
    engine_note_fill(engine);
}

void engine_seal_if_idle(struct engine *engine)
{
    if (!frame_is_ready(engine))
        return;
    frame_begin(engine);
    frame_end(engine);
}

static void seal_fire(struct timer *timer)
{
    engine_seal_if_idle(timer->context);
}

/* The frame waits for what is to follow, but not for long; while another is written it waits for
 * that one anyway. */
static void seal_later(struct engine *engine, int64_t delay_ms)
{
    struct executor *executor = engine->env.world->executor;
    if (engine->seal_timer.handle == NULL && !commit_log_is_writing(engine->log)) {
        engine->seal_timer = (struct timer){.fire = seal_fire, .context = engine};
        executor->timer_start(executor, &engine->seal_timer, delay_ms);
    }
}

/* A batch comes into the payload; true when the frame waited for what follows, and no longer does.
 */
static bool payload_follow(struct engine *engine, bool is_first, bool is_followed)
{
    bool was_followed = !is_first && engine->payload_is_followed;
    engine->payload_is_followed = is_followed && (is_first || was_followed);
    return was_followed && !is_followed;
}

void engine_frames_durable(void *context, int status, uint64_t frame)
{
    struct engine *engine = context;
    if (status < 0) {
        struct error err;
        error_set(&err, status,
                  "a write or sync of the commit log failed; nothing more is acknowledged: %s",
                  error_text(status));
        engine_env_fail(&engine->env, status, err.text);
        engine_close_if_idle(engine);
        return;
    }
    /* First what the log shall do next, so that it does not wait for those who are told. */
    if (engine->payload_is_followed)
        seal_later(engine, FOLLOW_MS);
    else
        engine_seal_if_idle(engine);
    frame_waiters_call(&engine->waiters, frame, 0, NULL);
    engine_start_flush(engine);
    engine_drain(engine);
    engine_close_if_idle(engine);
}

void engine_log_has_room(void *context)
{
    struct engine *engine = context;
    engine_seal_if_idle(engine);
    engine_drain(engine);
}

void engine_on_failure(void *context)
{
    struct engine *engine = context;
    int code = engine->env.failed;
    engine_waiting_update(engine);
    while (engine->freeze_waiters != NULL) {
        struct freeze_waiter *waiter = engine->freeze_waiters;
        engine->freeze_waiters = waiter->next;
        waiter->resume(waiter, code);
    }
    frame_waiters_call(&engine->waiters, UINT64_MAX, code, &engine->env.failure);
    callbacks_call(&engine->flush_waiters, code, &engine->env.failure);
    callbacks_call(&engine->compact_waiters, code, &engine->env.failure);
    engine_drain(engine);
    engine_close_if_idle(engine);
}

/* ---- waiting for space ---- */

static bool merges(const struct engine *engine)
{
    bool is_one = false;
    for (uint32_t i = 0; i < SEGMENT_KINDS; i++)
        is_one |= engine->compactions[i] != NULL;
    return is_one;
}

static void retry_fire(struct timer *timer)
{
    struct engine *engine = timer->context;
    engine_start_flush(engine);
    engine_start_compaction(engine);
    if (engine->flush == NULL)
        engine->job_status[ENGINE_FLUSH] = 0;
    if (!merges(engine))
        engine->job_status[ENGINE_MERGE] = 0;
    engine_waiting_update(engine);
}

/* What a flush or a merge would have written is still in the log, or in the runs it was to merge,
 * so a disk that is full loses nothing: it only takes longer. */
void engine_job_failed(struct engine *engine, enum engine_job kind, int status,
                       const struct error *err)
{
    if (!error_is_passing(status)) {
        engine_env_fail(&engine->env, status, err->text);
        return;
    }
    engine->job_status[kind] = status;
    engine_waiting_update(engine);
    callbacks_call(&engine->flush_waiters, status, err);
    callbacks_call(&engine->compact_waiters, status, err);
    if (!engine_is_waiting_for_space(engine)) {
        engine->retry_timer = (struct timer){.fire = retry_fire, .context = engine};
        engine->env.world->executor->timer_start(engine->env.world->executor, &engine->retry_timer,
                                                 RETRY_MS);
    }
}

bool engine_is_waiting_for_space(const struct engine *engine)
{
    return engine->retry_timer.handle != NULL;
}

/* ---- versions of partitions ---- */

struct store_version engine_version(const struct engine *engine, uint32_t table_id,
                                    struct bytes key)
{
    int64_t token = murmur3_token(key.data, key.size);
    return (struct store_version){.writes =
                                      partition_versions_of(&engine->versions, table_id, token),
                                  .fresh_rows = engine_fresh_rows(engine, table_id, token, key)};
}

static int expectations_hold(const struct engine *engine,
                             const struct store_expectation *expectations, uint32_t count,
                             struct error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct store_expectation *expected = &expectations[i];
        struct store_version now = engine_version(engine, expected->table_id, expected->key);
        if (now.writes != expected->version.writes ||
            (now.fresh_rows != expected->version.fresh_rows && !expected->allows_fresh)) {
            return error_set(err, ERROR_CONFLICT, "the partition was changed after it was read");
        }
    }
    return 0;
}

/* ---- holds ---- */

static void engine_hold(struct store *store, struct store_hold *hold)
{
    write_lock_acquire(&engine_of(store)->lock, hold);
}

static void engine_unhold(struct store *store, struct store_hold *hold)
{
    if (write_lock_release(&engine_of(store)->lock, hold))
        engine_drain(engine_of(store));
}

/* ---- apply ---- */

static int full(struct engine *engine, struct error *err)
{
    engine->drain_owed = true;
    engine_batch_refused(engine);
    return error_set(err, ERROR_FULL, "the store is busy writing; try again when it drains");
}

/* Whether batches are applied at all. */
static int admit_any(const struct engine *engine, struct error *err)
{
    int rc = engine_env_check_writable(&engine->env, err);
    if (rc == 0 && engine->env.is_closing)
        rc = error_set(err, ERROR_CLOSED, "the store is closing");
    return rc;
}

/* Whether this one may be applied now; an empty one needs no room. */
static int apply_admit(struct engine *engine, const struct write_batch *batch, struct error *err)
{
    int rc = admit_any(engine, err);
    if (rc != 0 || write_batch_is_empty(batch))
        return rc;
    if (!write_lock_admits(&engine->lock, batch->hold))
        return full(engine, err);
    if (engine->freeze_requested || engine->payload.size >= OPEN_PAYLOAD_MAX ||
        (engine->is_purging && batch->block_count > 0)) {
        return full(engine, err);
    }
    return engine_memory_is_full(engine) ? full(engine, err) : 0;
}

/* A batch that changes the schema begins a memtable, so that one memtable has one schema.  One that
 * has no rows is left without a flush, for what it changed is in the next one's schema; but not for
 * ever, as a start reads all that is not flushed. */
static int admit_schema(struct engine *engine, const struct write_batch *batch, struct error *err)
{
    if (engine->payload.size > 0) {
        engine->freeze_requested = true;
        return full(engine, err);
    }
    if (!memtable_is_empty(engine->open) ||
        commit_log_unflushed_bytes(engine->log) > ENGINE_REPLAY_BYTES)
        engine_freeze_open(engine, engine->payload_frame - 1);
    schema_unref(engine->schema);
    engine->schema = schema_ref(batch->schema);
    memtable_unref(engine->open);
    engine->open = memtable_new(engine->schema, engine->payload_frame, engine->memory);
    return 0;
}

/* Whether a batch overwrites or deletes in a partition of which the open memtable has fresh rows.
 * Fresh rows are written out with one timestamp per partition and run, the newest; that is right
 * only as long as no exception's timestamp stands between two of them.  So the exception begins a
 * new memtable, and one that comes together with fresh rows of its table also ends it. */
bool engine_meets_exceptions(const struct engine *engine, const struct write_batch *batch)
{
    for (uint32_t i = 0; i < batch->mutation_count; i++) {
        const struct mutation *mutation = &batch->mutations[i];
        const struct wide_memtable *wide = memtable_wide(engine->open, mutation->table_id);
        if (wide != NULL && wide_memtable_find(wide, mutation->key) != UINT32_MAX)
            return true;
    }
    return false;
}

static int admit_exceptions(struct engine *engine, const struct write_batch *batch,
                            struct error *err)
{
    if (!engine_meets_exceptions(engine, batch))
        return 0;
    if (engine->payload.size > 0) {
        engine->freeze_requested = true;
        return full(engine, err);
    }
    engine_freeze_open(engine, engine->payload_frame - 1);
    return 0;
}

/* What the batch will take in the log, at most.  Asked before the hook, because once the hook has
 * seen a batch it is certain to be applied: so what a hook may add is part of it. */
static size_t batch_bytes_max(struct engine *engine, const struct write_batch *batch,
                              struct packed_mutations *packed_out)
{
    size_t bytes = HOOK_BYTES;
    for (uint32_t i = 0; i < batch->block_count; i++) {
        const struct block *block = batch->blocks[i];
        bytes += block_bytes_max(block) + 4 * block->partitions.text.size +
                 (size_t)256 * block->partitions.count;
    }
    if (batch->schema != NULL) {
        buffer_clear(&engine->scratch);
        schema_serialize(batch->schema, &engine->scratch);
        bytes += engine->scratch.size;
    }
    *packed_out = write_batch_pack(batch, &engine->scratch);
    for (uint32_t i = 0; i < batch->mutation_count; i++)
        bytes += 512 + 4 * batch->mutations[i].key.size;
    for (uint32_t i = 0; i < batch->rows.run_count; i++)
        bytes += 1 + packed_rows_run_bytes(&batch->rows, &batch->rows.runs[i]);
    for (uint32_t i = 0; i < batch->increment_count; i++)
        bytes += 64 + batch->increments[i].key.size + batch->increments[i].clustering.size;
    return bytes + packed_out->sections.size;
}

static int admit_size(struct engine *engine, const struct write_batch *batch, size_t *bytes_out,
                      struct packed_mutations *packed_out, struct error *err)
{
    *bytes_out = batch_bytes_max(engine, batch, packed_out);
    if (*bytes_out > WRITE_BATCH_BYTES_MAX) {
        return error_set(err, ERROR_LIMIT, "a batch of up to %zu bytes is over the limit of %d",
                         *bytes_out, WRITE_BATCH_BYTES_MAX);
    }
    if (!commit_log_has_room(engine->log, engine->payload.size + *bytes_out))
        return full(engine, err);
    return 0;
}

/* What is written must be readable: a schema is read back from the bytes that the log will get. */
static int admit_readable(const struct write_batch *batch, struct error *err)
{
    struct buffer serialized = {0};

    schema_serialize(batch->schema, &serialized);
    int rc = schema_check_serialized(batch->schema, buffer_view(&serialized), err);
    buffer_release(&serialized);
    return rc;
}

/* Tell `done` when everything is durable that was applied. */
static void done_after_all(struct engine *engine, store_done done, void *context)
{
    uint64_t frame = engine->payload_frame - (engine->payload.size == 0 ? 1 : 0);
    if (done == NULL)
        return;
    if (frame <= engine_durable_frame(engine))
        done(context, 0, NULL);
    else
        frame_waiters_add(&engine->waiters, frame, done, context);
}

/* The one place that every value of a mutation passes on its way into a frame, whichever door it
 * came by: what is refused here could not be read back, or is nothing that its table may hold. */
static int admit_values(const struct engine *engine, const struct write_batch *batch,
                        struct error *err)
{
    int rc = write_batch_check(batch, engine->schema, 0, 0, err);
    if (rc == 0 && engine->refuses != NULL)
        rc = engine->refuses(engine->refuses_context, batch, err);
    return rc;
}

/* The hook adds what it makes itself: a value that is none of its type would be a bug. */
static void run_hook(struct engine *engine, struct write_batch *batch)
{
    uint32_t mutations = batch->mutation_count;
    uint32_t increments = batch->increment_count;
    struct error err = {0};
    if (engine->hook == NULL)
        return;
    engine->hook(engine->hook_context, batch);
    int rc = write_batch_check(batch, engine->schema, mutations, increments, &err);
    check(rc == 0);
}

static int engine_apply_if(struct store *store, struct write_batch *batch,
                           const struct store_expectation *expectations, uint32_t expectation_count,
                           store_done done, void *context, struct error *err)
{
    struct engine *engine = engine_of(store);
    int rc = apply_admit(engine, batch, err);
    if (rc == 0)
        rc = expectations_hold(engine, expectations, expectation_count, err);
    if (rc != 0)
        return rc;
    if (write_batch_is_empty(batch)) {
        done_after_all(engine, done, context);
        return 0;
    }
    size_t bytes_max;
    struct packed_mutations packed;
    rc = admit_values(engine, batch, err);
    if (rc == 0)
        rc = admit_size(engine, batch, &bytes_max, &packed, err);
    if (rc == 0 && batch->schema != NULL)
        rc = admit_readable(batch, err);
    if (rc == 0 && batch->schema != NULL)
        rc = admit_schema(engine, batch, err);
    if (rc == 0)
        rc = admit_exceptions(engine, batch, err);
    if (rc != 0)
        return rc;
    run_hook(engine, batch);
    int64_t timestamp_us = engine_now_us(engine);
    if (engine->payload.size == 0)
        engine->payload_timestamp_us = timestamp_us;
    size_t before = engine->payload.size;
    if (payload_follow(engine, before == 0, batch->is_followed))
        engine->env.world->executor->timer_stop(engine->env.world->executor, &engine->seal_timer);
    buffer_put_u64(&engine->payload, (uint64_t)timestamp_us);
    write_batch_serialize(batch, &packed, &engine->payload);
    check(engine->payload.size - before <= bytes_max);
    /* While the disk writes it goes into the memtable, so that who waits does not wait for both. */
    bool is_begun = !batch->is_followed && !batch->joins_turn && frame_is_ready(engine);
    if (is_begun)
        frame_begin(engine);
    engine->timestamp_next_us =
        memtable_apply(engine->open, batch, engine->payload_frame, timestamp_us);
    if (engine->open->oldest_us < engine->oldest_us)
        engine->oldest_us = engine->open->oldest_us;
    partition_versions_advance(&engine->versions, batch);
    engine->freeze_requested |= engine_meets_exceptions(engine, batch);
    if (done != NULL)
        frame_waiters_add(&engine->waiters, engine->payload_frame, done, context);
    if (is_begun)
        frame_end(engine);
    else if (batch->is_followed)
        seal_later(engine, FOLLOW_MS);
    else if (batch->joins_turn)
        seal_later(engine, 0);
    engine->refused_since_us = 0;
    engine_make_memory_ready(engine);
    return 0;
}

static int engine_apply(struct store *store, struct write_batch *batch, store_done done,
                        void *context, struct error *err)
{
    return engine_apply_if(store, batch, NULL, 0, done, context, err);
}

/* ---- small operations ---- */

static struct store_capabilities engine_capabilities(struct store *store)
{
    return (struct store_capabilities){.atomic_batch = true,
                                       .snapshot = true,
                                       .stats = true,
                                       .files = true,
                                       .read_only = engine_of(store)->env.options.read_only};
}

static const struct schema *engine_schema(struct store *store)
{
    return engine_of(store)->schema;
}

static void engine_set_commit_hook(struct store *store, store_commit_hook hook, void *context)
{
    engine_of(store)->hook = hook;
    engine_of(store)->hook_context = context;
}

static void engine_set_commit_check(struct store *store, store_commit_check refuses, void *context)
{
    engine_of(store)->refuses = refuses;
    engine_of(store)->refuses_context = context;
}

static void engine_on_drain(struct store *store, void (*drain)(void *context), void *context)
{
    struct engine *engine = engine_of(store);
    if (drain == NULL) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < engine->drain_count; i++)
            if (engine->drains[i].context != context)
                engine->drains[kept++] = engine->drains[i];
        engine->drain_count = kept;
        return;
    }
    engine->drains =
        memory_resize(engine->drains, (engine->drain_count + 1) * sizeof(struct drain));
    engine->drains[engine->drain_count++] = (struct drain){drain, context};
}

static void engine_status(struct store *store, struct store_status *status)
{
    struct engine *engine = engine_of(store);
    *status = (struct store_status){
        .frame_applied = engine->payload_frame - (engine->payload.size == 0 ? 1 : 0),
        .frame_durable = commit_log_durable_frame(engine->log),
        .frame_flushed = engine->frame_flushed,
        .log_bytes = commit_log_disk_bytes(engine->log),
        .log_unflushed_bytes = commit_log_unflushed_bytes(engine->log),
        .memory_bytes = engine_memtables_bytes(engine),
        .memory_ready_bytes = arena_supply_bytes(engine->memory),
        .memory_segments_bytes = engine->segments_bytes,
        .memory_sums_bytes = engine_sums_bytes(engine),
        .memory_readers_bytes = reader_pool_bytes(engine->readers),
        .memtables_frozen = engine->frozen_count,
        .segments = engine->segment_count,
        .failed_reads = engine->env.world->disk->failed_reads,
        .failed = engine->env.failed != 0,
        .failure = engine->env.failed != 0 ? engine->env.failure.text : "",
    };
    status->waiting = engine->waiting;
    memcpy(status->memory_held_bytes, engine->held_bytes, sizeof(engine->held_bytes));
    if (engine->env.options.metrics == NULL)
        return;
    engine->metric_failed_reads->value = (int64_t)status->failed_reads;
    engine->metric_readers->value = (int64_t)status->memory_readers_bytes;
}

static struct store_table_status *table_entry(struct store_table_status *tables, uint32_t capacity,
                                              uint32_t *count, uint32_t table_id)
{
    uint32_t used = *count < capacity ? *count : capacity;
    for (uint32_t i = 0; i < used; i++)
        if (tables[i].table_id == table_id)
            return &tables[i];
    (*count)++;
    if (*count > capacity)
        return NULL;
    tables[*count - 1] = (struct store_table_status){.table_id = table_id};
    return &tables[*count - 1];
}

static void add_memory_rows(const struct memtable *memtable, struct store_table_status *tables,
                            uint32_t capacity, uint32_t *count)
{
    for (uint32_t i = 0; i < memtable->wide_count; i++) {
        struct store_table_status *entry =
            table_entry(tables, capacity, count, memtable->wide[i].table_id);
        if (entry != NULL)
            entry->memory_rows += wide_memtable_row_count(memtable->wide[i].rows);
    }
}

static uint32_t engine_table_status(struct store *store, struct store_table_status *tables,
                                    uint32_t capacity)
{
    struct engine *engine = engine_of(store);
    uint32_t count = 0;
    for (uint32_t i = 0; i < engine->segment_count; i++) {
        const struct segment_info *info = segment_info(engine->segments[i]);
        struct store_table_status *entry = table_entry(tables, capacity, &count, info->table_id);
        if (entry != NULL) {
            entry->segments++;
            entry->segment_bytes += info->size;
            entry->segment_rows += info->rows;
        }
    }
    for (uint32_t i = 0; i < engine->frozen_count; i++)
        add_memory_rows(engine->frozen[i], tables, capacity, &count);
    add_memory_rows(engine->open, tables, capacity, &count);
    return count;
}

const struct store_ops engine_ops = {
    .capabilities = engine_capabilities,
    .apply = engine_apply,
    .apply_if = engine_apply_if,
    .hold = engine_hold,
    .unhold = engine_unhold,
    .read = engine_read_op,
    .stats = engine_stats_op,
    .stats_scan = engine_stats_scan_op,
    .group = engine_group_op,
    .schema = engine_schema,
    .set_commit_hook = engine_set_commit_hook,
    .set_commit_check = engine_set_commit_check,
    .on_drain = engine_on_drain,
    .on_waiting = engine_on_waiting_op,
    .flush = engine_flush_op,
    .compact = engine_compact_op,
    .scrub = engine_scrub_op,
    .status = engine_status,
    .examine = engine_examine_op,
    .table_status = engine_table_status,
    .snapshot = engine_snapshot_op,
    .snapshot_let_go = engine_snapshot_let_go_op,
    .snapshot_release = engine_snapshot_release_op,
    .hold_memory = engine_hold_memory_op,
    .return_memory = engine_return_memory_op,
    .now_us = engine_now_us_op,
    .clock = engine_clock_op,
    .watch_clock = engine_watch_clock_op,
    .accept_clock = engine_accept_clock_op,
    .close = engine_close_op,
};

/* engine_open: a directory becomes a store, and stops being one.
 *
 * Opening: lock, manifest, segments and their summed stats, then the log's frames after the flushed
 * one, applied by the same calls as when they first came.  A memtable that fills up meanwhile is
 * flushed on the spot, so that a long log needs no more memory than a running server.  Each change
 * of the schema is a whole one in the log: of those that follow one another with no rows between
 * them only the last is read.
 *
 * Closing waits for what is under way, and happens from the loop with no caller of the engine
 * below; a clean close leaves no more than ENGINE_REPLAY_BYTES to be replayed. */
#include "storage/engine/engine.h"

#include <inttypes.h>

#include "base/log.h"
#include "base/memory.h"
#include "storage/engine/engine_private.h"
#include "storage/log/frame_batches.h"
#include "storage/manifest/manifest_probe.h"

enum {
    CLOSE_RETRY_MS = 2 /* until the log's background job has ended */
};

/* ---- opening ---- */

/* The tables that every directory has. */
struct builtin {
    const struct table_definition *const *tables;
    uint32_t count;
};

static void timestamps_pass(struct engine *engine, int64_t timestamp_us)
{
    if (timestamp_us >= engine->timestamp_next_us)
        engine->timestamp_next_us = timestamp_us + 1;
}

static void frame_apply(struct engine *engine, uint64_t number, const struct frame_batches *frame)
{
    bool begins = engine->schema != engine->open->schema;
    for (uint32_t i = 0; i < frame->count && !begins; i++)
        begins = engine_meets_exceptions(engine, frame->batches[i]);
    if (begins)
        engine_freeze_open(engine, number - 1);
    if (engine->schema != engine->open->schema) {
        memtable_unref(engine->open);
        engine->open = memtable_new(engine->schema, number, engine->memory);
    }
    for (uint32_t i = 0; i < frame->count; i++) {
        int64_t next_us =
            memtable_apply(engine->open, frame->batches[i], number, frame->timestamps_us[i]);
        timestamps_pass(engine, next_us - 1);
    }
}

/* Whether the directory is opened with this schema. */
static int admit_unread(const struct engine *engine, struct error *err)
{
    return engine->env.options.salvage ? 0 : schema_refuse_unread(engine->schema, err);
}

/* Read the last schema of the frames that have nothing else. */
static int replay_schema(struct engine *engine, struct error *err)
{
    struct schema *schema;
    if (engine->replayed_schema.size == 0)
        return 0;
    int rc = schema_deserialize(buffer_view(&engine->replayed_schema), &schema, err);
    if (rc != 0)
        return rc;
    buffer_clear(&engine->replayed_schema);
    if (!memtable_is_empty(engine->open))
        engine_freeze_open(engine, engine->replayed_schema_frame - 1);
    schema_unref(engine->schema);
    engine->schema = schema;
    memtable_unref(engine->open);
    engine->open = memtable_new(schema, engine->replayed_schema_frame, engine->memory);
    return admit_unread(engine, err);
}

/* A frame with nothing but a schema, to be read when it is known that it counts. */
static void keep_schema(struct engine *engine, uint64_t number, struct bytes serialized)
{
    if (engine->replayed_schema.size == 0)
        engine->replayed_schema_frame = number;
    buffer_clear(&engine->replayed_schema);
    buffer_append_bytes(&engine->replayed_schema, serialized);
    engine->payload_frame = number + 1;
}

enum { CELLS_LOGGED_MAX = 100 };

static void cell_skipped(void *context, const char *text)
{
    struct engine *engine = context;
    if (engine->cells_skipped++ == 0)
        error_set(&engine->cell_skipped, ERROR_CORRUPT, "frame %" PRIu64 ": %.400s",
                  engine->payload_frame, text);
    if (engine->env.options.salvage && engine->cells_skipped <= CELLS_LOGGED_MAX)
        log_event(LOG_WARNING, "cell_left_out", log_number("frame", (int64_t)engine->payload_frame),
                  log_text("cell", text));
}

struct cell_salvage engine_cell_salvage(struct engine *engine)
{
    return (struct cell_salvage){.skipped = cell_skipped, .context = engine};
}

/* Nothing is written before that was asked. */
static int refuse_skipped(const struct engine *engine, struct error *err)
{
    if (engine->cells_skipped == 0 || engine->env.options.salvage)
        return 0;
    return error_set(err, ERROR_CORRUPT,
                     "%s; cells that cannot be read: %" PRIu64
                     "; they alone are at stake, the log is whole otherwise; daybook serve "
                     "--salvage goes on without them",
                     engine->cell_skipped.text, engine->cells_skipped);
}

/* One frame of the log, into the open memtable; the same calls as when it was first applied. */
static int replay_frame(void *context, uint64_t number, int64_t timestamp_us, struct bytes payload,
                        struct error *err)
{
    struct engine *engine = context;
    struct frame_batches frame;
    struct bytes serialized;
    timestamps_pass(engine, timestamp_us);
    if (frame_batches_is_schema(payload, &serialized)) {
        keep_schema(engine, number, serialized);
        return 0;
    }
    int rc = replay_schema(engine, err);
    if (rc != 0)
        return rc;
    const struct cell_salvage salvage = engine_cell_salvage(engine);
    rc = frame_batches_parse(payload, &engine->schema, &salvage, &frame, err);
    rc = rc == 0 ? admit_unread(engine, err) : rc;
    if (rc == 0) {
        frame_apply(engine, number, &frame);
        engine->payload_frame = number + 1;
    }
    frame_batches_release(&frame);
    if (rc == 0 && engine_open_is_full(engine))
        engine_freeze_open(engine, number);
    if (rc == 0 && engine->frozen_count > 0 && !engine->env.options.read_only) {
        rc = refuse_skipped(engine, err);
        rc = rc == 0 ? engine_flush_now(engine, err) : rc;
    }
    return rc;
}

/* Columns of a built-in table that the directory's does not have yet: those with the numbers past
 * its own. */
static int add_columns(struct schema *schema, const struct table_definition *definition,
                       struct error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < definition->column_count; i++) {
        const struct column_definition *column = &definition->columns[i];
        if (column->id == schema_table(schema, definition->id)->column_id_next)
            rc = schema_add_columns(schema, definition->id, column, 1, err);
    }
    return rc;
}

/* Whether the table lacks one of its columns. */
static bool is_behind(const struct table *table, const struct table_definition *definition)
{
    for (uint32_t i = 0; i < definition->column_count; i++)
        if (definition->columns[i].id == table->column_id_next)
            return true;
    return false;
}

/* The schema with the tables and columns that this version has built in and the directory does not
 * know yet; NULL in *changed_out when it knows all. */
static int builtin_added(const struct engine *engine, const struct builtin *builtin,
                         struct schema **changed_out, struct error *err)
{
    struct schema *changed = NULL;
    for (uint32_t i = 0; i < builtin->count; i++) {
        const struct table_definition *definition = builtin->tables[i];
        const struct table *table = schema_table(engine->schema, definition->id);
        if (table != NULL && !is_behind(table, definition))
            continue;
        if (changed == NULL)
            changed = schema_copy(engine->schema);
        int rc = table == NULL ? schema_add_table(changed, definition, err)
                               : add_columns(changed, definition, err);
        if (rc != 0) {
            schema_unref(changed);
            return rc;
        }
    }
    *changed_out = changed;
    return 0;
}

/* Only once the log is replayed: its frames may change the schema, as a version without these
 * tables and columns knew it.  And flushed first, for the next opening begins with the manifest's
 * schema, and such a frame after it would take the tables away again, rows and all. */
static int add_builtin(struct engine *engine, const struct builtin *builtin, struct error *err)
{
    struct schema *changed;
    int rc = builtin_added(engine, builtin, &changed, err);
    if (rc != 0 || changed == NULL)
        return rc;
    engine_freeze_open(engine, engine->payload_frame - 1);
    if (!engine->env.options.read_only) {
        const struct manifest_edit edit = {.schema = changed};
        rc = engine_flush_now(engine, err);
        rc = rc == 0 ? manifest_apply(engine->manifest, &edit, err) : rc;
    }
    if (rc != 0) {
        schema_unref(changed);
        return rc;
    }
    schema_unref(engine->schema);
    engine->schema = changed;
    schema_unref(engine->schema_flushed);
    engine->schema_flushed = schema_ref(changed);
    engine->schema_frozen = schema_version(changed);
    memtable_unref(engine->open);
    engine->open = memtable_new(changed, engine->payload_frame, engine->memory);
    return 0;
}

/* Cells that were left out are gone for good, and are not met again at the next opening: all frames
 * that had any are flushed. */
static int settle_skipped(struct engine *engine, struct error *err)
{
    int rc = refuse_skipped(engine, err);
    if (rc != 0 || engine->cells_skipped == 0)
        return rc;
    log_event(LOG_WARNING, "cells_left_out",
              log_text("reason", "no values of their columns' types, of an earlier version"),
              log_number("cells", (int64_t)engine->cells_skipped));
    if (engine->env.options.read_only)
        return 0;
    engine_freeze_open(engine, engine->payload_frame - 1);
    return engine_flush_now(engine, err);
}

/* Clicks of a frame that comes after damage, as far as the schema of before it tells. */
static uint64_t count_clicks(void *context, struct bytes payload)
{
    struct engine *engine = context;
    struct schema *schema = schema_ref(engine->schema);
    struct write_batch *batch = write_batch_new();
    struct reader reader = reader_of(payload);
    uint64_t clicks = 0;
    int rc = 0;
    while (rc == 0 && reader_left(&reader) > 0) {
        (void)reader_u64(&reader);
        rc = write_batch_deserialize(&reader, &schema, NULL, batch, NULL);
        for (uint32_t i = 0; rc == 0 && i < batch->block_count; i++)
            clicks += batch->blocks[i]->rows;
        write_batch_free_blocks(batch);
        write_batch_clear(batch);
    }
    write_batch_free(batch);
    schema_unref(schema);
    return clicks;
}

/* An opening that leaves tables out says so. */
static void tell_unread(const struct engine *engine)
{
    struct error what = {0};
    if (schema_refuse_unread(engine->schema, &what) != 0 && engine->env.options.notice != NULL)
        engine->env.options.notice(engine->env.options.notice_context, what.text);
}

/* What the store gives comes after all that it ever gave: to flushed frames as the manifest says.
 * Before format 2 nothing did but their cells, among which a client's cannot be told from its own.
 */
static void pass_flushed(struct engine *engine)
{
    engine->timestamp_flushed_us = manifest_state(engine->manifest)->timestamp_us;
    timestamps_pass(engine, engine->timestamp_flushed_us);
    for (uint32_t i = 0; engine->timestamp_flushed_us == 0 && i < engine->segment_count; i++)
        timestamps_pass(engine, segment_info(engine->segments[i])->timestamp_max_us);
}

static int open_log(struct engine *engine, const struct builtin *builtin, struct error *err)
{
    const struct manifest_state *state = manifest_state(engine->manifest);
    struct commit_log_options options = {.file_size = engine->env.options.log_file_size,
                                         .first_file_size = engine->env.options.log_first_file_size,
                                         .flushed_frame = state->flushed_frame,
                                         .purges = state->purges,
                                         .read_only = engine->env.options.read_only,
                                         .salvage = engine->env.options.salvage,
                                         .archive_bytes = engine->env.options.archive_bytes,
                                         .count = count_clicks};
    engine->frame_flushed = state->flushed_frame;
    engine->payload_frame = state->flushed_frame + 1;
    engine->purges_published = engine->purges_begun = state->purges;
    engine->open = memtable_new(engine->schema, state->flushed_frame + 1, engine->memory);
    struct commit_log *log;
    int rc = commit_log_open(engine->env.world, &options, replay_frame, engine_frames_durable,
                             engine, &log, err);
    if (rc != 0)
        return rc;
    engine->payload_frame = commit_log_next_frame(log);
    rc = replay_schema(engine, err);
    /* While the engine has no log yet, what is frozen is flushed here and not by a job. */
    rc = rc == 0 ? settle_skipped(engine, err) : rc;
    rc = rc == 0 ? add_builtin(engine, builtin, err) : rc;
    if (engine->timestamp_flushed_us == 0)
        timestamps_pass(engine, commit_log_last_timestamp(log));
    rc = rc == 0 && engine->env.options.restamp != NULL ? engine_restamp_now(engine, err) : rc;
    if (rc != 0) {
        commit_log_close(log);
        return rc;
    }
    tell_unread(engine);
    engine->log = log;
    commit_log_note_purges(log, engine->purges_published);
    commit_log_on_room(engine->log, engine_log_has_room, engine);
    commit_log_on_shortage(engine->log, engine_waiting_update, engine);
    engine_waiting_update(engine);
    if (!engine->env.options.read_only && engine->frame_flushed > options.flushed_frame)
        commit_log_flushed(engine->log, engine->frame_flushed);
    return 0;
}

static void engine_free(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->frozen_count; i++)
        memtable_unref(engine->frozen[i]);
    for (uint32_t i = 0; i < engine->segment_count; i++)
        segment_unref(engine->segments[i]);
    for (uint32_t i = 0; i < engine->index_count; i++)
        partition_index_free(engine->indexes[i]);
    memtable_unref(engine->open);
    if (engine->manifest != NULL)
        manifest_close(engine->manifest);
    schema_unref(engine->schema);
    schema_unref(engine->schema_flushed);
    engine->env.world->disk->unlock(engine->env.world->disk);
    buffer_release(&engine->payload);
    buffer_release(&engine->scratch);
    buffer_release(&engine->replayed_schema);
    memory_free(engine->frozen);
    memory_free(engine->segments);
    memory_free(engine->indexes);
    frame_waiters_release(&engine->waiters);
    partition_versions_release(&engine->versions);
    memory_free(engine->purges);
    memory_free(engine->drains);
    memory_free(engine->waiting_listeners);
    callbacks_release(&engine->flush_waiters);
    callbacks_release(&engine->compact_askers);
    callbacks_release(&engine->compact_waiters);
    arena_supply_free(engine->memory);
    reader_pool_unref(engine->readers);
    memory_free(engine);
}

/* Before the lock, whose file would replace one of that name in somebody else's directory. */
static int directory_lock(struct world *world, enum disk_lock lock, struct error *err)
{
    int rc = manifest_probe(world->disk, err);
    return rc == ERROR_NOT_OURS ? rc : world->disk->lock(world->disk, lock, err);
}

/* Lock a directory that is none yet, and make its manifest. */
static int directory_make(struct world *world, struct schema *schema, struct bytes properties,
                          struct manifest **manifest_out, struct error *err)
{
    uint8_t directory_id[16];
    manifest_new_id(world, directory_id);
    int rc = directory_lock(world, DISK_LOCK_EXCLUSIVE, err);
    if (rc != 0)
        return rc;
    rc = manifest_create(world, schema, directory_id, properties, manifest_out, err);
    if (rc != 0)
        world->disk->unlock(world->disk);
    return rc;
}

int engine_create(struct world *world, struct schema *schema, struct bytes properties,
                  struct error *err)
{
    struct manifest *manifest;
    int rc = directory_make(world, schema, properties, &manifest, err);
    if (rc != 0)
        return rc;
    manifest_close(manifest);
    world->disk->unlock(world->disk);
    return 0;
}

static void engine_metrics(struct engine *engine)
{
    struct metrics *metrics = engine->env.options.metrics;
    if (metrics == NULL)
        return;
    engine->metric_frames = metrics_add(metrics, METRIC_COUNTER, "daybook_log_frames_total", "",
                                        "Frames handed to the commit log");
    engine->metric_flushes = metrics_add(metrics, METRIC_COUNTER, "daybook_flushes_total", "",
                                         "Memtables written to segments");
    engine->metric_compactions =
        metrics_add(metrics, METRIC_COUNTER, "daybook_compactions_total", "", "Merges of segments");
    engine->metric_failed_reads =
        metrics_add(metrics, METRIC_COUNTER, "daybook_failed_reads_total", "",
                    "Pages of segments that could not be read, or were damaged");
    engine->metric_readers =
        metrics_add(metrics, METRIC_GAUGE, "daybook_readers_bytes", "",
                    "Memory of what readers of segments left for the next ones");
    engine_waiting_metrics(engine);
}

static void job_done(void *context)
{
    engine_close_if_idle(context);
}

static struct engine *engine_new(struct world *world, const struct engine_options *options)
{
    struct engine *engine = memory_zeroed(1, sizeof(*engine));
    engine->store.ops = &engine_ops;
    engine_env_init(&engine->env, world, options);
    engine->env.on_failure = engine_on_failure;
    engine->env.on_job_done = job_done;
    engine->env.context = engine;
    engine->waiting.path = "";
    partition_versions_init(&engine->versions);
    engine->memory = arena_supply_new(MEMTABLE_CHUNK);
    engine->readers = reader_pool_new(engine_readers_share(engine));
    engine_metrics(engine);
    return engine;
}

static int engine_recover(struct engine *engine, const struct builtin *builtin, struct error *err)
{
    engine->schema = schema_ref(manifest_state(engine->manifest)->schema);
    engine->schema_flushed = schema_ref(engine->schema);
    engine->schema_frozen = schema_version(engine->schema);
    int rc = admit_unread(engine, err);
    rc = rc == 0 ? engine_open_segments(engine, err) : rc;
    if (rc != 0)
        return rc;
    pass_flushed(engine);
    return open_log(engine, builtin, err);
}

/* Takes the manifest, and the directory's lock. */
static int engine_begin(struct world *world, const struct engine_options *options,
                        struct manifest *manifest, const struct builtin *builtin,
                        struct store **store_out, struct error *err)
{
    struct engine *engine = engine_new(world, options);
    engine->manifest = manifest;
    int rc = engine_recover(engine, builtin, err);
    if (rc != 0) {
        engine_free(engine);
        return rc;
    }
    engine_clock_open(engine);
    if (!engine->env.options.read_only) {
        engine_start_flush(engine);
        engine_start_compaction(engine);
    }
    *store_out = &engine->store;
    return 0;
}

int engine_open(struct world *world, const struct engine_options *options,
                const struct table_definition *const *builtin, uint32_t builtin_count,
                struct store **store_out, struct error *err)
{
    const struct manifest_options how = {.read_only = options->read_only,
                                         .salvage = options->salvage};
    struct manifest *manifest;
    *store_out = NULL;
    int rc =
        directory_lock(world, options->read_only ? DISK_LOCK_SHARED : DISK_LOCK_EXCLUSIVE, err);
    if (rc != 0)
        return rc;
    rc = manifest_open(world, &how, &manifest, err);
    if (rc != 0) {
        world->disk->unlock(world->disk);
        return rc;
    }
    return engine_begin(world, options, manifest, &(struct builtin){builtin, builtin_count},
                        store_out, err);
}

int engine_open_new(struct world *world, const struct engine_options *options,
                    struct schema *schema, struct bytes properties, struct store **store_out,
                    struct error *err)
{
    struct manifest *manifest;
    check(!options->read_only);
    *store_out = NULL;
    int rc = directory_make(world, schema, properties, &manifest, err);
    return rc == 0 ? engine_begin(world, options, manifest, &(struct builtin){0}, store_out, err)
                   : rc;
}

struct bytes engine_properties(const struct store *store)
{
    return manifest_state(((const struct engine *)store)->manifest)->properties;
}

const uint8_t *engine_directory_id(const struct store *store)
{
    return manifest_state(((const struct engine *)store)->manifest)->directory_id;
}

/* ---- closing ---- */

static bool is_idle(const struct engine *engine)
{
    /* A full disk is not waited for: what is not flushed is in the log. */
    bool unfinished = engine->payload.size > 0 ||
                      (engine->frozen_count > 0 && !engine_is_waiting_for_space(engine));
    return engine->env.jobs == 0 && !commit_log_is_writing(engine->log) &&
           (!unfinished || engine->env.failed != 0 || engine->env.options.read_only);
}

/* From the loop, with no caller of ours below: the engine goes away here. */
static void close_now(struct timer *timer)
{
    struct engine *engine = timer->context;
    if (!is_idle(engine))
        return;
    if (commit_log_is_busy(engine->log)) {
        engine->env.world->executor->timer_start(engine->env.world->executor, timer,
                                                 CLOSE_RETRY_MS);
        return;
    }
    engine->env.world->executor->timer_stop(engine->env.world->executor, &engine->retry_timer);
    engine->env.world->executor->timer_stop(engine->env.world->executor, &engine->stall_timer);
    engine->env.world->executor->timer_stop(engine->env.world->executor, &engine->tell_timer);
    engine->env.world->executor->timer_stop(engine->env.world->executor, &engine->compact_timer);
    engine->env.world->executor->timer_stop(engine->env.world->executor, &engine->seal_timer);
    struct callback closed = engine->closed;
    int status = engine->env.failed;
    struct error failure = engine->env.failure;
    commit_log_close(engine->log);
    engine_free(engine);
    if (closed.done != NULL)
        closed.done(closed.context, status, status == 0 ? NULL : &failure);
}

void engine_close_if_idle(struct engine *engine)
{
    if (engine->env.is_closing && is_idle(engine) && engine->close_timer.handle == NULL) {
        engine->close_timer = (struct timer){.fire = close_now, .context = engine};
        engine->env.world->executor->timer_start(engine->env.world->executor, &engine->close_timer,
                                                 0);
    }
}

void engine_close_op(struct store *store, store_done done, void *context)
{
    struct engine *engine = (struct engine *)store;
    check(!engine->env.is_closing);
    engine->env.is_closing = true;
    engine->closed = (struct callback){done, context};
    atomic_store(&engine->merge_ends, true);
    bool flushes = !engine->env.options.read_only && engine->env.failed == 0 &&
                   commit_log_unflushed_bytes(engine->log) > ENGINE_REPLAY_BYTES;
    if (flushes)
        engine_request_freeze(engine);
    if (!engine->env.options.read_only && engine->env.failed == 0) {
        engine_seal_if_idle(engine);
        engine_start_flush(engine);
    }
    engine_close_if_idle(engine);
}

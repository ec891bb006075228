/* While the log is replayed, a full memtable is flushed on this thread, so that a long log needs no
 * more memory than a running server.  An opening for reading only flushes nothing. */
#include "base/log.h"
#include "base/uuid.h"
#include "storage/engine/engine_private.h"
#include "storage/engine/run_recover.h"
#include "storage/log/frame_batches.h"
#include "storage/manifest/manifest_probe.h"

struct builtin {
    const struct table_definition *const *tables;
    uint32_t count;
};

struct engine_opening {
    const struct builtin *builtin;
    struct skipped_cells cells;
    struct buffer schema;  /* serialized, not parsed yet; or empty */
    uint64_t schema_frame; /* the first frame whose schema was not parsed */
};

/* ---- replay ---- */

static void frame_apply(struct engine *engine, uint64_t number, const struct frame_batches *frame)
{
    bool begins = engine->memtables.schema != engine->memtables.open->schema;
    for (uint32_t i = 0; i < frame->count && !begins; i++)
        begins = memtable_set_meets_overwrites(&engine->memtables, frame->batches[i]);
    if (begins)
        sequencer_freeze(&engine->sequencer, number - 1);
    if (engine->memtables.schema != engine->memtables.open->schema)
        memtable_set_begin(&engine->memtables, number);
    for (uint32_t i = 0; i < frame->count; i++) {
        int64_t next_us = memtable_apply(engine->memtables.open, frame->batches[i], number,
                                         frame->timestamps_us[i]);
        engine_clock_pass(&engine->clock, next_us - 1);
    }
}

static int refuse_unread(const struct engine *engine, struct error *err)
{
    return engine->env.options.salvage ? 0 : schema_refuse_unread(engine->memtables.schema, err);
}

static int replay_schema(struct engine *engine, struct error *err)
{
    struct engine_opening *opening = engine->opening;
    struct schema *schema;
    if (opening->schema.size == 0)
        return 0;
    int rc = schema_deserialize(buffer_view(&opening->schema), &schema, err);
    if (rc != 0)
        return rc;
    buffer_clear(&opening->schema);
    if (!memtable_is_empty(engine->memtables.open))
        sequencer_freeze(&engine->sequencer, opening->schema_frame - 1);
    memtable_set_begin_schema(&engine->memtables, schema, opening->schema_frame);
    return refuse_unread(engine, err);
}

/* Keep the schema unparsed, in place of the one kept before.  So of several schemas without rows
 * between them, only the last is parsed. */
static void keep_schema(struct engine *engine, uint64_t number, struct bytes serialized)
{
    struct engine_opening *opening = engine->opening;
    if (opening->schema.size == 0)
        opening->schema_frame = number;
    buffer_clear(&opening->schema);
    buffer_append_bytes(&opening->schema, serialized);
    engine->sequencer.frame = number + 1;
}

static int replay_frame(void *context, uint64_t number, int64_t timestamp_us, struct bytes payload,
                        struct error *err)
{
    struct engine *engine = context;
    struct frame_batches frame;
    struct bytes serialized;
    engine_clock_pass(&engine->clock, timestamp_us);
    if (frame_batches_is_schema(payload, &serialized)) {
        keep_schema(engine, number, serialized);
        return 0;
    }
    int rc = replay_schema(engine, err);
    if (rc != 0)
        return rc;
    engine->opening->cells.frame = engine->sequencer.frame;
    const struct cell_salvage salvage = skipped_cells_salvage(&engine->opening->cells);
    rc = frame_batches_parse(payload, &engine->memtables.schema, &salvage, &frame, err);
    rc = rc == 0 ? refuse_unread(engine, err) : rc;
    if (rc == 0) {
        frame_apply(engine, number, &frame);
        engine->sequencer.frame = number + 1;
    }
    frame_batches_release(&frame);
    if (rc == 0 && memtable_set_open_is_full(&engine->memtables))
        sequencer_freeze(&engine->sequencer, number);
    if (rc == 0 && engine->memtables.frozen_count > 0 && !engine->env.options.read_only) {
        /* Nothing may be written before this check, because a refused directory must not change. */
        rc = skipped_cells_refuse(&engine->opening->cells, err);
        rc = rc == 0 ? maintenance_flush_now(&engine->maintenance, err) : rc;
    }
    return rc;
}

static struct schema *schema_changed(const struct engine *engine, struct schema **changed)
{
    if (*changed == NULL)
        *changed = schema_copy(engine->memtables.schema);
    return *changed;
}

static int add_missing(const struct engine *engine, const struct table_definition *definition,
                       struct schema **changed, struct error *err)
{
    const struct table *table = schema_table(engine->memtables.schema, definition->id);
    if (table == NULL)
        return schema_add_table(schema_changed(engine, changed), definition, err);
    uint32_t id_next = table->column_id_next;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < definition->column_count; i++) {
        const struct column_definition *column = &definition->columns[i];
        if (column->id == id_next) {
            rc =
                schema_add_columns(schema_changed(engine, changed), definition->id, column, 1, err);
            id_next++;
        }
    }
    return rc;
}

/* Add the built-in tables and columns that the schema lacks.  A frame may have a schema of an
 * earlier version, without them.  So replay must be over, and all frames are flushed first: if such
 * a frame were replayed later, it would remove the new tables and their rows. */
static int add_builtin(struct engine *engine, struct error *err)
{
    const struct builtin *builtin = engine->opening->builtin;
    struct schema *changed = NULL;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < builtin->count; i++)
        rc = add_missing(engine, builtin->tables[i], &changed, err);
    if (changed == NULL)
        return rc;
    if (rc == 0)
        sequencer_freeze(&engine->sequencer, engine->sequencer.frame - 1);
    if (rc == 0 && !engine->env.options.read_only) {
        const struct manifest_edit edit = {.schema = changed};
        rc = maintenance_flush_now(&engine->maintenance, err);
        rc = rc == 0 ? manifest_apply(engine->runs.manifest, &edit, err) : rc;
    }
    if (rc != 0) {
        schema_unref(changed);
        return rc;
    }
    schema_unref(engine->runs.schema);
    engine->runs.schema = schema_ref(changed);
    engine->memtables.schema_frozen = schema_version(changed);
    memtable_set_begin_schema(&engine->memtables, changed, engine->sequencer.frame);
    return 0;
}

/* Salvage flushes the frames without the skipped cells, so that the next opening does not read
 * these cells again. */
static int flush_without_skipped(struct engine *engine, struct error *err)
{
    const struct skipped_cells *cells = &engine->opening->cells;
    int rc = skipped_cells_refuse(cells, err);
    if (rc != 0 || cells->count == 0)
        return rc;
    log_event(LOG_WARNING, "cells_left_out",
              log_text("reason", "no values of their columns' types, of an earlier version"),
              log_number("cells", (int64_t)cells->count));
    if (engine->env.options.read_only)
        return 0;
    sequencer_freeze(&engine->sequencer, engine->sequencer.frame - 1);
    return maintenance_flush_now(&engine->maintenance, err);
}

/* Counts the clicks of a frame that lies behind damage in the log, as far as its batches can be
 * parsed with the schema from before the damage. */
static uint64_t count_clicks(void *context, struct bytes payload)
{
    struct engine *engine = context;
    struct schema *schema = schema_ref(engine->memtables.schema);
    struct frame_batches frame;
    uint64_t clicks = 0;
    int rc = frame_batches_parse(payload, &schema, NULL, &frame, NULL);
    uint32_t whole = frame.count - (rc != 0);
    for (uint32_t i = 0; i < whole; i++)
        for (uint32_t b = 0; b < frame.batches[i]->block_count; b++)
            clicks += frame.batches[i]->blocks[b]->rows;
    frame_batches_release(&frame);
    schema_unref(schema);
    return clicks;
}

static void report_unread(const struct engine *engine)
{
    struct error what = {0};
    if (schema_refuse_unread(engine->memtables.schema, &what) != 0 &&
        engine->env.options.notice != NULL)
        engine->env.options.notice(engine->env.options.notice_context, what.text);
}

/* A manifest of an earlier version does not have the last timestamp; then the timestamps of the
 * newest cells are used. */
static void pass_flushed_times(struct engine *engine)
{
    engine_clock_pass(&engine->clock, engine->runs.timestamp_us);
    for (uint32_t i = 0; engine->runs.timestamp_us == 0 && i < engine->runs.count; i++)
        engine_clock_pass(&engine->clock, segment_info(engine->runs.segments[i])->timestamp_max_us);
}

static int read_log(struct engine *engine, struct commit_log **log_out, struct error *err)
{
    const struct engine_options *options = &engine->env.options;
    const struct commit_log_options how = {.file_size = options->log_file_size,
                                           .first_file_size = options->log_first_file_size,
                                           .flushed_frame = engine->runs.frame_flushed,
                                           .purges = engine->runs.purges,
                                           .read_only = options->read_only,
                                           .salvage = options->salvage,
                                           .archive_bytes = options->archive_bytes,
                                           .count = count_clicks};
    engine->sequencer.frame = engine->runs.frame_flushed + 1;
    engine->maintenance.purges_begun = engine->runs.purges;
    memtable_set_begin(&engine->memtables, engine->sequencer.frame);
    return commit_log_open(engine->env.world, &how, replay_frame, engine_frames_durable, engine,
                           log_out, err);
}

static int after_replay(struct engine *engine, struct commit_log *log, struct error *err)
{
    engine->sequencer.frame = commit_log_status(log)->frame_next;
    int rc = replay_schema(engine, err);
    rc = rc == 0 ? flush_without_skipped(engine, err) : rc;
    rc = rc == 0 ? add_builtin(engine, err) : rc;
    if (engine->runs.timestamp_us == 0)
        engine_clock_pass(&engine->clock, commit_log_status(log)->timestamp_last_us);
    return rc == 0 && engine->env.options.restamp != NULL ? engine_restamp_now(engine, err) : rc;
}

static int open_log(struct engine *engine, struct error *err)
{
    uint64_t flushed_before = engine->runs.frame_flushed;
    struct commit_log *log;
    int rc = read_log(engine, &log, err);
    if (rc != 0)
        return rc;
    rc = after_replay(engine, log, err);
    if (rc != 0) {
        commit_log_close(log);
        return rc;
    }
    report_unread(engine);
    engine_set_log(engine, log);
    if (!engine->env.options.read_only && engine->runs.frame_flushed > flushed_before)
        commit_log_flushed(log, engine->runs.frame_flushed);
    return 0;
}

/* The check comes first because locking overwrites any file that has the name of the lock file. */
static int directory_lock(struct world *world, enum disk_lock lock, struct error *err)
{
    int rc = manifest_probe(world->disk, err);
    return rc == ERROR_NOT_OURS ? rc : world->disk->lock(world->disk, lock, err);
}

static int directory_make(struct world *world, struct schema *schema, struct bytes properties,
                          struct manifest **manifest_out, struct error *err)
{
    uint8_t directory_id[16];
    uuid_make(world->random, directory_id);
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

static int recover(struct engine *engine, struct error *err)
{
    const struct run_rebuild_parts parts = {.schema = engine->memtables.schema,
                                            .supply = engine->memtables.supply,
                                            .cells = &engine->opening->cells};
    int rc = refuse_unread(engine, err);
    rc = rc == 0 ? run_recover(&engine->runs, &parts, err) : rc;
    if (rc != 0)
        return rc;
    pass_flushed_times(engine);
    return open_log(engine, err);
}

static int engine_begin(struct world *world, const struct engine_options *options,
                        struct manifest *manifest, const struct builtin *builtin,
                        struct store **store_out, struct error *err)
{
    struct engine *engine = engine_new(world, options, manifest);
    struct engine_opening opening = {.builtin = builtin, .cells = {.is_salvage = options->salvage}};
    engine->opening = &opening;
    int rc = recover(engine, err);
    engine->opening = NULL;
    buffer_release(&opening.schema);
    if (rc != 0) {
        engine_free(engine);
        return rc;
    }
    engine_clock_open(&engine->clock, commit_log_status(engine->sequencer.log)->timestamp_last_us);
    if (!options->read_only) {
        maintenance_start_flush(&engine->maintenance);
        maintenance_start_compaction(&engine->maintenance);
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

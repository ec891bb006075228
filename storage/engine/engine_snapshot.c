/* The manifest on disk may be ahead of the state in memory, by a flush or merge that is not
 * reported yet.  So the snapshot uses the state in memory.
 *
 * While a purge is published no snapshot is taken: its segments would be from before the purge, but
 * its last log file may get frames from after the purge, which a restore then refuses. */
#include <string.h>

#include "base/memory.h"
#include "storage/engine/engine_private.h"

struct taken {
    struct engine_snapshot base; /* first */
    struct segment **segments;
    struct commit_log_pin pin;
    bool is_pinned;
    struct buffer log;
    struct buffer archive;
};

static void take_segments(const struct engine *engine, struct taken *snapshot)
{
    struct manifest_state *state = &snapshot->base.state;
    uint32_t count = engine->runs.count;
    snapshot->segments = memory_alloc(count * sizeof(struct segment *));
    state->segments = memory_alloc(count * sizeof(struct segment_info));
    state->segment_count = count;
    state->segment_id_next = 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct segment_info *info = segment_info(engine->runs.segments[i]);
        snapshot->segments[i] = segment_ref(engine->runs.segments[i]);
        state->segments[i] = *info;
        if (info->id >= state->segment_id_next)
            state->segment_id_next = info->id + 1;
        /* If the last timestamp given is not known, the newest cell's stands for it, which may be a
         * client's; take_log takes that of the last durable frame if that is later. */
        if (engine->runs.timestamp_us == 0 && info->timestamp_max_us > snapshot->base.timestamp_us)
            snapshot->base.timestamp_us = info->timestamp_max_us;
    }
    manifest_state_sort(state);
}

static void take_state(const struct engine *engine, struct taken *snapshot)
{
    /* The directory's id and properties never change while the manifest is open. */
    const struct manifest_state *manifest = manifest_state(engine->runs.manifest);
    struct manifest_state *state = &snapshot->base.state;
    memcpy(state->directory_id, manifest->directory_id, sizeof(state->directory_id));
    state->properties = manifest->properties;
    state->schema = schema_ref(engine->runs.schema);
    state->flushed_frame = engine->runs.frame_flushed;
    state->timestamp_us = engine->runs.timestamp_us;
    snapshot->base.timestamp_us = engine->runs.timestamp_us;
    state->purges = engine->runs.purges;
    take_segments(engine, snapshot);
}

static void take_log(struct engine *engine, uint64_t frame_kept, struct taken *snapshot)
{
    uint64_t frame =
        frame_kept < engine->runs.frame_flushed ? frame_kept : engine->runs.frame_flushed;
    struct engine_snapshot *base = &snapshot->base;
    commit_log_pin(engine->sequencer.log, &snapshot->pin, frame);
    snapshot->is_pinned = true;
    commit_log_extents(engine->sequencer.log, frame, &snapshot->log);
    commit_log_archived(engine->sequencer.log, &snapshot->archive);
    base->log = (const struct commit_log_extent *)(const void *)snapshot->log.data;
    base->log_count = (uint32_t)(snapshot->log.size / sizeof(struct commit_log_extent));
    base->archive = (const struct commit_log_extent *)(const void *)snapshot->archive.data;
    base->archive_count = (uint32_t)(snapshot->archive.size / sizeof(struct commit_log_extent));
    bool is_behind = base->frame > engine->runs.frame_flushed || engine->runs.timestamp_us == 0;
    if (is_behind &&
        commit_log_status(engine->sequencer.log)->timestamp_durable_us > base->timestamp_us)
        base->timestamp_us = commit_log_status(engine->sequencer.log)->timestamp_durable_us;
}

int engine_snapshot_take(struct store *store, uint64_t frame_kept,
                         struct engine_snapshot **snapshot_out, struct error *err)
{
    struct engine *engine = engine_of(store);
    *snapshot_out = NULL;
    int rc = engine_env_check(&engine->env, err);
    if (rc != 0)
        return rc;
    /* The snapshot's log would continue after a purge that its segments do not have. */
    if (engine->maintenance.purges_under_way > 0)
        return error_set(err, ERROR_BUSY, "a purge is being published");
    struct taken *snapshot = memory_zeroed(1, sizeof(*snapshot));
    snapshot->base.frame = sequencer_durable_frame(&engine->sequencer);
    take_state(engine, snapshot);
    take_log(engine, frame_kept, snapshot);
    *snapshot_out = &snapshot->base;
    return 0;
}

void engine_snapshot_narrow(struct store *store, struct engine_snapshot *base)
{
    struct taken *snapshot = (struct taken *)base;
    uint32_t last = base->log_count > 0 ? base->log[base->log_count - 1].file_id : 0;
    if (snapshot->is_pinned)
        commit_log_pin_narrow(engine_of(store)->sequencer.log, &snapshot->pin, last);
}

void engine_snapshot_let_go(struct store *store, struct engine_snapshot *base)
{
    struct taken *snapshot = (struct taken *)base;
    if (snapshot->is_pinned)
        commit_log_unpin(engine_of(store)->sequencer.log, &snapshot->pin);
    snapshot->is_pinned = false;
}

void engine_snapshot_release(struct store *store, struct engine_snapshot *base)
{
    struct taken *snapshot = (struct taken *)base;
    engine_snapshot_let_go(store, base);
    for (uint32_t i = 0; i < base->state.segment_count; i++)
        segment_unref(snapshot->segments[i]);
    schema_unref(base->state.schema);
    memory_free(base->state.segments);
    memory_free(snapshot->segments);
    buffer_release(&snapshot->log);
    buffer_release(&snapshot->archive);
    memory_free(snapshot);
}

/* A flush has four steps.  The right column says what a crash after the step leaves:
 *   1 every segment is written under a temporary name, synced, renamed      files that no manifest
 *                                                                           names, removed at the
 *                                                                           next opening
 *   2 one manifest record names them all and moves the flushed frame        replay begins behind
 *                                                                           that frame
 *   3 the engine thread replaces the memtable in memory by the segments
 *   4 the log may reuse files that hold flushed frames only */
#include "base/memory.h"
#include "storage/engine/flush_writer.h"
#include "storage/engine/maintenance_private.h"

struct flush_job {
    struct job job;
    struct maintenance *maintenance;
    struct memtable *memtable;
    struct flush_writer writer;
    int status;
};

/* ---- the job ---- */

static int flush_write(struct flush_job *flush)
{
    struct memtable *memtable = flush->memtable;
    struct manifest *manifest = flush->maintenance->runs->manifest;
    int rc = flush_writer_write(&flush->writer, NULL);
    if (rc != 0)
        return rc;
    bool schema_is_newer =
        schema_version(memtable->schema) > schema_version(manifest_state(manifest)->schema);
    const struct manifest_edit edit = {.flushed_frame = memtable->frame_last,
                                       .schema = schema_is_newer ? memtable->schema : NULL,
                                       .timestamp_us = memtable->given_us};
    return run_change_publish(&flush->writer.change, edit, &flush->writer.err);
}

static void flush_run(struct job *job)
{
    struct flush_job *flush = (struct flush_job *)job;
    flush->status = flush_write(flush);
}

static void flush_publish(struct flush_job *flush)
{
    struct maintenance *maintenance = flush->maintenance;
    struct run_set *runs = maintenance->runs;
    check(maintenance->memtables->frozen_count > 0 &&
          maintenance->memtables->frozen[0] == flush->memtable);
    for (uint32_t i = 0; i < flush->writer.change.added_count; i++)
        run_set_index_segment(runs, flush->writer.change.added[i]);
    run_change_apply(&flush->writer.change);
    run_set_note_flushed(runs, flush->memtable->frame_last, flush->memtable->given_us,
                         flush->memtable->schema);
    memtable_set_drop_oldest(maintenance->memtables);
    if (maintenance->metric_flushes != NULL)
        maintenance->metric_flushes->value++;
}

static void flush_free(struct flush_job *flush)
{
    if (error_is_passing(flush->status))
        run_change_discard(&flush->writer.change);
    run_change_release(&flush->writer.change);
    memory_free(flush);
}

bool maintenance_is_flushed(const struct maintenance *maintenance, uint64_t frame)
{
    const struct memtable_set *memtables = maintenance->memtables;
    bool is_frozen = memtable_set_open_is_empty(memtables) || memtables->open->frame_first > frame;
    return is_frozen && (memtables->frozen_count == 0 || memtables->frozen[0]->frame_first > frame);
}

static void flush_succeeded(struct flush_job *flush)
{
    struct maintenance *maintenance = flush->maintenance;
    maintenance_job_succeeded(maintenance, MAINTENANCE_FLUSH);
    flush_publish(flush);
    commit_log_flushed(maintenance->sequencer->log, flush->memtable->frame_last);
    memtable_set_give_back(maintenance->memtables, flush->memtable);
    maintenance_start_flush(maintenance);
    maintenance_start_compaction(maintenance);
    if (maintenance_is_flushed(maintenance, maintenance->flush_until))
        maintenance_call_flush_waiters(maintenance, 0, NULL);
    sequencer_drain(maintenance->sequencer);
}

static void flush_done(struct job *job)
{
    struct flush_job *flush = (struct flush_job *)job;
    struct maintenance *maintenance = flush->maintenance;
    maintenance->flush = NULL;
    if (flush->status == 0)
        flush_succeeded(flush);
    else
        maintenance_job_failed(maintenance, MAINTENANCE_FLUSH, flush->status, &flush->writer.err);
    flush_free(flush);
    engine_env_job_done(maintenance->env);
}

/* Remove the segments of dropped and truncated tables, except of tables that are being merged. */
static void collect_dropped(struct flush_job *flush)
{
    const struct run_set *runs = flush->maintenance->runs;
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct segment_info *info = segment_info(runs->segments[i]);
        if (schema_table(flush->memtable->schema, info->table_id) == NULL &&
            !schema_is_unread(flush->memtable->schema, info->table_id) &&
            !maintenance_is_merging(flush->maintenance, info->table_id))
            run_change_remove(&flush->writer.change, runs->segments[i]);
    }
}

static struct flush_job *flush_new(struct maintenance *maintenance)
{
    struct memtable_set *memtables = maintenance->memtables;
    struct flush_job *flush = memory_zeroed(1, sizeof(*flush));
    flush->maintenance = maintenance;
    flush->memtable = memtables->frozen[0];
    flush_writer_init(&flush->writer, maintenance->runs, flush->memtable);
    collect_dropped(flush);
    return flush;
}

void maintenance_start_flush(struct maintenance *maintenance)
{
    const struct memtable_set *memtables = maintenance->memtables;
    const struct engine_env *env = maintenance->env;
    if (maintenance->flush != NULL || memtables->frozen_count == 0 || env->failed != 0 ||
        maintenance_is_waiting_for_space(maintenance) || env->options.read_only ||
        maintenance->sequencer->log == NULL ||
        memtables->frozen[0]->frame_last > sequencer_durable_frame(maintenance->sequencer)) {
        return;
    }
    maintenance->flush = flush_new(maintenance);
    engine_env_submit(maintenance->env, LANE_BACKGROUND, &maintenance->flush->job, flush_run,
                      flush_done);
}

int maintenance_flush_now(struct maintenance *maintenance, struct error *err)
{
    while (maintenance->memtables->frozen_count > 0) {
        struct flush_job *flush = flush_new(maintenance);
        flush_run(&flush->job);
        int rc = flush->status;
        if (rc == 0) {
            flush_publish(flush);
            memtable_unref(flush->memtable);
        } else if (err != NULL) {
            *err = flush->writer.err;
        }
        flush_free(flush);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int maintenance_flush(struct maintenance *maintenance, store_done done, void *context,
                      struct error *err)
{
    int rc = engine_env_check_writable(maintenance->env, err);
    if (rc != 0)
        return rc;
    maintenance->flush_until = sequencer_applied_frame(maintenance->sequencer);
    sequencer_request_freeze(maintenance->sequencer);
    if (maintenance_is_flushed(maintenance, maintenance->flush_until)) {
        if (done != NULL)
            done(context, 0, NULL);
        return 0;
    }
    callbacks_add(&maintenance->flush_waiters, done, context);
    return 0;
}

/* After a failed write or sync no write is acknowledged any more, and store_apply answers
 * ERROR_FAILED.
 *
 * Closing waits for all jobs.  A timer's callback frees the engine, because then no function of the
 * engine is on the stack.  A clean close leaves at most SEQUENCER_REPLAY_BYTES of the log to be
 * replayed, unless the disk is full. */
#include "storage/engine/engine_private.h"

#include "base/memory.h"

enum { CLOSE_RETRY_MS = 2 }; /* until the log's background job has ended */

static const struct store_ops engine_ops;

struct engine *engine_of(struct store *store)
{
    check(store->ops == &engine_ops);
    return (struct engine *)store;
}

/* ---- closing ---- */

static bool is_idle(const struct engine *engine)
{
    /* Closing does not wait for space on a full disk. */
    bool unfinished = engine->sequencer.payload.size > 0 ||
                      (engine->memtables.frozen_count > 0 &&
                       !maintenance_is_waiting_for_space(&engine->maintenance));
    return engine->env.jobs == 0 && !commit_log_status(engine->sequencer.log)->is_writing &&
           (!unfinished || engine->env.failed != 0 || engine->env.options.read_only);
}

static void timers_stop(struct engine *engine)
{
    maintenance_stop(&engine->maintenance);
    shortage_stop(&engine->shortage);
    sequencer_stop(&engine->sequencer);
}

/* The event loop calls this function, so no caller uses the engine after it. */
static void close_now(struct timer *timer)
{
    struct engine *engine = timer->context;
    if (!is_idle(engine))
        return;
    if (commit_log_status(engine->sequencer.log)->is_busy) {
        world_timer_start(engine->env.world, timer, close_now, engine, CLOSE_RETRY_MS);
        return;
    }
    timers_stop(engine);
    struct callback closed = engine->closed;
    int status = engine->env.failed;
    struct error failure = engine->env.failure;
    commit_log_close(engine->sequencer.log);
    engine_free(engine);
    if (closed.done != NULL)
        closed.done(closed.context, status, status == 0 ? NULL : &failure);
}

static void close_if_idle(struct engine *engine)
{
    if (engine->env.is_closing && is_idle(engine) && engine->close_timer.handle == NULL)
        world_timer_start(engine->env.world, &engine->close_timer, close_now, engine, 0);
}

static void engine_close(struct store *store, store_done done, void *context)
{
    struct engine *engine = engine_of(store);
    check(!engine->env.is_closing);
    engine->env.is_closing = true;
    engine->closed = (struct callback){done, context};
    atomic_store(&engine->maintenance.merge_ends, true);
    bool flushes = !engine->env.options.read_only && engine->env.failed == 0 &&
                   commit_log_unflushed_bytes(engine->sequencer.log) > SEQUENCER_REPLAY_BYTES;
    if (flushes)
        sequencer_request_freeze(&engine->sequencer);
    if (!engine->env.options.read_only && engine->env.failed == 0) {
        sequencer_seal_if_idle(&engine->sequencer);
        maintenance_start_flush(&engine->maintenance);
    }
    close_if_idle(engine);
}

/* ---- callbacks of the parts and of the log ---- */

static void on_failure(void *context)
{
    struct engine *engine = context;
    shortage_update(&engine->shortage);
    memtable_set_end_waits(&engine->memtables, engine->env.failed);
    sequencer_fail(&engine->sequencer);
    maintenance_fail(&engine->maintenance);
    sequencer_drain(&engine->sequencer);
    close_if_idle(engine);
}

static void on_job_done(void *context)
{
    close_if_idle(context);
}

static void on_frozen(void *context)
{
    struct engine *engine = context;
    maintenance_start_flush(&engine->maintenance);
}

static void on_memory_given(void *context)
{
    struct engine *engine = context;
    sequencer_drain(&engine->sequencer);
}

static void on_shortage(void *context)
{
    struct engine *engine = context;
    shortage_update(&engine->shortage);
}

static void on_log_room(void *context)
{
    struct engine *engine = context;
    sequencer_seal_if_idle(&engine->sequencer);
    sequencer_drain(&engine->sequencer);
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
        close_if_idle(engine);
        return;
    }
    sequencer_frames_durable(&engine->sequencer, frame);
    maintenance_start_flush(&engine->maintenance);
    sequencer_drain(&engine->sequencer);
    close_if_idle(engine);
}

/* ---- creating and freeing ---- */

static void add_metrics(struct engine *engine, struct metrics *metrics)
{
    engine->sequencer.metric_frames = metrics_add(
        metrics, METRIC_COUNTER, "daybook_log_frames_total", "", "Frames handed to the commit log");
    engine->sequencer.metric_commits =
        metrics_add_histogram(metrics, "daybook_commit_seconds", "",
                              "From a frame's first batch until the frame is on disk.");
    engine->maintenance.metric_flushes = metrics_add(
        metrics, METRIC_COUNTER, "daybook_flushes_total", "", "Memtables written to segments");
    engine->maintenance.metric_compactions =
        metrics_add(metrics, METRIC_COUNTER, "daybook_compactions_total", "", "Merges of segments");
    engine->metric_failed_reads =
        metrics_add(metrics, METRIC_COUNTER, "daybook_failed_reads_total", "",
                    "Pages of segments that could not be read, or were damaged");
    engine->metric_readers =
        metrics_add(metrics, METRIC_GAUGE, "daybook_readers_bytes", "",
                    "Memory of what readers of segments left for the next ones");
    shortage_add_metrics(&engine->shortage, metrics);
}

static void connect_parts(struct engine *engine)
{
    engine->env.on_failure = on_failure;
    engine->env.on_job_done = on_job_done;
    engine->env.context = engine;
    engine->sequencer.hooks = &engine->store.hooks;
    engine->memtables.on_frozen = on_frozen;
    engine->memtables.on_given = on_memory_given;
    engine->memtables.context = engine;
    engine->maintenance.on_change = on_shortage;
    engine->maintenance.context = engine;
    engine->reads = (struct reads){.store = &engine->store,
                                   .env = &engine->env,
                                   .sequencer = &engine->sequencer,
                                   .memtables = &engine->memtables,
                                   .runs = &engine->runs,
                                   .account = &engine->account};
}

struct engine *engine_new(struct world *world, const struct engine_options *options,
                          struct manifest *manifest)
{
    struct engine *engine = memory_zeroed(1, sizeof(*engine));
    engine->store = (struct store){.ops = &engine_ops,
                                   .capabilities = {.read_only = options->read_only, .files = true},
                                   .held = &engine->account.held};
    engine_env_init(&engine->env, world, options);
    run_set_init(&engine->runs, &engine->env, manifest);
    memory_account_init(&engine->account, &engine->runs);
    engine_clock_init(&engine->clock, &engine->env, manifest);
    memtable_set_init(&engine->memtables, &engine->env, &engine->account, engine->runs.schema);
    sequencer_init(&engine->sequencer, &engine->env, &engine->clock, &engine->memtables,
                   &engine->runs);
    maintenance_init(&engine->maintenance, &engine->sequencer, &engine->runs);
    shortage_init(&engine->shortage, &engine->maintenance);
    connect_parts(engine);
    if (options->metrics != NULL)
        add_metrics(engine, options->metrics);
    return engine;
}

void engine_set_log(struct engine *engine, struct commit_log *log)
{
    engine->sequencer.log = log;
    engine->memtables.log = log;
    commit_log_note_purges(log, engine->runs.purges);
    commit_log_on_space(log, on_log_room, on_shortage, engine);
    shortage_update(&engine->shortage);
}

void engine_free(struct engine *engine)
{
    struct disk *disk = engine->env.world->disk;
    memtable_set_release(&engine->memtables);
    run_set_release(&engine->runs);
    disk->unlock(disk);
    sequencer_release(&engine->sequencer);
    maintenance_release(&engine->maintenance);
    shortage_release(&engine->shortage);
    memory_free(engine);
}

struct bytes engine_properties(const struct store *store)
{
    return manifest_state(((const struct engine *)store)->runs.manifest)->properties;
}

const uint8_t *engine_directory_id(const struct store *store)
{
    return manifest_state(((const struct engine *)store)->runs.manifest)->directory_id;
}

/* ---- operations: each calls a part ---- */

static int engine_apply(struct store *store, struct write_batch *batch,
                        struct store_expectation *expectations, uint32_t expectation_count,
                        store_done done, void *context, struct error *err)
{
    struct engine *engine = engine_of(store);
    bool is_empty = write_batch_is_empty(batch);
    int rc = sequencer_apply(&engine->sequencer, batch, expectations, expectation_count, done,
                             context, err);
    if (rc == ERROR_FULL)
        shortage_batch_refused(&engine->shortage);
    else if (rc == 0 && !is_empty)
        engine->shortage.refused_since_us = 0;
    return rc;
}

static void engine_write_lock(struct store *store, struct store_write_lock *write_lock)
{
    write_lock_acquire(&engine_of(store)->sequencer.lock, write_lock);
}

static void engine_write_unlock(struct store *store, struct store_write_lock *write_lock)
{
    sequencer_unlock(&engine_of(store)->sequencer, write_lock);
}

static int engine_read(struct store *store, const struct read_request *request, store_page page,
                       void *context, struct error *err)
{
    return reads_read(&engine_of(store)->reads, request, page, context, err);
}

static int engine_stats(struct store *store, uint32_t table_id, uint32_t column_id,
                        struct bytes key, enum read_view view, store_figures figures, void *context,
                        struct error *err)
{
    return reads_stats(&engine_of(store)->reads, table_id, column_id, key, view, figures, context,
                       err);
}

static int engine_stats_scan(struct store *store, uint32_t table_id, uint32_t column_id,
                             struct bytes position, uint32_t limit, enum read_view view,
                             store_figures figures, void *context, struct error *err)
{
    return reads_stats_scan(&engine_of(store)->reads, table_id, column_id, position, limit, view,
                            figures, context, err);
}

static int engine_group(struct store *store, const struct group_request *request,
                        store_figures figures, void *context, struct error *err)
{
    return reads_group(&engine_of(store)->reads, request, figures, context, err);
}

int engine_scrub(struct store *store, void (*found)(void *context, const char *text),
                 store_done done, void *context, struct error *err)
{
    return reads_scrub(&engine_of(store)->reads, found, done, context, err);
}

static const struct schema *engine_schema(struct store *store)
{
    return engine_of(store)->memtables.schema;
}

static void engine_on_drain(struct store *store, void (*drain)(void *context), void *context)
{
    sequencer_on_drain(&engine_of(store)->sequencer, drain, context);
}

static void engine_on_waiting(struct store *store, store_waiting_changed changed, void *context)
{
    shortage_on_change(&engine_of(store)->shortage, changed, context);
}

int engine_flush(struct store *store, store_done done, void *context, struct error *err)
{
    return maintenance_flush(&engine_of(store)->maintenance, done, context, err);
}

int engine_compact(struct store *store, store_done done, void *context, struct error *err)
{
    return maintenance_compact(&engine_of(store)->maintenance, done, context, err);
}

void engine_return_memory(struct store *store, bool at_once)
{
    memtable_set_return_memory(&engine_of(store)->memtables, at_once);
}

static void engine_store_status(struct store *store, struct store_status *status)
{
    struct engine *engine = engine_of(store);
    bool has_failed = engine->env.failed != 0;
    *status = (struct store_status){
        .frame_applied = sequencer_applied_frame(&engine->sequencer),
        .frame_durable = commit_log_status(engine->sequencer.log)->frame_durable,
        .failed = has_failed,
        .failure = has_failed ? engine->env.failure.text : "",
        .waiting = engine->shortage.waiting,
    };
    if (engine->metric_failed_reads == NULL)
        return;
    engine->metric_failed_reads->value = (int64_t)engine->env.world->disk->failed_reads;
    engine->metric_readers->value = (int64_t)reader_pool_bytes(engine->runs.readers);
}

static int64_t engine_now_us(struct store *store)
{
    return engine_clock_store_us(&engine_of(store)->clock);
}

static struct store_clock engine_read_clock(struct store *store)
{
    return engine_clock_read(&engine_of(store)->clock);
}

static void engine_watch_clock(struct store *store)
{
    engine_clock_watch(&engine_of(store)->clock);
}

static int engine_accept_clock(struct store *store, store_done done, void *context,
                               struct error *err)
{
    return engine_clock_accept(&engine_of(store)->clock, done, context, err);
}

static const struct store_ops engine_ops = {
    .apply = engine_apply,
    .write_lock = engine_write_lock,
    .write_unlock = engine_write_unlock,
    .read = engine_read,
    .stats = engine_stats,
    .stats_scan = engine_stats_scan,
    .group = engine_group,
    .schema = engine_schema,
    .on_drain = engine_on_drain,
    .on_waiting = engine_on_waiting,
    .status = engine_store_status,
    .now_us = engine_now_us,
    .clock = engine_read_clock,
    .watch_clock = engine_watch_clock,
    .accept_clock = engine_accept_clock,
    .close = engine_close,
};

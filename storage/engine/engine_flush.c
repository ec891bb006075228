/* engine_flush: a frozen memtable becomes segments, and the log forgets it.
 *
 * Order, and what a crash between two steps leaves:
 *   1 every segment is written under a temporary name, synced, renamed      files nobody names,
 *                                                                           removed at next open
 *   2 one manifest record names them all and moves the flushed frame        replay begins after it
 *   3 memory swaps the memtable for the segments, on the engine thread
 *   4 the log may reuse files that hold flushed frames only
 * A day with many rows gets a segment of its own, so that days can be merged, and go, one by one
 * (compact_plan.h); small days and late clicks share one.
 *
 * A memtable is flushed only when all its frames are durable, so the flushed frame never passes
 * the durable one. */
#include "base/memory.h"
#include "storage/engine/engine_private.h"
#include "storage/segment/narrow_segment.h"
#include "base/world/pace.h"
#include "storage/segment/wide_segment.h"

/* Of one flush; beyond, days share a segment whatever their size. */
enum { OWN_DAYS_MAX = 64 };

struct flush_job {
    struct job job;
    struct engine *engine;
    struct memtable *memtable;
    struct segment_info *infos; /* two kinds per table, and a wide one per large day */
    struct segment **segments;
    uint32_t count;
    uint32_t capacity;
    uint64_t *dropped; /* segments of tables that are gone */
    uint32_t dropped_count;
    struct pace pace;
    uint64_t rows; /* of the wide memtables that are written */
    int status;
    struct error err;
};

static struct segment_info info_for(struct flush_job *flush, uint32_t table_id,
                                    enum segment_kind kind)
{
    return (struct segment_info){.id = atomic_fetch_add(&flush->engine->segment_id_next, 1),
                                 .table_id = table_id,
                                 .kind = kind,
                                 .frame_first = flush->memtable->frame_first,
                                 .frame_last = flush->memtable->frame_last,
                                 .timestamp_max_us = flush->memtable->timestamp_max_us,
                                 .schema_version = schema_version(flush->memtable->schema)};
}

static int keep_segment(struct flush_job *flush, const struct segment_info *info,
                        const struct table *table)
{
    if (info->rows == 0 && info->partitions == 0)
        return 0;
    if (flush->count == flush->capacity) {
        flush->capacity = flush->capacity == 0 ? 16 : flush->capacity * 2;
        flush->infos = memory_resize(flush->infos, flush->capacity * sizeof(struct segment_info));
        flush->segments =
            memory_resize(flush->segments, flush->capacity * sizeof(struct segment *));
    }
    flush->infos[flush->count] = *info;
    int rc = engine_open_segment(flush->engine, info, table, &flush->segments[flush->count],
                                 &flush->err);
    flush->count += rc == 0;
    return rc;
}

/* ---- pace ---- */

/* A partition was written.  Where half the time is enough the flush is done before the next
 * memtable is full: as long as it is as far as that one is full, of clicks; of what comes behind
 * them it is not known how much there is. */
static void flush_pause(struct flush_job *flush, uint64_t rows)
{
    uint32_t fill = atomic_load_explicit(&flush->engine->open_fill, memory_order_relaxed);
    uint64_t whole = flush->memtable->wide_rows;
    flush->rows += rows;
    flush->pace.hurries = flush->rows < whole ? flush->rows * ENGINE_FILL_WHOLE < whole * fill
                                              : fill >= ENGINE_FILL_WHOLE / 2;
    pace_keep(&flush->pace);
}

/* ---- fresh rows ---- */

/* What goes into one segment: the rows of one day, or of all days that get none of their own. */
struct wide_share {
    const struct wide_memtable *wide;
    const struct table *table;
    const int32_t *days;            /* by place in the memtable's order */
    const struct segment_days *own; /* days that get a segment of their own */
    bool is_rest;
    int32_t day; /* unless it is the rest */
};

static bool share_takes(const struct wide_share *share, uint32_t place)
{
    int32_t day = share->days[place];
    return share->is_rest ? segment_days_find(share->own, day) == NULL : day == share->day;
}

static int write_wide_partitions(struct flush_job *flush, struct wide_segment_writer *writer,
                                 const struct wide_share *share)
{
    const struct wide_memtable *wide = share->wide;
    struct wide_rows rows;
    wide_rows_init(&rows, share->table);
    rows.pace = &flush->pace;
    const uint32_t *order = wide_memtable_order(wide);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < wide_memtable_partition_count(wide); i++) {
        if (!share_takes(share, i))
            continue;
        wide_memtable_rows(wide, order[i], UINT64_MAX, &rows);
        rc = wide_segment_writer_partition(writer, wide_memtable_partition_token(wide, order[i]),
                                           wide_memtable_partition_key(wide, order[i]), &rows,
                                           &flush->err);
        flush_pause(flush, rows.rows);
    }
    wide_rows_release(&rows);
    return rc;
}

static int flush_share(struct flush_job *flush, const struct wide_share *share)
{
    struct segment_info info = info_for(flush, share->table->id, SEGMENT_WIDE);
    struct wide_segment_writer *writer;
    int rc = wide_segment_writer_open(flush->engine->env.world, share->table, &info, &writer,
                                      &flush->err);
    if (rc != 0)
        return rc;
    wide_segment_writer_set_pace(writer, &flush->pace);
    wide_segment_writer_set_page_rows(writer, flush->engine->env.options.page_rows);
    rc = write_wide_partitions(flush, writer, share);
    if (rc == 0)
        rc = wide_segment_writer_finish(writer, &info, &flush->err);
    wide_segment_writer_close(writer);
    return rc == 0 ? keep_segment(flush, &info, share->table) : rc;
}

/* The day of each partition, and the days large enough for a segment of their own.  `days` has room
 * for one per partition.  True when other days are left. */
static bool days_of(const struct flush_job *flush, const struct wide_memtable *wide,
                    const struct table *table, int32_t *days, struct segment_days *own)
{
    const uint32_t *order = wide_memtable_order(wide);
    struct segment_days all = {0};
    for (uint32_t i = 0; i < wide_memtable_partition_count(wide); i++) {
        days[i] = partition_day(table, wide_memtable_partition_key(wide, order[i]));
        segment_days_add(&all, days[i], wide_memtable_stats(wide, order[i], UINT64_MAX).rows);
    }
    for (uint32_t i = 0; i < all.count && own->count < OWN_DAYS_MAX; i++)
        if (all.days[i].rows >= flush->engine->env.options.day_rows_min)
            segment_days_add(own, all.days[i].day, all.days[i].rows);
    bool has_rest = own->count < all.count;
    segment_days_release(&all);
    return has_rest;
}

static int flush_wide(struct flush_job *flush, const struct wide_part *part)
{
    const struct table *table = schema_table(flush->memtable->schema, part->table_id);
    int32_t *days = memory_alloc(wide_memtable_partition_count(part->rows) * sizeof *days);
    struct segment_days own = {0};
    struct wide_share share = {.wide = part->rows, .table = table, .days = days, .own = &own};
    share.is_rest = days_of(flush, part->rows, table, days, &own);
    int rc = share.is_rest ? flush_share(flush, &share) : 0;
    share.is_rest = false;
    for (uint32_t i = 0; rc == 0 && i < own.count; i++) {
        share.day = own.days[i].day;
        rc = flush_share(flush, &share);
    }
    segment_days_release(&own);
    memory_free(days);
    return rc;
}

/* ---- everything else ---- */

static struct stream *narrow_partition(const struct memtable *memtable, const struct table *table,
                                       int64_t token, struct bytes key)
{
    struct slice slice = slice_all();
    struct stream *streams[2];
    size_t count = 0;
    struct stream *stream =
        narrow_memtable_stream(memtable->narrow, table, token, key, &slice, UINT64_MAX);
    if (stream != NULL)
        streams[count++] = stream;
    if ((table->flags & TABLE_COUNTER) != 0) {
        stream = counter_memtable_stream(memtable->counters, table, key, &slice, UINT64_MAX,
                                         (uint64_t)memtable->timestamp_first_us);
        if (stream != NULL)
            streams[count++] = stream;
    }
    return stream_merge(table, streams, count, false);
}

/* The next partition of the table in either of the two memtables. */
static bool narrow_next(struct memtable *memtable, const struct table *table, bool first,
                        int64_t *token, struct bytes *key)
{
    int64_t at = first ? INT64_MIN : *token;
    struct bytes after = first ? (struct bytes){0} : *key;
    int64_t counter_token;
    struct bytes counter_key;
    bool found = narrow_memtable_seek(memtable->narrow, table->id, at, after, !first, token, key);
    if ((table->flags & TABLE_COUNTER) != 0 &&
        counter_memtable_seek(memtable->counters, table->id, at, after, !first, &counter_token,
                              &counter_key) &&
        (!found || partition_order(counter_token, counter_key, *token, *key) < 0)) {
        *token = counter_token;
        *key = counter_key;
        found = true;
    }
    return found;
}

static int write_narrow_partitions(struct flush_job *flush, struct narrow_segment_writer *writer,
                                   const struct table *table)
{
    struct memtable *memtable = flush->memtable;
    int64_t token = INT64_MIN;
    struct bytes key = {0};
    int rc = 0;
    for (bool first = true; rc == 0 && narrow_next(memtable, table, first, &token, &key);
         first = false) {
        struct stream *stream = narrow_partition(memtable, table, token, key);
        rc = narrow_segment_writer_partition(writer, token, key, stream, &flush->err);
        stream->close(stream);
        flush_pause(flush, 0);
    }
    return rc;
}

static int flush_narrow(struct flush_job *flush, uint32_t table_id)
{
    const struct table *table = schema_table(flush->memtable->schema, table_id);
    struct segment_info info = info_for(flush, table_id, SEGMENT_NARROW);
    struct narrow_segment_writer *writer;
    int rc = narrow_segment_writer_open(flush->engine->env.world, &info, &writer, &flush->err);
    if (rc != 0)
        return rc;
    rc = write_narrow_partitions(flush, writer, table);
    if (rc == 0)
        rc = narrow_segment_writer_finish(writer, &info, &flush->err);
    narrow_segment_writer_close(writer);
    return rc == 0 ? keep_segment(flush, &info, table) : rc;
}

/* The tables that either memtable has, ascending; 0 at the end. */
static uint32_t narrow_table_after(const struct memtable *memtable, uint32_t after)
{
    uint32_t rows = narrow_memtable_next_table(memtable->narrow, after);
    uint32_t counters = counter_memtable_next_table(memtable->counters, after);
    if (rows == 0 || counters == 0)
        return rows == 0 ? counters : rows;
    return rows < counters ? rows : counters;
}

/* ---- the job ---- */

static int flush_write(struct flush_job *flush)
{
    struct memtable *memtable = flush->memtable;
    int rc = 0;
    pace_begin(&flush->pace, flush->engine->env.world->clock, &flush->engine->frames_sealed);
    for (uint32_t i = 0; rc == 0 && i < memtable->wide_count; i++)
        rc = flush_wide(flush, &memtable->wide[i]);
    for (uint32_t table_id = narrow_table_after(memtable, 0); rc == 0 && table_id != 0;
         table_id = narrow_table_after(memtable, table_id)) {
        rc = flush_narrow(flush, table_id);
    }
    if (rc != 0)
        return rc;
    const struct manifest_state *state = manifest_state(flush->engine->manifest);
    bool schema_is_newer = schema_version(memtable->schema) > schema_version(state->schema);
    struct manifest_edit edit = {.added = flush->infos,
                                 .added_count = flush->count,
                                 .removed = flush->dropped,
                                 .removed_count = flush->dropped_count,
                                 .flushed_frame = memtable->frame_last,
                                 .schema = schema_is_newer ? memtable->schema : NULL,
                                 .timestamp_us = memtable->given_us};
    return manifest_apply(flush->engine->manifest, &edit, &flush->err);
}

static void flush_run(struct job *job)
{
    struct flush_job *flush = (struct flush_job *)job;
    flush->status = flush_write(flush);
}

/* Swap the memtable for its segments, in one turn of the engine thread. */
static void flush_publish(struct flush_job *flush)
{
    struct engine *engine = flush->engine;
    check(engine->frozen_count > 0 && engine->frozen[0] == flush->memtable);
    for (uint32_t i = 0; i < flush->count; i++) {
        engine_add_segment(engine, flush->segments[i]);
        engine_index_segment(engine, flush->segments[i]);
    }
    for (uint32_t i = 0; i < flush->dropped_count; i++)
        engine_remove_segment(engine, flush->dropped[i]);
    engine->frame_flushed = flush->memtable->frame_last;
    if (flush->memtable->given_us != 0)
        engine->timestamp_flushed_us = flush->memtable->given_us;
    if (schema_version(flush->memtable->schema) > schema_version(engine->schema_flushed)) {
        schema_unref(engine->schema_flushed);
        engine->schema_flushed = schema_ref(flush->memtable->schema);
    }
    engine->frozen_count--;
    for (uint32_t i = 0; i < engine->frozen_count; i++)
        engine->frozen[i] = engine->frozen[i + 1];
    if (engine->metric_flushes != NULL)
        engine->metric_flushes->value++;
}

/* Segments that are not going to be live: their files would only take space. */
static void flush_discard(struct flush_job *flush)
{
    for (uint32_t i = 0; i < flush->count; i++) {
        if (error_is_passing(flush->status))
            segment_remove_at_close(flush->segments[i]);
        segment_unref(flush->segments[i]);
    }
}

static void flush_free(struct flush_job *flush)
{
    memory_free(flush->infos);
    memory_free(flush->segments);
    memory_free(flush->dropped);
    memory_free(flush);
}

/* Whether segments hold what was there when a flush was last asked for. */
static bool is_flushed(const struct engine *engine)
{
    bool is_frozen =
        engine_open_is_empty(engine) || engine->open->frame_first > engine->flush_until;
    return is_frozen &&
           (engine->frozen_count == 0 || engine->frozen[0]->frame_first > engine->flush_until);
}

static void flush_done(struct job *job)
{
    struct flush_job *flush = (struct flush_job *)job;
    struct engine *engine = flush->engine;
    engine->flush = NULL;
    if (flush->status == 0) {
        engine->job_status[ENGINE_FLUSH] = 0;
        engine_waiting_update(engine);
        flush_publish(flush);
        commit_log_flushed(engine->log, flush->memtable->frame_last);
        engine_give_back(engine, flush->memtable);
        engine_start_flush(engine);
        engine_start_compaction(engine);
        if (is_flushed(engine))
            callbacks_call(&engine->flush_waiters, 0, NULL);
        engine_drain(engine);
    } else {
        flush_discard(flush);
        engine_job_failed(engine, ENGINE_FLUSH, flush->status, &flush->err);
    }
    flush_free(flush);
    engine_env_job_done(&engine->env);
}

/* What a dropped or truncated table left behind goes with the next flush. */
static void collect_dropped(struct flush_job *flush)
{
    struct engine *engine = flush->engine;
    flush->dropped = memory_alloc(engine->segment_count * sizeof(uint64_t));
    for (uint32_t i = 0; i < engine->segment_count; i++) {
        const struct segment_info *info = segment_info(engine->segments[i]);
        if (schema_table(flush->memtable->schema, info->table_id) == NULL &&
            !schema_is_unread(flush->memtable->schema, info->table_id) &&
            !engine_is_merging(engine, info->table_id))
            flush->dropped[flush->dropped_count++] = info->id;
    }
}

static struct flush_job *flush_new(struct engine *engine)
{
    struct flush_job *flush = memory_zeroed(1, sizeof(*flush));
    flush->job = (struct job){.run = flush_run, .done = flush_done};
    flush->engine = engine;
    flush->memtable = engine->frozen[0];
    collect_dropped(flush);
    return flush;
}

void engine_start_flush(struct engine *engine)
{
    if (engine->flush != NULL || engine->frozen_count == 0 || engine->env.failed != 0 ||
        engine_is_waiting_for_space(engine) || engine->env.options.read_only ||
        engine->log == NULL || engine->frozen[0]->frame_last > engine_durable_frame(engine)) {
        return;
    }
    engine->flush = flush_new(engine);
    engine_env_submit(&engine->env, LANE_BACKGROUND, &engine->flush->job);
}

int engine_flush_now(struct engine *engine, struct error *err)
{
    while (engine->frozen_count > 0) {
        struct flush_job *flush = flush_new(engine);
        flush_run(&flush->job);
        int rc = flush->status;
        if (rc == 0) {
            flush_publish(flush);
            memtable_unref(flush->memtable);
        } else {
            flush_discard(flush);
            if (err != NULL)
                *err = flush->err;
        }
        flush_free(flush);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int engine_flush_part(struct engine *engine, struct memtable *memtable, uint32_t table_id,
                      enum segment_kind kind, struct segment ***segments_out, uint32_t *count_out,
                      struct error *err)
{
    struct flush_job flush = {.engine = engine, .memtable = memtable};
    int rc = 0;
    pace_begin(&flush.pace, engine->env.world->clock, &engine->frames_sealed);
    for (uint32_t i = 0; rc == 0 && kind == SEGMENT_WIDE && i < memtable->wide_count; i++)
        if (memtable->wide[i].table_id == table_id)
            rc = flush_wide(&flush, &memtable->wide[i]);
    if (kind == SEGMENT_NARROW && schema_table(memtable->schema, table_id) != NULL)
        rc = flush_narrow(&flush, table_id);
    if (rc != 0)
        error_set(err, rc, "%s", flush.err.text);
    memory_free(flush.infos);
    *segments_out = flush.segments;
    *count_out = flush.count;
    return rc;
}

int engine_flush_op(struct store *store, store_done done, void *context, struct error *err)
{
    struct engine *engine = (struct engine *)store;
    int rc = engine_env_check_writable(&engine->env, err);
    if (rc != 0)
        return rc;
    engine->flush_until = engine->payload_frame - (engine->payload.size == 0);
    engine_request_freeze(engine);
    if (is_flushed(engine)) {
        if (done != NULL)
            done(context, 0, NULL);
        return 0;
    }
    callbacks_add(&engine->flush_waiters, done, context);
    engine_note_fill(engine);
    return 0;
}

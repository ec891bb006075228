/* Restamps a directory whose write timestamps are ahead of now.
 *
 * The timestamps of the store never go back.  So if its clock was ahead once, its writes win over
 * later writes to which drivers give the right time.  All timestamps between now and the last one
 * that the store gave are replaced (restamp.h), in every table.  They include timestamps of clients
 * in that range, which cannot be distinguished from the store's.
 *
 *     1 memtables are flushed, so that no frame of the log is replayed any more
 *     2 every segment with such times is read, and the times are noted
 *     3 these segments are written again with new times, as files that no manifest names
 *     4 one manifest record swaps all of them, lowers the last timestamp, and counts a purge
 *
 * A crash before step 4 is durable leaves all timestamps as they were.  Step 4 counts a purge, so
 * that later frames are never replayed over segments of an older backup, which have the old
 * timestamps. */
#include "base/memory.h"
#include "storage/engine/engine_private.h"
#include "storage/engine/partition_reader.h"
#include "storage/engine/run_change.h"
#include "storage/segment/row_segment.h"
#include "storage/cell/restamp.h"
#include "storage/segment/columnar_segment.h"

struct restamping {
    struct engine *engine;
    struct restamp times;
    uint64_t reported;
    struct segment **inputs; /* not referenced */
    uint32_t input_count;
    struct run_change change;
    struct error *err;
};

static int64_t note_time(void *context, int64_t timestamp_us)
{
    struct restamping *restamping = context;
    return restamp_note(&restamping->times, timestamp_us);
}

static int64_t new_time(void *context, int64_t timestamp_us)
{
    const struct restamping *restamping = context;
    return restamp_of(&restamping->times, timestamp_us);
}

static const struct table *table_of(const struct restamping *restamping,
                                    const struct segment *segment)
{
    return schema_table(restamping->engine->memtables.schema, segment_info(segment)->table_id);
}

/* ---- one segment ---- */

static int drain(struct stream *stream, struct error *err)
{
    struct unfiltered item;
    int rc = 1;
    while (rc > 0)
        rc = stream->next(stream, &item, err);
    return rc;
}

/* `writer` NULL: only note the times. */
static int row_pass(struct restamping *restamping, struct segment *segment,
                    struct row_segment_writer *writer)
{
    const struct table *table = table_of(restamping, segment);
    const struct view view = {.schema = restamping->engine->memtables.schema,
                              .segments = &segment,
                              .segment_count = 1,
                              .frame = UINT64_MAX};
    const struct restamp_each each = {writer != NULL ? new_time : note_time, restamping};
    struct partition_reader *reader = partition_reader_new(&view, table);
    struct slice slice = stream_slice_all();
    int64_t token = INT64_MIN;
    struct bytes key = {0};
    int rc = 0;
    for (bool after = false;
         rc == 0 && partition_reader_seek(reader, token, key, after, &token, &key); after = true) {
        struct stream *stream;
        rc = partition_reader_stream(reader, token, key, &slice, NULL, 0, NULL, &stream,
                                     restamping->err);
        if (rc != 0 || stream == NULL)
            continue;
        stream = restamp_of_stream(stream, each);
        rc = writer != NULL
                 ? row_segment_writer_partition(writer, token, key, stream, restamping->err)
                 : drain(stream, restamping->err);
        stream_close(stream);
    }
    partition_reader_free(reader);
    return rc;
}

static int row_write(struct restamping *restamping, struct segment *segment,
                     struct segment_info *info)
{
    struct row_segment_writer *writer;
    int rc = row_segment_writer_open(restamping->engine->env.world, info, &writer, restamping->err);
    if (rc != 0)
        return rc;
    rc = row_pass(restamping, segment, writer);
    rc = rc == 0 ? row_segment_writer_finish(writer, info, restamping->err) : rc;
    row_segment_writer_close(writer);
    return rc;
}

static void note_rows(struct restamping *restamping, const struct columnar_rows *rows)
{
    for (uint32_t i = 0; i < rows->rows; i++)
        note_time(restamping,
                  rows->timestamps_us != NULL ? rows->timestamps_us[i] : rows->timestamp_us);
}

static int columnar_note(struct restamping *restamping, struct segment *segment)
{
    const struct table *table = table_of(restamping, segment);
    struct columnar_segment_reader *reader = columnar_segment_reader_new(segment, table);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    struct columnar_rows rows;
    int rc = 0;
    columnar_rows_init(&rows, table);
    for (uint32_t i = 0; rc == 0 && i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        for (uint32_t piece = 0; rc == 0 && piece < partition->page_count; piece++) {
            rc = columnar_segment_reader_piece(reader, partition, piece, &rows, restamping->err);
            if (rc == 0)
                note_rows(restamping, &rows);
        }
    }
    columnar_rows_release(&rows);
    segment_cursor_give(segment, cursor);
    columnar_segment_reader_free(reader);
    return rc;
}

static int columnar_write(struct restamping *restamping, struct segment *segment,
                          struct segment_info *info)
{
    const struct columnar_segment_rules rules = {.context = restamping,
                                                 .restamp = new_time,
                                                 .page_rows =
                                                     restamping->engine->env.options.page_rows};
    return columnar_segment_merge(restamping->engine->env.world, table_of(restamping, segment),
                                  &segment, 1, info, &rules, info, restamping->err);
}

/* ---- all segments ---- */

/* Segments of counters are always read, because timestamp_max_us does not cover the times in
 * counters' values. */
static bool may_be_ahead(const struct restamping *restamping, const struct segment *segment)
{
    const struct table *table = table_of(restamping, segment);
    return table != NULL && (segment_info(segment)->timestamp_max_us > restamping->times.after_us ||
                             (table->flags & TABLE_COUNTER) != 0);
}

/* Called after the last segment of the table; the segments of a table are neighbours. */
static void report_table(struct restamping *restamping, const struct table *table)
{
    const struct engine_restamp *options = restamping->engine->env.options.restamp;
    uint64_t times = restamping->times.noted - restamping->reported;
    if (options->table != NULL && times > 0)
        options->table(options->context, table, times);
    restamping->reported = restamping->times.noted;
}

static int note_segment(struct restamping *restamping, struct segment *segment)
{
    uint64_t noted = restamping->times.noted;
    int rc = segment_info(segment)->kind == SEGMENT_COLUMNAR ? columnar_note(restamping, segment)
                                                             : row_pass(restamping, segment, NULL);
    if (rc == 0 && restamping->times.noted > noted)
        restamping->inputs[restamping->input_count++] = segment;
    return rc;
}

static int note_all(struct restamping *restamping)
{
    const struct engine *engine = restamping->engine;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < engine->runs.count; i++) {
        struct segment *segment = engine->runs.segments[i];
        const struct table *table = table_of(restamping, segment);
        if (may_be_ahead(restamping, segment))
            rc = note_segment(restamping, segment);
        bool is_last = i + 1 == engine->runs.count ||
                       table_of(restamping, engine->runs.segments[i + 1]) != table;
        if (rc == 0 && is_last)
            report_table(restamping, table);
    }
    restamp_settle(&restamping->times);
    return rc;
}

static int write_segment(struct restamping *restamping, struct segment *segment)
{
    struct engine *engine = restamping->engine;
    struct segment_info info = *segment_info(segment);
    info.id = run_set_next_id(&engine->runs);
    info.schema_version = schema_version(engine->memtables.schema);
    int rc = info.kind == SEGMENT_COLUMNAR ? columnar_write(restamping, segment, &info)
                                           : row_write(restamping, segment, &info);
    run_change_remove(&restamping->change, segment);
    return rc == 0 ? run_change_add(&restamping->change, &info, table_of(restamping, segment),
                                    restamping->err)
                   : rc;
}

static int write_all(struct restamping *restamping)
{
    struct engine *engine = restamping->engine;
    const struct manifest_edit edit = {.flushed_frame = engine->sequencer.frame - 1,
                                       .timestamp_us = restamping->times.end_us,
                                       .purges = engine->runs.purges + 1};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < restamping->input_count; i++)
        rc = write_segment(restamping, restamping->inputs[i]);
    bool may_be_named = rc == 0;
    rc = rc == 0 ? run_change_publish(&restamping->change, edit, restamping->err) : rc;
    if (rc == 0) {
        run_change_apply(&restamping->change);
        engine->runs.frame_flushed = edit.flushed_frame;
        engine->runs.timestamp_us = edit.timestamp_us;
        engine->clock.next_us = edit.timestamp_us + 1;
        engine->runs.purges = engine->maintenance.purges_begun = edit.purges;
        return 0;
    }
    /* After a publication that failed for good, it is unknown which files the manifest names. */
    if (!may_be_named || error_is_passing(rc))
        run_change_discard(&restamping->change);
    return rc;
}

static int restamp_all(struct engine *engine, struct engine_restamp *options, struct error *err)
{
    struct restamping restamping = {
        .engine = engine, .change = {.runs = &engine->runs}, .err = err};
    restamp_init(&restamping.times, options->now_us, options->before_us, RESTAMP_SPANS_MAX);
    restamping.inputs = memory_alloc(engine->runs.count * sizeof(*restamping.inputs));
    int rc = note_all(&restamping);
    options->after_us = restamping.times.end_us;
    if (rc == 0 && !options->is_dry_run)
        rc = write_all(&restamping);
    run_change_release(&restamping.change);
    memory_free(restamping.inputs);
    restamp_release(&restamping.times);
    return rc;
}

/* A directory without a mark of trusted time is not refused: the only substitute for the mark is
 * the newest write, which is itself ahead. */
static int refuse_doubt(const struct engine *engine, const struct clock_reading *now,
                        struct error *err)
{
    const struct clock_reading *mark = &manifest_state(engine->runs.manifest)->clock;
    struct trusted_clock clock;
    if (mark->wall_us == 0)
        return 0;
    trusted_clock_init(&clock, mark, now);
    if (!trusted_clock_look(&clock, now))
        return 0;
    return error_set(err, ERROR_CONFLICT,
                     "the machine's clock is in doubt; set it, or, if it is right, say so with "
                     "daybook clock accept, and mend after that");
}

int engine_restamp_now(struct engine *engine, struct error *err)
{
    struct engine_restamp *options = engine->env.options.restamp;
    const struct clock_reading now = trusted_clock_read(engine->env.world->clock);
    if (engine->env.options.read_only)
        return error_set(err, ERROR_READ_ONLY, "the directory was opened for reading only");
    /* At least 1: in counters and manifest edits, 0 means no time. */
    options->now_us = now.wall_us > 0 ? now.wall_us : 1;
    options->before_us = options->after_us = engine->clock.next_us - 1;
    int rc = refuse_doubt(engine, &now, err);
    if (rc != 0 || options->before_us <= options->now_us)
        return rc;
    sequencer_freeze(&engine->sequencer, engine->sequencer.frame - 1);
    rc = maintenance_flush_now(&engine->maintenance, err);
    return rc == 0 ? restamp_all(engine, options, err) : rc;
}

/* engine_compact: merges neighbouring runs of one table and kind into one, in the background.
 *
 * The merge is the read path written out.  Answers are the same before, during and after: inputs
 * stay live until one manifest record swaps them for the output, and jobs that read them hold
 * references, so their files go when the last reader does.
 *
 * Tombstones are purged only by a merge that takes in the table's oldest run, for then nothing is
 * left that they could hide; in ranked tables never yet, because a purged click's place must be
 * pinned first.  Counter shards are folded: each is in one run only, so the sum of the inputs'
 * shards stands for all of them. */
#include "storage/compact_plan.h"

#include "counters/counter_cell.h"
#include "storage/base/memory.h"
#include "storage/engine_private.h"
#include "storage/narrow_segment.h"
#include "storage/wide_segment.h"

struct compact_job {
    struct job job;
    struct engine *engine;
    struct schema *schema;
    const struct table *table;
    struct segment **inputs;           /* referenced, oldest first */
    uint32_t input_count;
    struct segment **exceptions;       /* referenced: the table's narrow runs, of a wide merge */
    uint32_t exception_count;
    bool purges;
    int64_t now_s;
    struct segment_info info;          /* of the output */
    struct segment *output;            /* NULL when nothing was left */
    int status;
    struct error err;
};

/* ---- folding counters ---- */

struct fold_stream {
    struct stream stream;
    struct stream *inner;
    struct arena *arena;               /* of the row yielded last */
};

static struct bytes fold_cell(struct fold_stream *fold, struct bytes value)
{
    struct buffer folded = {0};
    counter_fold(value, &folded);
    struct bytes kept = arena_copy(fold->arena, buffer_view(&folded));
    buffer_release(&folded);
    return kept;
}

static int fold_next(struct stream *stream, struct unfiltered *out, struct error *err)
{
    struct fold_stream *fold = (struct fold_stream *)stream;
    int rc = fold->inner->next(fold->inner, out, err);
    if (rc != 1 || out->kind != UNFILTERED_ROW || out->row.cell_count == 0) {
        return rc;
    }
    arena_reset(fold->arena);
    struct cell *cells = arena_alloc(fold->arena, out->row.cell_count * sizeof(struct cell), 16);
    for (uint32_t i = 0; i < out->row.cell_count; i++) {
        cells[i] = out->row.cells[i];
        if ((cells[i].flags & CELL_COUNTER) != 0) {
            cells[i].value = fold_cell(fold, cells[i].value);
        }
    }
    out->row.cells = cells;
    return 1;
}

static void fold_close(struct stream *stream)
{
    struct fold_stream *fold = (struct fold_stream *)stream;
    fold->inner->close(fold->inner);
    arena_free(fold->arena);
    memory_free(fold);
}

static struct stream *stream_folded(struct stream *inner)
{
    struct fold_stream *fold = memory_zeroed(1, sizeof(*fold));
    fold->stream = (struct stream){.table = inner->table,
                                   .partition_deletion = inner->partition_deletion,
                                   .next = fold_next,
                                   .close = fold_close};
    fold->inner = inner;
    fold->arena = arena_new(64 * 1024);
    return &fold->stream;
}

/* ---- the job ---- */

static int merge_partition(struct compact_job *compact, struct partition_reader *reader,
                           struct narrow_segment_writer *writer, int64_t token, struct bytes key)
{
    struct slice slice = slice_all();
    struct stream *stream;
    int rc = partition_reader_stream(reader, token, key, &slice, NULL, 0, NULL, &stream,
                                     &compact->err);
    if (rc != 0 || stream == NULL) {
        return rc;
    }
    if ((compact->table->flags & TABLE_COUNTER) != 0) {
        stream = stream_folded(stream);
    }
    if (compact->purges) {
        stream = stream_purged(stream, compact->now_s);
    }
    rc = narrow_segment_writer_partition(writer, token, key, stream, &compact->err);
    stream->close(stream);
    return rc;
}

static int merge_narrow(struct compact_job *compact)
{
    struct narrow_segment_writer *writer;
    struct world *world = compact->engine->world;
    int rc = narrow_segment_writer_open(world, &compact->info, &writer, &compact->err);
    if (rc != 0) {
        return rc;
    }
    struct view view = {.schema = compact->schema,
                        .segments = compact->inputs,
                        .segment_count = compact->input_count,
                        .frame = UINT64_MAX};
    struct partition_reader *reader = partition_reader_new(&view, compact->table);
    int64_t token = INT64_MIN;
    struct bytes key = {0};
    for (bool after = false;
         rc == 0 && partition_reader_seek(reader, token, key, after, &token, &key); after = true) {
        rc = merge_partition(compact, reader, writer, token, key);
    }
    partition_reader_free(reader);
    if (rc == 0) {
        rc = narrow_segment_writer_finish(writer, &compact->info, &compact->err);
    }
    narrow_segment_writer_close(writer);
    return rc;
}

/* A partition's rows may take one write timestamp, the newest, when nothing was deleted or
 * overwritten between them.  Exceptions of later frames are newer than all of them, and those of
 * the inputs' frames and before were flushed with them. */
static bool may_raise(void *context, int64_t token, struct bytes key)
{
    const struct compact_job *compact = context;
    for (uint32_t i = 0; i < compact->exception_count; i++) {
        if (segment_info(compact->exceptions[i])->frame_first <= compact->info.frame_last &&
            segment_find(compact->exceptions[i], token, key) != NULL) {
            return false;
        }
    }
    return true;
}

static int compact_write(struct compact_job *compact)
{
    struct world *world = compact->engine->world;
    compact->info.id = compact->engine->segment_id_next++;
    int rc = compact->info.kind == SEGMENT_WIDE
                 ? wide_segment_merge(world, compact->table, compact->inputs, compact->input_count,
                                      &compact->info, may_raise, compact, &compact->info,
                                      &compact->err)
                 : merge_narrow(compact);
    bool is_empty = compact->info.rows == 0 && compact->info.partitions == 0;
    if (rc == 0 && !is_empty) {
        rc = segment_open(world, &compact->info, &compact->output, &compact->err);
    }
    if (rc != 0) {
        return rc;
    }
    uint64_t removed[COMPACT_RUNS_MAX];
    for (uint32_t i = 0; i < compact->input_count; i++) {
        removed[i] = segment_info(compact->inputs[i])->id;
    }
    struct manifest_edit edit = {.added = &compact->info,
                                 .added_count = is_empty ? 0 : 1,
                                 .removed = removed,
                                 .removed_count = compact->input_count};
    return manifest_apply(compact->engine->manifest, &edit, &compact->err);
}

static void compact_run(struct job *job)
{
    struct compact_job *compact = (struct compact_job *)job;
    compact->status = compact_write(compact);
}

static void compact_done(struct job *job)
{
    struct compact_job *compact = (struct compact_job *)job;
    struct engine *engine = compact->engine;
    engine->compaction = NULL;
    for (uint32_t i = 0; i < compact->input_count; i++) {
        if (compact->status == 0) {
            engine_remove_segment(engine, segment_info(compact->inputs[i])->id);
        }
        segment_unref(compact->inputs[i]);
    }
    if (compact->status == 0 && compact->output != NULL) {
        engine_add_segment(engine, compact->output);
    }
    if (compact->status == 0 && engine->metric_compactions != NULL) {
        engine->metric_compactions->value++;
    }
    if (compact->status != 0) {
        if (compact->output != NULL && error_is_passing(compact->status)) {
            segment_remove_at_close(compact->output);
        }
        if (compact->output != NULL) {
            segment_unref(compact->output);
        }
        engine_job_failed(engine, compact->status, &compact->err);
    }
    for (uint32_t i = 0; i < compact->exception_count; i++) {
        segment_unref(compact->exceptions[i]);
    }
    schema_unref(compact->schema);
    memory_free(compact->exceptions);
    memory_free(compact->inputs);
    memory_free(compact);
    engine_start_compaction(engine);
    engine_job_done(engine);
}

/* ---- choosing ---- */

static void add_exceptions(struct compact_job *compact)
{
    struct engine *engine = compact->engine;
    compact->exceptions = memory_alloc(engine->segment_count * sizeof(struct segment *));
    for (uint32_t i = 0; i < engine->segment_count; i++) {
        const struct segment_info *info = segment_info(engine->segments[i]);
        if (info->table_id == compact->info.table_id && info->kind == SEGMENT_NARROW) {
            compact->exceptions[compact->exception_count++] = segment_ref(engine->segments[i]);
        }
    }
}

static void compact_submit(struct engine *engine, uint32_t start, uint32_t end, bool is_oldest)
{
    const struct segment_info *first = segment_info(engine->segments[start]);
    struct compact_job *compact = memory_zeroed(1, sizeof(*compact));
    compact->job = (struct job){.run = compact_run, .done = compact_done};
    compact->engine = engine;
    compact->schema = schema_ref(engine->schema);
    compact->table = schema_table(compact->schema, first->table_id);
    compact->purges = is_oldest && (compact->table->flags & TABLE_RANKED) == 0;
    compact->now_s = engine->world->clock->wall_us(engine->world->clock) / 1000000;
    compact->inputs = memory_alloc((end - start) * sizeof(struct segment *));
    compact->info = *first;
    compact->info.frame_last = segment_info(engine->segments[end - 1])->frame_last;
    compact->info.schema_version = schema_version(compact->schema);
    for (uint32_t i = start; i < end; i++) {
        compact->inputs[compact->input_count++] = segment_ref(engine->segments[i]);
        int64_t timestamp_us = segment_info(engine->segments[i])->timestamp_max_us;
        if (timestamp_us > compact->info.timestamp_max_us) {
            compact->info.timestamp_max_us = timestamp_us;
        }
    }
    if (compact->info.kind == SEGMENT_WIDE) {
        add_exceptions(compact);
    }
    engine->compaction = compact;
    engine_job_started(engine);
    engine->world->executor->submit(engine->world->executor, LANE_BACKGROUND, &compact->job);
}

/* The interval to merge among the neighbours [start, end) of one table and kind. */
static bool choose(const struct engine *engine, uint32_t start, uint32_t end, bool everything,
                   uint32_t *from_out, uint32_t *until_out)
{
    if (everything) {
        *from_out = start;
        *until_out = end - start > COMPACT_RUNS_MAX ? start + COMPACT_RUNS_MAX : end;
        return end - start > 1;
    }
    uint64_t *sizes = memory_alloc((end - start) * sizeof(uint64_t));
    for (uint32_t i = start; i < end; i++) {
        sizes[i - start] = segment_info(engine->segments[i])->size;
    }
    bool found = compact_plan(sizes, end - start, from_out, until_out);
    memory_free(sizes);
    *from_out += start;
    *until_out += start;
    return found;
}

void engine_start_compaction(struct engine *engine)
{
    if (engine->compaction != NULL || engine->failed != 0 || engine->options.read_only ||
        engine->is_closing || engine_is_waiting_for_space(engine)) {
        return;
    }
    bool everything = engine->compact_waiter_count > 0;
    for (uint32_t start = 0, end; start < engine->segment_count; start = end) {
        const struct segment_info *first = segment_info(engine->segments[start]);
        for (end = start + 1; end < engine->segment_count; end++) {
            const struct segment_info *info = segment_info(engine->segments[end]);
            if (info->table_id != first->table_id || info->kind != first->kind) {
                break;
            }
        }
        uint32_t from = 0;
        uint32_t until = 0;
        if (schema_table(engine->schema, first->table_id) != NULL &&
            choose(engine, start, end, everything, &from, &until)) {
            compact_submit(engine, from, until, from == start);
            return;
        }
    }
    callbacks_call(&engine->compact_waiters, &engine->compact_waiter_count, 0, NULL);
}

static void compact_flushed(void *context, int status, const struct error *err)
{
    struct engine *engine = context;
    if (status == 0) {
        engine_start_compaction(engine);
    } else {
        callbacks_call(&engine->compact_waiters, &engine->compact_waiter_count, status, err);
    }
}

int engine_compact_op(struct store *store, store_done done, void *context, struct error *err)
{
    struct engine *engine = (struct engine *)store;
    if (engine->options.read_only) {
        return error_set(err, ERROR_READ_ONLY, "the directory was opened for reading only");
    }
    callbacks_add(&engine->compact_waiters, &engine->compact_waiter_count, done, context);
    int rc = engine_flush_op(store, compact_flushed, engine, err);
    if (rc != 0) {
        engine->compact_waiter_count--;
    }
    return rc;
}

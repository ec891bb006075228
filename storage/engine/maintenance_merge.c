/* A columnar merge writes one columnar run; if it takes one day out of mixed runs, one for the day,
 * and one for the other days of each input that has some.  The latter has the frames of its input,
 * and therefore the same place in the order of runs.  Empty outputs are left out.
 *
 * Purging.  The deletions of a partition are dropped together with the rows that they hide.  The
 * merge must include every columnar run with rows of the partition, and all row runs.  Rows behind
 * a dropped one keep their ranks, which are then written explicitly (columnar_purge.h).  If
 * overwrites also correct remaining clicks, the partition is left as it is.  The other overwrites
 * become one row run, the only output if whole columnar runs are removed (maintenance_drop.h).
 *
 * A merge of row runs drops tombstones if it includes the oldest run of the table, because then no
 * older run has rows that they could hide.  Where clients give timestamps, more must hold
 * (maintenance_compact.c).  In event tables it drops none, because tombstones there hide rows of
 * columnar runs.
 *
 * Each counter shard is in one run only, so one sum replaces the shards of all inputs. */
#include "storage/engine/maintenance_merge.h"

#include "counters/counter_cell.h"
#include "base/memory.h"
#include "storage/engine/maintenance_drop.h"
#include "storage/segment/row_segment.h"
#include "storage/segment/columnar_purge.h"
#include "storage/segment/columnar_segment.h"

void maintenance_merge_list_add(struct segment_list *list, struct segment *segment)
{
    list->segments = memory_resize(list->segments, (list->count + 1) * sizeof(struct segment *));
    list->segments[list->count++] = segment;
}

/* ---- the end of the store ---- */

static int check_end(void *context, struct error *err)
{
    struct compact_job *compact = context;
    if (atomic_load_explicit(&compact->maintenance->merge_ends, memory_order_relaxed))
        return error_set(err, ERROR_CLOSED, "the store is closing");
    return 0;
}

/* ---- outputs ---- */

static struct segment_info info_of(const struct compact_job *compact,
                                   const struct segment_list *list, enum segment_kind kind)
{
    struct segment_info info = *segment_info(list->segments[0]);
    info.id = run_set_next_id(compact->maintenance->runs);
    info.kind = kind;
    info.schema_version = schema_version(compact->schema);
    for (uint32_t i = 1; i < list->count; i++) {
        const struct segment_info *more = segment_info(list->segments[i]);
        if (more->frame_last > info.frame_last)
            info.frame_last = more->frame_last;
        if (more->timestamp_max_us > info.timestamp_max_us)
            info.timestamp_max_us = more->timestamp_max_us;
    }
    return info;
}

/* ---- row runs ---- */

struct fold_stream {
    struct stream stream;
    struct stream *inner;
    struct arena *arena;
};

static struct bytes fold_cell(struct fold_stream *fold, struct bytes value)
{
    struct buffer folded = {0};
    counter_cell_fold(value, &folded);
    struct bytes kept = arena_copy(fold->arena, buffer_view(&folded));
    buffer_release(&folded);
    return kept;
}

static int fold_next(struct stream *stream, struct unfiltered *out, struct error *err)
{
    struct fold_stream *fold = (struct fold_stream *)stream;
    int rc = fold->inner->next(fold->inner, out, err);
    if (rc != 1 || out->kind != UNFILTERED_ROW || out->row.cell_count == 0)
        return rc;
    arena_reset(fold->arena);
    struct cell *cells = arena_alloc(fold->arena, out->row.cell_count * sizeof(struct cell), 16);
    for (uint32_t i = 0; i < out->row.cell_count; i++) {
        cells[i] = out->row.cells[i];
        if ((cells[i].flags & CELL_COUNTER) != 0)
            cells[i].value = fold_cell(fold, cells[i].value);
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

/* Tombstones of the partition that were written before this time are dropped; INT64_MIN: none
 * are. */
static int64_t purged_before(const struct compact_job *compact, int64_t token, struct bytes key)
{
    struct partition_index_entry entry;
    if (compact->purged != NULL && partition_index_find(compact->purged, token, key, &entry))
        return INT64_MAX;
    return compact->drops_tombstones ? compact->drops_before_us : INT64_MIN;
}

static int merge_partition(struct compact_job *compact, struct partition_reader *reader,
                           struct row_segment_writer *writer, int64_t token, struct bytes key)
{
    struct slice slice = stream_slice_all();
    struct stream *stream;
    int rc =
        partition_reader_stream(reader, token, key, &slice, NULL, 0, NULL, &stream, &compact->err);
    if (rc != 0 || stream == NULL)
        return rc;
    if ((compact->table->flags & TABLE_COUNTER) != 0)
        stream = stream_folded(stream);
    int64_t before_us = purged_before(compact, token, key);
    if (before_us != INT64_MIN)
        stream = stream_purged(stream, compact->now_s, before_us, &compact->has_dropped);
    rc = row_segment_writer_partition(writer, token, key, stream, &compact->err);
    stream->close(stream);
    return rc;
}

static int merge_row_runs(struct compact_job *compact, const struct segment_list *list)
{
    struct row_segment_writer *writer;
    struct segment_info info = info_of(compact, list, SEGMENT_ROW);
    int rc =
        row_segment_writer_open(compact->maintenance->env->world, &info, &writer, &compact->err);
    if (rc != 0)
        return rc;
    struct view view = {.schema = compact->schema,
                        .segments = list->segments,
                        .segment_count = list->count,
                        .frame = UINT64_MAX};
    struct partition_reader *reader = partition_reader_new(&view, compact->table);
    int64_t token = INT64_MIN;
    struct bytes key = {0};
    for (bool after = false;
         rc == 0 && partition_reader_seek(reader, token, key, after, &token, &key); after = true) {
        rc = merge_partition(compact, reader, writer, token, key);
        if (rc == 0)
            rc = check_end(compact, &compact->err);
    }
    partition_reader_free(reader);
    if (rc == 0)
        rc = row_segment_writer_finish(writer, &info, &compact->err);
    row_segment_writer_close(writer);
    return rc == 0 ? run_change_add(&compact->change, &info, compact->table, &compact->err) : rc;
}

/* ---- columnar runs ---- */

static bool takes(void *context, int64_t token, struct bytes key)
{
    const struct compact_job *compact = context;
    (void)token;
    return !compact->splits ||
           (segment_days_of_key(compact->table, key) == compact->day) == compact->takes_day;
}

/* Whether all rows of the partition may get the newest of their timestamps (columnar_segment.h):
 * true if the row runs have no overwrite of the partition.  Any overwrite of it is then in a later
 * frame, and newer than all rows of the inputs. */
static bool may_raise(void *context, int64_t token, struct bytes key)
{
    const struct compact_job *compact = context;
    return compact->reader == NULL || !partition_reader_has_overwrites(compact->reader, token, key);
}

static bool list_has(const struct segment_list *list, const struct segment_list *but, int32_t day,
                     int64_t token, struct bytes key)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct segment *segment = list->segments[i];
        bool is_left_out = false;
        for (uint32_t k = 0; but != NULL && k < but->count; k++)
            is_left_out |= but->segments[k] == segment;
        if (!is_left_out && segment_days_find(segment_days(segment), day) != NULL &&
            segment_has(segment, token, key)) {
            return true;
        }
    }
    return false;
}

/* *stream_out has the deletions that are dropped together with the rows that they hide; NULL: none
 * are dropped. */
static int deletions(void *context, int64_t token, struct bytes key, struct stream **stream_out,
                     struct error *err)
{
    struct compact_job *compact = context;
    const struct partition_stats none = {0};
    int32_t day = segment_days_of_key(compact->table, key);
    *stream_out = NULL;
    if (!compact->may_purge || may_raise(compact, token, key) ||
        list_has(&compact->beside, NULL, day, token, key) ||
        list_has(&compact->inputs, &compact->pass, day, token, key)) {
        return 0;
    }
    struct stream *stream;
    int rc = maintenance_drop_overwrites(compact, token, key, &stream, err);
    if (rc != 0 || stream == NULL)
        return rc;
    rc = columnar_purge_may(stream, err);
    if (rc != 1)
        return rc;
    rc = maintenance_drop_overwrites(compact, token, key, stream_out, err);
    if (rc == 0)
        partition_index_add(compact->purged, token, key, &none);
    return rc;
}

static int merge_pass(struct compact_job *compact, struct segment **inputs, uint32_t count)
{
    const struct columnar_segment_rules rules = {.context = compact,
                                                 .takes = takes,
                                                 .may_raise = may_raise,
                                                 .deletions = deletions,
                                                 .check_end = check_end,
                                                 .page_rows =
                                                     compact->maintenance->env->options.page_rows};
    compact->pass = (struct segment_list){inputs, count};
    struct segment_info info = info_of(compact, &compact->pass, SEGMENT_COLUMNAR);
    int rc = columnar_segment_merge(compact->maintenance->env->world, compact->table, inputs, count,
                                    &info, &rules, &info, &compact->err);
    return rc == 0 ? run_change_add(&compact->change, &info, compact->table, &compact->err) : rc;
}

static int merge_columnar_runs(struct compact_job *compact)
{
    int rc = compact->may_purge && compact->reader != NULL ? maintenance_drop_find(compact) : 0;
    compact->drops_whole = rc == 1;
    if (rc != 0)
        return rc < 0 ? rc : merge_row_runs(compact, &compact->overwrites);
    compact->takes_day = true;
    rc = merge_pass(compact, compact->inputs.segments, compact->inputs.count);
    compact->takes_day = false;
    for (uint32_t i = 0; rc == 0 && compact->splits && i < compact->inputs.count; i++)
        if (segment_days(compact->inputs.segments[i])->count > 1)
            rc = merge_pass(compact, &compact->inputs.segments[i], 1);
    if (rc == 0 && partition_index_count(compact->purged) > 0)
        rc = merge_row_runs(compact, &compact->overwrites);
    return rc;
}

void maintenance_merge_run(struct job *job)
{
    struct compact_job *compact = (struct compact_job *)job;
    if (compact->kind == SEGMENT_ROW) {
        compact->status = merge_row_runs(compact, &compact->inputs);
        return;
    }
    compact->purged = partition_index_new(compact->table->id);
    if (compact->overwrites.count > 0) {
        compact->overwrite_view = (struct view){.schema = compact->schema,
                                                .segments = compact->overwrites.segments,
                                                .segment_count = compact->overwrites.count,
                                                .frame = UINT64_MAX};
        compact->reader = partition_reader_new(&compact->overwrite_view, compact->table);
    }
    compact->status = merge_columnar_runs(compact);
    if (compact->reader != NULL)
        partition_reader_free(compact->reader);
}

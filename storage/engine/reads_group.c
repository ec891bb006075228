/* Counts and sums all rows of a table by the value of a column, or by partition.
 *
 * What decides correctness: a partition is counted in one way only.  Without overwrites, it has
 * only rows of append-only runs, which are summed run by run (columnar_sums.h).  With overwrites,
 * its live rows are read and counted one by one.
 *
 * Two jobs share the work.  Of each segment, one job takes the partitions that begin in even pages,
 * and the other those that begin in odd pages, so that few pages are decoded twice.  Of each
 * memtable, each job takes every other partition.  If the groups of one job take more than half of
 * the memory that the request allows, the call ends with ERROR_LIMIT. */
#include "base/hash64.h"
#include "base/memory.h"
#include "storage/engine/columnar_sums.h"
#include "storage/engine/partition_reader.h"
#include "storage/engine/reads.h"

enum { GROUP_PARTS = 2 };

struct group;

struct group_part {
    struct job job;
    struct group *group;
    uint32_t number;              /* 0 .. GROUP_PARTS - 1 */
    struct partition_index *sums; /* by the value's hash, then the value */
    int status;
    struct error err;
};

struct group {
    struct freeze_waiter waiter;
    struct reads *reads;
    struct group_request request;
    const struct table *table;
    bool has_overwrites;
    struct view view;
    struct group_part parts[GROUP_PARTS];
    uint32_t parts_left;
    store_figures figures;
    void *context;
};

/* ---- on a lane: append-only runs ---- */

static void part_add(void *context, struct bytes value, const struct partition_stats *sums)
{
    struct group_part *part = context;
    const struct group *group = part->group;
    if (group->request.takes == NULL || group->request.takes(group->context, &value))
        partition_index_add(part->sums, (int64_t)hash64(value.data, value.size), value, sums);
}

static void part_add_partition(struct group_part *part, struct bytes key,
                               struct partition_stats *sum)
{
    if (sum->rows > 0)
        part_add(part, key, sum);
    stats_release(sum);
}

static int part_limit(struct group_part *part)
{
    size_t most = part->group->request.bytes_max;
    if (most == 0 || partition_index_bytes(part->sums) <= most / GROUP_PARTS)
        return 0;
    return error_set(&part->err, ERROR_LIMIT, "sums of so many groups take too much memory");
}

static int part_segment(struct group_part *part, struct partition_reader *reader,
                        struct columnar_sums *sums, struct segment *segment)
{
    const struct group *group = part->group;
    struct segment_cursor *cursor = segment_cursor_take(segment);
    int rc = 0;
    columnar_sums_segment(sums, segment);
    for (uint32_t i = 0; rc == 0 && i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        struct partition_stats sum;
        if (partition->page_first % GROUP_PARTS != part->number ||
            (group->has_overwrites &&
             partition_reader_has_overwrites(reader, partition->token, partition->key)))
            continue;
        rc = columnar_sums_partition(sums, partition, &sum, part_add, part, &part->err);
        part_add_partition(part, partition->key, &sum);
        rc = rc == 0 ? part_limit(part) : rc;
    }
    segment_cursor_give(segment, cursor);
    rc = rc == 0 ? columnar_sums_end(sums, part_add, part, &part->err) : rc;
    return rc == 0 ? part_limit(part) : rc;
}

static int part_memtable(struct group_part *part, struct partition_reader *reader,
                         struct columnar_sums *sums, const struct memtable *memtable)
{
    const struct group *group = part->group;
    const struct columnar_memtable *columnar = memtable_columnar(memtable, group->request.table_id);
    uint32_t count = columnar == NULL ? 0 : columnar_memtable_partition_count(columnar);
    for (uint32_t i = part->number; i < count; i += GROUP_PARTS) {
        int64_t token = columnar_memtable_partition_token(columnar, i);
        struct bytes key = columnar_memtable_partition_key(columnar, i);
        struct partition_stats sum;
        if (group->has_overwrites && partition_reader_has_overwrites(reader, token, key))
            continue;
        columnar_sums_rows(sums, columnar, i, group->view.frame, &sum);
        part_add_partition(part, key, &sum);
    }
    int rc = columnar_sums_end(sums, part_add, part, &part->err);
    return rc == 0 ? part_limit(part) : rc;
}

static int part_appended(struct group_part *part, struct partition_reader *reader)
{
    const struct group *group = part->group;
    const struct view *view = &group->view;
    if ((group->table->flags & TABLE_OF_EVENTS) == 0)
        return 0;
    struct columnar_sums *sums = columnar_sums_new(group->table, group->request.column_id);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < view->segment_count; i++)
        if (segment_info(view->segments[i])->kind == SEGMENT_COLUMNAR)
            rc = part_segment(part, reader, sums, view->segments[i]);
    for (uint32_t i = 0; rc == 0 && i < view->frozen_count; i++)
        rc = part_memtable(part, reader, sums, view->frozen[i]);
    columnar_sums_free(sums);
    return rc;
}

/* ---- on a lane: partitions with overwrites ---- */

static int part_live_rows(struct group_part *part, struct stream *stream, struct bytes key)
{
    const struct group *group = part->group;
    uint32_t summed = reads_summed_column(group->table);
    struct unfiltered item;
    int rc;
    while ((rc = stream->next(stream, &item, &part->err)) == 1) {
        struct page_row row = {.key = key, .row = item.row};
        struct partition_stats one = {0};
        struct bytes value = {0};
        rc = reads_sum_row(group->table, &row, summed, &one, &part->err);
        if (rc != 0)
            return rc;
        if (group->request.column_id == 0)
            value = key;
        else
            store_row_value(group->table, &row, group->request.column_id, &value);
        part_add(part, value, &one);
    }
    return rc == 0 ? part_limit(part) : rc;
}

static int part_live(struct group_part *part, struct partition_reader *reader, int64_t token,
                     struct bytes key)
{
    struct slice slice = stream_slice_all();
    struct stream *stream;
    slice.with_static = false;
    int rc =
        partition_reader_stream(reader, token, key, &slice, NULL, 0, NULL, &stream, &part->err);
    if (rc != 0 || stream == NULL)
        return rc;
    stream = stream_live(stream, world_wall_us(part->group->reads->env->world) / 1000000);
    rc = part_live_rows(part, stream, key);
    stream->close(stream);
    return rc;
}

static int part_overwrites(struct group_part *part, struct partition_reader *reader)
{
    int64_t token = INT64_MIN;
    struct bytes key = {0};
    uint32_t number = 0;
    int rc = 0;
    for (bool after = false;
         rc == 0 && partition_reader_seek(reader, token, key, after, &token, &key); after = true)
        if (number++ % GROUP_PARTS == part->number &&
            partition_reader_has_overwrites(reader, token, key))
            rc = part_live(part, reader, token, key);
    return rc;
}

static void part_run(struct job *job)
{
    struct group_part *part = (struct group_part *)job;
    struct partition_reader *reader = partition_reader_new(&part->group->view, part->group->table);
    part->status = part_appended(part, reader);
    if (part->status == 0 && part->group->has_overwrites)
        part->status = part_overwrites(part, reader);
    partition_reader_free(reader);
}

/* ---- on the engine thread ---- */

static void group_free(struct group *group)
{
    struct reads *reads = group->reads;
    for (uint32_t i = 0; i < GROUP_PARTS; i++)
        partition_index_free(group->parts[i].sums);
    if (group->view.schema != NULL)
        view_release(&group->view);
    memory_free(group);
    engine_env_job_done(reads->env);
}

static void group_tell(struct group *group)
{
    struct partition_index *sums = group->parts[0].sums;
    struct partition_index_entry entry;
    for (uint32_t i = 1; i < GROUP_PARTS; i++) {
        for (uint32_t place = 0; partition_index_next(group->parts[i].sums, &place, &entry);)
            partition_index_add(sums, entry.token, entry.key, &entry.stats);
        partition_index_free(group->parts[i].sums);
        group->parts[i].sums = NULL;
    }
    uint32_t count = partition_index_count(sums);
    struct partition_figure *figures = memory_alloc(count * sizeof *figures);
    uint32_t place = 0;
    for (uint32_t i = 0; partition_index_next(sums, &place, &entry); i++)
        figures[i] = (struct partition_figure){.key = entry.key, .stats = entry.stats};
    group->figures(group->context, 0, NULL, figures, count, (struct bytes){0});
    memory_free(figures);
}

static void part_done(struct job *job)
{
    struct group *group = ((struct group_part *)job)->group;
    const struct group_part *failed = NULL;
    if (--group->parts_left > 0)
        return;
    for (uint32_t i = GROUP_PARTS; i > 0; i--)
        if (group->parts[i - 1].status != 0)
            failed = &group->parts[i - 1];
    if (failed != NULL)
        group->figures(group->context, failed->status, &failed->err, NULL, 0, (struct bytes){0});
    else
        group_tell(group);
    group_free(group);
}

static bool view_has_overwrites(const struct view *view, uint32_t table_id)
{
    for (uint32_t i = 0; i < view->segment_count; i++)
        if (segment_info(view->segments[i])->kind == SEGMENT_ROW)
            return true;
    for (uint32_t i = 0; i < view->frozen_count; i++)
        if (row_memtable_has_table(view->frozen[i]->rows, table_id))
            return true;
    return false;
}

static void group_begin(struct freeze_waiter *waiter, int status)
{
    static const enum executor_lane lanes[GROUP_PARTS] = {LANE_SCAN, LANE_SCAN_BESIDE};
    struct group *group = (struct group *)waiter;
    struct reads *reads = group->reads;
    if (status != 0) {
        group->figures(group->context, status, &reads->env->failure, NULL, 0, (struct bytes){0});
        group_free(group);
        return;
    }
    view_take(reads->memtables, reads->runs, group->request.table_id, true,
              sequencer_durable_frame(reads->sequencer), &group->view);
    group->table = schema_table(group->view.schema, group->request.table_id);
    group->has_overwrites = view_has_overwrites(&group->view, group->request.table_id);
    group->parts_left = GROUP_PARTS;
    for (uint32_t i = 0; i < GROUP_PARTS; i++)
        world_submit(reads->env->world, lanes[i], &group->parts[i].job, part_run, part_done);
}

int reads_group(struct reads *reads, const struct group_request *request, store_figures figures,
                void *context, struct error *err)
{
    uint32_t table_id = request->table_id;
    uint32_t column_id = request->column_id;
    const struct table *table = reads_table_of_rows(reads, table_id, column_id, err);
    if (table == NULL)
        return ERROR_INVALID;
    const struct column *column = column_id == 0 ? NULL : schema_column(table, column_id);
    if (column_id != 0 && (column == NULL || column->kind == COLUMN_PARTITION ||
                           block_vector_kind(column->type) != VECTOR_CODE))
        return error_set(err, ERROR_INVALID, "rows cannot be grouped by column %u", column_id);
    struct group *group = memory_zeroed(1, sizeof *group);
    group->waiter.resume = group_begin;
    group->reads = reads;
    group->request = *request;
    group->figures = figures;
    group->context = context;
    for (uint32_t i = 0; i < GROUP_PARTS; i++) {
        struct group_part *part = &group->parts[i];
        part->group = group;
        part->number = i;
        part->sums = partition_index_new(table_id);
    }
    reads->env->jobs++;
    sequencer_freeze_table_then(reads->sequencer, table_id, &group->waiter);
    return 0;
}

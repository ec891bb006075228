#include "storage/engine/flush_writer.h"

#include "base/memory.h"
#include "storage/segment/row_segment.h"
#include "storage/segment/columnar_segment.h"

/* The most days of a table with separate segments in one flush. */
enum { OWN_DAYS_MAX = 64 };

void flush_writer_init(struct flush_writer *flush, struct run_set *runs, struct memtable *memtable)
{
    *flush = (struct flush_writer){.memtable = memtable, .change = {.runs = runs}};
}

static struct segment_info info_for(struct flush_writer *flush, uint32_t table_id,
                                    enum segment_kind kind)
{
    return (struct segment_info){.id = run_set_next_id(flush->change.runs),
                                 .table_id = table_id,
                                 .kind = kind,
                                 .frame_first = flush->memtable->frame_first,
                                 .frame_last = flush->memtable->frame_last,
                                 .timestamp_max_us = flush->memtable->timestamp_max_us,
                                 .schema_version = schema_version(flush->memtable->schema)};
}

/* ---- appended rows ---- */

/* The rows of one segment: of one day, or of all days without a separate segment. */
struct columnar_share {
    const struct columnar_memtable *columnar;
    const struct table *table;
    const int32_t *days;
    const struct segment_days *own;
    bool is_rest;
    int32_t day; /* not set if is_rest */
};

static bool share_takes(const struct columnar_share *share, uint32_t place)
{
    int32_t day = share->days[place];
    return share->is_rest ? segment_days_find(share->own, day) == NULL : day == share->day;
}

static int write_columnar_partition(struct flush_writer *flush,
                                    struct columnar_segment_writer *writer,
                                    const struct columnar_memtable *columnar, uint32_t partition,
                                    const struct columnar_rows *rows)
{
    int64_t token = columnar_memtable_partition_token(columnar, partition);
    struct bytes key = columnar_memtable_partition_key(columnar, partition);
    int rc = columnar_segment_writer_begin(writer, token, key, rows->rows, &flush->err);
    if (rc == 0)
        rc = columnar_segment_writer_rows(writer, rows, &flush->err);
    return rc == 0 ? columnar_segment_writer_end(writer, &flush->err) : rc;
}

static int write_columnar_partitions(struct flush_writer *flush,
                                     struct columnar_segment_writer *writer,
                                     const struct columnar_share *share)
{
    const struct columnar_memtable *columnar = share->columnar;
    struct columnar_rows rows;
    columnar_rows_init(&rows, share->table);
    const uint32_t *order = columnar_memtable_order(columnar);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < columnar_memtable_partition_count(columnar); i++) {
        if (!share_takes(share, i))
            continue;
        columnar_memtable_rows(columnar, order[i], UINT64_MAX, &rows);
        if (rows.rows > 0)
            rc = write_columnar_partition(flush, writer, columnar, order[i], &rows);
    }
    columnar_rows_release(&rows);
    return rc;
}

static int flush_share(struct flush_writer *flush, const struct columnar_share *share)
{
    struct segment_info info = info_for(flush, share->table->id, SEGMENT_COLUMNAR);
    struct columnar_segment_writer *writer;
    const struct engine_env *env = flush->change.runs->env;
    int rc = columnar_segment_writer_open(env->world, share->table, &info, env->options.page_rows,
                                          &writer, &flush->err);
    if (rc != 0)
        return rc;
    rc = write_columnar_partitions(flush, writer, share);
    if (rc == 0)
        rc = columnar_segment_writer_finish(writer, &info, &flush->err);
    columnar_segment_writer_close(writer);
    return rc == 0 ? run_change_add(&flush->change, &info, share->table, &flush->err) : rc;
}

/* `days` has an element for each partition.  True: some days have no separate segment. */
static bool days_of(const struct flush_writer *flush, const struct columnar_memtable *columnar,
                    const struct table *table, int32_t *days, struct segment_days *own)
{
    const uint32_t *order = columnar_memtable_order(columnar);
    struct segment_days all = {0};
    for (uint32_t i = 0; i < columnar_memtable_partition_count(columnar); i++) {
        days[i] = segment_days_of_key(table, columnar_memtable_partition_key(columnar, order[i]));
        segment_days_add(&all, days[i],
                         columnar_memtable_stats(columnar, order[i], UINT64_MAX).rows);
    }
    for (uint32_t i = 0; i < all.count && own->count < OWN_DAYS_MAX; i++)
        if (all.days[i].rows >= flush->change.runs->env->options.day_rows_min)
            segment_days_add(own, all.days[i].day, all.days[i].rows);
    bool has_rest = own->count < all.count;
    segment_days_release(&all);
    return has_rest;
}

static int flush_columnar(struct flush_writer *flush, const struct columnar_part *part)
{
    const struct table *table = schema_table(flush->memtable->schema, part->table_id);
    int32_t *days = memory_alloc(columnar_memtable_partition_count(part->rows) * sizeof *days);
    struct segment_days own = {0};
    struct columnar_share share = {
        .columnar = part->rows, .table = table, .days = days, .own = &own};
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

/* ---- rows and counters ---- */

static int write_row_partitions(struct flush_writer *flush, struct row_segment_writer *writer,
                                const struct table *table)
{
    const struct memtable *memtable = flush->memtable;
    const struct slice slice = stream_slice_all();
    int64_t token = INT64_MIN;
    struct bytes key = {0};
    int rc = 0;
    for (bool after = false;
         rc == 0 && memtable_seek(memtable, table, token, key, after, &token, &key); after = true) {
        struct stream *streams[2];
        uint32_t count =
            memtable_row_streams(memtable, table, token, key, &slice, UINT64_MAX, NULL, 0, streams);
        struct stream *stream = stream_merge(table, streams, count, false);
        rc = row_segment_writer_partition(writer, token, key, stream, &flush->err);
        stream->close(stream);
    }
    return rc;
}

static int flush_row_runs(struct flush_writer *flush, uint32_t table_id)
{
    const struct table *table = schema_table(flush->memtable->schema, table_id);
    struct segment_info info = info_for(flush, table_id, SEGMENT_ROW);
    struct row_segment_writer *writer;
    int rc = row_segment_writer_open(flush->change.runs->env->world, &info, &writer, &flush->err);
    if (rc != 0)
        return rc;
    rc = write_row_partitions(flush, writer, table);
    if (rc == 0)
        rc = row_segment_writer_finish(writer, &info, &flush->err);
    row_segment_writer_close(writer);
    return rc == 0 ? run_change_add(&flush->change, &info, table, &flush->err) : rc;
}

/* ---- the whole memtable, or a table of it ---- */

static bool is_wanted(const struct segment_info *only, uint32_t table_id, enum segment_kind kind)
{
    return only == NULL || (only->table_id == table_id && only->kind == kind);
}

int flush_writer_write(struct flush_writer *flush, const struct segment_info *only)
{
    struct memtable *memtable = flush->memtable;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < memtable->columnar_count; i++)
        if (is_wanted(only, memtable->columnar[i].table_id, SEGMENT_COLUMNAR))
            rc = flush_columnar(flush, &memtable->columnar[i]);
    for (uint32_t table_id = memtable_next_table(memtable, 0); rc == 0 && table_id != 0;
         table_id = memtable_next_table(memtable, table_id)) {
        if (is_wanted(only, table_id, SEGMENT_ROW))
            rc = flush_row_runs(flush, table_id);
    }
    return rc;
}

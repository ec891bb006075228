/* Checks the manifest and its copy, then every page of each segment whose table is in the schema.
 * Columnar rows, also those in memory, are compared with their stats.  Cells of row segments are
 * checked against the types of their columns; cells in memory were checked when they were written.
 *
 * After damage the scrub continues with the next partition.  Findings are reported on the engine
 * thread at the end. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "storage/engine/reads.h"
#include "storage/engine/run_rebuild.h"
#include "storage/segment/columnar_segment.h"
#include "storage/segment/row_segment.h"

enum { FINDINGS_MAX = 1000, PARTITION_ROWS_MAX = 1 << 26 };

struct scrub_job {
    struct job job;
    struct freeze_waiter waiter;
    struct reads *reads;
    struct view view;
    const struct table *table;
    char path[64];          /* of the checked segment, or "memory" */
    struct buffer findings; /* lines, separated by NUL */
    uint32_t finding_count;
    int status;
    void (*found)(void *context, const char *text);
    store_done done;
    void *context;
};

/* False: too many findings were listed already. */
static bool scrub_begins_line(struct scrub_job *scrub)
{
    if (++scrub->finding_count > FINDINGS_MAX)
        return false;
    if (scrub->finding_count > 1)
        buffer_put_u8(&scrub->findings, 0);
    return true;
}

/* True: more may be appended to the finding's line. */
static bool scrub_found(struct scrub_job *scrub, struct bytes key, const char *detail)
{
    if (!scrub_begins_line(scrub))
        return false;
    buffer_printf(&scrub->findings, "%s: table %s.%s, partition 0x", scrub->path,
                  scrub->table->keyspace, scrub->table->name);
    for (size_t i = 0; i < key.size && i < 64; i++)
        buffer_printf(&scrub->findings, "%02x", key.data[i]);
    buffer_printf(&scrub->findings, ": %s", detail);
    return true;
}

/* Add the advice on whether the segment can be made again from the log.  The log may reuse files
 * while this function reads them; the advice then says that frames are missing. */
static void scrub_advise(struct scrub_job *scrub, const struct segment_info *info)
{
    char advice[RUN_REBUILD_ADVICE_MAX];
    if (!scrub_begins_line(scrub))
        return;
    run_rebuild_advise(scrub->reads->env->world, info, scrub->table, "daybook serve --salvage",
                       advice);
    buffer_printf(&scrub->findings, "%s: damaged; %s", scrub->path, advice);
}

static void compare_stats(struct scrub_job *scrub, struct bytes key,
                          const struct columnar_rows *rows, const struct partition_stats *kept)
{
    struct partition_stats counted = {0};
    columnar_rows_stats(rows, &counted);
    if (!stats_equal(&counted, kept)) {
        char detail[128];
        snprintf(detail, sizeof(detail),
                 "stats say %" PRIu64 " rows, there are %" PRIu64 ", or their sums differ",
                 kept->rows, counted.rows);
        scrub_found(scrub, key, detail);
    }
    stats_release(&counted);
}

static bool span_has(const struct segment *segment, const struct table *table,
                     const struct unfiltered *item)
{
    const struct clustering *clustering = &item->row.clustering;
    struct slice slice = {.start = {*clustering, BOUND_BEFORE}, .end = {*clustering, BOUND_AFTER}};
    return item->kind == UNFILTERED_BOUND || row_segment_may_meet(segment, table, &slice);
}

/* A value that its type does not allow is not damage: the page's checksum is right, and an earlier
 * version wrote the value. */
static void check_item(struct scrub_job *scrub, struct bytes key, const struct unfiltered *item)
{
    struct error err;
    if (mutation_check_item(scrub->table, item, &err) != 0 && scrub_found(scrub, key, err.text))
        buffer_append_text(&scrub->findings, "; the page is whole: an earlier version wrote it so; "
                                             "written anew, it is right");
}

/* Counts rows, bounds and the partition's deletion, as the directory of a row segment does. */
static int drain_stream(struct scrub_job *scrub, const struct segment *segment, struct bytes key,
                        struct stream *stream, uint64_t *items, struct error *err)
{
    struct unfiltered item;
    int rc;
    *items = stream->partition_deletion.timestamp_us != TIMESTAMP_NONE;
    while ((rc = stream->next(stream, &item, err)) == 1) {
        (*items)++;
        if (!span_has(segment, stream->table, &item)) {
            rc = error_set(err, ERROR_CORRUPT, "a row lies outside of the segment's span");
            break;
        }
        check_item(scrub, key, &item);
    }
    stream->close(stream);
    return rc;
}

static int scrub_row_partition(struct scrub_job *scrub, struct segment *segment,
                               const struct segment_partition *partition, struct error *err)
{
    const struct slice slice = stream_slice_all();
    struct stream *stream;
    uint64_t items = 0;
    int rc = row_segment_stream(segment, scrub->table, partition->token, partition->key, &slice,
                                &stream, err);
    if (rc == 0 && stream != NULL)
        rc = drain_stream(scrub, segment, partition->key, stream, &items, err);
    if (rc == 0 && items != partition->rows)
        rc = error_set(err, ERROR_CORRUPT,
                       "the directory says %" PRIu64 " items, there are %" PRIu64, partition->rows,
                       items);
    return rc;
}

/* Returns whether reading a partition gave ERROR_CORRUPT; wrong stats and values do not count. */
static bool scrub_segment(struct scrub_job *scrub, struct segment *segment)
{
    bool is_columnar = segment_info(segment)->kind == SEGMENT_COLUMNAR;
    struct columnar_segment_reader *reader =
        is_columnar ? columnar_segment_reader_new(segment, scrub->table) : NULL;
    struct columnar_rows rows;
    if (is_columnar)
        columnar_rows_init(&rows, scrub->table);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    bool is_damaged = false;
    for (uint32_t i = 0; i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        struct error err = {0};
        int rc = is_columnar ? columnar_segment_reader_rows(reader, partition, PARTITION_ROWS_MAX,
                                                            &rows, &err)
                             : scrub_row_partition(scrub, segment, partition, &err);
        if (rc != 0)
            scrub_found(scrub, partition->key, err.text);
        else if (is_columnar)
            compare_stats(scrub, partition->key, &rows, partition->stats);
        is_damaged = is_damaged || rc == ERROR_CORRUPT;
    }
    segment_cursor_give(segment, cursor);
    if (is_columnar) {
        columnar_rows_release(&rows);
        columnar_segment_reader_free(reader);
    }
    return is_damaged;
}

/* Check the zeros that fill the last block before the footer.  A finding gets no advice, because no
 * data is lost. */
static void scrub_zeros(struct scrub_job *scrub, struct segment *segment)
{
    struct error err = {0};
    if (segment_check_zeros(segment, &err) != 0 && scrub_begins_line(scrub))
        buffer_append_text(&scrub->findings, err.text);
}

static void scrub_memtable(struct scrub_job *scrub, const struct memtable *memtable)
{
    for (uint32_t w = 0; w < memtable->columnar_count; w++) {
        const struct columnar_memtable *columnar = memtable->columnar[w].rows;
        struct columnar_rows rows;
        scrub->table = schema_table(memtable->schema, memtable->columnar[w].table_id);
        columnar_rows_init(&rows, scrub->table);
        for (uint32_t p = 0; p < columnar_memtable_partition_count(columnar); p++) {
            columnar_memtable_rows(columnar, p, UINT64_MAX, &rows);
            const struct partition_stats stats = columnar_memtable_stats(columnar, p, UINT64_MAX);
            compare_stats(scrub, columnar_memtable_partition_key(columnar, p), &rows, &stats);
        }
        columnar_rows_release(&rows);
    }
}

static void scrub_run(struct job *job)
{
    struct scrub_job *scrub = (struct scrub_job *)job;
    for (uint32_t i = 0; i < scrub->view.segment_count; i++) {
        struct segment *segment = scrub->view.segments[i];
        const struct segment_info *info = segment_info(segment);
        scrub->table = schema_table(scrub->view.schema, info->table_id);
        segment_path(info->id, scrub->path);
        if (scrub->table == NULL)
            continue;
        if (scrub_segment(scrub, segment))
            scrub_advise(scrub, info);
        scrub_zeros(scrub, segment);
    }
    snprintf(scrub->path, sizeof scrub->path, "memory");
    for (uint32_t i = 0; i < scrub->view.frozen_count; i++)
        scrub_memtable(scrub, scrub->view.frozen[i]);
}

static void scrub_done(struct job *job)
{
    struct scrub_job *scrub = (struct scrub_job *)job;
    struct reads *reads = scrub->reads;
    buffer_put_u8(&scrub->findings, 0);
    for (size_t at = 0, count = 0; count < scrub->finding_count && count < FINDINGS_MAX; count++) {
        const char *line = (const char *)scrub->findings.data + at;
        scrub->found(scrub->context, line);
        at += strlen(line) + 1;
    }
    if (scrub->finding_count > FINDINGS_MAX)
        scrub->found(scrub->context, "more was found than is listed");
    scrub->done(scrub->context, scrub->status, scrub->status == 0 ? NULL : &reads->env->failure);
    if (scrub->view.schema != NULL)
        view_release(&scrub->view);
    buffer_release(&scrub->findings);
    memory_free(scrub);
    engine_env_job_done(reads->env);
}

static void scrub_begin(struct freeze_waiter *waiter, int status)
{
    struct scrub_job *scrub =
        (struct scrub_job *)(void *)((char *)waiter - offsetof(struct scrub_job, waiter));
    struct reads *reads = scrub->reads;
    if (status != 0) {
        scrub->status = status;
        scrub_done(&scrub->job);
        return;
    }
    view_take(reads->memtables, reads->runs, 0, true, sequencer_durable_frame(reads->sequencer),
              &scrub->view);
    world_submit(reads->env->world, LANE_SCAN, &scrub->job, scrub_run, scrub_done);
}

static void scrub_manifest(struct job *job)
{
    struct scrub_job *scrub = (struct scrub_job *)job;
    struct error err = {0};
    if (manifest_verify(scrub->reads->runs->manifest, &err) != 0 && scrub_begins_line(scrub))
        buffer_append_text(&scrub->findings, err.text);
}

/* The freeze comes after the check of the manifest, because the freeze begins a flush, which would
 * delay the check. */
static void scrub_freeze(struct job *job)
{
    struct scrub_job *scrub = (struct scrub_job *)job;
    if (scrub->reads->env->failed != 0)
        scrub_begin(&scrub->waiter, ERROR_FAILED);
    else
        sequencer_freeze_then(scrub->reads->sequencer, &scrub->waiter);
}

int reads_scrub(struct reads *reads, void (*found)(void *context, const char *text),
                store_done done, void *context, struct error *err)
{
    int rc = engine_env_check(reads->env, err);
    if (rc != 0)
        return rc;
    struct scrub_job *scrub = memory_zeroed(1, sizeof(*scrub));
    scrub->waiter.resume = scrub_begin;
    scrub->reads = reads;
    scrub->found = found;
    scrub->done = done;
    scrub->context = context;
    engine_env_submit(reads->env, LANE_BACKGROUND, &scrub->job, scrub_manifest, scrub_freeze);
    return 0;
}

/* What decides correctness: the new segment is used only if its footer equals that of the damaged
 * file, except for id and schema version.  The footer covers every byte by checksums, so the new
 * segment has the bytes that the damaged one had before the damage.  The comparison can fail for
 * these reasons:
 *
 *   - A merge of clicks wrote the segment; only a flush writes the same bytes for the same frames.
 *   - The table was changed since.  The frames are read with the present schema, unless the first
 *     frame has another.
 *   - Another version of zstd, or of this program, may give other bytes. */
#include "storage/engine/run_rebuild.h"

#include <inttypes.h>
#include <stdio.h>

#include "storage/engine/flush_writer.h"
#include "storage/log/commit_log.h"
#include "storage/log/frame_batches.h"

struct rebuild {
    struct run_set *runs;
    const struct run_rebuild_parts *parts;
    const struct segment_info *damaged;
    struct schema *schema;     /* referenced */
    struct memtable *memtable; /* NULL until the first frame */
};

/* A memtable has one schema, so later frames must not change it.  `context` NULL: the frame is only
 * read. */
static int take_frame(void *context, uint64_t number, int64_t timestamp_us, struct bytes payload,
                      struct error *err)
{
    struct rebuild *rebuild = context;
    struct frame_batches frame;
    (void)timestamp_us;
    if (rebuild == NULL)
        return 0;
    rebuild->parts->cells->frame = number;
    const struct cell_salvage salvage = skipped_cells_salvage(rebuild->parts->cells);
    int rc = frame_batches_parse(payload, &rebuild->schema, &salvage, &frame, err);
    if (rc == 0 && rebuild->memtable == NULL)
        rebuild->memtable =
            memtable_new(rebuild->schema, rebuild->damaged->frame_first, rebuild->parts->supply);
    if (rc == 0 && rebuild->memtable->schema != rebuild->schema)
        rc = error_set(err, ERROR_CONFLICT, "frame %" PRIu64 " changed the schema", number);
    for (uint32_t i = 0; rc == 0 && i < frame.count; i++)
        (void)memtable_apply(rebuild->memtable, frame.batches[i], number, frame.timestamps_us[i]);
    frame_batches_release(&frame);
    return rc;
}

static int read_log(struct world *world, const struct segment_info *damaged,
                    struct rebuild *rebuild, struct error *err)
{
    const struct commit_log_range range = {.frame_after = damaged->frame_first - 1,
                                           .frame_until = damaged->frame_last,
                                           .timestamp_until_us = INT64_MAX,
                                           .with_archive = true,
                                           .purges = UINT64_MAX};
    int rc = commit_log_read(world, &range, take_frame, rebuild, err);
    if (rc != 0)
        error_wrap(err, "the log does not give frames %" PRIu64 " to %" PRIu64,
                   damaged->frame_first, damaged->frame_last);
    return rc;
}

static int read_frames(struct rebuild *rebuild, struct error *err)
{
    int rc = read_log(rebuild->runs->env->world, rebuild->damaged, rebuild, err);
    if (rc == 0)
        memtable_freeze(rebuild->memtable, rebuild->damaged->frame_last);
    return rc;
}

/* Keep only the segment whose footer equals that of the damaged one. */
static int write_again(struct rebuild *rebuild, struct segment **segment_out, struct error *err)
{
    const struct segment_info *damaged = rebuild->damaged;
    struct flush_writer writer;
    *segment_out = NULL;
    flush_writer_init(&writer, rebuild->runs, rebuild->memtable);
    int rc = flush_writer_write(&writer, damaged);
    if (rc != 0)
        error_set(err, rc, "%s", writer.err.text);
    for (uint32_t i = 0; i < writer.change.added_count; i++) {
        struct segment *made = writer.change.added[i];
        bool agrees = false;
        if (rc == 0 && *segment_out == NULL)
            rc = segment_agrees(rebuild->runs->env->world, damaged, made, &agrees, err);
        if (rc == 0 && agrees)
            *segment_out = segment_ref(made);
        else
            segment_remove_at_close(made);
    }
    run_change_release(&writer.change);
    if (rc == 0 && *segment_out == NULL)
        rc = error_set(err, ERROR_CONFLICT,
                       "its frames give other bytes than it had; it may come from a merge");
    return rc;
}

static int publish(struct rebuild *rebuild, struct segment *segment, struct error *err)
{
    const struct manifest_edit edit = {.added = segment_info(segment),
                                       .added_count = 1,
                                       .removed = &rebuild->damaged->id,
                                       .removed_count = 1};
    return manifest_apply(rebuild->runs->manifest, &edit, err);
}

int run_rebuild(struct run_set *runs, const struct run_rebuild_parts *parts,
                const struct segment_info *damaged, struct segment **segment_out, struct error *err)
{
    struct rebuild rebuild = {
        .runs = runs, .parts = parts, .damaged = damaged, .schema = schema_ref(parts->schema)};
    struct segment *segment = NULL;
    int rc = segment_footer_check(runs->env->world, damaged, err);
    if (rc == 0)
        rc = read_frames(&rebuild, err);
    if (rc == 0)
        rc = write_again(&rebuild, &segment, err);
    if (rc == 0)
        rc = publish(&rebuild, segment, err);
    if (rebuild.memtable != NULL)
        memtable_unref(rebuild.memtable);
    schema_unref(rebuild.schema);
    if (rc != 0 && segment != NULL)
        segment_unref(segment);
    else
        *segment_out = segment;
    return rc;
}

/* ---- for a caller that changes nothing ---- */

void run_rebuild_damage(const struct segment_info *damaged, const struct table *table,
                        const char *why, char advice_out[RUN_REBUILD_ADVICE_MAX])
{
    snprintf(advice_out, RUN_REBUILD_ADVICE_MAX,
             "it cannot be made again: %.200s; at stake are %" PRIu64
             " rows of %.48s.%.48s, of frames %" PRIu64 " to %" PRIu64
             "; restore the directory from a backup",
             why, damaged->rows, table == NULL ? "?" : table->keyspace,
             table == NULL ? "?" : table->name, damaged->frame_first, damaged->frame_last);
}

void run_rebuild_advise(struct world *world, const struct segment_info *damaged,
                        const struct table *table, const char *command,
                        char advice_out[RUN_REBUILD_ADVICE_MAX])
{
    struct error why = {0};
    int rc = segment_footer_check(world, damaged, &why);
    if (rc == 0)
        rc = read_log(world, damaged, NULL, &why);
    if (rc != 0) {
        run_rebuild_damage(damaged, table, why.text, advice_out);
        return;
    }
    snprintf(advice_out, RUN_REBUILD_ADVICE_MAX,
             "the log still has its frames %" PRIu64 " to %" PRIu64
             ": %s makes it again, unless a merge wrote it",
             damaged->frame_first, damaged->frame_last, command);
}

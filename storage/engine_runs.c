/* engine_runs: the live segments, their summed stats, and the views that jobs work on.
 *
 * Segments stand sorted by (table, kind, first frame, id), so the runs of one table are neighbours
 * and its fresh runs come in the order of their frames, on which ranks depend.  Runs of different
 * days may cover the same frames; those that share a day never do. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "storage/base/memory.h"
#include "storage/engine_private.h"
#include "storage/manifest_roster.h"

static int segment_order(const struct segment_info *a, const struct segment_info *b)
{
    if (a->table_id != b->table_id) {
        return a->table_id < b->table_id ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->frame_first != b->frame_first) {
        return a->frame_first < b->frame_first ? -1 : 1;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

void engine_add_segment(struct engine *engine, struct segment *segment)
{
    engine->segments = memory_resize(engine->segments,
                                     (engine->segment_count + 1) * sizeof(struct segment *));
    uint32_t at = engine->segment_count++;
    while (at > 0 &&
           segment_order(segment_info(engine->segments[at - 1]), segment_info(segment)) > 0) {
        engine->segments[at] = engine->segments[at - 1];
        at--;
    }
    engine->segments[at] = segment;
    engine->segments_bytes += segment_bytes(segment);
    int64_t timestamp_us = segment_info(segment)->timestamp_max_us;
    if (timestamp_us >= engine->timestamp_next_us) {
        engine->timestamp_next_us = timestamp_us + 1;
    }
}

void engine_remove_segment(struct engine *engine, uint64_t segment_id)
{
    uint32_t i = 0;
    while (i < engine->segment_count && segment_info(engine->segments[i])->id != segment_id) {
        i++;
    }
    check(i < engine->segment_count);
    engine->segments_bytes -= segment_bytes(engine->segments[i]);
    segment_remove_at_close(engine->segments[i]);
    segment_unref(engine->segments[i]);
    memmove(&engine->segments[i], &engine->segments[i + 1],
            (engine->segment_count - i - 1) * sizeof(struct segment *));
    engine->segment_count--;
}

static struct partition_index *index_for(struct engine *engine, uint32_t table_id)
{
    struct partition_index *found = engine_index(engine, table_id);
    if (found != NULL) {
        return found;
    }
    engine->indexes = memory_resize(engine->indexes, (engine->index_count + 1) *
                                                         sizeof(struct partition_index *));
    engine->indexes[engine->index_count] = partition_index_new(table_id);
    return engine->indexes[engine->index_count++];
}

struct partition_index *engine_index(const struct engine *engine, uint32_t table_id)
{
    for (uint32_t i = 0; i < engine->index_count; i++) {
        if (partition_index_table(engine->indexes[i]) == table_id) {
            return engine->indexes[i];
        }
    }
    return NULL;
}

/* A segment that memory did not know: its stats join the table's index. */
void engine_index_segment(struct engine *engine, struct segment *segment)
{
    if (segment_info(segment)->kind != SEGMENT_WIDE) {
        return;
    }
    struct partition_index *index = index_for(engine, segment_info(segment)->table_id);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    for (uint32_t i = 0; i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_partition_at(cursor, i);
        partition_index_add(index, partition->token, partition->key, partition->stats);
    }
    segment_cursor_give(segment, cursor);
}

void engine_reindex_partition(struct engine *engine, uint32_t table_id, int64_t token,
                              struct bytes key)
{
    struct partition_index *index = index_for(engine, table_id);
    partition_index_clear(index, token, key);
    for (uint32_t i = 0; i < engine->segment_count; i++) {
        struct segment *segment = engine->segments[i];
        if (segment_info(segment)->table_id != table_id ||
            segment_info(segment)->kind != SEGMENT_WIDE || !segment_may_have(segment, token)) {
            continue;
        }
        struct segment_cursor *cursor = segment_cursor_take(segment);
        const struct segment_partition *partition = segment_find(cursor, token, key);
        if (partition != NULL) {
            partition_index_add(index, token, key, partition->stats);
        }
        segment_cursor_give(segment, cursor);
    }
}

/* ---- opening ---- */

int engine_open_segment(struct world *world, const struct segment_info *info,
                        const struct table *table, struct segment **segment_out,
                        struct error *err)
{
    int rc = segment_open(world, info, segment_out, err);
    if (rc == 0 && table != NULL && (table->flags & TABLE_RANKED) != 0) {
        segment_note_days(*segment_out, table);
    }
    return rc;
}

struct orphan_search {
    const struct manifest_state *state;
    char **names;
    uint32_t count;
};

static void orphan_found(void *context, const char *name)
{
    struct orphan_search *search = context;
    char path[64];
    char found[80];
    if (strcmp(name, MANIFEST_ROSTER_NAME) == 0) {
        return;
    }
    int length = snprintf(found, sizeof(found), "segments/%s", name);
    if (length < 0 || (size_t)length >= sizeof(found)) {
        return;
    }
    for (uint32_t i = 0; i < search->state->segment_count; i++) {
        segment_path(search->state->segments[i].id, path);
        if (strcmp(path, found) == 0) {
            return;
        }
    }
    search->names = memory_resize(search->names, (search->count + 1) * sizeof(char *));
    search->names[search->count++] = memory_string(found);
}

/* Files of a flush or merge that a crash cut short: in the directory, not in the manifest. */
static int remove_orphans(struct engine *engine, struct error *err)
{
    struct disk *disk = engine->world->disk;
    struct orphan_search search = {.state = manifest_state(engine->manifest)};
    int rc = disk->make_directory(disk, "segments");
    if (rc == 0) {
        rc = disk->list(disk, "segments", orphan_found, &search);
    }
    for (uint32_t i = 0; i < search.count; i++) {
        if (rc == 0) {
            rc = disk->remove(disk, search.names[i]);
        }
        memory_free(search.names[i]);
    }
    memory_free(search.names);
    return rc == 0 ? 0 : error_set(err, rc, "clear up segments/: %s", error_text(rc));
}

int engine_open_segments(struct engine *engine, struct error *err)
{
    const struct manifest_state *state = manifest_state(engine->manifest);
    atomic_store(&engine->segment_id_next, state->segment_id_next);
    /* One that salvages an older state removes nothing: the next opening will. */
    if (!engine->options.read_only && !engine->options.salvage) {
        int rc = remove_orphans(engine, err);
        if (rc != 0) {
            return rc;
        }
    }
    for (uint32_t i = 0; i < state->segment_count; i++) {
        struct segment *segment;
        const struct table *table = schema_table(engine->schema, state->segments[i].table_id);
        int rc =
            engine_open_segment(engine->world, &state->segments[i], table, &segment, err);
        if (rc == -ENOENT) {
            return error_set(err, ERROR_CORRUPT,
                             "segments/%016" PRIx64 ".seg is gone, which the manifest names: "
                             "restore it, or the whole directory, from a backup",
                             state->segments[i].id);
        }
        if (rc != 0) {
            return rc;
        }
        engine_add_segment(engine, segment);
        engine_index_segment(engine, segment);
    }
    return 0;
}

/* ---- views ---- */

void view_take(struct engine *engine, uint32_t table_id, uint64_t frame, struct view *view)
{
    *view = (struct view){.schema = schema_ref(engine->schema), .frame = frame};
    view->frozen = memory_alloc(engine->frozen_count * sizeof(struct memtable *));
    for (uint32_t i = 0; i < engine->frozen_count; i++) {
        view->frozen[view->frozen_count++] = memtable_ref(engine->frozen[i]);
    }
    view->segments = memory_alloc(engine->segment_count * sizeof(struct segment *));
    for (uint32_t i = 0; i < engine->segment_count; i++) {
        if (table_id == 0 || segment_info(engine->segments[i])->table_id == table_id) {
            view->segments[view->segment_count++] = segment_ref(engine->segments[i]);
        }
    }
}

void view_leave_wide(struct view *view)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->segment_count; i++) {
        if (segment_info(view->segments[i])->kind == SEGMENT_WIDE) {
            segment_unref(view->segments[i]);
        } else {
            view->segments[count++] = view->segments[i];
        }
    }
    view->segment_count = count;
}

void view_release(struct view *view)
{
    for (uint32_t i = 0; i < view->frozen_count; i++) {
        memtable_unref(view->frozen[i]);
    }
    for (uint32_t i = 0; i < view->segment_count; i++) {
        segment_unref(view->segments[i]);
    }
    memory_free(view->frozen);
    memory_free(view->segments);
    schema_unref(view->schema);
    memset(view, 0, sizeof(*view));
}

bool engine_has_exceptions(const struct engine *engine, const struct table *table, int64_t token,
                           struct bytes key)
{
    for (uint32_t i = 0; i < engine->segment_count; i++) {
        const struct segment_info *info = segment_info(engine->segments[i]);
        if (info->table_id == table->id && info->kind == SEGMENT_NARROW &&
            segment_has(engine->segments[i], token, key)) {
            return true;
        }
    }
    for (uint32_t i = 0; i < engine->frozen_count; i++) {
        if (narrow_memtable_has(engine->frozen[i]->narrow, table->id, token, key)) {
            return true;
        }
    }
    return narrow_memtable_has(engine->open->narrow, table->id, token, key);
}

/* engine_runs: the live segments, their summed stats, and the views that jobs work on.
 *
 * Segments stand sorted by (table, kind, first frame, id), so the runs of one table are neighbours
 * and its fresh runs come in the order of their frames, on which ranks depend.  Runs of different
 * days may cover the same frames; those that share a day never do. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "storage/engine/engine_private.h"
#include "storage/manifest/manifest_roster.h"

enum { PLACES_AHEAD = 16, ENTRIES_AHEAD = 8 };

static int segment_order(const struct segment_info *a, const struct segment_info *b)
{
    if (a->table_id != b->table_id)
        return a->table_id < b->table_id ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->frame_first != b->frame_first)
        return a->frame_first < b->frame_first ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

void engine_add_segment(struct engine *engine, struct segment *segment)
{
    engine->segments =
        memory_resize(engine->segments, (engine->segment_count + 1) * sizeof(struct segment *));
    uint32_t at = engine->segment_count++;
    while (at > 0 &&
           segment_order(segment_info(engine->segments[at - 1]), segment_info(segment)) > 0) {
        engine->segments[at] = engine->segments[at - 1];
        at--;
    }
    engine->segments[at] = segment;
    engine->segments_bytes += segment_bytes(segment);
}

void engine_remove_segment(struct engine *engine, uint64_t segment_id)
{
    uint32_t i = 0;
    while (i < engine->segment_count && segment_info(engine->segments[i])->id != segment_id)
        i++;
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
    if (found != NULL)
        return found;
    engine->indexes = memory_resize(engine->indexes,
                                    (engine->index_count + 1) * sizeof(struct partition_index *));
    engine->indexes[engine->index_count] = partition_index_new(table_id);
    return engine->indexes[engine->index_count++];
}

struct partition_index *engine_index(const struct engine *engine, uint32_t table_id)
{
    for (uint32_t i = 0; i < engine->index_count; i++)
        if (partition_index_table(engine->indexes[i]) == table_id)
            return engine->indexes[i];
    return NULL;
}

/* Entries lie anywhere in memory: fetch those of the partitions behind the i-th of `count`. */
static void index_prefetch(const struct partition_index *index, struct segment_cursor *cursor,
                           uint32_t i, uint32_t count)
{
    if (i + PLACES_AHEAD < count)
        partition_index_prefetch_place(index,
                                       segment_partition_at(cursor, i + PLACES_AHEAD)->token);
    if (i + ENTRIES_AHEAD < count)
        partition_index_prefetch(index, segment_partition_at(cursor, i + ENTRIES_AHEAD)->token);
}

/* A segment that memory did not know: its stats join the table's index. */
void engine_index_segment(struct engine *engine, struct segment *segment)
{
    if (segment_info(segment)->kind != SEGMENT_WIDE)
        return;
    struct partition_index *index = index_for(engine, segment_info(segment)->table_id);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    uint32_t count = segment_partition_count(segment);
    for (uint32_t i = 0; i < count; i++) {
        index_prefetch(index, cursor, i, count);
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
        if (partition != NULL)
            partition_index_add(index, token, key, partition->stats);
        segment_cursor_give(segment, cursor);
    }
}

/* ---- opening ---- */

int engine_open_segment(struct engine *engine, const struct segment_info *info,
                        const struct table *table, struct segment **segment_out, struct error *err)
{
    bool has_days = table != NULL && (table->flags & TABLE_RANKED) != 0;
    return segment_open_by_days(engine->env.world, info, has_days ? table : NULL, engine->readers,
                                segment_out, err);
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
    if (strcmp(name, MANIFEST_ROSTER_NAME) == 0)
        return;
    int length = snprintf(found, sizeof(found), "segments/%s", name);
    if (length < 0 || (size_t)length >= sizeof(found))
        return;
    for (uint32_t i = 0; i < search->state->segment_count; i++) {
        segment_path(search->state->segments[i].id, path);
        if (strcmp(path, found) == 0)
            return;
    }
    search->names = memory_resize(search->names, (search->count + 1) * sizeof(char *));
    search->names[search->count++] = memory_string(found);
}

/* Files of a flush or merge that a crash cut short: in the directory, not in the manifest. */
static int remove_orphans(struct engine *engine, struct error *err)
{
    struct disk *disk = engine->env.world->disk;
    struct orphan_search search = {.state = manifest_state(engine->manifest)};
    int rc = disk->make_directory(disk, "segments");
    if (rc == 0)
        rc = disk->list(disk, "segments", orphan_found, &search);
    for (uint32_t i = 0; i < search.count; i++) {
        if (rc == 0)
            rc = disk->remove(disk, search.names[i]);
        memory_free(search.names[i]);
    }
    memory_free(search.names);
    return rc == 0 ? 0 : error_set(err, rc, "clear up segments/: %s", error_text(rc));
}

/* The file goes as one that was merged does: what is left of it by a crash is in no manifest. */
static int put_in_place(struct engine *engine, const struct segment_info *info,
                        struct segment **segment, struct error *err)
{
    struct disk *disk = engine->env.world->disk;
    struct segment *made;
    char path[64];
    int rc = engine_rebuild(engine, info, &made, err);
    if (rc == 0) {
        segment_unref(*segment);
        *segment = made;
        segment_path(info->id, path);
        (void)disk->remove(disk, path);
    }
    return rc;
}

static void tell(const struct engine *engine, const struct error *what)
{
    if (engine->env.options.notice != NULL)
        engine->env.options.notice(engine->env.options.notice_context, what->text);
}

/* One that cannot be opened and cannot be made again is refused.  One that can be opened is not,
 * though a page of it is damaged: whoever reads that page is told. */
static int mend(struct engine *engine, const struct segment_info *info, struct segment **segment,
                const struct error *damage, struct error *err)
{
    const struct table *table = schema_table(engine->schema, info->table_id);
    struct error why = {0}, what = {0};
    char advice[ENGINE_ADVICE_MAX];
    if (engine->env.options.read_only) {
        engine_rebuild_advise(engine->env.world, info, table, "daybook serve", advice);
        return error_set(err, ERROR_CORRUPT, "%.230s; %s", damage->text, advice);
    }
    if (put_in_place(engine, info, segment, &why) == 0) {
        error_set(&what, 0, "%.400s; it was made again from the log, bit by bit", damage->text);
        tell(engine, &what);
        return 0;
    }
    engine_rebuild_stake(info, table, why.text, advice);
    error_set(&what, ERROR_CORRUPT, "%.230s; %s", damage->text, advice);
    if (*segment != NULL) {
        tell(engine, &what);
        return 0;
    }
    return error_set(err, ERROR_CORRUPT, "%s", what.text);
}

static int open_or_mend(struct engine *engine, const struct segment_info *info,
                        struct segment **segment_out, struct error *err)
{
    const struct table *table = schema_table(engine->schema, info->table_id);
    struct error damage = {0};
    int rc = engine_open_segment(engine, info, table, segment_out, &damage);
    if (rc == 0 && engine->env.options.salvage && !engine->env.options.read_only)
        rc = segment_check_pages(*segment_out, &damage);
    if (rc == -ENOENT) {
        return error_set(err, ERROR_CORRUPT,
                         "segments/%016" PRIx64 ".seg is gone, which the manifest names: "
                         "restore it, or the whole directory, from a backup",
                         info->id);
    }
    if (rc == ERROR_CORRUPT)
        return mend(engine, info, segment_out, &damage, err);
    if (rc != 0) {
        segment_unref(*segment_out);
        return error_set(err, rc, "%s", damage.text);
    }
    return 0;
}

int engine_open_segments(struct engine *engine, struct error *err)
{
    const struct manifest_state *state = manifest_state(engine->manifest);
    uint32_t count = state->segment_count;
    int rc = 0;
    atomic_store(&engine->segment_id_next, state->segment_id_next);
    /* One that salvages an older state removes nothing: the next opening will. */
    if (!engine->env.options.read_only && !engine->env.options.salvage)
        rc = remove_orphans(engine, err);
    /* A segment that is made again changes the manifest. */
    struct segment_info *infos = memory_alloc(count * sizeof(struct segment_info));
    if (count > 0)
        memcpy(infos, state->segments, count * sizeof(struct segment_info));
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        struct segment *segment;
        rc = open_or_mend(engine, &infos[i], &segment, err);
        if (rc == 0) {
            engine_add_segment(engine, segment);
            engine_index_segment(engine, segment);
        }
    }
    memory_free(infos);
    return rc;
}

/* ---- views ---- */

void view_take(struct engine *engine, uint32_t table_id, uint64_t frame, struct view *view)
{
    *view = (struct view){.schema = schema_ref(engine->schema), .frame = frame};
    view->frozen = memory_alloc(engine->frozen_count * sizeof(struct memtable *));
    for (uint32_t i = 0; i < engine->frozen_count; i++)
        view->frozen[view->frozen_count++] = memtable_ref(engine->frozen[i]);
    view->segments = memory_alloc(engine->segment_count * sizeof(struct segment *));
    for (uint32_t i = 0; i < engine->segment_count; i++)
        if (table_id == 0 || segment_info(engine->segments[i])->table_id == table_id)
            view->segments[view->segment_count++] = segment_ref(engine->segments[i]);
}

void view_leave_wide(struct view *view)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->segment_count; i++)
        if (segment_info(view->segments[i])->kind == SEGMENT_WIDE)
            segment_unref(view->segments[i]);
        else
            view->segments[count++] = view->segments[i];
    view->segment_count = count;
}

void view_release(struct view *view)
{
    for (uint32_t i = 0; i < view->frozen_count; i++)
        memtable_unref(view->frozen[i]);
    for (uint32_t i = 0; i < view->segment_count; i++)
        segment_unref(view->segments[i]);
    memory_free(view->frozen);
    memory_free(view->segments);
    schema_unref(view->schema);
    memset(view, 0, sizeof(*view));
}

bool engine_may_have_exceptions(const struct engine *engine, const struct table *table)
{
    for (uint32_t i = 0; i < engine->segment_count; i++) {
        const struct segment_info *info = segment_info(engine->segments[i]);
        if (info->table_id == table->id && info->kind == SEGMENT_NARROW)
            return true;
    }
    for (uint32_t i = 0; i < engine->frozen_count; i++)
        if (narrow_memtable_has_table(engine->frozen[i]->narrow, table->id))
            return true;
    return narrow_memtable_has_table(engine->open->narrow, table->id);
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
    for (uint32_t i = 0; i < engine->frozen_count; i++)
        if (narrow_memtable_has(engine->frozen[i]->narrow, table->id, token, key))
            return true;
    return narrow_memtable_has(engine->open->narrow, table->id, token, key);
}

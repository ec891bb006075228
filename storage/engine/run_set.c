#include "storage/engine/run_set.h"

#include <string.h>

#include "base/memory.h"

enum {
    PLACES_AHEAD = 16,
    ENTRIES_AHEAD = 8,
    READERS_SHARE = 16,
    READERS_BYTES_MAX = 32 << 20 /* eight large decoded pages, and blocks of a hundred segments */
};

static size_t readers_share(const struct engine_env *env)
{
    uint64_t share = env->options.memory_limit / READERS_SHARE;
    return share < READERS_BYTES_MAX ? (size_t)share : READERS_BYTES_MAX;
}

void run_set_init(struct run_set *runs, struct engine_env *env, struct manifest *manifest)
{
    const struct manifest_state *state = manifest_state(manifest);
    *runs = (struct run_set){.env = env,
                             .manifest = manifest,
                             .readers = reader_pool_new(readers_share(env)),
                             .schema = schema_ref(state->schema),
                             .frame_flushed = state->flushed_frame,
                             .timestamp_us = state->timestamp_us,
                             .purges = state->purges};
    atomic_store(&runs->id_next, state->segment_id_next);
}

void run_set_release(struct run_set *runs)
{
    for (uint32_t i = 0; i < runs->count; i++)
        segment_unref(runs->segments[i]);
    for (uint32_t i = 0; i < runs->index_count; i++)
        partition_index_free(runs->indexes[i]);
    manifest_close(runs->manifest);
    schema_unref(runs->schema);
    memory_free(runs->segments);
    memory_free(runs->indexes);
    reader_pool_unref(runs->readers);
}

/* ---- segments ---- */

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

void run_set_add(struct run_set *runs, struct segment *segment)
{
    runs->segments = memory_resize(runs->segments, (runs->count + 1) * sizeof(struct segment *));
    uint32_t at = runs->count++;
    while (at > 0 &&
           segment_order(segment_info(runs->segments[at - 1]), segment_info(segment)) > 0) {
        runs->segments[at] = runs->segments[at - 1];
        at--;
    }
    runs->segments[at] = segment;
    runs->bytes += segment_bytes(segment);
}

void run_set_remove(struct run_set *runs, uint64_t segment_id)
{
    uint32_t i = 0;
    while (i < runs->count && segment_info(runs->segments[i])->id != segment_id)
        i++;
    check(i < runs->count);
    runs->bytes -= segment_bytes(runs->segments[i]);
    segment_remove_at_close(runs->segments[i]);
    segment_unref(runs->segments[i]);
    memmove(&runs->segments[i], &runs->segments[i + 1],
            (runs->count - i - 1) * sizeof(struct segment *));
    runs->count--;
}

/* ---- sums by partition ---- */

static struct partition_index *index_for(struct run_set *runs, uint32_t table_id)
{
    struct partition_index *found = run_set_index(runs, table_id);
    if (found != NULL)
        return found;
    runs->indexes =
        memory_resize(runs->indexes, (runs->index_count + 1) * sizeof(struct partition_index *));
    runs->indexes[runs->index_count] = partition_index_new(table_id);
    return runs->indexes[runs->index_count++];
}

struct partition_index *run_set_index(const struct run_set *runs, uint32_t table_id)
{
    for (uint32_t i = 0; i < runs->index_count; i++)
        if (partition_index_table(runs->indexes[i]) == table_id)
            return runs->indexes[i];
    return NULL;
}

/* Prefetches entries that are needed soon, because they are scattered over memory. */
static void index_prefetch(const struct partition_index *index, struct segment_cursor *cursor,
                           uint32_t i, uint32_t count)
{
    if (i + PLACES_AHEAD < count)
        partition_index_prefetch_place(index,
                                       segment_directory_at(cursor, i + PLACES_AHEAD)->token);
    if (i + ENTRIES_AHEAD < count)
        partition_index_prefetch(index, segment_directory_at(cursor, i + ENTRIES_AHEAD)->token);
}

void run_set_index_segment(struct run_set *runs, struct segment *segment)
{
    if (segment_info(segment)->kind != SEGMENT_COLUMNAR)
        return;
    struct partition_index *index = index_for(runs, segment_info(segment)->table_id);
    struct segment_cursor *cursor = segment_cursor_take(segment);
    uint32_t count = segment_partition_count(segment);
    for (uint32_t i = 0; i < count; i++) {
        index_prefetch(index, cursor, i, count);
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        partition_index_add(index, partition->token, partition->key, partition->stats);
    }
    segment_cursor_give(segment, cursor);
}

void run_set_index_partition(struct run_set *runs, uint32_t table_id, int64_t token,
                             struct bytes key)
{
    struct partition_index *index = index_for(runs, table_id);
    partition_index_clear(index, token, key);
    for (uint32_t i = 0; i < runs->count; i++) {
        struct segment *segment = runs->segments[i];
        if (!segment_is(segment, table_id, SEGMENT_COLUMNAR) || !segment_may_have(segment, token))
            continue;
        struct segment_cursor *cursor = segment_cursor_take(segment);
        const struct segment_partition *partition = segment_directory_find(cursor, token, key);
        if (partition != NULL)
            partition_index_add(index, token, key, partition->stats);
        segment_cursor_give(segment, cursor);
    }
}

/* ---- files ---- */

int run_set_open_segment(struct run_set *runs, const struct segment_info *info,
                         const struct table *table, struct segment **segment_out, struct error *err)
{
    bool has_days = table != NULL && (table->flags & TABLE_OF_EVENTS) != 0;
    return segment_open(runs->env->world, info, has_days ? table : NULL, runs->readers, segment_out,
                        err);
}

uint64_t run_set_next_id(struct run_set *runs)
{
    return atomic_fetch_add(&runs->id_next, 1);
}

void run_set_note_flushed(struct run_set *runs, uint64_t frame, int64_t given_us,
                          struct schema *schema)
{
    check(frame >= runs->frame_flushed);
    runs->frame_flushed = frame;
    if (given_us != 0)
        runs->timestamp_us = given_us;
    if (schema_version(schema) > schema_version(runs->schema)) {
        schema_unref(runs->schema);
        runs->schema = schema_ref(schema);
    }
}

/* ---- contents ---- */

bool run_set_may_have_overwrites(const struct run_set *runs, const struct table *table)
{
    for (uint32_t i = 0; i < runs->count; i++)
        if (segment_is(runs->segments[i], table->id, SEGMENT_ROW))
            return true;
    return false;
}

bool run_set_has_overwrites(const struct run_set *runs, const struct table *table, int64_t token,
                            struct bytes key)
{
    for (uint32_t i = 0; i < runs->count; i++)
        if (segment_is(runs->segments[i], table->id, SEGMENT_ROW) &&
            segment_has(runs->segments[i], token, key))
            return true;
    return false;
}

uint64_t run_set_index_bytes(const struct run_set *runs)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < runs->index_count; i++)
        bytes += partition_index_bytes(runs->indexes[i]);
    return bytes;
}

uint64_t run_set_kept_bytes(const struct run_set *runs)
{
    return runs->bytes + run_set_index_bytes(runs) + reader_pool_bytes(runs->readers);
}

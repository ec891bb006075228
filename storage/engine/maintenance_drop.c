/* A run is dropped only if three conditions hold for each of its partitions: a deletion of the
 * partition hides every row of the run; the partition has no other overwrite; and no run that stays
 * has rows of the partition.  So no click is left whose rank would change. */
#include "storage/engine/maintenance_drop.h"

#include "base/memory.h"

struct candidate {
    struct segment *segment;
    bool is_dropped;
};

int maintenance_drop_overwrites(struct compact_job *compact, int64_t token, struct bytes key,
                                struct stream **stream_out, struct error *err)
{
    struct slice slice = stream_slice_all();
    return partition_reader_stream(compact->reader, token, key, &slice, NULL, 0, NULL, stream_out,
                                   err);
}

/* 1: the partition's only overwrite is its deletion, which hides all rows up to `newest_us`; 0: not
 * so; negative: an error. */
static int is_deleted(struct compact_job *compact, int64_t token, struct bytes key,
                      int64_t newest_us)
{
    struct stream *stream;
    struct unfiltered item;
    if (!partition_reader_has_overwrites(compact->reader, token, key))
        return 0;
    int rc = maintenance_drop_overwrites(compact, token, key, &stream, &compact->err);
    if (rc != 0 || stream == NULL)
        return rc;
    if (row_deletion_hides(stream->partition_deletion, newest_us)) {
        rc = stream->next(stream, &item, &compact->err);
        rc = rc < 0 ? rc : rc == 0;
    }
    stream_close(stream);
    return rc;
}

static int is_all_deleted(struct compact_job *compact, struct segment *segment)
{
    struct segment_cursor *cursor = segment_cursor_take(segment);
    int64_t newest_us = segment_info(segment)->timestamp_max_us;
    int rc = 1;
    for (uint32_t i = 0; rc == 1 && i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        rc = is_deleted(compact, partition->token, partition->key, newest_us);
    }
    segment_cursor_give(segment, cursor);
    return rc;
}

static bool is_elsewhere(const struct candidate *candidates, uint32_t count, int32_t day,
                         const struct segment_partition *partition)
{
    for (uint32_t i = 0; i < count; i++) {
        struct segment *segment = candidates[i].segment;
        if (!candidates[i].is_dropped && segment_days_find(segment_days(segment), day) != NULL &&
            segment_has(segment, partition->token, partition->key))
            return true;
    }
    return false;
}

static bool is_shared(const struct compact_job *compact, const struct candidate *candidates,
                      uint32_t count, struct segment *segment)
{
    struct segment_cursor *cursor = segment_cursor_take(segment);
    bool found = false;
    for (uint32_t i = 0; !found && i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        found = is_elsewhere(candidates, count, segment_days_of_key(compact->table, partition->key),
                             partition);
    }
    segment_cursor_give(segment, cursor);
    return found;
}

static bool keep_shared(const struct compact_job *compact, struct candidate *candidates,
                        uint32_t count)
{
    bool drops_any = false;
    for (bool changed = true; changed;) {
        changed = drops_any = false;
        for (uint32_t i = 0; i < count; i++) {
            if (candidates[i].is_dropped &&
                is_shared(compact, candidates, count, candidates[i].segment)) {
                candidates[i].is_dropped = false;
                changed = true;
            }
            drops_any = drops_any || candidates[i].is_dropped;
        }
    }
    return drops_any;
}

static void note_purged(struct compact_job *compact, struct segment *segment)
{
    const struct partition_stats none = {0};
    struct segment_cursor *cursor = segment_cursor_take(segment);
    for (uint32_t i = 0; i < segment_partition_count(segment); i++) {
        const struct segment_partition *partition = segment_directory_at(cursor, i);
        partition_index_add(compact->purged, partition->token, partition->key, &none);
    }
    segment_cursor_give(segment, cursor);
}

/* Move the candidates, with their references: dropped ones to `inputs`, others to `beside`. */
static void split_candidates(struct compact_job *compact, const struct candidate *candidates,
                             uint32_t count)
{
    memory_free(compact->inputs.segments);
    memory_free(compact->beside.segments);
    compact->inputs = compact->beside = (struct segment_list){0};
    for (uint32_t i = 0; i < count; i++) {
        maintenance_merge_list_add(candidates[i].is_dropped ? &compact->inputs : &compact->beside,
                                   candidates[i].segment);
        if (candidates[i].is_dropped)
            note_purged(compact, candidates[i].segment);
    }
}

/* The caller frees the array. */
static struct candidate *candidates_of(const struct compact_job *compact, uint32_t *count_out)
{
    const struct segment_list *inputs = &compact->inputs;
    const struct segment_list *beside = &compact->beside;
    *count_out = inputs->count + beside->count;
    struct candidate *candidates = memory_zeroed(*count_out, sizeof(*candidates));
    for (uint32_t i = 0; i < *count_out; i++)
        candidates[i].segment =
            i < inputs->count ? inputs->segments[i] : beside->segments[i - inputs->count];
    return candidates;
}

int maintenance_drop_find(struct compact_job *compact)
{
    uint32_t count;
    struct candidate *candidates = candidates_of(compact, &count);
    int rc = 0;
    for (uint32_t i = 0; rc >= 0 && i < count; i++) {
        rc = is_all_deleted(compact, candidates[i].segment);
        candidates[i].is_dropped = rc == 1;
    }
    rc = rc < 0 ? rc : keep_shared(compact, candidates, count);
    if (rc == 1)
        split_candidates(compact, candidates, count);
    memory_free(candidates);
    return rc;
}

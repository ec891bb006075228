/* manifest_state: see the header.
 *
 * segments_edit also checks an edit before it is written, so that every edit on disk can be loaded
 * again. */
#include "storage/manifest/manifest_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { SEGMENT_INFO_SIZE = 65 };

/* ---- the state and its changes ---- */

static int segment_order(const void *a, const void *b)
{
    const struct segment_info *left = a, *right = b;

    if (left->table_id != right->table_id)
        return left->table_id < right->table_id ? -1 : 1;
    if (left->frame_first != right->frame_first)
        return left->frame_first < right->frame_first ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

static struct segment_info *segment_find(struct segment_info *segments, uint32_t count, uint64_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (segments[i].id == id)
            return &segments[i];
    return NULL;
}

/* The segments after `edit`, in order; the caller frees them.  NULL: the edit removes a segment
 * that the state lacks, or adds one that it has. */
static struct segment_info *segments_edit(const struct manifest_state *state,
                                          const struct manifest_edit *edit, uint32_t *count_out)
{
    size_t most = (size_t)state->segment_count + edit->added_count;
    struct segment_info *segments = memory_zeroed(most + 1, sizeof(*segments));
    uint32_t count = state->segment_count;

    if (count > 0)
        memcpy(segments, state->segments, count * sizeof(*segments));
    for (uint32_t i = 0; i < edit->removed_count; i++) {
        struct segment_info *gone = segment_find(segments, count, edit->removed[i]);

        if (gone == NULL) {
            memory_free(segments);
            return NULL;
        }
        *gone = segments[--count];
    }
    for (uint32_t i = 0; i < edit->added_count; i++) {
        if (segment_find(segments, count, edit->added[i].id) != NULL) {
            memory_free(segments);
            return NULL;
        }
        segments[count++] = edit->added[i];
    }
    qsort(segments, count, sizeof(*segments), segment_order);
    *count_out = count;
    return segments;
}

void manifest_state_sort(struct manifest_state *state)
{
    qsort(state->segments, state->segment_count, sizeof(state->segments[0]), segment_order);
}

static bool edit_ascends(const struct manifest_state *state, const struct manifest_edit *edit)
{
    return (edit->flushed_frame == 0 || edit->flushed_frame >= state->flushed_frame) &&
           (edit->purges == 0 || edit->purges >= state->purges);
}

bool manifest_state_edit(struct manifest_state *state, const struct manifest_edit *edit)
{
    uint32_t count;

    if (!edit_ascends(state, edit))
        return false;
    struct segment_info *segments = segments_edit(state, edit, &count);
    if (segments == NULL)
        return false;
    memory_free(state->segments);
    state->segments = segments;
    state->segment_count = count;
    for (uint32_t i = 0; i < edit->added_count; i++)
        if (edit->added[i].id >= state->segment_id_next)
            state->segment_id_next = edit->added[i].id + 1;
    if (edit->flushed_frame != 0)
        state->flushed_frame = edit->flushed_frame;
    if (edit->timestamp_us != 0)
        state->timestamp_us = edit->timestamp_us;
    if (edit->clock.wall_us != 0)
        state->clock = edit->clock;
    if (edit->purges != 0)
        state->purges = edit->purges;
    if (edit->schema != NULL) {
        schema_ref(edit->schema);
        schema_unref(state->schema);
        state->schema = edit->schema;
    }
    return true;
}

bool manifest_state_takes(const struct manifest_state *state, const struct manifest_edit *edit)
{
    uint32_t count;
    struct segment_info *segments = segments_edit(state, edit, &count);

    memory_free(segments);
    return segments != NULL && edit_ascends(state, edit);
}

void manifest_state_release(struct manifest_state *state)
{
    schema_unref(state->schema);
    memory_free(state->segments);
}

/* ---- to bytes ---- */

static void put_segment(struct buffer *buffer, const struct segment_info *segment)
{
    buffer_put_u64(buffer, segment->id);
    buffer_put_u32(buffer, segment->table_id);
    buffer_put_u8(buffer, (uint8_t)segment->kind);
    buffer_put_u64(buffer, segment->frame_first);
    buffer_put_u64(buffer, segment->frame_last);
    buffer_put_u64(buffer, segment->size);
    buffer_put_u64(buffer, segment->rows);
    buffer_put_u64(buffer, segment->partitions);
    buffer_put_u64(buffer, (uint64_t)segment->timestamp_max_us);
    buffer_put_u32(buffer, segment->schema_version);
}

static void put_schema(struct buffer *buffer, const struct schema *schema)
{
    struct buffer serialized = {0};

    if (schema != NULL)
        schema_serialize(schema, &serialized);
    buffer_put_sized(buffer, buffer_view(&serialized));
    buffer_release(&serialized);
}

static void put_segments(struct buffer *buffer, const struct segment_info *segments, uint32_t count)
{
    buffer_put_varint(buffer, count);
    for (uint32_t i = 0; i < count; i++)
        put_segment(buffer, &segments[i]);
}

static void put_end(struct buffer *buffer, int64_t timestamp_us, const struct clock_reading *clock,
                    uint64_t purges)
{
    buffer_put_u64(buffer, (uint64_t)timestamp_us);
    buffer_put_u64(buffer, (uint64_t)clock->wall_us);
    buffer_put_u64(buffer, (uint64_t)clock->boot_us);
    buffer_append(buffer, clock->boot_id, sizeof(clock->boot_id));
    if (purges != 0)
        buffer_put_u64(buffer, purges);
}

void manifest_state_encode(const struct manifest_state *state, struct buffer *to)
{
    buffer_append(to, state->directory_id, sizeof(state->directory_id));
    buffer_put_u64(to, state->flushed_frame);
    buffer_put_u64(to, state->segment_id_next);
    buffer_put_sized(to, state->properties);
    put_schema(to, state->schema);
    put_segments(to, state->segments, state->segment_count);
    put_end(to, state->timestamp_us, &state->clock, state->purges);
}

void manifest_state_encode_edit(const struct manifest_edit *edit, struct buffer *to)
{
    buffer_put_u64(to, edit->flushed_frame);
    put_schema(to, edit->schema);
    buffer_put_varint(to, edit->removed_count);
    for (uint32_t i = 0; i < edit->removed_count; i++)
        buffer_put_u64(to, edit->removed[i]);
    put_segments(to, edit->added, edit->added_count);
    put_end(to, edit->timestamp_us, &edit->clock, edit->purges);
}

/* ---- from bytes ---- */

static void get_segment(struct reader *reader, struct segment_info *segment)
{
    memset(segment, 0, sizeof(*segment));
    segment->id = reader_u64(reader);
    segment->table_id = reader_u32(reader);
    uint8_t kind = reader_u8(reader);
    if (kind != SEGMENT_COLUMNAR && kind != SEGMENT_ROW)
        reader->failed = true;
    segment->kind = kind == SEGMENT_COLUMNAR ? SEGMENT_COLUMNAR : SEGMENT_ROW;
    segment->frame_first = reader_u64(reader);
    segment->frame_last = reader_u64(reader);
    segment->size = reader_u64(reader);
    segment->rows = reader_u64(reader);
    segment->partitions = reader_u64(reader);
    segment->timestamp_max_us = (int64_t)reader_u64(reader);
    segment->schema_version = reader_u32(reader);
}

static struct schema *get_schema(struct reader *reader, struct error *err)
{
    struct bytes serialized = reader_sized(reader);
    struct schema *schema = NULL;

    if (serialized.size > 0 && schema_deserialize(serialized, &schema, err) < 0) {
        reader->failed = true;
        return NULL;
    }
    return schema;
}

/* The number of items of `item_size` bytes that follow; also 0 if the reader has failed. */
static uint32_t get_count(struct reader *reader, size_t item_size)
{
    uint64_t count = reader_count(reader, item_size);

    reader->failed |= count > UINT32_MAX;
    return reader->failed ? 0 : (uint32_t)count;
}

static uint64_t *get_ids(struct reader *reader, uint32_t *count_out)
{
    uint32_t count = get_count(reader, sizeof(uint64_t));
    uint64_t *ids = memory_zeroed(count, sizeof(*ids));

    for (uint32_t i = 0; i < count; i++)
        ids[i] = reader_u64(reader);
    *count_out = count;
    return ids;
}

static struct segment_info *get_segments(struct reader *reader, uint32_t *count_out)
{
    uint32_t count = get_count(reader, SEGMENT_INFO_SIZE);
    struct segment_info *segments = memory_zeroed(count, sizeof(*segments));

    for (uint32_t i = 0; i < count; i++)
        get_segment(reader, &segments[i]);
    *count_out = count;
    return segments;
}

/* In format 1 the bytes end before the clock. */
static void get_clock(struct reader *reader, struct manifest_edit *edit)
{
    if (reader_left(reader) == 0)
        return;
    edit->timestamp_us = (int64_t)reader_u64(reader);
    edit->clock.wall_us = (int64_t)reader_u64(reader);
    edit->clock.boot_us = (int64_t)reader_u64(reader);
    struct bytes id = reader_bytes(reader, sizeof(edit->clock.boot_id));
    if (!reader->failed)
        memcpy(edit->clock.boot_id, id.data, id.size);
}

/* A number of 0 is not stored. */
static uint64_t get_purges(struct reader *reader)
{
    uint64_t purges = reader_left(reader) > 0 ? reader_u64(reader) : UINT64_MAX;

    reader->failed |= purges == 0;
    return purges != UINT64_MAX ? purges : 0;
}

/* A state is read as an edit of an empty state. */
static bool load_changes(struct manifest_state *state, bool is_edit, uint64_t flushed_frame,
                         struct reader *reader, struct error *err)
{
    struct manifest_edit edit = {.flushed_frame = flushed_frame};
    uint64_t *removed = NULL;
    struct segment_info *added;

    edit.schema = get_schema(reader, err);
    if (is_edit)
        edit.removed = removed = get_ids(reader, &edit.removed_count);
    edit.added = added = get_segments(reader, &edit.added_count);
    get_clock(reader, &edit);
    edit.purges = get_purges(reader);
    bool is_good = !reader->failed && reader_left(reader) == 0 &&
                   (is_edit || edit.schema != NULL) && manifest_state_edit(state, &edit);
    schema_unref(edit.schema);
    memory_free(removed);
    memory_free(added);
    return is_good;
}

bool manifest_state_load(struct manifest_state *state, struct buffer *properties,
                         struct bytes bytes, struct error *err)
{
    struct reader reader = reader_of(bytes);
    struct bytes id = reader_bytes(&reader, sizeof(state->directory_id));
    uint64_t flushed_frame = reader_u64(&reader);
    uint64_t segment_id_next = reader_u64(&reader);

    if (!reader.failed)
        memcpy(state->directory_id, id.data, id.size);
    buffer_append_bytes(properties, reader_sized(&reader));
    state->properties = buffer_view(properties);
    bool is_good = load_changes(state, false, flushed_frame, &reader, err);
    if (segment_id_next > state->segment_id_next)
        state->segment_id_next = segment_id_next;
    return is_good;
}

bool manifest_state_load_edit(struct manifest_state *state, struct bytes bytes, struct error *err)
{
    struct reader reader = reader_of(bytes);
    uint64_t flushed_frame = reader_u64(&reader);

    return load_changes(state, true, flushed_frame, &reader, err);
}

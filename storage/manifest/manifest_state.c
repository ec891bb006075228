/* manifest_state: see the header.
 *
 * What decides correctness: whether an edit fits is asked of the very function that makes the
 * change (segments_edit), so that what is written to disk always loads again. */
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

static struct segment_info *segment_directory_find(struct segment_info *segments, uint32_t count,
                                                   uint64_t id)
{
    for (uint32_t i = 0; i < count; i++)
        if (segments[i].id == id)
            return &segments[i];
    return NULL;
}

/* The segments after `edit`, in order, for the caller to free; NULL when it names one that is not
 * there or adds one that is. */
static struct segment_info *segments_edit(const struct manifest_state *state,
                                          const struct manifest_edit *edit, uint32_t *count_out)
{
    size_t most = (size_t)state->segment_count + edit->added_count;
    struct segment_info *segments = memory_zeroed(most + 1, sizeof(*segments));
    uint32_t count = state->segment_count;

    if (count > 0)
        memcpy(segments, state->segments, count * sizeof(*segments));
    for (uint32_t i = 0; i < edit->removed_count; i++) {
        struct segment_info *gone = segment_directory_find(segments, count, edit->removed[i]);

        if (gone == NULL) {
            memory_free(segments);
            return NULL;
        }
        *gone = segments[--count];
    }
    for (uint32_t i = 0; i < edit->added_count; i++) {
        if (segment_directory_find(segments, count, edit->added[i].id) != NULL) {
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

/* Whether what counts upwards does. */
static bool edit_ascends(const struct manifest_state *state, const struct manifest_edit *edit)
{
    return (edit->flushed_frame == 0 || edit->flushed_frame >= state->flushed_frame) &&
           (edit->purges == 0 || edit->purges >= state->purges);
}

bool manifest_state_edit(struct manifest_state *state, const struct manifest_edit *edit)
{
    uint32_t count;
    struct segment_info *segments;

    if (!edit_ascends(state, edit))
        return false;
    segments = segments_edit(state, edit, &count);
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
    if (edit->clock.trusted_us != 0)
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
    if (state->schema != NULL)
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

static void put_clock(struct buffer *buffer, int64_t timestamp_us, const struct clock_mark *clock)
{
    buffer_put_u64(buffer, (uint64_t)timestamp_us);
    buffer_put_u64(buffer, (uint64_t)clock->trusted_us);
    buffer_put_u64(buffer, (uint64_t)clock->boot_us);
    buffer_append(buffer, clock->boot_id, sizeof(clock->boot_id));
}

static void put_purges(struct buffer *buffer, uint64_t purges)
{
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
    buffer_put_varint(to, state->segment_count);
    for (uint32_t i = 0; i < state->segment_count; i++)
        put_segment(to, &state->segments[i]);
    put_clock(to, state->timestamp_us, &state->clock);
    put_purges(to, state->purges);
}

void manifest_state_encode_edit(const struct manifest_edit *edit, struct buffer *to)
{
    buffer_put_u64(to, edit->flushed_frame);
    put_schema(to, edit->schema);
    buffer_put_varint(to, edit->removed_count);
    for (uint32_t i = 0; i < edit->removed_count; i++)
        buffer_put_u64(to, edit->removed[i]);
    buffer_put_varint(to, edit->added_count);
    for (uint32_t i = 0; i < edit->added_count; i++)
        put_segment(to, &edit->added[i]);
    put_clock(to, edit->timestamp_us, &edit->clock);
    put_purges(to, edit->purges);
}

/* ---- and back ---- */

static void get_segment(struct reader *reader, struct segment_info *segment)
{
    uint8_t kind;

    memset(segment, 0, sizeof(*segment));
    segment->id = reader_u64(reader);
    segment->table_id = reader_u32(reader);
    kind = reader_u8(reader);
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

static struct segment_info *get_segments(struct reader *reader, uint32_t *count_out)
{
    uint64_t count = reader_count(reader, SEGMENT_INFO_SIZE);
    struct segment_info *segments;

    if (count > UINT32_MAX)
        reader->failed = true;
    if (reader->failed)
        count = 0;
    segments = memory_zeroed((size_t)count, sizeof(*segments));
    for (uint64_t i = 0; i < count; i++)
        get_segment(reader, &segments[i]);
    *count_out = (uint32_t)count;
    return segments;
}

/* Format 1 ends before it. */
static void get_clock(struct reader *reader, struct manifest_edit *edit)
{
    if (reader_left(reader) == 0)
        return;
    edit->timestamp_us = (int64_t)reader_u64(reader);
    edit->clock.trusted_us = (int64_t)reader_u64(reader);
    edit->clock.boot_us = (int64_t)reader_u64(reader);
    struct bytes id = reader_bytes(reader, sizeof(edit->clock.boot_id));
    if (!reader->failed)
        memcpy(edit->clock.boot_id, id.data, id.size);
}

/* Last, and only where there have been any. */
static uint64_t get_purges(struct reader *reader)
{
    uint64_t purges = reader_left(reader) > 0 ? reader_u64(reader) : UINT64_MAX;

    reader->failed |= purges == 0;
    return purges != UINT64_MAX ? purges : 0;
}

bool manifest_state_load(struct manifest_state *state, struct buffer *properties,
                         struct bytes bytes, struct error *err)
{
    struct reader reader = reader_of(bytes);
    struct bytes id = reader_bytes(&reader, sizeof(state->directory_id));
    struct manifest_edit edit = {0};
    struct segment_info *added;
    uint64_t segment_id_next;
    bool is_good;

    if (!reader.failed)
        memcpy(state->directory_id, id.data, id.size);
    edit.flushed_frame = reader_u64(&reader);
    segment_id_next = reader_u64(&reader);
    buffer_append_bytes(properties, reader_sized(&reader));
    state->properties = buffer_view(properties);
    edit.schema = get_schema(&reader, err);
    edit.added = added = get_segments(&reader, &edit.added_count);
    get_clock(&reader, &edit);
    edit.purges = get_purges(&reader);
    is_good = !reader.failed && reader_left(&reader) == 0 && edit.schema != NULL &&
              manifest_state_edit(state, &edit);
    if (segment_id_next > state->segment_id_next)
        state->segment_id_next = segment_id_next;
    schema_unref(edit.schema);
    memory_free(added);
    return is_good;
}

bool manifest_state_load_edit(struct manifest_state *state, struct bytes bytes, struct error *err)
{
    struct reader reader = reader_of(bytes);
    struct manifest_edit edit = {0};
    struct segment_info *added;
    uint64_t *removed, count;
    bool is_good;

    edit.flushed_frame = reader_u64(&reader);
    edit.schema = get_schema(&reader, err);
    count = reader_count(&reader, sizeof(*removed));
    if (count > UINT32_MAX)
        reader.failed = true;
    if (reader.failed)
        count = 0;
    edit.removed = removed = memory_zeroed((size_t)count, sizeof(*removed));
    edit.removed_count = (uint32_t)count;
    for (uint64_t i = 0; i < count; i++)
        removed[i] = reader_u64(&reader);
    edit.added = added = get_segments(&reader, &edit.added_count);
    get_clock(&reader, &edit);
    edit.purges = get_purges(&reader);
    is_good = !reader.failed && reader_left(&reader) == 0 && manifest_state_edit(state, &edit);
    if (edit.schema != NULL)
        schema_unref(edit.schema);
    memory_free(removed);
    memory_free(added);
    return is_good;
}

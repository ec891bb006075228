/* manifest: the record that says which segments are live, as a file of checksummed records.
 *
 * What decides correctness: an edit counts once its record is synced, and not before.  The file is
 * made in its full size, zero-filled, before it takes the manifest's name; every record begins a
 * new block, and no block is given other bytes once it was written.  So after a crash a record is
 * there, or some sector of it is still zero; anything else is damage, and losing an edit to damage
 * would lose clicks, since the log files whose frames it made live in segments may be reused.
 *
 *   block 0   0..7 "DAYBOOKM" | 8..11 format | 12..15 zero | 16..23 size of the file |
 *             24..27 CRC-32C of bytes 0..23 | zeros
 *   record    0..3 size of body | 4..7 kind | 8..15 number, from 1 | 16..19 CRC of the record
 *             before, 0 for the first | body | CRC-32C of all before | end mark "DBRE" | zeros
 *
 * Example: a new manifest has block 0 and record 1, the whole state; a flush adds record 2, an
 * edit, in the block behind it.  When an edit does not fit any more, a new file with the whole
 * state as its record 1 is made as manifest.new and renamed.
 *
 * Failures: no space for a new file is returned and the old one goes on; a failed write or sync of
 * a record is final, because nobody knows whether it is there: every later edit is refused. */
#include "storage/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/base/hash.h"
#include "storage/base/memory.h"
#include "storage/manifest_copy.h"
#include "storage/manifest_probe.h"
#include "storage/manifest_roster.h"
#include "storage/whole_file.h"

enum {
    MANIFEST_FORMAT = 1,
    MANIFEST_BLOCK = 4096,
    MANIFEST_SECTOR = 512,
    MANIFEST_HEADER_CRC = 24,       /* offset in block 0 */
    MANIFEST_EDIT_ROOM = 256 << 10, /* bytes for edits in a new file: 64 small ones; whole
                                     * blocks */
    MANIFEST_SIZE_MAX = 1 << 30,
    RECORD_HEADER = 20,
    RECORD_TRAILER = 8,
    RECORD_END_MARK = 0x45524244, /* "DBRE": no record ends in a sector of zeros */
    SEGMENT_INFO_SIZE = 65
};

/* Written to disk: the numbers cannot change. */
enum record_kind { RECORD_STATE = 1, RECORD_EDIT = 2 };

struct manifest {
    struct world *world;
    struct disk_file *file;
    struct disk_file *copy; /* manifest_copy.h; NULL: there is no room for one */
    bool read_only;
    struct manifest_state state;
    struct buffer properties; /* what state.properties points to */
    uint64_t size;            /* of the file */
    uint64_t offset;          /* where the next record goes */
    uint64_t last_offset;     /* where the last one that was loaded begins */
    uint64_t number;          /* of the last record */
    uint32_t crc;             /* of the last record */
    bool is_failed;
};

void segment_path(uint64_t segment_id, char path[64])
{
    snprintf(path, 64, "segments/%016" PRIx64 ".seg", segment_id);
}

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

/* Change the state by `edit`; false, and unchanged, when the two do not fit together. */
static bool state_edit(struct manifest_state *state, const struct manifest_edit *edit)
{
    uint32_t count;
    struct segment_info *segments;

    if (edit->flushed_frame != 0 && edit->flushed_frame < state->flushed_frame)
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
    if (edit->schema != NULL) {
        schema_ref(edit->schema);
        schema_unref(state->schema);
        state->schema = edit->schema;
    }
    return true;
}

/* ---- records as bytes ---- */

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

static void get_segment(struct reader *reader, struct segment_info *segment)
{
    uint8_t kind;

    memset(segment, 0, sizeof(*segment));
    segment->id = reader_u64(reader);
    segment->table_id = reader_u32(reader);
    kind = reader_u8(reader);
    if (kind != SEGMENT_WIDE && kind != SEGMENT_NARROW)
        reader->failed = true;
    segment->kind = kind == SEGMENT_WIDE ? SEGMENT_WIDE : SEGMENT_NARROW;
    segment->frame_first = reader_u64(reader);
    segment->frame_last = reader_u64(reader);
    segment->size = reader_u64(reader);
    segment->rows = reader_u64(reader);
    segment->partitions = reader_u64(reader);
    segment->timestamp_max_us = (int64_t)reader_u64(reader);
    segment->schema_version = reader_u32(reader);
}

static void put_schema(struct buffer *buffer, const struct schema *schema)
{
    struct buffer serialized = {0};

    if (schema != NULL)
        schema_serialize(schema, &serialized);
    buffer_put_sized(buffer, buffer_view(&serialized));
    buffer_release(&serialized);
}

static void put_state(struct buffer *buffer, const struct manifest_state *state)
{
    buffer_append(buffer, state->directory_id, sizeof(state->directory_id));
    buffer_put_u64(buffer, state->flushed_frame);
    buffer_put_u64(buffer, state->segment_id_next);
    buffer_put_sized(buffer, state->properties);
    put_schema(buffer, state->schema);
    buffer_put_varint(buffer, state->segment_count);
    for (uint32_t i = 0; i < state->segment_count; i++)
        put_segment(buffer, &state->segments[i]);
}

static void put_edit(struct buffer *buffer, const struct manifest_edit *edit)
{
    buffer_put_u64(buffer, edit->flushed_frame);
    put_schema(buffer, edit->schema);
    buffer_put_varint(buffer, edit->removed_count);
    for (uint32_t i = 0; i < edit->removed_count; i++)
        buffer_put_u64(buffer, edit->removed[i]);
    buffer_put_varint(buffer, edit->added_count);
    for (uint32_t i = 0; i < edit->added_count; i++)
        put_segment(buffer, &edit->added[i]);
}

/* Put header and trailer around the body at the end of `buffer`, which begins at `begin` with
 * RECORD_HEADER bytes of room, and fill the block.  Returns the record's checksum. */
static uint32_t record_seal(struct buffer *buffer, size_t begin, enum record_kind kind,
                            uint64_t number, uint32_t previous_crc)
{
    uint8_t *record = buffer->data + begin;
    uint32_t crc;

    store_u32(record, (uint32_t)(buffer->size - begin - RECORD_HEADER));
    store_u32(record + 4, (uint32_t)kind);
    store_u64(record + 8, number);
    store_u32(record + 16, previous_crc);
    crc = crc32c(0, record, buffer->size - begin);
    buffer_put_u32(buffer, crc);
    buffer_put_u32(buffer, RECORD_END_MARK);
    buffer_put_zeros(buffer, (MANIFEST_BLOCK - buffer->size % MANIFEST_BLOCK) % MANIFEST_BLOCK);
    return crc;
}

/* ---- writing ---- */

static void file_header_store(uint8_t *to, uint64_t size)
{
    memcpy(to, MANIFEST_MAGIC, MANIFEST_MAGIC_SIZE);
    store_u32(to + 8, MANIFEST_FORMAT);
    store_u32(to + 12, 0);
    store_u64(to + 16, size);
    store_u32(to + MANIFEST_HEADER_CRC, crc32c(0, to, MANIFEST_HEADER_CRC));
}

/* What to return where nobody knows what is on disk: waiting for space would mend nothing, so it is
 * not one of those codes (error_is_passing) after which a caller tries again. */
static int failed_for_good(struct manifest *manifest, int rc)
{
    manifest->is_failed = true;
    return error_is_passing(rc) ? -EIO : rc;
}

/* Give the new file the manifest's name; when that fails, nobody knows which of them has it. */
static int file_replace(struct manifest *manifest)
{
    struct disk *disk = manifest->world->disk;
    int rc = disk->rename(disk, MANIFEST_NEW_PATH, MANIFEST_PATH);

    if (rc == 0)
        rc = disk->sync_directory(disk, "");
    return rc < 0 ? failed_for_good(manifest, rc) : 0;
}

/* The copy of the file that the manifest writes to from now on. */
static int copy_replace(struct manifest *manifest, struct bytes content, struct error *err)
{
    struct disk *disk = manifest->world->disk;
    int rc;

    if (manifest->copy != NULL)
        disk->close(disk, manifest->copy);
    rc = manifest_copy_make(disk, content, manifest->size, &manifest->copy);
    return rc < 0 ? error_set(err, failed_for_good(manifest, rc),
                              "cannot make the copy of the manifest: %s", error_text(rc))
                  : 0;
}

/* Let the roster say what the state is now. */
static int roster_replace(struct manifest *manifest, struct error *err)
{
    int rc = manifest_roster_write(manifest->world->disk, &manifest->state);

    return rc < 0 ? error_set(err, failed_for_good(manifest, rc), "cannot write the roster: %s",
                              error_text(rc))
                  : 0;
}

/* Make a file of the whole state, with `room` bytes for edits, under the new name, and put it in
 * place.  The manifest then writes to it.  When it fails before the name could have moved, the old
 * file goes on; else nobody knows which of them is there, and the manifest has failed. */
static int file_make(struct manifest *manifest, uint64_t room, struct error *err)
{
    struct disk *disk = manifest->world->disk;
    struct buffer content = {0};
    struct disk_file *file;
    uint64_t size;
    uint32_t crc;
    int rc;

    buffer_put_zeros(&content, MANIFEST_BLOCK + RECORD_HEADER);
    put_state(&content, &manifest->state);
    crc = record_seal(&content, MANIFEST_BLOCK, RECORD_STATE, 1, 0);
    size = content.size + room;
    file_header_store(content.data, size);
    (void)disk->remove(disk, MANIFEST_NEW_PATH); /* left by a crash */
    rc = disk->open(disk, MANIFEST_NEW_PATH, DISK_WRITE | DISK_CREATE, &file, err);
    if (rc == 0) {
        rc = manifest_file_fill(disk, file, buffer_view(&content), size);
        if (rc == 0)
            rc = file_replace(manifest);
        if (rc < 0) {
            disk->close(disk, file);
            (void)disk->remove(disk, MANIFEST_NEW_PATH);
            error_set(err, rc, "cannot make the manifest: %s", error_text(rc));
        }
    }
    if (rc == 0) {
        if (manifest->file != NULL)
            disk->close(disk, manifest->file);
        manifest->file = file;
        manifest->size = size;
        manifest->offset = content.size;
        manifest->number = 1;
        manifest->crc = crc;
        rc = copy_replace(manifest, buffer_view(&content), err);
    }
    buffer_release(&content);
    return rc;
}

static void state_set_properties(struct manifest *manifest, struct bytes properties)
{
    buffer_clear(&manifest->properties);
    buffer_append_bytes(&manifest->properties, properties);
    manifest->state.properties = buffer_view(&manifest->properties);
}

/* ---- reading ---- */

static int damage(uint64_t offset, uint64_t number, const char *what, struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "manifest, byte %" PRIu64 ", record %" PRIu64 ": %s",
                     offset, number, what);
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

static bool load_state(struct manifest *manifest, struct bytes body, struct error *err)
{
    struct reader reader = reader_of(body);
    struct bytes id = reader_bytes(&reader, sizeof(manifest->state.directory_id));
    struct manifest_edit edit = {0};
    struct segment_info *added;
    uint64_t segment_id_next;
    bool is_good;

    if (!reader.failed)
        memcpy(manifest->state.directory_id, id.data, id.size);
    edit.flushed_frame = reader_u64(&reader);
    segment_id_next = reader_u64(&reader);
    state_set_properties(manifest, reader_sized(&reader));
    edit.schema = get_schema(&reader, err);
    edit.added = added = get_segments(&reader, &edit.added_count);
    is_good = !reader.failed && reader_left(&reader) == 0 && edit.schema != NULL &&
              state_edit(&manifest->state, &edit);
    if (segment_id_next > manifest->state.segment_id_next)
        manifest->state.segment_id_next = segment_id_next;
    schema_unref(edit.schema);
    memory_free(added);
    return is_good;
}

static bool load_edit(struct manifest *manifest, struct bytes body, struct error *err)
{
    struct reader reader = reader_of(body);
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
    is_good = !reader.failed && reader_left(&reader) == 0 && state_edit(&manifest->state, &edit);
    if (edit.schema != NULL)
        schema_unref(edit.schema);
    memory_free(removed);
    memory_free(added);
    return is_good;
}

/* The bytes of the record at `offset`, header and trailer included; 0 when it does not fit. */
static uint64_t record_size(struct bytes content, uint64_t offset)
{
    uint64_t size = RECORD_HEADER + (uint64_t)load_u32(content.data + offset) + RECORD_TRAILER;

    return size <= content.size - offset ? size : 0;
}

static bool record_is_valid(struct bytes content, uint64_t offset)
{
    uint64_t size = record_size(content, offset);
    const uint8_t *record = content.data + offset;

    if (size == 0 || load_u32(record + size - 4) != RECORD_END_MARK)
        return false;
    return load_u32(record + size - RECORD_TRAILER) == crc32c(0, record, size - RECORD_TRAILER);
}

static bool sector_is_zero(const uint8_t *sector)
{
    return sector[0] == 0 && memcmp(sector, sector + 1, MANIFEST_SECTOR - 1) == 0;
}

/* Could a crash while record `number` was written leave this?  A sector of it is still zero, and
 * no later record is there. */
static bool record_is_torn(struct bytes content, uint64_t offset, uint64_t number)
{
    uint64_t size = record_size(content, offset);
    bool is_torn = sector_is_zero(content.data + offset);

    if (!is_torn && (size == 0 || load_u64(content.data + offset + 8) != number))
        return false;
    for (uint64_t at = 0; !is_torn && at < size; at += MANIFEST_SECTOR)
        is_torn = sector_is_zero(content.data + offset + at);
    for (uint64_t at = offset + MANIFEST_BLOCK; is_torn && at < content.size; at += MANIFEST_BLOCK)
        is_torn = !(record_is_valid(content, at) && load_u64(content.data + at + 8) > number);
    return is_torn;
}

/* Nothing but zeros from `offset` on: no record was begun. */
static bool content_is_unused(struct bytes content, uint64_t offset)
{
    while (offset < content.size && sector_is_zero(content.data + offset))
        offset += MANIFEST_SECTOR;
    return offset >= content.size;
}

static int load_record(struct manifest *manifest, struct bytes content, struct error *err)
{
    const uint8_t *record = content.data + manifest->offset;
    uint64_t size = record_size(content, manifest->offset);
    uint64_t number = manifest->number + 1;
    uint32_t kind = load_u32(record + 4);
    struct bytes body = bytes_of(record + RECORD_HEADER, size - RECORD_HEADER - RECORD_TRAILER);
    struct error inner = {0};
    bool is_good;

    if (load_u64(record + 8) != number || load_u32(record + 16) != manifest->crc)
        return damage(manifest->offset, number, "it does not follow the one before", err);
    if ((kind == RECORD_STATE) != (number == 1) || (kind != RECORD_STATE && kind != RECORD_EDIT))
        return damage(manifest->offset, number, "a record of this kind cannot be here", err);
    is_good = kind == RECORD_STATE ? load_state(manifest, body, &inner)
                                   : load_edit(manifest, body, &inner);
    if (!is_good && inner.code == ERROR_NEWER_FORMAT)
        return error_set(err, ERROR_NEWER_FORMAT, "manifest: %s", inner.text);
    if (!is_good)
        return damage(manifest->offset, number, "its content makes no sense", err);
    manifest->number = number;
    manifest->crc = load_u32(record + size - RECORD_TRAILER);
    manifest->last_offset = manifest->offset;
    manifest->offset += (size + MANIFEST_BLOCK - 1) / MANIFEST_BLOCK * MANIFEST_BLOCK;
    return 0;
}

static int load_file_header(struct bytes content, struct error *err)
{
    if (content.size < MANIFEST_BLOCK ||
        memcmp(content.data, MANIFEST_MAGIC, MANIFEST_MAGIC_SIZE) != 0) {
        if (content.size >= MANIFEST_MAGIC_SIZE &&
            memcmp(content.data, MANIFEST_MAGIC, MANIFEST_MAGIC_SIZE) == 0)
            return damage(0, 0, "the file is cut", err);
        return error_set(err, ERROR_NOT_OURS, "the file manifest is not one of daybook's");
    }
    if (load_u32(content.data + MANIFEST_HEADER_CRC) !=
        crc32c(0, content.data, MANIFEST_HEADER_CRC))
        return damage(0, 0, "the checksum of its header is wrong", err);
    if (load_u32(content.data + 8) != MANIFEST_FORMAT)
        return error_set(err, ERROR_NEWER_FORMAT,
                         "the directory has format %u, this program knows %d",
                         load_u32(content.data + 8), MANIFEST_FORMAT);
    if (load_u64(content.data + 16) != content.size || content.size % MANIFEST_BLOCK != 0)
        return damage(0, 0, "the file does not have the size that it was made with", err);
    return 0;
}

/* Build the state from the whole file.  `is_torn_out`: a record was begun that is not whole. */
static int load_content(struct manifest *manifest, struct bytes content, bool *is_torn_out,
                        struct error *err)
{
    int rc = load_file_header(content, err);

    *is_torn_out = false;
    manifest->offset = MANIFEST_BLOCK;
    manifest->size = content.size;
    while (rc == 0 && manifest->offset < content.size) {
        if (!record_is_valid(content, manifest->offset)) {
            if (manifest->number == 0 ||
                !record_is_torn(content, manifest->offset, manifest->number + 1))
                return damage(manifest->offset, manifest->number + 1, "it is damaged", err);
            *is_torn_out = !content_is_unused(content, manifest->offset);
            return 0;
        }
        rc = load_record(manifest, content, err);
    }
    if (rc == 0 && manifest->number == 0)
        return damage(manifest->offset, 1, "it is missing", err);
    return rc;
}

/* ---- the interface ---- */

void manifest_new_id(struct world *world, uint8_t directory_id[16])
{
    world->random->fill(world->random, directory_id, 16);
    directory_id[6] = (uint8_t)((directory_id[6] & 0x0f) | 0x40);
    directory_id[8] = (uint8_t)((directory_id[8] & 0x3f) | 0x80);
}

/* A second first manifest would make orphans of all segments. */
static int manifest_absent(struct disk *disk, struct error *err)
{
    struct disk_file *file;
    int rc = disk->open(disk, MANIFEST_PATH, DISK_READ, &file, err);

    if (rc == 0) {
        disk->close(disk, file);
        return error_set(err, ERROR_EXISTS, "the directory has a manifest already");
    }
    return rc == -ENOENT ? 0 : rc;
}

int manifest_create_from(struct world *world, const struct manifest_state *state, struct error *err)
{
    struct manifest manifest = {.world = world, .state = *state};
    int rc = manifest_absent(world->disk, err);

    if (rc == 0)
        rc = file_make(&manifest, MANIFEST_EDIT_ROOM, err);
    if (rc == 0)
        rc = roster_replace(&manifest, err);
    if (manifest.file != NULL)
        world->disk->close(world->disk, manifest.file);
    if (manifest.copy != NULL)
        world->disk->close(world->disk, manifest.copy);
    return rc;
}

int manifest_create(struct world *world, struct schema *schema, const uint8_t directory_id[16],
                    struct bytes properties, struct error *err)
{
    struct manifest_state state = {
        .properties = properties, .schema = schema, .segment_id_next = 1};
    int rc = manifest_absent(world->disk, err);

    if (rc == 0)
        rc = manifest_probe_missing(world->disk, err);
    if (rc != ERROR_NOT_FOUND)
        return rc;
    memcpy(state.directory_id, directory_id, sizeof(state.directory_id));
    return manifest_create_from(world, &state, err);
}

void manifest_state_encode(const struct manifest_state *state, struct buffer *to)
{
    put_state(to, state);
}

int manifest_state_decode(struct bytes bytes, struct manifest **manifest_out, struct error *err)
{
    struct manifest *manifest = memory_zeroed(1, sizeof(*manifest));
    struct error inner = {0};

    manifest->read_only = true;
    *manifest_out = manifest;
    if (load_state(manifest, bytes, &inner))
        return 0;
    manifest_close(manifest);
    *manifest_out = NULL;
    if (inner.code == ERROR_NEWER_FORMAT)
        return error_set(err, ERROR_NEWER_FORMAT, "%s", inner.text);
    return error_set(err, ERROR_CORRUPT, "the state of a manifest makes no sense");
}

static int content_read(struct disk *disk, struct disk_file *file, struct buffer *content,
                        struct error *err)
{
    int rc = whole_file_read(disk, file, MANIFEST_SIZE_MAX, content);

    if (rc == ERROR_LIMIT)
        return error_set(err, rc, "manifest: %" PRId64 " bytes are over the limit",
                         disk->size(disk, file));
    return rc < 0 ? error_set(err, rc, "cannot read the manifest: %s", error_text(rc)) : 0;
}

/* What was read may so far be only in a cache; after a sync that failed, in one that takes it for
 * written, so that no sync saves it.  Only the last record can be such a one: it is written again,
 * the same bytes in the same place; and the roster likewise.  And a torn record must not stay in
 * the way. */
static int manifest_settle(struct manifest *manifest, struct bytes content, bool is_torn,
                           struct error *err)
{
    struct disk *disk = manifest->world->disk;
    uint64_t from = manifest->last_offset;
    int rc;

    if (is_torn) {
        rc = file_make(manifest, MANIFEST_EDIT_ROOM, err);
        return rc == 0 ? roster_replace(manifest, err) : rc;
    }
    rc = disk->write(disk, manifest->file, from, content.data + from, manifest->offset - from);
    if (rc == 0)
        rc = disk->sync(disk, manifest->file);
    if (rc == 0)
        rc = disk->sync_directory(disk, "");
    if (rc == 0)
        rc = manifest_copy_open(disk, content, from, manifest->offset, &manifest->copy);
    if (rc < 0)
        return error_set(err, rc, "cannot sync the manifest: %s", error_text(rc));
    return roster_replace(manifest, err);
}

/* Read the manifest, or what has its form. */
static int manifest_load(struct world *world, const char *path, bool read_only,
                         struct buffer *content, bool *is_torn_out, struct manifest **manifest_out,
                         struct error *err)
{
    struct disk *disk = world->disk;
    struct manifest *manifest = memory_zeroed(1, sizeof(*manifest));
    int rc;

    manifest->world = world;
    manifest->read_only = read_only;
    rc = disk->open(disk, path, read_only ? DISK_READ : DISK_WRITE, &manifest->file, err);
    if (rc < 0) {
        memory_free(manifest);
        return rc == -ENOENT ? manifest_probe_missing(disk, err) : rc;
    }
    rc = content_read(disk, manifest->file, content, err);
    if (rc == 0)
        rc = load_content(manifest, buffer_view(content), is_torn_out, err);
    if (rc < 0)
        manifest_close(manifest);
    else
        *manifest_out = manifest;
    return rc;
}

/* The state as the copy has it, or else the roster; `from` says which.  `why`: why neither has. */
static int twin_load(struct world *world, struct manifest **manifest_out, const char **from,
                     struct error *why)
{
    struct buffer content = {0};
    struct error of_copy = {0}, of_roster = {0};
    bool is_torn;
    int rc =
        manifest_load(world, MANIFEST_COPY_PATH, false, &content, &is_torn, manifest_out, &of_copy);

    buffer_release(&content);
    *from = MANIFEST_COPY_PATH;
    if (rc == 0) {
        world->disk->close(world->disk, (*manifest_out)->file);
        (*manifest_out)->file = NULL;
        return 0;
    }
    *from = "segments/" MANIFEST_ROSTER_NAME;
    rc = manifest_roster_read(world, manifest_out, &of_roster);
    if (rc < 0)
        return error_set(why, rc, "its copy cannot be read: %.120s; nor can %s: %.200s",
                         of_copy.text, *from, of_roster.text);
    (*manifest_out)->world = world;
    (*manifest_out)->read_only = false;
    rc = manifest_keep_damaged(world->disk, MANIFEST_COPY_PATH);
    if (rc < 0) {
        manifest_close(*manifest_out);
        return error_set(why, rc, "its copy cannot be moved aside: %s", error_text(rc));
    }
    return 0;
}

/* Make the manifest again; `damage` is what was wrong with it.  A crash in here leaves the copy and
 * the roster as they are, and salvage begins again. */
static int manifest_salvage(struct world *world, const struct error *damage,
                            struct manifest **manifest_out, struct error *err)
{
    struct error why = {0};
    const char *from;
    int rc = twin_load(world, manifest_out, &from, &why);

    if (rc < 0)
        return error_set(err, damage->code, "%.120s; %s; restore the directory from a backup",
                         damage->text, why.text);
    rc = manifest_keep_damaged(world->disk, MANIFEST_PATH);
    if (rc < 0)
        error_set(err, rc, "cannot move the damaged manifest aside: %s", error_text(rc));
    else
        rc = file_make(*manifest_out, MANIFEST_EDIT_ROOM, err);
    if (rc == 0)
        rc = roster_replace(*manifest_out, err);
    if (rc < 0)
        manifest_close(*manifest_out);
    else
        error_set(err, 0,
                  "%s; it was made again from %s (%" PRIu32 " segments, up to frame %" PRIu64
                  "), and nothing is lost",
                  damage->text, from, (*manifest_out)->state.segment_count,
                  (*manifest_out)->state.flushed_frame);
    return rc;
}

int manifest_open(struct world *world, const struct manifest_options *options,
                  struct manifest **manifest_out, struct error *err)
{
    struct buffer content = {0};
    struct error inner = {0};
    struct manifest *manifest = NULL;
    bool is_torn;
    int rc = manifest_load(world, MANIFEST_PATH, options->read_only, &content, &is_torn, &manifest,
                           &inner);

    *manifest_out = NULL;
    if (rc == ERROR_CORRUPT && options->salvage && !options->read_only) {
        rc = manifest_salvage(world, &inner, &manifest, err);
    } else if (rc == ERROR_CORRUPT) {
        error_set(err, rc,
                  "%s; without it nobody knows which segments are live: daybook serve --salvage "
                  "makes it again from manifest.copy or segments/" MANIFEST_ROSTER_NAME
                  ", or restore the directory from a backup",
                  inner.text);
    } else if (rc < 0) {
        error_set(err, rc, "%s", inner.text);
    } else if (!options->read_only) {
        rc = manifest_settle(manifest, buffer_view(&content), is_torn, err);
        if (rc < 0)
            manifest_close(manifest);
    }
    buffer_release(&content);
    if (rc == 0)
        *manifest_out = manifest;
    return rc;
}

const struct manifest_state *manifest_state(const struct manifest *manifest)
{
    return &manifest->state;
}

/* Write the record of `edit`, having made room for it. */
static int edit_write(struct manifest *manifest, struct buffer *record,
                      const struct manifest_edit *edit, struct error *err)
{
    struct disk *disk = manifest->world->disk;
    uint64_t size;
    uint32_t crc;
    int rc;

    buffer_put_zeros(record, RECORD_HEADER);
    put_edit(record, edit);
    size = (record->size + RECORD_TRAILER + MANIFEST_BLOCK - 1) / MANIFEST_BLOCK * MANIFEST_BLOCK;
    if (size > manifest->size - manifest->offset) {
        rc = file_make(manifest, size + MANIFEST_EDIT_ROOM, err);
        if (rc < 0)
            return rc;
    }
    crc = record_seal(record, 0, RECORD_EDIT, manifest->number + 1, manifest->crc);
    rc = disk->write(disk, manifest->file, manifest->offset, record->data, record->size);
    if (rc == 0)
        rc = disk->sync(disk, manifest->file);
    if (rc == 0 && manifest->copy != NULL)
        rc = manifest_copy_append(disk, manifest->copy, manifest->offset, buffer_view(record));
    if (rc < 0) {
        return error_set(err, failed_for_good(manifest, rc), "cannot write the manifest: %s",
                         error_text(rc));
    }
    manifest->offset += size;
    manifest->number++;
    manifest->crc = crc;
    return 0;
}

/* Would the state take `edit`?  Asked before it is written: what is on disk must load. */
static bool edit_fits(const struct manifest_state *state, const struct manifest_edit *edit)
{
    uint32_t count;
    struct segment_info *segments = segments_edit(state, edit, &count);

    memory_free(segments);
    return segments != NULL &&
           (edit->flushed_frame == 0 || edit->flushed_frame >= state->flushed_frame);
}

int manifest_apply(struct manifest *manifest, const struct manifest_edit *edit, struct error *err)
{
    struct buffer record = {0};
    int rc;

    check(!manifest->read_only);
    check(edit_fits(&manifest->state, edit));
    if (manifest->is_failed)
        return error_set(err, ERROR_FAILED, "an earlier change of the manifest failed");
    rc = edit_write(manifest, &record, edit, err);
    buffer_release(&record);
    if (rc < 0)
        return rc;
    check(state_edit(&manifest->state, edit));
    return roster_replace(manifest, err);
}

void manifest_close(struct manifest *manifest)
{
    if (manifest == NULL)
        return;
    if (manifest->file != NULL)
        manifest->world->disk->close(manifest->world->disk, manifest->file);
    if (manifest->copy != NULL)
        manifest->world->disk->close(manifest->world->disk, manifest->copy);
    if (manifest->state.schema != NULL)
        schema_unref(manifest->state.schema);
    memory_free(manifest->state.segments);
    buffer_release(&manifest->properties);
    memory_free(manifest);
}

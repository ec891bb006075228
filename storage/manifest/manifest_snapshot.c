/* manifest_snapshot: see the header.
 *
 * The file gets its name when it is complete and synced, so a crash cannot leave a wrong checksum.
 * An older roster must never be used, because the log may have reused the files with the frames
 * that the roster lacks.
 *
 * Reading fails if a segment is missing or damaged, because figures would lack the clicks of that
 * segment. */
#include "storage/manifest/manifest_snapshot.h"

#include <inttypes.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/world/whole_file.h"
#include "storage/manifest/manifest_copy.h"
#include "storage/segment/segment.h"

static const struct manifest_copy_names roster = {
    .folder = "segments",
    .path = "segments/" MANIFEST_SNAPSHOT_NAME,
    .path_new = "segments/" MANIFEST_SNAPSHOT_NAME ".new",
};

static const char magic[8] = {'D', 'A', 'Y', 'B', 'R', 'O', 'S', 'T'};

enum {
    ROSTER_FORMAT = 2,
    ROSTER_HEAD = 24, /* magic, format, zero, size of the file */
    ROSTER_TAIL = 4,  /* CRC-32C of all bytes before */
    ROSTER_SIZE_MAX = 1 << 30
};

/* ---- the bytes of the roster ---- */

void manifest_snapshot_encode(const struct manifest_state *state, struct buffer *to)
{
    size_t begin = to->size;

    buffer_append(to, magic, sizeof(magic));
    buffer_put_u32(to, ROSTER_FORMAT);
    buffer_put_u32(to, 0);
    buffer_put_u64(to, 0);
    manifest_state_encode(state, to);
    store_u64(to->data + begin + 16, to->size - begin + ROSTER_TAIL);
    buffer_put_u32(to, crc32c(0, to->data + begin, to->size - begin));
}

int manifest_snapshot_decode(struct bytes bytes, struct manifest **manifest_out, struct error *err)
{
    const uint8_t *head = bytes.data;

    *manifest_out = NULL;
    if (bytes.size < ROSTER_HEAD + ROSTER_TAIL || memcmp(head, magic, sizeof(magic)) != 0 ||
        load_u32(head + bytes.size - ROSTER_TAIL) != crc32c(0, head, bytes.size - ROSTER_TAIL))
        return error_set(err, ERROR_CORRUPT, "its magic or its checksum is wrong");
    if (load_u32(head + 8) > ROSTER_FORMAT)
        return error_set(err, ERROR_NEWER_FORMAT,
                         "it has format %" PRIu32 ", this program knows %d", load_u32(head + 8),
                         ROSTER_FORMAT);
    if (load_u32(head + 8) == 0 || load_u32(head + 12) != 0 || load_u64(head + 16) != bytes.size)
        return error_set(err, ERROR_CORRUPT, "its first bytes make no sense");
    return manifest_state_decode(
        bytes_of(head + ROSTER_HEAD, bytes.size - ROSTER_HEAD - ROSTER_TAIL), manifest_out, err);
}

/* ---- writing ---- */

int manifest_snapshot_write(struct disk *disk, const struct manifest_state *state, bool is_settling)
{
    struct buffer record = {0};
    struct disk_file *file = NULL;
    int rc = disk->make_directory(disk, roster.folder);

    manifest_snapshot_encode(state, &record);
    if (rc == 0 && is_settling)
        rc = manifest_copy_settle(disk, &roster, buffer_view(&record), 0, record.size, &file);
    else if (rc == 0)
        rc = manifest_copy_make(disk, &roster, buffer_view(&record), &file);
    if (file != NULL)
        disk->close(disk, file);
    buffer_release(&record);
    return rc;
}

/* ---- reading ---- */

static int snapshot_load(struct disk *disk, struct buffer *record, struct error *err)
{
    struct disk_file *file;
    int rc = disk->open(disk, roster.path, DISK_READ, &file, err);

    if (rc < 0)
        return rc;
    rc = whole_file_read(disk, file, ROSTER_SIZE_MAX, record);
    if (rc == ERROR_LIMIT)
        (void)error_set(err, rc, "%" PRId64 " bytes are over the limit", disk->size(disk, file));
    else if (rc < 0)
        (void)error_set(err, rc, "it cannot be read");
    disk->close(disk, file);
    return rc;
}

/* The error has the number of missing segments, their rows, and what is wrong with the first. */
static int segments_check(struct world *world, const struct manifest_state *state,
                          struct error *err)
{
    struct error first = {0};
    uint64_t rows = 0;
    uint32_t missing = 0;

    for (uint32_t i = 0; i < state->segment_count; i++) {
        struct error why = {0};

        if (segment_probe(world, &state->segments[i], &why) == 0)
            continue;
        if (missing++ == 0)
            first = why;
        rows += state->segments[i].rows;
    }
    if (missing == 0)
        return 0;
    return error_set(err, ERROR_CORRUPT,
                     "%" PRIu32 " of the %" PRIu32 " segments that it names are gone or damaged, "
                     "with %" PRIu64 " rows at stake; the first: %s",
                     missing, state->segment_count, rows, first.text);
}

int manifest_snapshot_read(struct world *world, struct manifest **manifest_out, struct error *err)
{
    struct buffer record = {0};
    int rc = snapshot_load(world->disk, &record, err);

    *manifest_out = NULL;
    if (rc == 0)
        rc = manifest_snapshot_decode(buffer_view(&record), manifest_out, err);
    buffer_release(&record);
    if (rc == 0) {
        rc = segments_check(world, manifest_state(*manifest_out), err);
        if (rc < 0) {
            manifest_close(*manifest_out);
            *manifest_out = NULL;
        }
    }
    return rc;
}

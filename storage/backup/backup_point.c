/* backup_point: see the header.
 *
 * Magic, format number and checksum have the same places in every format.
 *
 *   0..7 "DAYBKPNT" | 8..11 format | 12..15 zero | 16..23 size of the file | 24..31 number |
 *   32..39 frame | 40..47 timestamp | 48..55 taken | sized state | a hash of 16 bytes for each of
 *   the state's segments | varint count of log files, for each: u32 id, u64 size, hash |
 *   CRC-32C of all bytes before */
#include "storage/backup/backup_point.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/memory.h"
#include "base/world/whole_file.h"

static const char point_magic[8] = {'D', 'A', 'Y', 'B', 'K', 'P', 'N', 'T'};

enum {
    POINT_FORMAT = 2, /* in format 1 the state has no clock */
    POINT_HEADER = 56,
    POINT_CRC = 4,
    HASH_SIZE = 16,
    LOG_FILE_SIZE = 28
};

void backup_point_path(uint64_t number, char path[BACKUP_PATH])
{
    snprintf(path, BACKUP_PATH, "points/%016" PRIx64 ".point", number);
}

void backup_point_log_path(uint32_t file_id, char path[BACKUP_PATH])
{
    snprintf(path, BACKUP_PATH, "log/%08x.log", file_id);
}

void backup_point_temporary_path(uint64_t segment_id, char path[BACKUP_PATH])
{
    snprintf(path, BACKUP_PATH, "segments/%016" PRIx64 ".tmp", segment_id);
}

/* ---- bytes ---- */

static void put_hash(struct buffer *to, struct hash128 hash)
{
    buffer_put_u64(to, hash.low);
    buffer_put_u64(to, hash.high);
}

static struct hash128 get_hash(struct reader *reader)
{
    struct hash128 hash = {.low = reader_u64(reader)};
    hash.high = reader_u64(reader);
    return hash;
}

void backup_point_encode(const struct backup_point *point, struct buffer *to)
{
    struct buffer state = {0};
    size_t begin = to->size;
    buffer_append(to, point_magic, sizeof(point_magic));
    buffer_put_u32(to, POINT_FORMAT);
    buffer_put_u32(to, 0);
    buffer_put_u64(to, 0);
    buffer_put_u64(to, point->number);
    buffer_put_u64(to, point->frame);
    buffer_put_u64(to, (uint64_t)point->timestamp_us);
    buffer_put_u64(to, (uint64_t)point->taken_us);
    manifest_state_encode(&point->state, &state);
    buffer_put_sized(to, buffer_view(&state));
    buffer_release(&state);
    for (uint32_t i = 0; i < point->state.segment_count; i++)
        put_hash(to, point->segment_hashes[i]);
    buffer_put_varint(to, point->log_count);
    for (uint32_t i = 0; i < point->log_count; i++) {
        buffer_put_u32(to, point->log[i].extent.file_id);
        buffer_put_u64(to, point->log[i].extent.size);
        put_hash(to, point->log[i].hash);
    }
    store_u64(to->data + begin + 16, to->size - begin + POINT_CRC);
    buffer_put_u32(to, crc32c(0, to->data + begin, to->size - begin));
}

static int check_frame(struct bytes bytes, struct error *err)
{
    if (bytes.size < POINT_HEADER + POINT_CRC ||
        memcmp(bytes.data, point_magic, sizeof(point_magic)) != 0) {
        return error_set(err, ERROR_CORRUPT, "it is cut, or not a point of a backup");
    }
    if (load_u32(bytes.data + bytes.size - POINT_CRC) !=
        crc32c(0, bytes.data, bytes.size - POINT_CRC)) {
        return error_set(err, ERROR_CORRUPT, "its checksum is wrong");
    }
    if (load_u32(bytes.data + 8) > POINT_FORMAT) {
        return error_set(err, ERROR_NEWER_FORMAT,
                         "it has format %u, this program knows %d; restore with the version of "
                         "daybook that made the backup",
                         load_u32(bytes.data + 8), POINT_FORMAT);
    }
    return 0;
}

static void get_log(struct reader *reader, struct backup_point *point)
{
    uint64_t count = reader_count(reader, LOG_FILE_SIZE);
    if (reader->failed || count > UINT32_MAX) {
        reader->failed = true;
        return;
    }
    point->log = memory_zeroed((size_t)count, sizeof(point->log[0]));
    point->log_count = (uint32_t)count;
    for (uint32_t i = 0; i < point->log_count; i++) {
        struct backup_log_file *file = &point->log[i];
        file->extent.file_id = reader_u32(reader);
        file->extent.size = reader_u64(reader);
        file->hash = get_hash(reader);
        if (i > 0 && file->extent.file_id <= point->log[i - 1].extent.file_id)
            reader->failed = true;
    }
}

static bool get_body(struct reader *reader, struct backup_point *point, struct error *err)
{
    struct bytes state = reader_sized(reader);
    if (reader->failed || manifest_state_decode(state, &point->owner, err) != 0)
        return false;
    point->state = *manifest_state(point->owner);
    if (reader_left(reader) / HASH_SIZE < point->state.segment_count)
        return false;
    point->segment_hashes = memory_zeroed(point->state.segment_count, sizeof(struct hash128));
    for (uint32_t i = 0; i < point->state.segment_count; i++)
        point->segment_hashes[i] = get_hash(reader);
    get_log(reader, point);
    return !reader->failed && reader_left(reader) == 0 &&
           point->frame >= point->state.flushed_frame;
}

int backup_point_decode(struct bytes bytes, struct backup_point *point, struct error *err)
{
    struct error inner = {0};
    *point = (struct backup_point){0};
    int rc = check_frame(bytes, err);
    if (rc != 0)
        return rc;
    struct reader reader = reader_of(bytes_of(bytes.data, bytes.size - POINT_CRC));
    (void)reader_bytes(&reader, 16);
    uint64_t size = reader_u64(&reader);
    point->number = reader_u64(&reader);
    point->frame = reader_u64(&reader);
    point->timestamp_us = (int64_t)reader_u64(&reader);
    point->taken_us = (int64_t)reader_u64(&reader);
    if (size == bytes.size && get_body(&reader, point, &inner))
        return 0;
    backup_point_release(point);
    if (inner.code == ERROR_NEWER_FORMAT)
        return error_set(err, ERROR_NEWER_FORMAT, "%s", inner.text);
    return error_set(err, ERROR_CORRUPT, "its content makes no sense");
}

void backup_point_release(struct backup_point *point)
{
    manifest_close(point->owner);
    memory_free(point->segment_hashes);
    memory_free(point->log);
    *point = (struct backup_point){0};
}

const struct hash128 *backup_point_segment(const struct backup_point *point, uint64_t segment_id)
{
    for (uint32_t i = 0; i < point->state.segment_count; i++)
        if (point->state.segments[i].id == segment_id)
            return &point->segment_hashes[i];
    return NULL;
}

/* ---- the directory ---- */

struct listing {
    uint64_t *numbers;
    size_t count;
    char foreign[64];
};

static void find_foreign(void *context, const char *name)
{
    static const char *const ours[] = {"points", "segments", "log", "lock"};
    struct listing *listing = context;
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (strcmp(name, ours[i]) == 0)
            return;
    snprintf(listing->foreign, sizeof(listing->foreign), "%s", name);
}

/* Other names are ignored, because an interrupted backup leaves a temporary file. */
static void find_point(void *context, const char *name)
{
    struct listing *listing = context;
    uint64_t number = 0;
    char again[BACKUP_PATH];
    if (sscanf(name, "%16" SCNx64, &number) != 1)
        return;
    backup_point_path(number, again);
    if (strcmp(again + strlen("points/"), name) != 0)
        return;
    listing->numbers =
        memory_resize(listing->numbers, (listing->count + 1) * sizeof(listing->numbers[0]));
    listing->numbers[listing->count++] = number;
}

int backup_point_list(struct disk *disk, uint64_t **numbers_out, size_t *count_out,
                      struct error *err)
{
    struct listing listing = {0};
    *numbers_out = NULL;
    *count_out = 0;
    int rc = disk->list(disk, "", find_foreign, &listing);
    if (rc != 0)
        return error_set(err, rc, "list the directory of the backup: %s", error_text(rc));
    if (listing.foreign[0] != '\0') {
        return error_set(err, ERROR_NOT_OURS,
                         "the directory is no backup: it has \"%s\"; name an empty or a new one",
                         listing.foreign);
    }
    rc = disk->list(disk, "points", find_point, &listing);
    if (rc != 0 && rc != -ENOENT) {
        memory_free(listing.numbers);
        return error_set(err, rc, "list points: %s", error_text(rc));
    }
    *numbers_out = listing.numbers;
    *count_out = listing.count;
    return 0;
}

int backup_point_read(struct disk *disk, uint64_t number, struct backup_point *point,
                      struct error *err)
{
    char path[BACKUP_PATH];
    struct disk_file *file;
    struct buffer content = {0};
    *point = (struct backup_point){0};
    backup_point_path(number, path);
    int rc = disk->open(disk, path, DISK_READ, &file, err);
    if (rc != 0)
        return rc;
    rc = whole_file_read(disk, file, BACKUP_POINT_MAX, &content);
    disk->close(disk, file);
    if (rc != 0) {
        (void)error_set(err, rc, "read %s: %s", path, error_text(rc));
    } else {
        rc = backup_point_decode(buffer_view(&content), point, err);
        if (rc != 0)
            error_wrap(err, "%s", path);
    }
    buffer_release(&content);
    return rc;
}

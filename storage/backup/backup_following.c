/* backup_following: see the header.
 *
 * A crash leaves the old record or the new one (whole_file.h). */
#include "storage/backup/backup_following.h"

#include <errno.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/memory.h"
#include "base/reader.h"
#include "base/world/whole_file.h"

#define FOLLOWING     "following"
#define FOLLOWING_NEW "following.tmp"

enum { FORMAT = 1, HEAD = 8 + 4, FOLLOWING_MAX = FOLLOWING_PATH_MAX + 64 };

static const char magic[8] = {'D', 'A', 'Y', 'F', 'O', 'L', 'L', 'W'};

void backup_following_encode(const struct backup_following *following, struct buffer *to)
{
    size_t start = to->size;
    buffer_append(to, magic, sizeof(magic));
    buffer_put_u32(to, FORMAT);
    buffer_put_u32(to, following->keep);
    buffer_put_u8(to, following->copies ? 1 : 0);
    buffer_put_sized(to, bytes_text(following->path));
    buffer_put_u32(to, crc32c(0, to->data + start, to->size - start));
}

static int corrupt(struct error *err)
{
    return error_set(err, ERROR_CORRUPT,
                     "it is damaged; remove it, and ask for backup --follow again");
}

int backup_following_decode(struct bytes bytes, struct backup_following *following,
                            struct error *err)
{
    *following = (struct backup_following){0};
    if (bytes.size < HEAD + 4 || memcmp(bytes.data, magic, sizeof(magic)) != 0 ||
        load_u32(bytes.data + bytes.size - 4) != crc32c(0, bytes.data, bytes.size - 4)) {
        return corrupt(err);
    }
    struct reader reader = reader_of(bytes_of(bytes.data, bytes.size - 4));
    reader_bytes(&reader, sizeof(magic));
    uint32_t format = reader_u32(&reader);
    if (format != FORMAT) {
        return error_set(err, ERROR_NEWER_FORMAT,
                         "it has format %u, this program knows %d; use the newer version", format,
                         FORMAT);
    }
    uint32_t keep = reader_u32(&reader);
    uint8_t copies = reader_u8(&reader);
    struct bytes path = reader_sized(&reader);
    if (reader.failed || reader_left(&reader) > 0 || keep == 0 || copies > 1 || path.size == 0 ||
        path.size >= FOLLOWING_PATH_MAX || path.data[0] != '/' ||
        memchr(path.data, 0, path.size) != NULL) {
        return corrupt(err);
    }
    following->path = memory_zeroed(path.size + 1, 1);
    memcpy(following->path, path.data, path.size);
    following->keep = keep;
    following->copies = copies == 1;
    return 0;
}

void backup_following_release(struct backup_following *following)
{
    memory_free(following->path);
    *following = (struct backup_following){0};
}

int backup_following_write(struct disk *disk, const struct backup_following *following,
                           struct error *err)
{
    struct buffer record = {0};
    backup_following_encode(following, &record);
    int rc = whole_file_replace(disk, "", FOLLOWING, FOLLOWING_NEW, buffer_view(&record));
    buffer_release(&record);
    return rc == 0 ? 0 : error_set(err, rc, "write " FOLLOWING ": %s", error_text(rc));
}

int backup_following_remove(struct disk *disk, struct error *err)
{
    int rc = disk->remove(disk, FOLLOWING);
    rc = rc == 0 ? disk->sync_directory(disk, "") : rc;
    return rc == 0 || rc == -ENOENT
               ? 0
               : error_set(err, rc, "remove " FOLLOWING ": %s", error_text(rc));
}

int backup_following_read(struct disk *disk, struct backup_following *following, struct error *err)
{
    uint8_t record[FOLLOWING_MAX];
    struct disk_file *file;
    *following = (struct backup_following){0};
    int rc = disk->open(disk, FOLLOWING, DISK_READ, &file, err);
    if (rc != 0)
        return rc;
    int64_t size = disk->read(disk, file, 0, record, sizeof(record));
    disk->close(disk, file);
    if (size < 0)
        return error_set(err, (int)size, "read " FOLLOWING ": %s", error_text((int)size));
    rc = backup_following_decode(bytes_of(record, (size_t)size), following, err);
    if (rc != 0)
        error_wrap(err, FOLLOWING);
    return rc;
}

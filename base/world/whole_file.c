/* whole_file: see the header.
 *
 * What must hold: the bytes are durable before the file is renamed, and the new name is durable
 * before the call returns. */
#include "base/world/whole_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

int whole_file_read(struct disk *disk, struct disk_file *file, int64_t size_max,
                    struct buffer *content)
{
    int64_t size = disk->size(disk, file);

    if (size < 0 || size > size_max)
        return size < 0 ? (int)size : ERROR_LIMIT;
    buffer_reserve(content, (size_t)size);
    int64_t got = size == 0 ? 0 : disk->read(disk, file, 0, content->data, (size_t)size);
    if (got != size)
        return got < 0 ? (int)got : -EIO;
    content->size = (size_t)size;
    return 0;
}

int whole_file_replace(struct disk *disk, const char *folder, const char *path,
                       const char *path_new, struct bytes bytes)
{
    struct disk_file *file;

    (void)disk->remove(disk, path_new);
    int rc = disk->open(disk, path_new, DISK_WRITE | DISK_CREATE, &file, NULL);
    if (rc < 0)
        return rc;
    rc = disk->write(disk, file, 0, bytes.data, bytes.size);
    if (rc == 0)
        rc = disk->sync(disk, file);
    disk->close(disk, file);
    if (rc == 0)
        rc = disk->rename(disk, path_new, path);
    return rc == 0 ? disk->sync_directory(disk, folder) : rc;
}

int whole_file_unused_name(struct disk *disk, const char *prefix, char *path, size_t size)
{
    struct disk_file *file;
    int rc = 0;

    for (uint32_t number = 1; rc == 0; number++) {
        snprintf(path, size, "%s%" PRIu32, prefix, number);
        rc = disk->open(disk, path, DISK_READ, &file, NULL);
        if (rc == 0)
            disk->close(disk, file);
    }
    return rc == -ENOENT ? 0 : rc;
}

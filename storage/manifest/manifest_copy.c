/* manifest_copy: see the header.
 *
 * What decides correctness: a copy is never older than one record, or it is not there.  An old one
 * could name segments that are long gone, or log frames that are. */
#include "storage/manifest/manifest_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"

/* Written and not allocated, which would sync the zeros once more for themselves. */
int manifest_copy_fill_file(struct disk *disk, struct disk_file *file, struct bytes content,
                            uint64_t size)
{
    uint8_t *room = memory_zeroed(1, size - content.size);
    int rc = disk->write(disk, file, 0, content.data, content.size);

    if (rc == 0)
        rc = disk->write(disk, file, content.size, room, size - content.size);
    memory_free(room);
    return rc < 0 ? rc : disk->sync(disk, file);
}

static int copy_write(struct disk *disk, struct bytes content, uint64_t size,
                      struct disk_file **file_out)
{
    int rc;

    (void)disk->remove(disk, MANIFEST_COPY_NEW_PATH); /* left by a crash */
    rc = disk->open(disk, MANIFEST_COPY_NEW_PATH, DISK_WRITE | DISK_CREATE, file_out, NULL);
    if (rc < 0)
        return rc;
    rc = manifest_copy_fill_file(disk, *file_out, content, size);
    if (rc == 0)
        rc = disk->rename(disk, MANIFEST_COPY_NEW_PATH, MANIFEST_COPY_PATH);
    if (rc == 0)
        rc = disk->sync_directory(disk, "");
    return rc;
}

static int copy_remove(struct disk *disk)
{
    int rc;

    (void)disk->remove(disk, MANIFEST_COPY_NEW_PATH);
    rc = disk->remove(disk, MANIFEST_COPY_PATH);
    return rc == 0 || rc == -ENOENT ? disk->sync_directory(disk, "") : rc;
}

int manifest_copy_make(struct disk *disk, struct bytes content, uint64_t size,
                       struct disk_file **file_out)
{
    int rc;

    *file_out = NULL;
    rc = copy_write(disk, content, size, file_out);
    if (rc == 0)
        return 0;
    if (*file_out != NULL)
        disk->close(disk, *file_out);
    *file_out = NULL;
    return error_is_passing(rc) ? copy_remove(disk) : rc;
}

static bool copy_is_equal(struct disk *disk, struct disk_file *file, struct bytes content)
{
    uint8_t *bytes;
    bool is_equal;

    if (disk->size(disk, file) != (int64_t)content.size)
        return false;
    bytes = memory_alloc(content.size);
    is_equal = disk->read(disk, file, 0, bytes, content.size) == (int64_t)content.size &&
               bytes_equal(bytes_of(bytes, content.size), content);
    memory_free(bytes);
    return is_equal;
}

int manifest_copy_open(struct disk *disk, struct bytes content, uint64_t last, uint64_t end,
                       struct disk_file **file_out)
{
    int rc = disk->open(disk, MANIFEST_COPY_PATH, DISK_WRITE, file_out, NULL);

    if (rc == 0 && copy_is_equal(disk, *file_out, content)) {
        rc = manifest_copy_append(disk, *file_out, last, bytes_of(content.data + last, end - last));
        if (rc < 0) {
            disk->close(disk, *file_out);
            *file_out = NULL;
        }
        return rc;
    }
    if (rc == 0)
        disk->close(disk, *file_out);
    return manifest_copy_make(disk, content, content.size, file_out);
}

int manifest_copy_append(struct disk *disk, struct disk_file *file, uint64_t offset,
                         struct bytes record)
{
    int rc = disk->write(disk, file, offset, record.data, record.size);

    return rc < 0 ? rc : disk->sync(disk, file);
}

int manifest_copy_keep_damaged(struct disk *disk, const char *path)
{
    struct disk_file *file;
    char kept[32];
    int rc;

    for (uint32_t number = 1;; number++) {
        snprintf(kept, sizeof(kept), MANIFEST_DAMAGED_PREFIX "%" PRIu32, number);
        if (disk->open(disk, kept, DISK_READ, &file, NULL) < 0)
            break;
        disk->close(disk, file);
    }
    rc = disk->rename(disk, path, kept);
    return rc == 0 || rc == -ENOENT ? disk->sync_directory(disk, "") : rc;
}

/* manifest_copy: see the header.
 *
 * What must hold: a file that repeats the manifest lacks at most the last record, or does not
 * exist.  An older file could name segments, or need log frames, that were removed. */
#include "storage/manifest/manifest_copy.h"

#include <errno.h>

#include "base/buffer.h"
#include "base/world/whole_file.h"

int manifest_copy_write(struct disk *disk, struct disk_file *file, uint64_t offset,
                        struct bytes bytes)
{
    int rc = disk->write(disk, file, offset, bytes.data, bytes.size);

    return rc < 0 ? rc : disk->sync(disk, file);
}

static int file_replace(struct disk *disk, const struct manifest_copy_names *names,
                        struct bytes content, struct disk_file **file_out)
{
    (void)disk->remove(disk, names->path_new); /* left by a crash */
    int rc = disk->open(disk, names->path_new, DISK_WRITE | DISK_CREATE, file_out, NULL);
    if (rc == 0)
        rc = manifest_copy_write(disk, *file_out, 0, content);
    if (rc == 0)
        rc = disk->rename(disk, names->path_new, names->path);
    return rc == 0 ? disk->sync_directory(disk, names->folder) : rc;
}

static int file_remove(struct disk *disk, const struct manifest_copy_names *names)
{
    (void)disk->remove(disk, names->path_new);
    int rc = disk->remove(disk, names->path);
    return rc == 0 || rc == -ENOENT ? disk->sync_directory(disk, names->folder) : rc;
}

int manifest_copy_make(struct disk *disk, const struct manifest_copy_names *names,
                       struct bytes content, struct disk_file **file_out)
{
    *file_out = NULL;
    int rc = file_replace(disk, names, content, file_out);
    if (rc == 0)
        return 0;
    if (*file_out != NULL)
        disk->close(disk, *file_out);
    *file_out = NULL;
    return error_is_passing(rc) ? file_remove(disk, names) : rc;
}

static bool file_is_equal(struct disk *disk, struct disk_file *file, struct bytes content)
{
    struct buffer found = {0};
    bool is_equal = whole_file_read(disk, file, (int64_t)content.size, &found) == 0 &&
                    bytes_equal(buffer_view(&found), content);

    buffer_release(&found);
    return is_equal;
}

int manifest_copy_settle(struct disk *disk, const struct manifest_copy_names *names,
                         struct bytes content, uint64_t from, uint64_t end,
                         struct disk_file **file_out)
{
    check(from <= end && end <= content.size);
    const struct bytes again = bytes_of(content.data + from, end - from);

    if (disk->open(disk, names->path, DISK_WRITE, file_out, NULL) == 0) {
        if (file_is_equal(disk, *file_out, content) &&
            manifest_copy_write(disk, *file_out, from, again) == 0 &&
            disk->sync_directory(disk, names->folder) == 0)
            return 0;
        disk->close(disk, *file_out);
    }
    return manifest_copy_make(disk, names, content, file_out);
}

int manifest_copy_keep_damaged(struct disk *disk, const char *path)
{
    char kept[32];

    int rc = whole_file_unused_name(disk, MANIFEST_DAMAGED_PREFIX, kept, sizeof(kept));
    if (rc < 0)
        return rc;
    rc = disk->rename(disk, path, kept);
    return rc == 0 || rc == -ENOENT ? disk->sync_directory(disk, "") : rc;
}

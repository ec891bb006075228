/* commit_log_salvage: ends the log before damage, and keeps a copy of everything after that point.
 *
 * Zeroing the damaged file is the last step, so after a crash before that step salvage starts
 * again.  Later files are renamed from the last to the first, so that the remaining files are never
 * taken for a complete log. */
#include "storage/log/commit_log_private.h"

#include <errno.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/world/whole_file.h"

/* The name must be unused, so that it does not replace a copy from an earlier salvage. */
static int damaged_path(struct disk *disk, uint32_t file_id, char path[COMMIT_LOG_PATH],
                        struct error *err)
{
    char prefix[COMMIT_LOG_PATH];

    snprintf(prefix, COMMIT_LOG_PATH, "log/%08x.damaged-", file_id);
    int rc = whole_file_unused_name(disk, prefix, path, COMMIT_LOG_PATH);
    return rc == 0 ? 0 : error_set(err, rc, "cannot open %s: %s", path, error_text(rc));
}

int commit_log_copy(struct disk *disk, struct disk_file *from, struct disk_file *to,
                    uint64_t offset, uint64_t size)
{
    uint8_t *piece = memory_aligned(COMMIT_LOG_PIECE);
    int rc = 0;

    for (uint64_t end = offset + size; rc == 0 && offset < end; offset += COMMIT_LOG_PIECE) {
        size_t part = end - offset < COMMIT_LOG_PIECE ? (size_t)(end - offset) : COMMIT_LOG_PIECE;
        int64_t got = disk->read(disk, from, offset, piece, part);
        rc = got < 0 ? (int)got : (uint64_t)got != part ? -EIO : 0;
        if (rc == 0)
            rc = disk->write(disk, to, offset, piece, part);
    }
    memory_free(piece);
    return rc;
}

static int file_copy(struct disk *disk, struct disk_file *from, struct commit_log_file file,
                     struct error *err)
{
    char path[COMMIT_LOG_PATH];
    struct disk_file *to;

    int rc = damaged_path(disk, file.id, path, err);
    if (rc == 0)
        rc = disk->open(disk, "log/" COMMIT_LOG_NEW_NAME, DISK_WRITE | DISK_CREATE, &to, err);
    if (rc < 0)
        return rc;
    rc = commit_log_copy(disk, from, to, 0, file.size);
    if (rc == 0)
        rc = disk->sync(disk, to);
    disk->close(disk, to);
    if (rc == 0)
        rc = disk->rename(disk, "log/" COMMIT_LOG_NEW_NAME, path);
    if (rc == 0)
        rc = disk->sync_directory(disk, "log");
    return rc < 0 ? error_set(err, rc, "cannot keep a copy as %s: %s", path, error_text(rc)) : 0;
}

static int file_zero(struct disk *disk, struct disk_file *file, uint64_t offset, uint64_t size,
                     struct error *err)
{
    uint8_t *zeros = memory_zeroed(1, COMMIT_LOG_PIECE);
    int rc = 0;

    while (rc == 0 && offset < size) {
        size_t part = size - offset < COMMIT_LOG_PIECE ? (size_t)(size - offset) : COMMIT_LOG_PIECE;
        rc = disk->write(disk, file, offset, zeros, part);
        offset += part;
    }
    if (rc == 0)
        rc = disk->sync(disk, file);
    memory_free(zeros);
    return rc < 0 ? error_set(err, rc, "cannot cut the log: %s", error_text(rc)) : 0;
}

static int later_move_aside(struct disk *disk, const struct commit_log_files *later,
                            struct error *err)
{
    int rc = 0;

    for (uint32_t i = later->count; rc == 0 && i > 0; i--) {
        char from[COMMIT_LOG_PATH], to[COMMIT_LOG_PATH];

        commit_log_path(later->items[i - 1].id, from);
        rc = damaged_path(disk, later->items[i - 1].id, to, err);
        if (rc < 0)
            return rc;
        rc = disk->rename(disk, from, to);
        if (rc == 0)
            rc = disk->sync_directory(disk, "log");
        if (rc < 0)
            error_set(err, rc, "cannot rename %s to %s: %s", from, to, error_text(rc));
    }
    return rc;
}

int commit_log_salvage(struct world *world, struct commit_log_file file, uint64_t offset,
                       const struct commit_log_files *later, struct error *err)
{
    struct disk *disk = world->disk;
    struct disk_file *opened;
    char path[COMMIT_LOG_PATH];

    int rc = later_move_aside(disk, later, err);
    if (rc < 0)
        return rc;
    commit_log_path(file.id, path);
    rc = disk->open(disk, path, DISK_WRITE, &opened, err);
    if (rc < 0)
        return rc;
    rc = file_copy(disk, opened, file, err);
    if (rc == 0)
        rc = file_zero(disk, opened, offset, file.size, err);
    disk->close(disk, opened);
    return rc;
}

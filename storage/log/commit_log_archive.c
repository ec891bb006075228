/* commit_log_archive: keeps flushed log files in DIR/archive, so that backups have them and
 * `restore --to` reaches any moment.
 *
 * Without a limit no file is removed, because a command that opens the directory has no limit, and
 * must not remove files that the server is configured to keep. */
#include <errno.h>
#include <stdio.h>

#include "storage/log/commit_log_private.h"

void commit_log_archive_path(uint32_t file_id, char path[COMMIT_LOG_PATH])
{
    snprintf(path, COMMIT_LOG_PATH, "archive/%08x.log", file_id);
}

static void listing_add(void *context, const char *name)
{
    struct commit_log_archive *archive = context;
    struct commit_log_file file = {0};

    if (commit_log_name_parse(name, &file.id))
        commit_log_files_add(&archive->files, file);
}

static int size_find(struct disk *disk, struct commit_log_file *file, struct error *err)
{
    char path[COMMIT_LOG_PATH];
    struct disk_file *opened;

    commit_log_archive_path(file->id, path);
    int rc = disk->open(disk, path, DISK_READ, &opened, err);
    if (rc < 0)
        return rc;
    int64_t size = disk->size(disk, opened);
    disk->close(disk, opened);
    if (size < 0)
        return error_set(err, (int)size, "%s: %s", path, error_text((int)size));
    file->size = (uint64_t)size / COMMIT_LOG_BLOCK * COMMIT_LOG_BLOCK;
    return 0;
}

int commit_log_archive_open(struct disk *disk, uint64_t limit, bool read_only,
                            struct commit_log_archive *archive, struct error *err)
{
    int rc = 0;

    *archive = (struct commit_log_archive){.limit = limit};
    if (limit > 0 && !read_only) {
        rc = disk->make_directory(disk, "archive");
        if (rc == 0)
            rc = disk->sync_directory(disk, "");
    }
    if (rc == 0)
        rc = disk->list(disk, "archive", listing_add, archive);
    if (rc == -ENOENT)
        return 0;
    if (rc < 0)
        return error_set(err, rc, "cannot list the directory archive: %s", error_text(rc));
    archive->is_on = true;
    for (size_t i = 0; rc == 0 && i < archive->files.count; i++) {
        rc = size_find(disk, &archive->files.items[i], err);
        archive->bytes += archive->files.items[i].size;
    }
    return rc;
}

size_t commit_log_archive_take(struct commit_log_archive *archive, uint32_t *ids, size_t capacity)
{
    size_t count = 0;

    while (count < capacity && archive->limit > 0 && archive->bytes > archive->limit &&
           archive->files.count > 0) {
        struct commit_log_file file = commit_log_files_take(&archive->files, 0);
        archive->bytes -= file.size;
        ids[count++] = file.id;
    }
    return count;
}

/* Keeps the files in the order of ids, because a file that a narrowed pin kept is added after newer
 * files. */
void commit_log_archive_add(struct commit_log_archive *archive, struct commit_log_file file)
{
    struct commit_log_files *files = &archive->files;
    uint32_t place = files->count;

    commit_log_files_add(files, file);
    for (; place > 0 && files->items[place - 1].id > file.id; place--)
        files->items[place] = files->items[place - 1];
    files->items[place] = file;
    archive->bytes += file.size;
}

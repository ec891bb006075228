/* commit_log_chore: files of the log that are closed, removed, archived and made.
 *
 * What decides correctness: a file takes a log file's name only when it has its space, zero-filled,
 * and frames are written to it only once its name is durable.  A file is made anew under
 * COMMIT_LOG_NEW_NAME, or it is a spare one that is renamed to a higher id.
 *
 * Failures: what cannot be removed or moved stays where it is, and the next opening finds it; what
 * cannot be made is told by `status`. */
#include <stddef.h>

#include "storage/log/commit_log_private.h"

static int file_make(struct commit_log_chore *chore, const char *path)
{
    struct disk *disk = chore->disk;
    const char *from = "log/" COMMIT_LOG_NEW_NAME;
    char spare_path[COMMIT_LOG_PATH];
    struct disk_file *file;
    int rc;

    if (chore->spare.id != 0) {
        commit_log_path(chore->spare.id, spare_path);
        from = spare_path;
    } else {
        (void)disk->remove(disk, from); /* a rename may have failed before */
        rc = disk->open(disk, from, DISK_WRITE | DISK_CREATE | DISK_DIRECT, &file, NULL);
        if (rc < 0)
            return rc;
        rc = disk->allocate(disk, file, chore->made.size);
        disk->close(disk, file);
        if (rc < 0) {
            (void)disk->remove(disk, from); /* what it has of the disk may be needed */
            return rc;
        }
    }
    rc = disk->rename(disk, from, path);
    return rc < 0 ? rc : disk->sync_directory(disk, "log");
}

/* What fails here stays where it is, and the next opening finds it. */
static void chore_run_archive(struct commit_log_chore *chore)
{
    struct disk *disk = chore->disk;
    char from[COMMIT_LOG_PATH], to[COMMIT_LOG_PATH];

    for (size_t i = 0; i < chore->archive_count; i++) {
        commit_log_path(chore->archive[i].id, from);
        commit_log_archive_path(chore->archive[i].id, to);
        (void)disk->rename(disk, from, to);
    }
    for (size_t i = 0; i < chore->discard_count; i++) {
        commit_log_archive_path(chore->discard[i], to);
        (void)disk->remove(disk, to);
    }
    if (chore->archive_count > 0) {
        (void)disk->sync_directory(disk, "archive");
        (void)disk->sync_directory(disk, "log");
    }
}

void commit_log_chore_run(struct commit_log_chore *chore)
{
    struct disk *disk = chore->disk;
    char path[COMMIT_LOG_PATH];

    for (size_t i = 0; i < chore->retired_count; i++)
        disk->close(disk, chore->retired[i]);
    chore_run_archive(chore);
    for (size_t i = 0; i < chore->remove_count; i++) {
        commit_log_path(chore->remove[i], path);
        (void)disk->remove(disk, path); /* one that stays is found by the next opening */
    }
    chore->status = 0;
    if (!chore->is_making)
        return;
    commit_log_path(chore->made.id, path);
    chore->status = file_make(chore, path);
    if (chore->status == 0)
        chore->status = disk->open(disk, path, DISK_WRITE | DISK_DIRECT, &chore->made_file, NULL);
}

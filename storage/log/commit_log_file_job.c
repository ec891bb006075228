/* commit_log_file_job: closes, removes, archives and makes files of the log.
 *
 * A new file gets the name of a log file only when all its space is zero-filled.  Frames are
 * written to a file only when its name is durable. */
#include <stddef.h>

#include "storage/log/commit_log_private.h"

static int file_make(struct commit_log_file_job *file_job, const char *path)
{
    struct disk *disk = file_job->disk;
    const char *from = "log/" COMMIT_LOG_NEW_NAME;
    char spare_path[COMMIT_LOG_PATH];
    struct disk_file *file;

    if (file_job->spare.id != 0) {
        commit_log_path(file_job->spare.id, spare_path);
        from = spare_path;
    } else {
        (void)disk->remove(disk, from); /* left over from an earlier failure */
        int rc = disk->open(disk, from, DISK_WRITE | DISK_CREATE | DISK_DIRECT, &file, NULL);
        if (rc < 0)
            return rc;
        rc = disk->allocate(disk, file, file_job->made.size);
        disk->close(disk, file);
        if (rc < 0) {
            (void)disk->remove(disk, from);
            return rc;
        }
    }
    int rc = disk->rename(disk, from, path);
    return rc < 0 ? rc : disk->sync_directory(disk, "log");
}

static void file_job_archive(struct commit_log_file_job *file_job)
{
    struct disk *disk = file_job->disk;
    char from[COMMIT_LOG_PATH], to[COMMIT_LOG_PATH];

    for (size_t i = 0; i < file_job->archive_count; i++) {
        commit_log_path(file_job->archive[i].id, from);
        commit_log_archive_path(file_job->archive[i].id, to);
        file_job->archive_status[i] = disk->rename(disk, from, to);
    }
    for (size_t i = 0; i < file_job->discard_count; i++) {
        commit_log_archive_path(file_job->discard[i], to);
        (void)disk->remove(disk, to);
    }
    if (file_job->archive_count > 0) {
        (void)disk->sync_directory(disk, "archive");
        (void)disk->sync_directory(disk, "log");
    }
}

void commit_log_file_job_run(struct job *job)
{
    struct commit_log_file_job *file_job = (struct commit_log_file_job *)job;
    struct disk *disk = file_job->disk;
    char path[COMMIT_LOG_PATH];

    for (size_t i = 0; i < file_job->retired_count; i++)
        disk->close(disk, file_job->retired[i]);
    file_job_archive(file_job);
    for (size_t i = 0; i < file_job->remove_count; i++) {
        commit_log_path(file_job->remove[i], path);
        (void)disk->remove(disk, path);
    }
    file_job->status = 0;
    if (!file_job->is_making)
        return;
    commit_log_path(file_job->made.id, path);
    file_job->status = file_make(file_job, path);
    if (file_job->status == 0)
        file_job->status =
            disk->open(disk, path, DISK_WRITE | DISK_DIRECT, &file_job->made_file, NULL);
}

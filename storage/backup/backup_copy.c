/* backup_copy: see the header.
 *
 * Three rules make a backup correct:
 * - A point is written, by rename, after every file that it names is complete and synced.
 * - A file that the backup already has is used only if its content is right, because a directory
 *   that is restored and then written to gets files with the same names and other content.  A
 *   segment must end in the same footer, which has hashes of all else; a log file must begin with
 *   the same block, which has the checksum of the record before it.
 * - Only the durable part of a log file is copied.  Bytes that no point and no tail of this process
 *   has synced are written again, because after a failed sync, bytes can be read that are not on
 *   the disk.
 *
 * The phases are prepare, segments, log, point, prune.  A tail has prepare and log only. */
#include "storage/backup/backup_copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/backup/backup_point.h"
#include "storage/backup/backup_prune.h"
#include "base/memory.h"
#include "base/world/whole_file.h"
#include "storage/engine/engine.h"
#include "storage/log/commit_log_private.h"
#include "storage/segment/segment_format.h"

enum { PIECE_SIZE = 4 << 20 };

_Static_assert(PIECE_SIZE % COMMIT_LOG_BLOCK == 0, "pieces are read past the page cache");

enum phase { PHASE_PREPARE, PHASE_SEGMENTS, PHASE_LOG, PHASE_POINT, PHASE_PRUNE, PHASE_DONE };

struct work {
    char path[BACKUP_PATH];
    char target_path[BACKUP_PATH];
    struct disk_file *from;
    struct disk_file *to; /* NULL: only hashed */
    uint64_t synced;      /* so many first bytes of `to` are on the disk */
    uint64_t offset;
    uint64_t size;
    struct hash128_stream *hash;
    bool is_dirty;
    bool is_temporary;
};

struct backup_copy {
    struct backup_copy_options options;
    atomic_bool is_cancelled;
    struct backup_progress progress;
    enum phase phase;
    uint32_t index; /* among the files of the phase */
    bool is_working;
    struct work work;
    bool has_new_log;                  /* a file was made in log/ */
    struct backup_point last;          /* the newest of the backup; number 0: none */
    struct backup_point point;         /* the new one; it borrows the snapshot's state */
    struct commit_log_extent *extents; /* of log files to copy, by file id */
    uint32_t extent_count;
    uint8_t *piece;
    uint8_t *other;
};

struct backup_copy *backup_copy_new(const struct backup_copy_options *options)
{
    struct backup_copy *copy = memory_zeroed(1, sizeof(*copy));
    copy->options = *options;
    copy->progress.tail = options->tail;
    copy->piece = memory_aligned(PIECE_SIZE);
    copy->other = memory_aligned(COMMIT_LOG_BLOCK);
    return copy;
}

void backup_copy_cancel(struct backup_copy *copy)
{
    atomic_store(&copy->is_cancelled, true);
}

const struct backup_progress *backup_copy_progress(const struct backup_copy *copy)
{
    return &copy->progress;
}

static void work_end(struct backup_copy *copy)
{
    struct work *work = &copy->work;
    if (work->from != NULL)
        copy->options.source->close(copy->options.source, work->from);
    if (work->to != NULL)
        copy->options.target->close(copy->options.target, work->to);
    if (work->hash != NULL)
        hash128_stream_free(work->hash);
    *work = (struct work){0};
    copy->is_working = false;
}

void backup_copy_free(struct backup_copy *copy)
{
    if (copy == NULL)
        return;
    work_end(copy);
    backup_point_release(&copy->last);
    memory_free(copy->point.segment_hashes);
    memory_free(copy->point.log);
    memory_free(copy->extents);
    memory_free(copy->piece);
    memory_free(copy->other);
    memory_free(copy);
}

static int fail(struct error *err, int rc, const char *what, const char *path)
{
    return error_set(err, rc, "%s %s: %s", what, path, error_text(rc));
}

/* ---- prepare ---- */

static int make_directories(struct disk *target, struct error *err)
{
    static const char *const names[] = {"points", "segments", "log"};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(names) / sizeof(names[0]); i++)
        rc = target->make_directory(target, names[i]);
    rc = rc == 0 ? target->sync_directory(target, "") : rc;
    return rc == 0 ? 0 : fail(err, rc, "make the directories of", "the backup");
}

static int read_last(struct backup_copy *copy, struct error *err)
{
    uint64_t *numbers;
    size_t count;
    int rc = backup_point_list(copy->options.target, &numbers, &count, err);
    if (rc == 0 && count > 0)
        rc = backup_point_read(copy->options.target, numbers[count - 1], &copy->last, err);
    memory_free(numbers);
    if (rc == ERROR_CORRUPT) {
        error_wrap(err, "the newest point of the backup is damaged; remove it to go on from the "
                        "one before");
    }
    return rc;
}

static int check_lineage(const struct backup_copy *copy, struct error *err)
{
    if (copy->last.number != 0 &&
        memcmp(copy->last.state.directory_id, copy->options.snapshot->state.directory_id,
               sizeof(copy->last.state.directory_id)) != 0) {
        return error_set(err, ERROR_CONFLICT,
                         "the backup is of another directory; name an empty or a new one");
    }
    return 0;
}

static int extent_order(const void *a, const void *b)
{
    const struct commit_log_extent *left = a;
    const struct commit_log_extent *right = b;
    return left->file_id < right->file_id ? -1 : left->file_id > right->file_id;
}

/* A point also needs log files that were moved to archive/, so that the copied log has no gap after
 * the last point. */
static void choose_log(struct backup_copy *copy)
{
    const struct engine_snapshot *snapshot = copy->options.snapshot;
    uint32_t first = copy->last.log_count > 0 ? copy->last.log[0].extent.file_id : UINT32_MAX;
    copy->extents = memory_alloc((snapshot->log_count + snapshot->archive_count) *
                                 sizeof(struct commit_log_extent));
    for (uint32_t i = 0; i < snapshot->archive_count && !copy->options.is_tail; i++)
        if (snapshot->archive[i].file_id >= first)
            copy->extents[copy->extent_count++] = snapshot->archive[i];
    for (uint32_t i = 0; i < snapshot->log_count; i++) {
        const struct commit_log_extent *extent = &snapshot->log[i];
        if (!copy->options.is_tail || extent->file_id >= copy->options.tail.file_id)
            copy->extents[copy->extent_count++] = *extent;
    }
    if (copy->extent_count > 0)
        qsort(copy->extents, copy->extent_count, sizeof(copy->extents[0]), extent_order);
}

static void begin_point(struct backup_copy *copy)
{
    const struct engine_snapshot *snapshot = copy->options.snapshot;
    copy->point = (struct backup_point){.number = copy->last.number + 1,
                                        .frame = snapshot->frame,
                                        .timestamp_us = snapshot->timestamp_us,
                                        .taken_us = copy->options.now_us,
                                        .state = snapshot->state};
    copy->point.segment_hashes =
        memory_zeroed(snapshot->state.segment_count, sizeof(struct hash128));
    copy->point.log = memory_zeroed(snapshot->log_count, sizeof(struct backup_log_file));
    copy->progress.segments = snapshot->state.segment_count;
    for (uint32_t i = 0; i < snapshot->state.segment_count; i++)
        copy->progress.bytes_total += snapshot->state.segments[i].size;
}

static int prepare(struct backup_copy *copy, struct error *err)
{
    if (copy->options.is_tail) {
        choose_log(copy);
        copy->phase = PHASE_LOG;
        return 1;
    }
    int rc = read_last(copy, err);
    rc = rc == 0 ? check_lineage(copy, err) : rc;
    rc = rc == 0 ? make_directories(copy->options.target, err) : rc;
    if (rc != 0)
        return rc;
    begin_point(copy);
    choose_log(copy);
    for (uint32_t i = 0; i < copy->extent_count; i++)
        copy->progress.bytes_total += copy->extents[i].size;
    copy->phase = PHASE_SEGMENTS;
    return 1;
}

/* ---- bytes ---- */

static int is_another(const struct work *work, struct error *err)
{
    return error_set(err, ERROR_CONFLICT,
                     "%s of the backup is another one: it is of another course of this directory, "
                     "before it was restored; name an empty or a new one",
                     work->target_path);
}

static int read_exactly(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                        size_t size)
{
    int64_t got = disk->read(disk, file, offset, to, size);
    return got == (int64_t)size ? 0 : got < 0 ? (int)got : -EIO;
}

/* Compare the block at `offset` of the source file with the same block of `file`, the backup's file
 * of that name.  ERROR_CONFLICT: they differ, because `file` is of another history of the
 * directory.  `may_be_zero`: an interrupted copy may have left a block of zeros. */
static int compare_block(struct backup_copy *copy, struct disk_file *file, uint64_t offset,
                         size_t size, bool may_be_zero, struct error *err)
{
    const struct work *work = &copy->work;
    int rc = read_exactly(copy->options.target, file, offset, copy->other, size);
    if (rc != 0)
        return fail(err, rc, "backup: read", work->target_path);
    rc = read_exactly(copy->options.source, work->from, offset, copy->piece, size);
    if (rc != 0)
        return fail(err, rc, "backup: read", work->path);
    bool is_zero = copy->other[0] == 0 && memcmp(copy->other, copy->other + 1, size - 1) == 0;
    return memcmp(copy->piece, copy->other, size) == 0 || (may_be_zero && is_zero)
               ? 0
               : is_another(work, err);
}

static int put_piece(struct backup_copy *copy, size_t size)
{
    struct work *work = &copy->work;
    struct disk *target = copy->options.target;
    if (work->to == NULL || work->offset + size <= work->synced)
        return 0;
    work->is_dirty = true;
    return target->write(target, work->to, work->offset, copy->piece, size);
}

static int work_step(struct backup_copy *copy, struct error *err)
{
    struct work *work = &copy->work;
    uint64_t left = work->size - work->offset;
    size_t size = left < PIECE_SIZE ? (size_t)left : PIECE_SIZE;
    if (size == 0)
        return 0;
    int rc = read_exactly(copy->options.source, work->from, work->offset, copy->piece, size);
    if (rc != 0)
        return fail(err, rc, "backup: read", work->path);
    /* This check must come after the read: if the copy is not cancelled yet, the snapshot was held
     * during the read. */
    if (atomic_load(&copy->is_cancelled))
        return error_set(err, ERROR_CLOSED, "the backup was stopped");
    if (work->hash != NULL)
        hash128_stream_add(work->hash, copy->piece, size);
    rc = put_piece(copy, size);
    if (rc != 0)
        return fail(err, rc, "backup: write", work->target_path);
    work->offset += size;
    copy->progress.bytes_done += size;
    return work->offset < work->size;
}

static int work_sync(struct backup_copy *copy, struct error *err)
{
    struct work *work = &copy->work;
    struct disk *target = copy->options.target;
    int rc = work->is_dirty ? target->sync(target, work->to) : 0;
    return rc == 0 ? 0 : fail(err, rc, "backup: sync", work->target_path);
}

/* ---- segments ---- */

/* Returns 1 if the backup has the segment, 0 if not, or an error. */
static int segment_is_there(struct backup_copy *copy, const struct segment_info *info,
                            struct error *err)
{
    struct work *work = &copy->work;
    struct disk *target = copy->options.target;
    struct disk_file *file;
    int rc = target->open(target, work->target_path, DISK_READ | DISK_DIRECT, &file, NULL);
    if (rc == -ENOENT)
        return 0;
    if (rc != 0)
        return fail(err, rc, "backup: open", work->target_path);
    int64_t size = target->size(target, file);
    if (size < 0)
        rc = fail(err, (int)size, "backup: read", work->target_path);
    else if (size != (int64_t)info->size)
        rc = is_another(work, err);
    else
        rc = compare_block(copy, file, info->size - SEGMENT_BLOCK, SEGMENT_BLOCK, false, err);
    target->close(target, file);
    return rc == 0 ? 1 : rc;
}

static int segment_open_target(struct backup_copy *copy, uint64_t id, struct error *err)
{
    struct work *work = &copy->work;
    struct disk *target = copy->options.target;
    backup_point_temporary_path(id, work->target_path);
    (void)target->remove(target, work->target_path);
    work->is_temporary = true;
    int rc = target->open(target, work->target_path, DISK_WRITE | DISK_CREATE | DISK_DIRECT,
                          &work->to, NULL);
    copy->progress.segments_copied += rc == 0;
    return rc == 0 ? 0 : fail(err, rc, "backup: make", work->target_path);
}

/* If the backup has the file and its hash is known, the segment is skipped.  If its hash is not
 * known, or a hard link is made, the segment is read and hashed.  Otherwise it is copied. */
static int segment_begin(struct backup_copy *copy, struct error *err)
{
    const struct segment_info *info = &copy->point.state.segments[copy->index];
    const struct hash128 *known = backup_point_segment(&copy->last, info->id);
    struct disk *source = copy->options.source;
    struct disk *target = copy->options.target;
    struct work *work = &copy->work;
    segment_path(info->id, work->path);
    segment_path(info->id, work->target_path);
    work->size = info->size;
    int rc = source->open(source, work->path, DISK_READ | DISK_DIRECT, &work->from, NULL);
    if (rc != 0)
        return fail(err, rc, "backup: open", work->path);
    rc = segment_is_there(copy, info, err);
    if (rc < 0)
        return rc;
    copy->is_working = true;
    work->hash = hash128_stream_new();
    if (rc == 1 && known != NULL) {
        copy->point.segment_hashes[copy->index] = *known;
        copy->progress.bytes_total -= work->size;
        work_end(copy);
        copy->index++;
        return 1;
    }
    if (rc == 1)
        return 1;
    if (!copy->options.copies && source->link(source, work->path, target, work->target_path) == 0) {
        copy->progress.segments_linked++;
        return 1;
    }
    rc = segment_open_target(copy, info->id, err);
    return rc == 0 ? 1 : rc;
}

static int segment_end(struct backup_copy *copy, struct error *err)
{
    struct work *work = &copy->work;
    struct disk *target = copy->options.target;
    int rc = work_sync(copy, err);
    if (rc != 0)
        return rc;
    if (work->is_temporary) {
        rc = target->rename(target, work->target_path, work->path);
        if (rc != 0)
            return fail(err, rc, "backup: rename", work->target_path);
    }
    copy->point.segment_hashes[copy->index] = hash128_stream_digest(work->hash);
    work_end(copy);
    copy->index++;
    return 1;
}

/* A point syncs the directory even if it made no file, because an earlier copy may have failed
 * before its sync. */
static int next_phase(struct backup_copy *copy, const char *directory, enum phase phase,
                      struct error *err)
{
    struct disk *target = copy->options.target;
    bool is_needed = !copy->options.is_tail || copy->has_new_log;
    int rc = is_needed ? target->sync_directory(target, directory) : 0;
    if (rc != 0)
        return fail(err, rc, "backup: sync", directory);
    copy->phase = phase;
    copy->index = 0;
    return 1;
}

static int segments_step(struct backup_copy *copy, struct error *err)
{
    if (copy->index == copy->point.state.segment_count)
        return next_phase(copy, "segments", PHASE_LOG, err);
    if (!copy->is_working)
        return segment_begin(copy, err);
    int rc = work_step(copy, err);
    return rc == 0 ? segment_end(copy, err) : rc;
}

/* ---- log ---- */

/* A log file that is missing in log/ has been moved to archive/. */
static int log_open_source(struct backup_copy *copy, uint32_t file_id, struct error *err)
{
    struct disk *source = copy->options.source;
    struct work *work = &copy->work;
    commit_log_path(file_id, work->path);
    int rc = source->open(source, work->path, DISK_READ | DISK_DIRECT, &work->from, NULL);
    if (rc == -ENOENT) {
        commit_log_archive_path(file_id, work->path);
        rc = source->open(source, work->path, DISK_READ | DISK_DIRECT, &work->from, NULL);
    }
    return rc == 0 ? 0 : fail(err, rc, "backup: open", work->path);
}

static int log_open_target(struct backup_copy *copy, uint32_t file_id, struct error *err)
{
    struct disk *target = copy->options.target;
    struct work *work = &copy->work;
    backup_point_log_path(file_id, work->target_path);
    int rc = target->open(target, work->target_path, DISK_WRITE | DISK_DIRECT, &work->to, NULL);
    if (rc == -ENOENT) {
        copy->has_new_log = true;
        rc = target->open(target, work->target_path, DISK_WRITE | DISK_CREATE | DISK_DIRECT,
                          &work->to, NULL);
    }
    int64_t size = rc == 0 ? target->size(target, work->to) : rc;
    if (size < 0)
        return fail(err, (int)size, "backup: open", work->target_path);
    return size < COMMIT_LOG_BLOCK || work->size < COMMIT_LOG_BLOCK
               ? 0
               : compare_block(copy, work->to, 0, COMMIT_LOG_BLOCK, true, err);
}

/* The number of first bytes of the file that the last point or a copy of this process synced;
 * UINT64_MAX: all. */
static uint64_t log_synced(const struct backup_copy *copy, uint32_t file_id)
{
    const struct backup_tail *tail = &copy->options.tail;
    if (file_id <= tail->file_id)
        return file_id < tail->file_id ? UINT64_MAX : tail->size;
    for (uint32_t i = 0; i < copy->last.log_count; i++)
        if (copy->last.log[i].extent.file_id == file_id)
            return copy->last.log[i].extent.size;
    return 0;
}

static bool is_of_point(const struct backup_copy *copy, const struct commit_log_extent *extent)
{
    const struct engine_snapshot *snapshot = copy->options.snapshot;
    return copy->point.log_count < snapshot->log_count &&
           snapshot->log[copy->point.log_count].file_id == extent->file_id;
}

/* The archive has removed the file since engine_snapshot_narrow, so the copied log gets a gap
 * before the point. */
static int log_skip(struct backup_copy *copy)
{
    copy->progress.bytes_total -= copy->work.size;
    work_end(copy);
    copy->index++;
    return 1;
}

static int log_begin(struct backup_copy *copy, struct error *err)
{
    const struct commit_log_extent *extent = &copy->extents[copy->index];
    struct work *work = &copy->work;
    work->size = extent->size;
    work->synced = log_synced(copy, extent->file_id);
    if (copy->options.is_tail && extent->file_id == copy->options.tail.file_id)
        work->offset = copy->options.tail.size;
    copy->is_working = true;
    work->hash = copy->options.is_tail ? NULL : hash128_stream_new();
    if (work->offset >= work->size)
        return 1;
    int rc = log_open_source(copy, extent->file_id, err);
    if (rc == -ENOENT && !copy->options.is_tail && !is_of_point(copy, extent))
        return log_skip(copy);
    rc = rc == 0 ? log_open_target(copy, extent->file_id, err) : rc;
    return rc == 0 ? 1 : rc;
}

static int log_end(struct backup_copy *copy, struct error *err)
{
    const struct commit_log_extent *extent = &copy->extents[copy->index];
    int rc = work_sync(copy, err);
    if (rc != 0)
        return rc;
    if (!copy->options.is_tail && is_of_point(copy, extent)) {
        copy->point.log[copy->point.log_count++] = (struct backup_log_file){
            .extent = *extent, .hash = hash128_stream_digest(copy->work.hash)};
    }
    copy->progress.tail = (struct backup_tail){extent->file_id, extent->size};
    work_end(copy);
    copy->index++;
    return 1;
}

static int log_step(struct backup_copy *copy, struct error *err)
{
    if (copy->index == copy->extent_count)
        return next_phase(copy, "log", copy->options.is_tail ? PHASE_DONE : PHASE_POINT, err);
    if (!copy->is_working)
        return log_begin(copy, err);
    int rc = work_step(copy, err);
    return rc == 0 ? log_end(copy, err) : rc;
}

/* ---- the point ---- */

static int point_write(struct backup_copy *copy, struct error *err)
{
    char path[BACKUP_PATH];
    struct buffer content = {0};
    backup_point_path(copy->point.number, path);
    backup_point_encode(&copy->point, &content);
    int rc = content.size <= BACKUP_POINT_MAX
                 ? whole_file_replace(copy->options.target, "points", path, "points/new.tmp",
                                      buffer_view(&content))
                 : ERROR_LIMIT;
    buffer_release(&content);
    if (rc != 0)
        return fail(err, rc, "backup: write", path);
    copy->progress.point = copy->point.number;
    copy->phase = copy->options.keep > 0 ? PHASE_PRUNE : PHASE_DONE;
    return copy->phase != PHASE_DONE;
}

int backup_copy_step(struct backup_copy *copy, struct error *err)
{
    if (atomic_load(&copy->is_cancelled))
        return error_set(err, ERROR_CLOSED, "the backup was stopped");
    switch (copy->phase) {
    case PHASE_PREPARE:
        return prepare(copy, err);
    case PHASE_SEGMENTS:
        return segments_step(copy, err);
    case PHASE_LOG:
        return log_step(copy, err);
    case PHASE_POINT:
        return point_write(copy, err);
    case PHASE_PRUNE:
        copy->phase = PHASE_DONE;
        return backup_prune(copy->options.target, copy->options.keep, err);
    case PHASE_DONE:
        break;
    }
    return 0;
}

/* backup_restore: see the header.
 *
 * A restored directory has all frames up to the wanted moment, and none after it.
 *
 * Example: the flushed frame of point 4 is 900, its last frame 950; the copied log ends with frame
 * 2000.  For --to a time after the beginning of frame 1500 and before that of 1501, the directory
 * gets the segments of point 4, and the log from the file with frame 901 to the end of frame 1500.
 *
 * Only log after the newest point may end within a frame, because its copy may have been
 * interrupted. */
#include "storage/backup/backup_restore.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "storage/backup/backup_point.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "base/uuid.h"
#include "storage/log/commit_log_private.h"
#include "storage/segment/segment.h"

enum { PIECE_SIZE = 4 << 20 };

struct restore {
    const struct backup_restore_options *options;
    struct disk *source;
    struct disk *disk;
    struct backup_point point;
    uint64_t newest_frame;               /* the last frame of the newest point */
    struct commit_log_extent newest_log; /* the last log file of the newest point */
    struct commit_log_end end;           /* of the log to restore */
    struct commit_log_extent *log;       /* of the log to restore; owned */
    size_t log_count;
    uint8_t *piece;
    uint64_t bytes_done;
    uint64_t bytes_total;
};

/* ---- which point ---- */

static int no_point(struct restore *r, const uint64_t *numbers, size_t count, struct error *err)
{
    struct backup_point oldest;
    struct buffer text = {0};
    if (count == 0)
        return error_set(err, ERROR_NOT_FOUND, "there is no backup in it");
    int rc = backup_point_read(r->source, numbers[0], &oldest, err);
    if (rc != 0)
        return rc;
    int64_t time_ms = oldest.timestamp_us / 1000;
    backup_point_release(&oldest);
    calendar_time_format(time_ms < 0 ? 0 : time_ms, &text);
    buffer_put_u8(&text, 0);
    rc = error_set(err, ERROR_NOT_FOUND, "the oldest moment that it holds is %s",
                   (const char *)text.data);
    buffer_release(&text);
    return rc;
}

static void note_newest(struct restore *r)
{
    r->newest_frame = r->point.frame;
    if (r->point.log_count > 0)
        r->newest_log = r->point.log[r->point.log_count - 1].extent;
}

static int choose_point(struct restore *r, struct error *err)
{
    uint64_t *numbers;
    size_t count;
    bool is_found = false;
    int rc = backup_point_list(r->source, &numbers, &count, err);
    for (size_t i = count; rc == 0 && !is_found && i > 0; i--) {
        rc = backup_point_read(r->source, numbers[i - 1], &r->point, err);
        if (rc == 0 && i == count)
            note_newest(r);
        is_found = rc == 0 && (r->options->moment != BACKUP_AT_TIME ||
                               r->point.timestamp_us <= r->options->time_us);
        if (rc == 0 && !is_found)
            backup_point_release(&r->point);
    }
    if (rc == 0 && !is_found)
        rc = no_point(r, numbers, count, err);
    memory_free(numbers);
    return rc;
}

/* ---- how far the log goes ---- */

/* Whether the damage lies behind the log of the newest point, so that an interrupted copy can be
 * its cause. */
static bool is_behind_newest(const struct restore *r)
{
    const struct commit_log_extent *last = &r->newest_log;
    return r->end.is_cut && r->end.frame >= r->newest_frame &&
           (last->file_id < r->end.file_id ||
            (last->file_id == r->end.file_id && last->size <= r->end.size));
}

static int behind_purge(const struct restore *r, struct error *err)
{
    struct buffer last = {0};
    int64_t us = r->end.timestamp_us != 0 ? r->end.timestamp_us : r->point.timestamp_us;
    calendar_time_format(us < 0 ? 0 : us / 1000, &last);
    error_wrap(err,
               "no restore to that moment from point %" PRIu64
               "; give a time up to %.*s, or one from the next point on (--list)",
               r->point.number, (int)last.size, (const char *)last.data);
    buffer_release(&last);
    return ERROR_CONFLICT;
}

static int scan_log(struct restore *r, struct error *err)
{
    struct world world = *r->options->world;
    struct commit_log_range range = {.frame_after = r->point.state.flushed_frame,
                                     .frame_until = UINT64_MAX,
                                     .timestamp_until_us = INT64_MAX,
                                     .purges = r->point.state.purges};
    world.disk = r->source;
    if (r->options->moment == BACKUP_AT_POINT)
        range.frame_until = r->point.frame;
    else if (r->options->moment == BACKUP_AT_TIME)
        range.timestamp_until_us = r->options->time_us;
    int rc = commit_log_scan(&world, &range, &r->end, err);
    if (rc == ERROR_CORRUPT && is_behind_newest(r))
        return 0;
    r->end.is_cut = false;
    if (rc == ERROR_CONFLICT)
        return behind_purge(r, err);
    if (rc == 0 && r->end.frame < r->point.frame) {
        return error_set(err, ERROR_CORRUPT,
                         "the log of the backup ends at frame %" PRIu64 ", its point %" PRIu64
                         " goes on to frame %" PRIu64,
                         r->end.frame, r->point.number, r->point.frame);
    }
    if (rc == 0 && r->options->moment == BACKUP_AT_TIME && !r->end.goes_on &&
        r->end.frame < r->newest_frame) {
        rc = error_set(err, ERROR_CORRUPT, "frames up to %" PRIu64 " are missing", r->newest_frame);
    }
    if (rc == ERROR_CORRUPT && r->end.frame >= r->point.frame) {
        error_wrap(err,
                   "the log of the backup has a gap behind frame %" PRIu64
                   "; without --latest or --to its newest point is restored, or a time "
                   "before the gap can be given",
                   r->end.frame);
    }
    return rc;
}

/* ---- bytes ---- */

static int hash_differs(const char *path, struct error *err)
{
    return error_set(err, ERROR_CORRUPT,
                     "%s of the backup is damaged: its hash is not the one it was backed up with",
                     path);
}

static int pour(struct restore *r, struct disk_file *from, struct disk_file *to, uint64_t size,
                struct hash128 *hash_out)
{
    struct hash128_stream *hash = hash128_stream_new();
    int rc = 0;
    for (uint64_t offset = 0; rc == 0 && offset < size; offset += PIECE_SIZE) {
        size_t part = size - offset < PIECE_SIZE ? (size_t)(size - offset) : PIECE_SIZE;
        int64_t got = r->source->read(r->source, from, offset, r->piece, part);
        rc = got == (int64_t)part ? 0 : got < 0 ? (int)got : -EIO;
        if (rc == 0) {
            hash128_stream_add(hash, r->piece, part);
            rc = to != NULL ? r->disk->write(r->disk, to, offset, r->piece, part) : 0;
        }
        r->bytes_done += part;
        if (r->options->progress != NULL)
            r->options->progress(r->options->context, r->bytes_done, r->bytes_total);
    }
    *hash_out = hash128_stream_digest(hash);
    hash128_stream_free(hash);
    return rc == 0 && to != NULL ? r->disk->sync(r->disk, to) : rc;
}

static int copy_file(struct restore *r, const char *path, uint64_t size, struct hash128 *hash_out,
                     struct error *err)
{
    struct disk_file *from;
    struct disk_file *to;
    int rc = r->source->open(r->source, path, DISK_READ | DISK_DIRECT, &from, err);
    if (rc != 0)
        return rc;
    rc = r->disk->open(r->disk, path, DISK_WRITE | DISK_CREATE | DISK_DIRECT, &to, err);
    if (rc == 0) {
        rc = pour(r, from, to, size, hash_out);
        r->disk->close(r->disk, to);
        if (rc != 0)
            (void)error_set(err, rc, "copy %s: %s", path, error_text(rc));
    }
    r->source->close(r->source, from);
    return rc;
}

static bool hash_equal(struct hash128 a, struct hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

/* ---- segments ---- */

static int copy_segments(struct restore *r, struct error *err)
{
    const struct manifest_state *state = &r->point.state;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < state->segment_count; i++) {
        char path[BACKUP_PATH];
        struct hash128 hash;
        segment_path(state->segments[i].id, path);
        rc = copy_file(r, path, state->segments[i].size, &hash, err);
        if (rc == 0 && !hash_equal(hash, r->point.segment_hashes[i]))
            rc = hash_differs(path, err);
    }
    return rc;
}

/* ---- log ---- */

static int check_log(struct restore *r, struct error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < r->point.log_count; i++) {
        const struct backup_log_file *file = &r->point.log[i];
        char path[BACKUP_PATH];
        struct disk_file *from;
        struct hash128 hash;
        if (file->extent.size == 0)
            continue;
        backup_point_log_path(file->extent.file_id, path);
        rc = r->source->open(r->source, path, DISK_READ | DISK_DIRECT, &from, err);
        if (rc != 0)
            return rc;
        rc = pour(r, from, NULL, file->extent.size, &hash);
        r->source->close(r->source, from);
        if (rc != 0)
            return error_set(err, rc, "read %s of the backup: %s", path, error_text(rc));
        rc = hash_equal(hash, file->hash) ? 0 : hash_differs(path, err);
    }
    return rc;
}

static void find_log(void *context, const char *name)
{
    struct restore *r = context;
    uint32_t id;
    if (commit_log_name_parse(name, &id) && id >= r->end.file_id_first && id <= r->end.file_id) {
        r->log = memory_resize(r->log, (r->log_count + 1) * sizeof(r->log[0]));
        r->log[r->log_count++] = (struct commit_log_extent){id, r->end.size};
    }
}

static int measure_log_file(struct restore *r, struct commit_log_extent *extent, struct error *err)
{
    char path[BACKUP_PATH];
    struct disk_file *file;
    if (extent->file_id == r->end.file_id)
        return 0;
    backup_point_log_path(extent->file_id, path);
    int rc = r->source->open(r->source, path, DISK_READ, &file, err);
    if (rc != 0)
        return rc;
    int64_t found = r->source->size(r->source, file);
    r->source->close(r->source, file);
    if (found < 0)
        return error_set(err, (int)found, "read %s of the backup: %s", path,
                         error_text((int)found));
    extent->size = (uint64_t)found / COMMIT_LOG_BLOCK * COMMIT_LOG_BLOCK;
    return 0;
}

static int measure(struct restore *r, struct error *err)
{
    int rc = r->end.file_id == 0 ? 0 : r->source->list(r->source, "log", find_log, r);
    if (rc != 0)
        return error_set(err, rc, "list the log of the backup: %s", error_text(rc));
    r->bytes_total = r->bytes_done;
    for (uint32_t i = 0; i < r->point.state.segment_count; i++)
        r->bytes_total += r->point.state.segments[i].size;
    for (size_t i = 0; rc == 0 && i < r->log_count; i++) {
        rc = measure_log_file(r, &r->log[i], err);
        r->bytes_total += r->log[i].size;
    }
    return rc;
}

/* Make an empty log file, because a data directory without log files is refused. */
static int make_empty_log(struct restore *r, struct error *err)
{
    char path[BACKUP_PATH];
    struct disk_file *file;
    uint32_t id = r->point.log_count > 0 ? r->point.log[r->point.log_count - 1].extent.file_id : 1;
    backup_point_log_path(id, path);
    int rc = r->disk->open(r->disk, path, DISK_WRITE | DISK_CREATE, &file, err);
    if (rc != 0)
        return rc;
    rc = r->disk->allocate(r->disk, file, COMMIT_LOG_BLOCK);
    r->disk->close(r->disk, file);
    return rc == 0 ? 0 : error_set(err, rc, "make %s: %s", path, error_text(rc));
}

static int copy_log(struct restore *r, struct error *err)
{
    int rc = r->end.file_id == 0 ? make_empty_log(r, err) : 0;
    for (size_t i = 0; rc == 0 && i < r->log_count; i++) {
        char path[BACKUP_PATH];
        struct hash128 hash;
        backup_point_log_path(r->log[i].file_id, path);
        if (r->log[i].size > 0)
            rc = copy_file(r, path, r->log[i].size, &hash, err);
    }
    return rc;
}

/* ---- the directory ---- */

static void find_any(void *context, const char *name)
{
    if (strcmp(name, "lock") != 0)
        snprintf(context, 64, "%s", name);
}

static int check_empty(struct restore *r, struct error *err)
{
    char found[64] = "";
    int rc = r->disk->list(r->disk, "", find_any, found);
    if (rc != 0)
        return error_set(err, rc, "list the directory: %s", error_text(rc));
    return found[0] == '\0' ? 0
                            : error_set(err, ERROR_EXISTS,
                                        "it has \"%s\"; a backup is restored to an empty or a new "
                                        "directory",
                                        found);
}

static int make_directories(struct restore *r, struct error *err)
{
    int rc = r->disk->make_directory(r->disk, "segments");
    rc = rc == 0 ? r->disk->make_directory(r->disk, "log") : rc;
    return rc == 0 ? 0 : error_set(err, rc, "make directories: %s", error_text(rc));
}

static int write_manifest(struct restore *r, struct error *err)
{
    struct manifest_state state = r->point.state;
    struct world *world = r->options->world;
    const struct clock_reading now = trusted_clock_read(world->clock);
    int rc = r->disk->sync_directory(r->disk, "segments");
    rc = rc == 0 ? r->disk->sync_directory(r->disk, "log") : rc;
    rc = rc == 0 ? r->disk->sync_directory(r->disk, "") : rc;
    if (rc != 0)
        return error_set(err, rc, "sync the directory: %s", error_text(rc));
    if (r->options->is_new)
        uuid_make(world->random, state.directory_id);
    /* The backup may be old, or of another machine, so its clock is not used. */
    state.clock = now;
    return manifest_create_from(world, &state, err);
}

static int restore_locked(struct restore *r, struct error *err)
{
    int rc = check_empty(r, err);
    rc = rc == 0 ? choose_point(r, err) : rc;
    if (rc != 0)
        return rc;
    for (uint32_t i = 0; i < r->point.state.segment_count; i++)
        r->bytes_total += r->point.state.segments[i].size;
    for (uint32_t i = 0; i < r->point.log_count; i++)
        r->bytes_total += 2 * r->point.log[i].extent.size;
    rc = check_log(r, err);
    rc = rc == 0 ? scan_log(r, err) : rc;
    rc = rc == 0 ? measure(r, err) : rc;
    rc = rc == 0 ? make_directories(r, err) : rc;
    rc = rc == 0 ? copy_segments(r, err) : rc;
    rc = rc == 0 ? copy_log(r, err) : rc;
    return rc == 0 ? write_manifest(r, err) : rc;
}

int backup_restore(const struct backup_restore_options *options, struct backup_restored *restored,
                   struct error *err)
{
    struct restore r = {
        .options = options, .source = options->source, .disk = options->world->disk};
    *restored = (struct backup_restored){0};
    int rc = r.disk->lock(r.disk, DISK_LOCK_EXCLUSIVE, err);
    if (rc != 0)
        return rc;
    r.piece = memory_aligned(PIECE_SIZE);
    rc = restore_locked(&r, err);
    if (rc == 0) {
        *restored = (struct backup_restored){
            .point = r.point.number,
            .frame = r.end.frame,
            .timestamp_us = r.end.timestamp_us != 0 ? r.end.timestamp_us : r.point.timestamp_us,
            .is_cut = r.end.is_cut};
    }
    memory_free(r.log);
    memory_free(r.piece);
    backup_point_release(&r.point);
    r.disk->unlock(r.disk);
    return rc;
}

int backup_restore_list(struct disk *source,
                        void (*each)(void *context, const struct backup_point *point, int status,
                                     const struct error *err),
                        void *context, struct error *err)
{
    uint64_t *numbers;
    size_t count;
    int rc = backup_point_list(source, &numbers, &count, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct backup_point point;
        struct error own = {0};
        int status = backup_point_read(source, numbers[i], &point, &own);
        point.number = numbers[i];
        each(context, &point, status, &own);
        backup_point_release(&point);
    }
    memory_free(numbers);
    return rc;
}

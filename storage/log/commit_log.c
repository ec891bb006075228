/* commit_log: writes frames, one after the other, into files that are made before they are needed.
 *
 * A frame is written only after the previous frame is synced, only into blocks that were not
 * written since the file got its id, and only into space that was zero-filled before.
 *
 * After a failed write or sync, it is unknown what is on the disk.  So nothing more is written or
 * acknowledged, and the next opening reads what is on the disk.
 *
 * Every file keeps two blocks free at its end, for a closing record and an opening record. */
#include "storage/log/commit_log.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "storage/log/commit_log_private.h"
#include "storage/log/frame_writer.h"

enum {
    FILE_SIZE_DEFAULT = 64 << 20,
    FIRST_FILE_SIZE_DEFAULT = 1 << 20,
    FILE_GROWTH = 8, /* the next file is so many times as large */
    SPARE_COUNT_MAX = 2,
    MARK_SIZE = 1 << 20,
    RETRY_MS = 250
};

/* `bytes` is the value of bytes_written after `frame` was appended. */
struct mark {
    uint64_t frame;
    uint64_t bytes;
};

struct commit_log {
    struct commit_log_file_job file_job; /* first: file_job_done casts its job */
    struct world *world;
    uint64_t file_size;
    commit_log_durable durable;
    void *context;
    void (*room)(void *context);
    void (*shortage_changed)(void *context);
    void *space_context; /* of room and shortage_changed */
    int failure;         /* the error after which nothing is written; or 0 */
    bool read_only;

    struct commit_log_status status;
    uint64_t frame_flushed;
    uint32_t crc_last; /* of the header of the last durable record */
    uint64_t purges;
    uint64_t purges_reported; /* the highest number that a frame recorded */
    struct buffer payload;    /* of the frame being written */
    struct frame_writer_record record;
    struct disk_file *left_file;      /* the previous file, until a frame of `current` is durable */
    struct frame_writer *writer;      /* NULL if the log is read only */
    struct frame_writer *disk_writer; /* owned */

    struct commit_log_file current; /* id 0: none */
    struct disk_file *current_file;
    uint64_t offset; /* in `current`: where the next record is written */
    bool is_opening_due;
    struct commit_log_file next; /* ready; id 0: none */
    struct disk_file *next_file;
    struct disk_file *retired[COMMIT_LOG_RETIRED_MAX];
    size_t retired_count;
    struct commit_log_files live; /* files with needed frames, without `current` */
    struct commit_log_files spare;
    struct commit_log_files leaving; /* the next file job moves these to the archive; after a
                                      * failure, the job that archive_retry starts does */
    struct timer archive_retry;
    bool archive_fails;
    struct commit_log_archive archive;
    struct commit_log_pin *pins;
    uint32_t file_id_last;

    struct timer retry;
    uint64_t room_wanted; /* bytes of a record for which there was no space; 0: none */

    uint64_t bytes_written; /* since the opening */
    uint64_t bytes_flushed;
    struct mark *marks;
    uint32_t mark_count;
    uint32_t mark_capacity;
};

/* ---- files, on the engine thread ---- */

/* Whether a record of `bytes` fits, with two blocks left. */
static bool file_fits(const struct commit_log_file *file, uint64_t offset, uint64_t bytes)
{
    return file->id != 0 && offset + bytes + 2 * COMMIT_LOG_BLOCK <= file->size;
}

static uint64_t current_offset(const struct commit_log *log)
{
    return log->offset + (log->is_opening_due ? COMMIT_LOG_BLOCK : 0);
}

static bool log_fits(const struct commit_log *log, uint64_t bytes)
{
    return file_fits(&log->current, current_offset(log), bytes) || file_fits(&log->next, 0, bytes);
}

/* The largest spare file of at least `size` bytes; spare.count: there is none. */
static uint32_t spare_find(const struct commit_log *log, uint64_t size)
{
    uint32_t best = log->spare.count;

    for (uint32_t i = 0; i < log->spare.count; i++)
        if (log->spare.items[i].size >= size &&
            (best == log->spare.count || log->spare.items[i].size > log->spare.items[best].size))
            best = i;
    return best;
}

static bool file_is_needed(const struct commit_log *log, const struct commit_log_file *file)
{
    if (file->frame_last > log->frame_flushed)
        return true;
    for (const struct commit_log_pin *pin = log->pins; pin != NULL; pin = pin->next)
        if (file->frame_last > pin->frame && file->id <= pin->file_last)
            return true;
    return false;
}

static void file_let_go(struct commit_log *log, struct commit_log_file file)
{
    commit_log_files_add(log->archive.is_on && file.frame_last > 0 ? &log->leaving : &log->spare,
                         file);
}

static void files_let_go(struct commit_log *log)
{
    uint32_t i = 0;

    while (i < log->live.count)
        if (!file_is_needed(log, &log->live.items[i]))
            file_let_go(log, commit_log_files_take(&log->live, i));
        else
            i++;
}

static bool archive_is_pinned(const struct commit_log *log)
{
    for (const struct commit_log_pin *pin = log->pins; pin != NULL; pin = pin->next)
        if (pin->file_last == UINT32_MAX)
            return true;
    return false;
}

static void file_job_take_archive(struct commit_log *log, struct commit_log_file_job *file_job)
{
    file_job->archive_count = 0;
    while (file_job->archive_count < COMMIT_LOG_REMOVE_MAX && log->leaving.count > 0 &&
           log->archive_retry.handle == NULL)
        file_job->archive[file_job->archive_count++] = commit_log_files_take(&log->leaving, 0);
    file_job->discard_count =
        archive_is_pinned(log)
            ? 0
            : commit_log_archive_take(&log->archive, file_job->discard, COMMIT_LOG_REMOVE_MAX);
}

static void file_job_take_removals(struct commit_log *log, struct commit_log_file_job *file_job)
{
    file_job->remove_count = 0;
    if (log->current.id == 0)
        return; /* a spare file may be the only file of the log */
    for (uint32_t i = log->spare.count; i > 0 && file_job->remove_count < COMMIT_LOG_REMOVE_MAX;
         i--)
        if (log->spare.count > SPARE_COUNT_MAX || log->spare.items[i - 1].size < log->current.size)
            file_job->remove[file_job->remove_count++] =
                commit_log_files_take(&log->spare, i - 1).id;
}

static void file_job_take_making(struct commit_log *log, struct commit_log_file_job *file_job,
                                 uint64_t bytes)
{
    uint64_t size_min = bytes + 2 * COMMIT_LOG_BLOCK;
    uint32_t spare = spare_find(log, size_min);

    file_job->is_making = true;
    file_job->made_file = NULL;
    file_job->spare = spare < log->spare.count ? commit_log_files_take(&log->spare, spare)
                                               : (struct commit_log_file){0};
    check(log->file_id_last < UINT32_MAX);
    file_job->made = (struct commit_log_file){.id = log->file_id_last + 1};
    file_job->made.size = file_job->spare.id != 0             ? file_job->spare.size
                          : size_min > log->status.next_bytes ? size_min
                                                              : log->status.next_bytes;
}

/* Whether the next file must be made now: for a record that does not fit, or because the current
 * file is an eighth full.  A current file below the full size must be half full, because a small
 * directory may never need another file. */
static bool next_is_due(const struct commit_log *log)
{
    if (log->read_only || log->failure != 0 || log->retry.handle != NULL)
        return false;
    if (log->room_wanted != 0 && !log_fits(log, log->room_wanted))
        return true;
    return log->next.id == 0 &&
           log->offset >= log->current.size / (log->current.size < log->file_size ? 2 : 8);
}

static void log_fail(struct commit_log *log, int status)
{
    if (log->failure == 0)
        log->failure = status;
    log->durable(log->context, log->failure, log->status.frame_durable);
}

static void shortage_set(struct commit_log *log, int status, uint64_t bytes)
{
    bool stops_frames = status != 0 && log->room_wanted != 0;

    if (log->status.shortage.status == status && log->status.shortage.stops_frames == stops_frames)
        return;
    log->status.shortage = (struct commit_log_shortage){status, bytes, stops_frames};
    if (log->shortage_changed != NULL)
        log->shortage_changed(log->space_context);
}

static void retry_fire(struct timer *timer);

/* After a file of `size` bytes, let the next be FILE_GROWTH times as large, up to file_size. */
static void size_next_raise(struct commit_log *log, uint64_t size)
{
    uint64_t larger = size > log->file_size / FILE_GROWTH ? log->file_size : size * FILE_GROWTH;

    if (larger > log->status.next_bytes)
        log->status.next_bytes = larger;
}

static void file_retire(struct commit_log *log, struct disk_file *file)
{
    check(log->retired_count < COMMIT_LOG_RETIRED_MAX);
    log->retired[log->retired_count++] = file;
}

static int file_job_finish(struct commit_log *log)
{
    struct commit_log_file_job *file_job = &log->file_job;

    if (!file_job->is_making)
        return 0;
    file_job->is_making = false;
    if (file_job->status < 0) {
        if (file_job->spare.id != 0) /* the spare file may have been renamed to the new id */
            log->file_id_last = file_job->made.id;
        return file_job->status;
    }
    log->file_id_last = file_job->made.id;
    if (log->next.id != 0) { /* `next` is too small for the frame that waits */
        file_retire(log, log->next_file);
        commit_log_files_add(&log->spare, log->next);
    }
    log->next = file_job->made;
    log->next_file = file_job->made_file;
    size_next_raise(log, log->next.size);
    return 0;
}

static void file_job_done(struct job *job);

static void file_job_consider(struct commit_log *log)
{
    struct commit_log_file_job *file_job = &log->file_job;

    if (log->status.is_busy || log->read_only)
        return;
    file_job->is_making = false;
    if (next_is_due(log))
        file_job_take_making(log, file_job, log->room_wanted);
    file_job_take_removals(log, file_job);
    file_job_take_archive(log, file_job);
    memcpy(file_job->retired, log->retired, sizeof(log->retired));
    file_job->retired_count = log->retired_count;
    log->retired_count = 0;
    if (!file_job->is_making && file_job->remove_count == 0 && file_job->retired_count == 0 &&
        file_job->archive_count == 0 && file_job->discard_count == 0)
        return;
    log->status.is_busy = true;
    world_submit(log->world, LANE_LOG_FILES, &file_job->job, commit_log_file_job_run,
                 file_job_done);
}

static void archive_retry_fire(struct timer *timer)
{
    file_job_consider(timer->context);
}

/* A file that could not be moved to the archive is moved later; the first failure is logged. */
static void file_job_archived(struct commit_log *log)
{
    const struct commit_log_file_job *file_job = &log->file_job;
    const struct commit_log_file *left = NULL;
    int status = 0;

    for (size_t i = 0; i < file_job->archive_count; i++) {
        if (file_job->archive_status[i] == 0) {
            commit_log_archive_add(&log->archive, file_job->archive[i]);
            continue;
        }
        left = &file_job->archive[i];
        status = file_job->archive_status[i];
        commit_log_files_add(&log->leaving, *left);
    }
    if (left != NULL) {
        if (!log->archive_fails)
            log_event(LOG_WARNING, "log_file_not_archived", log_number("file", left->id),
                      log_text("error", error_text(status)));
        world_timer_start(log->world, &log->archive_retry, archive_retry_fire, log, RETRY_MS);
    }
    if (file_job->archive_count > 0)
        log->archive_fails = left != NULL;
}

static void file_job_done(struct job *job)
{
    struct commit_log *log = (struct commit_log *)job;
    bool was_making = log->file_job.is_making;
    int rc = file_job_finish(log);

    file_job_archived(log);
    log->status.is_busy = false;
    if (rc < 0 && error_is_passing(rc))
        world_timer_start(log->world, &log->retry, retry_fire, log, RETRY_MS);
    else if (rc < 0)
        log_fail(log, rc);
    if (was_making)
        shortage_set(log, error_is_passing(rc) ? rc : 0, log->file_job.made.size);
    file_job_consider(log);
    if (was_making && rc == 0 && log->room_wanted != 0) {
        log->room_wanted = 0;
        if (log->room != NULL)
            log->room(log->space_context);
    }
}

static void retry_fire(struct timer *timer)
{
    struct commit_log *log = timer->context;

    file_job_consider(log);
    if (!log->status.is_busy || !log->file_job.is_making) /* no file is needed any more */
        shortage_set(log, 0, 0);
}

/* ---- how much of the log is not flushed ---- */

static void mark_add(struct commit_log *log, uint64_t frame, uint64_t bytes)
{
    struct mark *last = log->mark_count > 0 ? &log->marks[log->mark_count - 1] : NULL;

    log->bytes_written += bytes;
    if (last != NULL && log->bytes_written - last->bytes < MARK_SIZE)
        return;
    log->marks =
        memory_make_room(log->marks, log->mark_count, &log->mark_capacity, sizeof(log->marks[0]));
    log->marks[log->mark_count++] = (struct mark){frame, log->bytes_written};
}

static void marks_flush(struct commit_log *log, uint64_t frame)
{
    uint32_t passed = 0;

    while (passed < log->mark_count && log->marks[passed].frame <= frame)
        log->bytes_flushed = log->marks[passed++].bytes;
    log->mark_count -= passed;
    if (passed > 0 && log->mark_count > 0)
        memmove(log->marks, log->marks + passed, log->mark_count * sizeof(log->marks[0]));
    if (frame + 1 == log->status.frame_next) {
        log->bytes_flushed = log->bytes_written;
        log->mark_count = 0;
    }
}

/* ---- open ---- */

static struct commit_log *log_new(struct world *world, const struct commit_log_options *options)
{
    struct commit_log *log = memory_zeroed(1, sizeof(*log));

    log->world = world;
    log->read_only = options->read_only;
    log->frame_flushed = options->flushed_frame;
    log->purges = options->purges;
    log->file_size = options->file_size != 0 ? options->file_size : FILE_SIZE_DEFAULT;
    log->status.next_bytes =
        options->first_file_size != 0 ? options->first_file_size : FIRST_FILE_SIZE_DEFAULT;
    check(log->file_size % COMMIT_LOG_BLOCK == 0 && log->status.next_bytes % COMMIT_LOG_BLOCK == 0);
    log->file_job.disk = world->disk;
    return log;
}

static void log_take_recovered(struct commit_log *log, struct commit_log_recovered *recovered)
{
    log->status.frame_next = recovered->frame_next;
    log->status.frame_durable = recovered->frame_next - 1;
    log->crc_last = recovered->crc_last;
    log->status.timestamp_last_us = recovered->timestamp_last_us;
    log->status.timestamp_durable_us = recovered->timestamp_last_us;
    log->file_id_last = recovered->file_id_last;
    log->purges_reported = recovered->purges;
    log->live = recovered->live;
    recovered->live = (struct commit_log_files){0};
    for (size_t i = 0; i < recovered->spare.count; i++)
        file_let_go(log, recovered->spare.items[i]);
    if (recovered->bytes_unflushed > 0)
        mark_add(log, recovered->frame_next - 1, recovered->bytes_unflushed);
    if (recovered->is_clean) {
        log->current = recovered->tail;
        log->offset = recovered->offset;
        log->is_opening_due = true;
        size_next_raise(log, log->current.size);
    }
}

static void current_replace(struct commit_log *log)
{
    log->current = log->next;
    log->current_file = log->next_file;
    log->offset = 0;
    log->is_opening_due = false;
    log->next = (struct commit_log_file){0};
    log->next_file = NULL;
}

/* If there is no space, a timer tries again later. */
static int log_open_current(struct commit_log *log, struct error *err)
{
    struct disk *disk = log->world->disk;

    if (log->current.id != 0) {
        char path[COMMIT_LOG_PATH];
        commit_log_path(log->current.id, path);
        return disk->open(disk, path, DISK_WRITE | DISK_DIRECT, &log->current_file, err);
    }
    file_job_take_making(log, &log->file_job, COMMIT_LOG_BLOCK);
    commit_log_file_job_run(&log->file_job.job);
    int rc = file_job_finish(log);
    if (rc < 0 && error_is_passing(rc)) {
        world_timer_start(log->world, &log->retry, retry_fire, log, RETRY_MS);
        shortage_set(log, rc, log->file_job.made.size);
        return 0;
    }
    if (rc < 0)
        return error_set(err, rc, "cannot make a log file: %s", error_text(rc));
    current_replace(log);
    return 0;
}

static int log_make_directory(struct disk *disk, struct error *err)
{
    int rc = disk->make_directory(disk, "log");

    if (rc == 0)
        rc = disk->sync_directory(disk, "");
    return rc < 0 ? error_set(err, rc, "cannot make the directory log: %s", error_text(rc)) : 0;
}

static void log_free(struct commit_log *log)
{
    buffer_release(&log->payload);
    frame_writer_disk_free(log->disk_writer);
    memory_free(log->live.items);
    memory_free(log->spare.items);
    memory_free(log->leaving.items);
    memory_free(log->archive.files.items);
    memory_free(log->marks);
    memory_free(log);
}

static void append_done(void *context, int status);

static void log_take_writer(struct commit_log *log, struct frame_writer *writer)
{
    log->disk_writer = frame_writer_disk_new(log->world);
    log->writer = writer != NULL ? writer : log->disk_writer;
    log->writer->durable = append_done;
    log->writer->context = log;
}

int commit_log_open(struct world *world, const struct commit_log_options *options,
                    commit_log_replay replay, commit_log_durable durable, void *context,
                    struct commit_log **log_out, struct error *err)
{
    struct commit_log_recovered recovered = {0};

    *log_out = NULL;
    int rc = options->read_only ? 0 : log_make_directory(world->disk, err);
    if (rc < 0)
        return rc;
    struct commit_log *log = log_new(world, options);
    log->durable = durable;
    log->context = context;
    rc = commit_log_archive_open(world->disk, options->archive_bytes, options->read_only,
                                 &log->archive, err);
    if (rc == 0)
        rc = commit_log_recover(world, options, replay, context, &recovered, err);
    if (rc == 0)
        log_take_recovered(log, &recovered);
    if (rc == 0 && !log->read_only)
        rc = log_open_current(log, err);
    commit_log_recovered_release(&recovered);
    if (rc < 0) {
        log_free(log);
        return rc;
    }
    if (!log->read_only)
        log_take_writer(log, options->writer);
    file_job_consider(log);
    *log_out = log;
    return 0;
}

/* ---- state and callbacks ---- */

const struct commit_log_status *commit_log_status(const struct commit_log *log)
{
    return &log->status;
}

bool commit_log_has_room(struct commit_log *log, size_t payload_size)
{
    uint64_t bytes = commit_log_record_bytes(payload_size + COMMIT_LOG_PURGES);

    if (log->failure != 0 || log->read_only || payload_size > COMMIT_LOG_PAYLOAD_MAX)
        return false;
    if (log_fits(log, bytes))
        return true;
    if (bytes > log->room_wanted)
        log->room_wanted = bytes;
    file_job_consider(log);
    shortage_set(log, log->status.shortage.status, log->status.shortage.bytes);
    return false;
}

static uint32_t file_unlinked(const struct commit_log *log, uint32_t id, struct disk_file *file,
                              char path_out[64])
{
    struct disk *disk = log->world->disk;

    if (id == 0 || file == NULL || disk->is_linked(disk, file))
        return 0;
    commit_log_path(id, path_out);
    return 1;
}

uint32_t commit_log_unlinked(const struct commit_log *log, char path_out[64])
{
    return file_unlinked(log, log->next.id, log->next_file, path_out) +
           file_unlinked(log, log->current.id, log->current_file, path_out);
}

void commit_log_on_space(struct commit_log *log, void (*room)(void *context),
                         void (*shortage)(void *context), void *context)
{
    log->room = room;
    log->shortage_changed = shortage;
    log->space_context = context;
}

uint64_t commit_log_disk_bytes(const struct commit_log *log)
{
    uint64_t bytes = log->current.size + log->next.size;

    for (size_t i = 0; i < log->live.count; i++)
        bytes += log->live.items[i].size;
    for (size_t i = 0; i < log->spare.count; i++)
        bytes += log->spare.items[i].size;
    return bytes;
}

uint64_t commit_log_unflushed_bytes(const struct commit_log *log)
{
    return log->bytes_written - log->bytes_flushed;
}

/* ---- what a backup copies ---- */

void commit_log_pin(struct commit_log *log, struct commit_log_pin *pin, uint64_t frame)
{
    pin->frame = frame;
    pin->file_last = UINT32_MAX;
    pin->next = log->pins;
    log->pins = pin;
}

void commit_log_pin_narrow(struct commit_log *log, struct commit_log_pin *pin, uint32_t file_last)
{
    pin->file_last = file_last;
    files_let_go(log);
    file_job_consider(log);
}

bool commit_log_is_kept(const struct commit_log *log)
{
    return log->archive.is_on || log->pins != NULL;
}

void commit_log_unpin(struct commit_log *log, struct commit_log_pin *pin)
{
    struct commit_log_pin **link = &log->pins;

    while (*link != NULL && *link != pin)
        link = &(*link)->next;
    check(*link == pin);
    *link = pin->next;
    files_let_go(log);
    file_job_consider(log);
}

static void extent_add(struct buffer *extents, uint32_t file_id, uint64_t size)
{
    struct commit_log_extent extent = {.file_id = file_id, .size = size};
    buffer_append(extents, &extent, sizeof(extent));
}

/* The size of the current file's durable records: a record that is being written is not
 * included. */
static uint64_t current_durable(const struct commit_log *log)
{
    const struct frame_writer_record *record = &log->record;

    if (!log->status.is_writing)
        return log->offset;
    return record->opening_file == log->current_file ? record->opening_offset : record->offset;
}

/* The size of a live file's durable records: an opening record that is being added is not
 * included. */
static uint64_t left_durable(const struct commit_log *log, const struct commit_log_file *file)
{
    const struct frame_writer_record *record = &log->record;

    return log->status.is_writing && record->opening_file != NULL &&
                   record->opening_file_id == file->id
               ? record->opening_offset
               : file->used;
}

void commit_log_extents(const struct commit_log *log, uint64_t frame, struct buffer *extents)
{
    /* Live files are in the order of ids, and the current file is the newest. */
    for (size_t i = 0; i < log->live.count; i++)
        if (log->live.items[i].frame_last > frame)
            extent_add(extents, log->live.items[i].id, left_durable(log, &log->live.items[i]));
    if (log->current.id != 0)
        extent_add(extents, log->current.id, current_durable(log));
}

static void extents_add(struct buffer *extents, const struct commit_log_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        extent_add(extents, files[i].id, files[i].size);
}

void commit_log_archived(const struct commit_log *log, struct buffer *extents)
{
    const struct commit_log_file_job *file_job = &log->file_job;

    extents_add(extents, log->archive.files.items, log->archive.files.count);
    extents_add(extents, file_job->archive, log->status.is_busy ? file_job->archive_count : 0);
    extents_add(extents, log->leaving.items, log->leaving.count);
}

/* ---- append ---- */

static void append_done(void *context, int status)
{
    struct commit_log *log = context;
    const struct commit_log_header *header = &log->record.header;

    log->status.is_writing = false;
    if (log->left_file != NULL) {
        file_retire(log, log->left_file);
        file_job_consider(log);
    }
    if (status < 0) {
        log_fail(log, status);
        return;
    }
    log->crc_last = header->crc;
    log->status.frame_durable = header->frame;
    log->status.timestamp_durable_us = header->timestamp_us;
    /* Called even after a failure, because the log is closed only after this call. */
    log->durable(log->context, log->failure, log->status.frame_durable);
}

/* The old file stays open until the frame is written, because the writer may first add an opening
 * record to the file. */
static void file_rotate(struct commit_log *log)
{
    check(log->next.id != 0);
    log->left_file = log->current_file;
    log->current.used = current_offset(log);
    if (log->current.id != 0 && file_is_needed(log, &log->current))
        commit_log_files_add(&log->live, log->current);
    else if (log->current.id != 0)
        file_let_go(log, log->current);
    current_replace(log);
}

static void append_place(struct commit_log *log, uint64_t bytes)
{
    struct frame_writer_record *record = &log->record;

    record->opening_file = log->is_opening_due ? log->current_file : NULL;
    record->opening_offset = log->offset;
    record->opening_file_id = log->current.id;
    log->left_file = NULL;
    if (file_fits(&log->current, current_offset(log), bytes))
        log->offset = current_offset(log);
    else
        file_rotate(log);
    log->is_opening_due = false;
    record->file = log->current_file;
    record->offset = log->offset;
    log->offset += bytes;
}

void commit_log_note_purges(struct commit_log *log, uint64_t purges)
{
    log->purges = purges;
}

/* If no frame has recorded the number of purges yet, append the number to the payload. */
static uint16_t purges_record(struct commit_log *log, struct buffer *payload)
{
    if (log->purges <= log->purges_reported)
        return COMMIT_LOG_FRAME;
    log->purges_reported = log->purges;
    buffer_put_u64(payload, log->purges);
    return COMMIT_LOG_PURGED;
}

void commit_log_append(struct commit_log *log, int64_t timestamp_us, struct buffer *payload)
{
    struct buffer used = log->payload;
    struct frame_writer_record *record = &log->record;

    check(!log->status.is_writing && log->failure == 0 && !log->read_only);
    check(payload->size <= COMMIT_LOG_PAYLOAD_MAX);
    uint16_t kind = purges_record(log, payload);
    uint64_t bytes = commit_log_record_bytes(payload->size);
    check(log_fits(log, bytes));
    log->payload = *payload;
    *payload = used;
    buffer_clear(payload);
    append_place(log, bytes);

    record->header = (struct commit_log_header){.kind = kind,
                                                .file_id = log->current.id,
                                                .frame = log->status.frame_next,
                                                .timestamp_us = timestamp_us,
                                                .previous_crc = log->crc_last};
    record->payload = buffer_view(&log->payload);

    log->current.frame_last = log->status.frame_next++;
    log->status.timestamp_last_us = timestamp_us;
    mark_add(log, log->current.frame_last, bytes);
    log->status.is_writing = true;
    log->writer->write(log->writer, record);
    file_job_consider(log);
}

void commit_log_flushed(struct commit_log *log, uint64_t frame)
{
    check(frame <= log->status.frame_durable);
    if (frame <= log->frame_flushed)
        return;
    log->frame_flushed = frame;
    marks_flush(log, frame);
    files_let_go(log);
    world_timer_stop(log->world, &log->retry); /* a file may have become reusable */
    file_job_consider(log);
}

/* ---- close ---- */

static int closing_write(struct commit_log *log)
{
    struct frame_writer_record record = {.header = {.kind = COMMIT_LOG_CLOSING,
                                                    .file_id = log->current.id,
                                                    .frame = log->status.frame_next,
                                                    .timestamp_us = log->status.timestamp_last_us,
                                                    .previous_crc = log->crc_last},
                                         .file = log->current_file,
                                         .offset = log->offset};

    return frame_writer_disk_write(log->disk_writer, &record);
}

void commit_log_close(struct commit_log *log)
{
    if (log == NULL)
        return;
    check(!log->status.is_writing);
    struct disk *disk = log->world->disk;
    world_timer_stop(log->world, &log->retry);
    world_timer_stop(log->world, &log->archive_retry);
    log->room = NULL;
    log->shortage_changed = NULL;
    log->room_wanted = 0;
    while (log->status.is_busy)
        check(log->world->executor->step(log->world->executor));
    world_timer_stop(log->world, &log->retry);
    world_timer_stop(log->world, &log->archive_retry);
    /* Even without frames, a new file gets a closing record, so that the next opening need not
     * search it. */
    if (log->failure == 0 && log->current_file != NULL && !log->is_opening_due)
        (void)closing_write(log);
    for (size_t i = 0; i < log->retired_count; i++)
        disk->close(disk, log->retired[i]);
    if (log->next_file != NULL)
        disk->close(disk, log->next_file);
    if (log->current_file != NULL)
        disk->close(disk, log->current_file);
    log_free(log);
}

/* ---- for debugging ---- */

static void dump_file(const char *what, const struct commit_log_file *file, struct buffer *text)
{
    if (file->id == 0)
        return;
    buffer_printf(text, "  %s file %08" PRIx32 ": %" PRIu64 " bytes, last frame %" PRIu64 "\n",
                  what, file->id, file->size, file->frame_last);
}

static void dump_files(const char *what, const struct commit_log_files *files, struct buffer *text)
{
    for (size_t i = 0; i < files->count; i++)
        dump_file(what, &files->items[i], text);
}

void commit_log_dump(const struct commit_log *log, struct buffer *text)
{
    uint64_t next = log->status.frame_next;
    buffer_printf(text, "log\n  next frame %" PRIu64 ", durable %" PRIu64 ", flushed %" PRIu64 "\n",
                  next, log->status.frame_durable, log->frame_flushed);
    if (log->status.is_writing)
        buffer_printf(text, "  writing frame %" PRIu64 " of %zu bytes\n", next - 1,
                      log->payload.size);
    if (log->room_wanted > 0)
        buffer_printf(text, "  waits for a file with room for %" PRIu64 " bytes\n",
                      log->room_wanted);
    dump_file("current", &log->current, text);
    dump_file("next", &log->next, text);
    dump_files("live", &log->live, text);
    dump_files("spare", &log->spare, text);
    dump_files("leaving", &log->leaving, text);
    for (const struct commit_log_pin *pin = log->pins; pin != NULL; pin = pin->next)
        buffer_printf(text, "  frames past %" PRIu64 " are kept, in files up to %08" PRIx32 "\n",
                      pin->frame, pin->file_last);
}

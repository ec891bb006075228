/* commit_log_recover: reads the frames of a log from its files, and distinguishes a torn tail from
 * damage.
 *
 * A record that cannot be read is a crash's torn tail only if some sector of it has old bytes
 * (zeros, or of an earlier file id) and no sector of a later record exists, because a later record
 * is written only after this one is synced.  All else is damage to perhaps acknowledged frames.
 *
 * Example: after a crash file 5 has frames 100 to 180 and a torn frame 181.  The next opening wrote
 * another frame 181 to file 6.  The walk ends in file 5 at the torn record.  The frame 181 in file
 * 6 names the checksum of frame 180 as the previous one, so the walk continues in file 6, and
 * ignores the torn record. */
#include "storage/log/commit_log_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/memory.h"

enum found_state {
    FOUND_EMPTY, /* the initial state: the file does not begin with a record that has its id */
    FOUND_BEGINS,
    FOUND_DAMAGED
};

struct found {
    struct commit_log_file file; /* frame_last and used: as far as the file was read */
    bool is_archived;
    enum found_state state;
    uint64_t frame_first;
};

struct recovery {
    struct world *world;
    const struct commit_log_options *options;
    commit_log_replay replay; /* NULL: frames are only checked */
    void *context;
    struct commit_log_recovered *out;
    struct commit_log_reader *reader;
    struct found *found; /* by id */
    uint32_t found_count;
    uint32_t found_capacity;
    bool has_leftover;
    bool is_archive_listed;
    struct buffer payload;
    uint32_t index;       /* of the file being walked; before the walk of commit_log_recover:
                           * found_count */
    uint64_t offset;      /* in the file at `index` */
    uint32_t last_index;  /* of the file with the last accepted record */
    uint64_t last_offset; /* of the last accepted record */
    uint64_t last_bytes;  /* of the last accepted record; 0: there is none */
    bool is_crc_known;
    bool is_closed;
    const struct commit_log_range *range; /* NULL: read to the end */
    struct commit_log_end *end;
    bool is_stopped;
    bool is_damaged; /* the error is about the bytes at `index`, `offset` */
};

/* ---- helpers ---- */

void commit_log_files_add(struct commit_log_files *files, struct commit_log_file file)
{
    files->items =
        memory_make_room(files->items, files->count, &files->capacity, sizeof(files->items[0]));
    files->items[files->count++] = file;
}

struct commit_log_file commit_log_files_take(struct commit_log_files *files, uint32_t index)
{
    check(index < files->count);
    struct commit_log_file file = files->items[index];
    files->count--;
    memmove(&files->items[index], &files->items[index + 1],
            (files->count - index) * sizeof(files->items[0]));
    return file;
}

void commit_log_recovered_release(struct commit_log_recovered *recovered)
{
    memory_free(recovered->live.items);
    memory_free(recovered->spare.items);
    memset(recovered, 0, sizeof(*recovered));
}

static void found_path(const struct found *found, char path[COMMIT_LOG_PATH])
{
    if (found->is_archived)
        commit_log_archive_path(found->file.id, path);
    else
        commit_log_path(found->file.id, path);
}

static int found_open(struct recovery *r, const struct found *found, struct error *err)
{
    char path[COMMIT_LOG_PATH];

    found_path(found, path);
    return commit_log_reader_open(r->reader, path, found->file.size, err);
}

static int damage(struct recovery *r, const char *what, struct error *err)
{
    char path[COMMIT_LOG_PATH];

    found_path(&r->found[r->index], path);
    r->is_damaged = true;
    return error_set(err, ERROR_CORRUPT, "%s, byte %" PRIu64 ", frame %" PRIu64 ": %s", path,
                     r->offset, r->out->frame_next, what);
}

static int damage_explain(struct recovery *r, struct error *err)
{
    struct commit_log_damage damage = {.frame_first = r->out->frame_next,
                                       .frame_last = r->out->frame_next,
                                       .count = r->options->count,
                                       .context = r->context};
    const char *what = err == NULL ? "" : err->text;
    struct error whole;

    for (uint32_t i = r->index; i < r->found_count; i++)
        if (found_open(r, &r->found[i], NULL) == 0)
            commit_log_damage_add_file(r->reader, &r->found[i].file, i == r->index ? r->offset : 0,
                                       &damage);
    (void)error_set(&whole, ERROR_CORRUPT,
                    "%s; frames %" PRIu64 " to %" PRIu64 "%s, with %" PRIu64
                    " clicks in those that can be read%s",
                    what, damage.frame_first, damage.frame_last,
                    r->options->salvage ? "" : " are at stake", damage.clicks,
                    r->options->salvage
                        ? ", are left out, and kept aside in the directory log as *.damaged-*"
                        : "; the ones before are safe; daybook serve --salvage keeps a copy of "
                          "the file and goes on without them");
    if (err != NULL)
        *err = whole;
    return ERROR_CORRUPT;
}

/* ---- the list of files ---- */

static void found_add(void *context, const char *name)
{
    struct recovery *r = context;
    uint32_t id;

    if (strcmp(name, COMMIT_LOG_NEW_NAME) == 0)
        r->has_leftover = true;
    if (!commit_log_name_parse(name, &id))
        return;
    r->found = memory_make_room(r->found, r->found_count, &r->found_capacity, sizeof(r->found[0]));
    r->found[r->found_count++] = (struct found){.file.id = id, .is_archived = r->is_archive_listed};
}

static void found_judge(struct found *found, const uint8_t *sector)
{
    struct commit_log_header header;
    uint64_t frame = commit_log_sector_frame(sector);
    enum commit_log_sector shown = commit_log_sector_check(sector, found->file.id, frame);

    found->state = shown == COMMIT_LOG_SECTOR_OLD ? FOUND_EMPTY : FOUND_DAMAGED;
    if (shown == COMMIT_LOG_SECTOR_PRESENT &&
        commit_log_header_decode(sector + COMMIT_LOG_STAMP, &header, NULL) != ERROR_CORRUPT) {
        found->state = FOUND_BEGINS;
        found->frame_first = frame;
    }
}

static int found_probe(struct recovery *r, struct found *found, uint8_t *block, struct error *err)
{
    struct disk *disk = r->world->disk;
    char path[COMMIT_LOG_PATH];
    struct disk_file *file;
    int64_t got = COMMIT_LOG_BLOCK;

    found_path(found, path);
    int rc = disk->open(disk, path, DISK_READ | DISK_DIRECT, &file, err);
    if (rc < 0)
        return rc;
    int64_t size = disk->size(disk, file);
    if (size >= COMMIT_LOG_BLOCK)
        got = disk->read(disk, file, 0, block, COMMIT_LOG_BLOCK);
    disk->close(disk, file);
    if (size < 0 || got != COMMIT_LOG_BLOCK) {
        rc = size < 0 ? (int)size : got < 0 ? (int)got : -EIO;
        return error_set(err, rc, "cannot read %s: %s", path, error_text(rc));
    }
    found->file.size = (uint64_t)size / COMMIT_LOG_BLOCK * COMMIT_LOG_BLOCK;
    if (found->file.size > 0)
        found_judge(found, block);
    return 0;
}

static int found_order(const void *a, const void *b)
{
    const struct found *left = a, *right = b;

    return left->file.id < right->file.id ? -1 : left->file.id > right->file.id;
}

static int found_list(struct recovery *r, const char *directory, struct error *err)
{
    struct disk *disk = r->world->disk;
    int rc = disk->list(disk, directory, found_add, r);

    return rc < 0 && rc != -ENOENT
               ? error_set(err, rc, "cannot list the directory %s: %s", directory, error_text(rc))
               : 0;
}

static int found_all(struct recovery *r, struct error *err)
{
    int rc = found_list(r, "log", err);

    r->is_archive_listed = rc == 0 && r->range != NULL && r->range->with_archive;
    if (r->is_archive_listed)
        rc = found_list(r, "archive", err);
    if (rc < 0)
        return rc;
    if (r->found_count > 0)
        qsort(r->found, r->found_count, sizeof(r->found[0]), found_order);
    if (r->has_leftover && !r->options->read_only)
        (void)r->world->disk->remove(r->world->disk, "log/" COMMIT_LOG_NEW_NAME);
    if (r->found_count == 0)
        return 0;
    r->out->file_id_last = r->found[r->found_count - 1].file.id;
    uint8_t *block = memory_aligned(COMMIT_LOG_BLOCK);
    for (uint32_t i = 0; rc == 0 && i < r->found_count; i++)
        rc = found_probe(r, &r->found[i], block, err);
    memory_free(block);
    return rc;
}

/* ---- one record ---- */

static int header_check(struct recovery *r, const struct commit_log_header *header,
                        struct error *err)
{
    const struct found *found = &r->found[r->index];

    if (header->frame != r->out->frame_next || header->file_id != found->file.id)
        return damage(r, "its header and its sectors disagree", err);
    if (r->is_crc_known && header->previous_crc != r->out->crc_last)
        return damage(r, "it does not follow the frame before it", err);
    if (commit_log_record_bytes(header->payload_size) > found->file.size - r->offset)
        return damage(r, "it does not fit its file", err);
    if (r->is_closed != (header->kind == COMMIT_LOG_OPENING))
        return damage(r,
                      r->is_closed ? "it follows the closing record without an opening one"
                                   : "an opening record without a closing one before it",
                      err);
    return 0;
}

/* `is_whole_out`: no crash cut the record off. */
static int record_gather(struct recovery *r, const struct commit_log_header *header,
                         bool *is_whole_out, struct error *err)
{
    enum commit_log_sector shown;
    int rc = commit_log_reader_gather(r->reader, header, r->offset, &r->payload, &shown, err);

    if (rc < 0)
        return rc;
    if (shown == COMMIT_LOG_SECTOR_DAMAGED)
        return damage(r, "a sector of it belongs to nothing", err);
    *is_whole_out = shown == COMMIT_LOG_SECTOR_PRESENT;
    if (*is_whole_out &&
        crc32c(0, r->payload.data + COMMIT_LOG_HEADER, header->payload_size) != header->payload_crc)
        return damage(r, "all of it is there, but its checksum is wrong", err);
    return 0;
}

/* `is_whole_out` is false if the record is missing or torn. */
static int record_read(struct recovery *r, struct commit_log_header *header, bool *is_whole_out,
                       struct error *err)
{
    const uint8_t *sector;
    uint64_t count;
    int rc = commit_log_reader_at(r->reader, r->offset, &sector, &count, err);

    if (rc < 0)
        return rc;
    *is_whole_out = false;
    switch (commit_log_sector_check(sector, r->found[r->index].file.id, r->out->frame_next)) {
    case COMMIT_LOG_SECTOR_OLD:
        return 0;
    case COMMIT_LOG_SECTOR_DAMAGED:
        return damage(r, "its first sector belongs to nothing", err);
    case COMMIT_LOG_SECTOR_PRESENT:
        break;
    }
    rc = commit_log_header_decode(sector + COMMIT_LOG_STAMP, header, err);
    if (rc == ERROR_CORRUPT)
        return damage(r, "its header is damaged", err);
    if (rc < 0) {
        char path[COMMIT_LOG_PATH];
        found_path(&r->found[r->index], path);
        error_wrap(err, "%s", path);
        return rc;
    }
    rc = header_check(r, header, err);
    return rc < 0 ? rc : record_gather(r, header, is_whole_out, err);
}

/* ERROR_CONFLICT: the frame was written after more purges than the segments have (a mended clock
 * counts as a purge). */
static int frame_accept(struct recovery *r, const struct commit_log_header *header,
                        struct error *err)
{
    uint64_t purges;
    struct bytes payload = commit_log_frame_payload(
        header, bytes_of(r->payload.data + COMMIT_LOG_HEADER, header->payload_size), &purges);

    r->out->purges = purges > r->out->purges ? purges : r->out->purges;
    if (header->frame <= r->options->flushed_frame)
        return 0;
    if (purges > r->options->purges)
        return error_set(
            err, ERROR_CONFLICT,
            "frame %" PRIu64 " of the log comes behind a purge of deleted rows, or a "
            "mended clock, that the segments do not have; replayed over them, it would "
            "give clicks other ids than they had, or lose to older writes",
            header->frame);
    r->out->bytes_unflushed += commit_log_record_bytes(header->payload_size);
    return r->replay == NULL
               ? 0
               : r->replay(r->context, header->frame, header->timestamp_us, payload, err);
}

static int record_accept(struct recovery *r, const struct commit_log_header *header,
                         struct error *err)
{
    struct commit_log_recovered *out = r->out;
    uint64_t bytes = commit_log_record_bytes(header->payload_size);

    if (commit_log_is_frame(header)) {
        int rc = frame_accept(r, header, err);

        if (rc < 0)
            return rc;
        out->timestamp_last_us = header->timestamp_us;
        r->found[r->index].file.frame_last = header->frame;
        out->frame_next = header->frame + 1;
    }
    out->crc_last = header->crc;
    r->is_crc_known = true;
    r->is_closed = header->kind == COMMIT_LOG_CLOSING;
    r->last_index = r->index;
    r->last_offset = r->offset;
    r->last_bytes = bytes;
    r->offset += bytes;
    r->found[r->index].file.used = r->offset;
    return 0;
}

/* ---- the walk ---- */

/* Whether the range ends before this frame.  Timestamps of frames up to frame_after are ignored,
 * because the clock may have been wrong at that time. */
static bool is_behind(const struct recovery *r, const struct commit_log_header *header)
{
    return r->range != NULL && commit_log_is_frame(header) &&
           (header->frame > r->range->frame_until ||
            (header->frame > r->range->frame_after &&
             header->timestamp_us > r->range->timestamp_until_us));
}

static bool is_through(const struct recovery *r)
{
    return r->range != NULL && r->out->frame_next > r->range->frame_until;
}

static void end_note(struct recovery *r, const struct commit_log_header *header)
{
    if (r->end == NULL || !commit_log_is_frame(header) || header->frame <= r->range->frame_after)
        return;
    r->end->frame = header->frame;
    r->end->timestamp_us = header->timestamp_us;
    r->end->file_id = r->found[r->index].file.id;
    r->end->size = r->offset;
}

static int file_walk(struct recovery *r, struct error *err)
{
    const struct found *found = &r->found[r->index];
    int rc = found_open(r, found, err);

    r->offset = 0;
    while (rc == 0 && r->offset < found->file.size && !is_through(r)) {
        struct commit_log_header header;
        bool is_whole;
        rc = record_read(r, &header, &is_whole, err);
        if (rc < 0 || !is_whole)
            return rc;
        r->is_stopped = is_behind(r, &header);
        if (r->is_stopped)
            return 0;
        rc = record_accept(r, &header, err);
        if (rc == 0)
            end_note(r, &header);
    }
    return rc;
}

/* The first file from `index` on that is not empty; found_count: there is none. */
static uint32_t found_next(const struct recovery *r, uint32_t index)
{
    while (index < r->found_count && r->found[index].state == FOUND_EMPTY)
        index++;
    return index;
}

/* The last file whose first frame is flushed_frame + 1 or earlier; else the first file that is not
 * empty. */
static uint32_t found_start(const struct recovery *r)
{
    uint32_t start = r->found_count;

    for (uint32_t i = 0; i < r->found_count; i++)
        if (r->found[i].state == FOUND_BEGINS &&
            r->found[i].frame_first <= r->options->flushed_frame + 1)
            start = i;
    return start < r->found_count ? start : found_next(r, 0);
}

static int log_walk(struct recovery *r, struct error *err)
{
    uint32_t next = found_start(r);

    if (next < r->found_count && r->found[next].state == FOUND_BEGINS &&
        r->found[next].frame_first <= r->options->flushed_frame)
        r->out->frame_next = r->found[next].frame_first;
    if (r->end != NULL && next < r->found_count)
        r->end->file_id_first = r->found[next].file.id;
    while (next < r->found_count && !r->is_stopped && !is_through(r)) {
        const struct found *found = &r->found[next];
        r->index = next;
        r->offset = 0;
        if (found->state == FOUND_BEGINS && found->frame_first != r->out->frame_next)
            return damage(r, "frames from this one on are missing before the file's first", err);
        int rc = file_walk(r, err);
        if (rc < 0)
            return rc;
        next = found_next(r, next + 1);
    }
    return 0;
}

/* A stamp of a later frame proves that the unreadable frame had been synced. */
static int file_search_later(struct recovery *r, uint32_t index, uint64_t offset, struct error *err)
{
    const struct found *found = &r->found[index];

    while (offset < found->file.size) {
        const uint8_t *sectors;
        uint64_t count;
        int rc = commit_log_reader_at(r->reader, offset, &sectors, &count, err);

        if (rc < 0)
            return rc;
        for (uint64_t i = 0; i < count; i += COMMIT_LOG_BLOCK / COMMIT_LOG_SECTOR) {
            const uint8_t *sector = sectors + i * COMMIT_LOG_SECTOR;
            uint64_t frame = commit_log_sector_frame(sector);
            if (load_u32(sector) == found->file.id && frame > r->out->frame_next &&
                commit_log_sector_check(sector, found->file.id, frame) == COMMIT_LOG_SECTOR_PRESENT)
                return damage(r, "it is not there, but a later frame is", err);
        }
        offset += count * COMMIT_LOG_SECTOR;
    }
    return 0;
}

static int log_search_later(struct recovery *r, struct error *err)
{
    uint32_t index = r->index;
    int rc = 0;

    if (index < r->found_count)
        rc = file_search_later(r, index++, r->offset + COMMIT_LOG_BLOCK, err);
    else
        r->index = index = 0; /* all files seem empty, but their first records may be lost */
    for (; rc == 0 && index < r->found_count; index++) {
        r->index = index;
        r->offset = 0;
        rc = found_open(r, &r->found[index], err);
        if (rc == 0)
            rc = file_search_later(r, index, 0, err);
    }
    return rc;
}

/* ---- files for the writer ---- */

/* Sync the file in which the log ends, because accepted frames may be in a cache only.  If a sync
 * of the last process failed, the kernel may treat a page that is not on disk as written.  So the
 * last record is written again; each earlier record was synced before its successor was written.
 * Writing the same bytes in the same place cannot tear the record. */
static int tail_sync(struct recovery *r, uint32_t index, struct error *err)
{
    struct disk *disk = r->world->disk;
    char path[COMMIT_LOG_PATH];
    struct disk_file *file;

    if (r->options->read_only || index >= r->found_count)
        return 0;
    commit_log_path(r->found[index].file.id, path);
    int rc = disk->open(disk, path, DISK_WRITE | DISK_DIRECT, &file, err);
    if (rc < 0)
        return rc;
    if (r->last_index == index)
        rc = commit_log_copy(disk, file, file, r->last_offset, r->last_bytes);
    if (rc == 0)
        rc = disk->sync(disk, file);
    disk->close(disk, file);
    return rc < 0 ? error_set(err, rc, "cannot sync %s: %s", path, error_text(rc)) : 0;
}

/* A damaged file that was not needed is neither in `live` nor in `spare`. */
static void files_sort(struct recovery *r, uint32_t tail)
{
    for (uint32_t i = 0; i < r->found_count; i++) {
        const struct found *found = &r->found[i];
        struct commit_log_file file = found->file;
        /* A file with only flushed frames was not read, so its first frame is taken for its
         * last. */
        if (file.frame_last == 0 && found->state == FOUND_BEGINS)
            file.frame_last = found->frame_first;
        if (r->out->is_clean && i == tail)
            r->out->tail = file;
        else if (file.frame_last > r->options->flushed_frame)
            commit_log_files_add(&r->out->live, file);
        else if (found->state != FOUND_DAMAGED)
            commit_log_files_add(&r->out->spare, file);
    }
}

static int damage_cut(struct recovery *r, struct error *err)
{
    struct commit_log_files later = {0};
    struct found *found = &r->found[r->index];
    struct error failed;

    for (uint32_t i = r->index + 1; i < r->found_count; i++)
        commit_log_files_add(&later, r->found[i].file);
    commit_log_reader_free(r->reader);
    r->reader = commit_log_reader_new(r->world);
    int rc = commit_log_salvage(r->world, found->file, r->offset, &later, &failed);
    memory_free(later.items);
    if (rc < 0) {
        error_wrap(&failed, "salvage");
        if (err != NULL)
            *err = failed;
        return rc;
    }
    r->found_count = r->index + 1;
    if (r->offset == 0)
        found->state = FOUND_EMPTY;
    r->is_closed = false;
    return 0;
}

static int log_recover(struct recovery *r, struct error *err)
{
    struct commit_log_recovered *out = r->out;
    int rc = log_walk(r, err);
    uint32_t tail = r->index;

    if (rc == 0 && out->frame_next <= r->options->flushed_frame) {
        /* The files with the last frames have been reused. */
        out->frame_next = r->options->flushed_frame + 1;
        out->crc_last = 0;
        r->is_closed = false;
    }
    if (rc == 0 && !r->is_closed)
        rc = log_search_later(r, err);
    if (rc == 0)
        rc = tail_sync(r, tail, err);
    if (rc < 0 && r->is_damaged)
        rc = damage_explain(r, err);
    if (rc < 0 && r->is_damaged && r->options->salvage) {
        tail = r->index;
        rc = r->options->read_only ? 0 : damage_cut(r, err);
        r->is_closed = false;
    }
    if (rc < 0)
        return rc;
    if (out->frame_next <= r->options->flushed_frame)
        out->frame_next = r->options->flushed_frame + 1;
    out->is_clean = r->is_closed;
    out->offset = r->offset;
    files_sort(r, tail);
    return 0;
}

int commit_log_recover(struct world *world, const struct commit_log_options *options,
                       commit_log_replay replay, void *context,
                       struct commit_log_recovered *recovered_out, struct error *err)
{
    struct recovery r = {.world = world,
                         .options = options,
                         .replay = replay,
                         .context = context,
                         .out = recovered_out,
                         .reader = commit_log_reader_new(world)};

    *recovered_out = (struct commit_log_recovered){.frame_next = options->flushed_frame + 1};
    int rc = found_all(&r, err);
    r.index = r.found_count;
    if (rc == 0 && r.found_count == 0 && options->flushed_frame > 0)
        rc = error_set(err, options->salvage ? 0 : ERROR_CORRUPT,
                       "the log is missing: frames after %" PRIu64 ", if there were any, are lost; "
                       "put the directory log back, or go on without them by daybook serve "
                       "--salvage",
                       options->flushed_frame);
    if (rc == 0 && r.found_count > 0)
        rc = log_recover(&r, err);
    commit_log_reader_free(r.reader);
    buffer_release(&r.payload);
    memory_free(r.found);
    return rc;
}

/* ---- reading without opening ---- */

static int range_walk(struct world *world, const struct commit_log_range *range,
                      commit_log_replay replay, void *context,
                      struct commit_log_recovered *recovered, struct commit_log_end *end_out,
                      struct error *err)
{
    const struct commit_log_options options = {
        .flushed_frame = range->frame_after, .purges = range->purges, .read_only = true};
    struct recovery r = {.world = world,
                         .options = &options,
                         .replay = replay,
                         .context = context,
                         .out = recovered,
                         .reader = commit_log_reader_new(world),
                         .range = range,
                         .end = end_out};

    *recovered = (struct commit_log_recovered){.frame_next = range->frame_after + 1};
    *end_out = (struct commit_log_end){.frame = range->frame_after};
    int rc = found_all(&r, err);
    if (rc == 0 && r.found_count > 0)
        rc = log_walk(&r, err);
    end_out->goes_on = r.is_stopped;
    end_out->is_cut =
        rc == ERROR_CORRUPT && r.is_damaged && r.offset > 0 && r.index + 1 == r.found_count;
    commit_log_reader_free(r.reader);
    buffer_release(&r.payload);
    memory_free(r.found);
    return rc;
}

int commit_log_scan(struct world *world, const struct commit_log_range *range,
                    struct commit_log_end *end_out, struct error *err)
{
    struct commit_log_recovered recovered;

    return range_walk(world, range, NULL, NULL, &recovered, end_out, err);
}

int commit_log_read(struct world *world, const struct commit_log_range *range,
                    commit_log_replay replay, void *context, struct error *err)
{
    struct commit_log_recovered recovered;
    struct commit_log_end end;
    int rc = range_walk(world, range, replay, context, &recovered, &end, err);

    if (rc == 0 && recovered.frame_next <= range->frame_until)
        return error_set(err, ERROR_CORRUPT, "the log ends before frame %" PRIu64,
                         range->frame_until);
    return rc;
}

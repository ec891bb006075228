/* commit_log_reader: reads a log file's sectors in order, ahead of the caller.
 *
 * One direct read at a time leaves half of a disk's bandwidth unused.  So the read lane fills a
 * ring of pieces ahead. */
#include "storage/log/commit_log_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/reader.h"

enum { PIECE_COUNT = 4, PIECE_SIZE = COMMIT_LOG_PIECE };

struct piece {
    struct job job; /* first: callbacks cast it to the piece */
    struct disk *disk;
    struct disk_file *file;
    uint64_t number;
    uint8_t *data;   /* `capacity` aligned bytes; NULL: not used yet */
    size_t capacity; /* a small file needs no whole piece */
    size_t size;
    int64_t result;
    bool is_filled; /* or is being read */
    bool is_pending;
};

struct commit_log_reader {
    struct world *world;
    struct disk_file *file;
    char path[COMMIT_LOG_PATH];
    uint64_t size;
    struct piece pieces[PIECE_COUNT];
};

struct commit_log_reader *commit_log_reader_new(struct world *world)
{
    struct commit_log_reader *reader = memory_zeroed(1, sizeof(*reader));

    reader->world = world;
    return reader;
}

static void piece_run(struct job *job)
{
    struct piece *piece = (struct piece *)job;

    piece->result = piece->disk->read(piece->disk, piece->file, piece->number * PIECE_SIZE,
                                      piece->data, piece->size);
}

static void piece_done(struct job *job)
{
    ((struct piece *)job)->is_pending = false;
}

static void piece_wait(struct commit_log_reader *reader, struct piece *piece)
{
    while (piece->is_pending)
        check(reader->world->executor->step(reader->world->executor));
}

static void pieces_drop(struct commit_log_reader *reader)
{
    for (int i = 0; i < PIECE_COUNT; i++) {
        piece_wait(reader, &reader->pieces[i]);
        reader->pieces[i].is_filled = false;
    }
}

static void reader_close(struct commit_log_reader *reader)
{
    if (reader->file == NULL)
        return;
    pieces_drop(reader);
    reader->world->disk->close(reader->world->disk, reader->file);
    reader->file = NULL;
}

void commit_log_reader_free(struct commit_log_reader *reader)
{
    if (reader == NULL)
        return;
    reader_close(reader);
    for (int i = 0; i < PIECE_COUNT; i++)
        memory_free(reader->pieces[i].data);
    memory_free(reader);
}

int commit_log_reader_open(struct commit_log_reader *reader, const char *path, uint64_t size,
                           struct error *err)
{
    struct disk *disk = reader->world->disk;

    reader_close(reader);
    int rc = disk->open(disk, path, DISK_READ | DISK_DIRECT, &reader->file, err);
    if (rc < 0) {
        reader->file = NULL;
        return rc;
    }
    (void)snprintf(reader->path, sizeof(reader->path), "%s", path);
    reader->size = size;
    return 0;
}

static void piece_start(struct commit_log_reader *reader, uint64_t number)
{
    struct piece *piece = &reader->pieces[number % PIECE_COUNT];
    uint64_t offset = number * PIECE_SIZE;

    if ((piece->is_filled && piece->number == number) || offset >= reader->size)
        return;
    piece_wait(reader, piece);
    piece->disk = reader->world->disk;
    piece->file = reader->file;
    piece->number = number;
    piece->size = reader->size - offset < PIECE_SIZE ? (size_t)(reader->size - offset) : PIECE_SIZE;
    memory_aligned_reserve(&piece->data, &piece->capacity, piece->size);
    piece->is_filled = true;
    piece->is_pending = true;
    world_submit(reader->world, LANE_READ, &piece->job, piece_run, piece_done);
}

int commit_log_reader_at(struct commit_log_reader *reader, uint64_t offset,
                         const uint8_t **sectors_out, uint64_t *count_out, struct error *err)
{
    uint64_t number = offset / PIECE_SIZE;
    struct piece *piece = &reader->pieces[number % PIECE_COUNT];
    size_t within = (size_t)(offset % PIECE_SIZE);

    check(offset < reader->size && offset % COMMIT_LOG_SECTOR == 0);
    for (uint64_t ahead = 0; ahead < PIECE_COUNT; ahead++)
        piece_start(reader, number + ahead);
    piece_wait(reader, piece);
    if (piece->result != (int64_t)piece->size) {
        int rc = piece->result < 0 ? (int)piece->result : -EIO;
        return error_set(err, rc, "%s: cannot read at byte %llu: %s", reader->path,
                         (unsigned long long)(number * PIECE_SIZE), error_text(rc));
    }
    *sectors_out = piece->data + within;
    *count_out = (piece->size - within) / COMMIT_LOG_SECTOR;
    return 0;
}

int commit_log_reader_gather(struct commit_log_reader *reader,
                             const struct commit_log_header *header, uint64_t offset,
                             struct buffer *content, enum commit_log_sector *shown_out,
                             struct error *err)
{
    uint64_t left = commit_log_record_sectors(header->payload_size);
    uint8_t stamp[COMMIT_LOG_STAMP];

    commit_log_stamp(header->file_id, header->frame, stamp);
    buffer_clear(content);
    buffer_reserve(content, left * COMMIT_LOG_CONTENT);
    *shown_out = COMMIT_LOG_SECTOR_PRESENT;
    while (left > 0) {
        const uint8_t *sectors;
        uint64_t count;
        int rc = commit_log_reader_at(reader, offset, &sectors, &count, err);
        if (rc < 0)
            return rc;
        count = count < left ? count : left;
        for (uint64_t i = 0; i < count; i++, sectors += COMMIT_LOG_SECTOR) {
            if (memcmp(sectors, stamp, COMMIT_LOG_STAMP) != 0)
                *shown_out = commit_log_sector_check(sectors, header->file_id, header->frame);
            if (*shown_out == COMMIT_LOG_SECTOR_DAMAGED)
                return 0;
            buffer_append(content, sectors + COMMIT_LOG_STAMP, COMMIT_LOG_CONTENT);
        }
        offset += count * COMMIT_LOG_SECTOR;
        left -= count;
    }
    return 0;
}

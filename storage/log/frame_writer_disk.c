/* frame_writer_disk: writes one record to the local disk and syncs it, on the log lane.  An opening
 * record that is due is written and synced first. */
#include "base/crc32c.h"
#include "base/memory.h"
#include "storage/log/frame_writer.h"

_Static_assert(COMMIT_LOG_PIECE % COMMIT_LOG_BLOCK == 0, "pieces are written past the page cache");

struct disk_writer {
    struct frame_writer writer;
    struct job job;
    struct world *world;
    uint8_t *piece; /* `capacity` aligned bytes, as the records so far needed */
    size_t capacity;
    struct frame_writer_record *record; /* NULL: none */
    int status;
};

static int record_write(struct disk_writer *writer, struct disk_file *file, uint64_t offset,
                        struct commit_log_header *header, struct bytes payload)
{
    struct disk *disk = writer->world->disk;
    uint8_t header_bytes[COMMIT_LOG_HEADER];
    uint64_t sector_count = commit_log_record_bytes(payload.size) / COMMIT_LOG_SECTOR;
    uint64_t piece_sectors = COMMIT_LOG_PIECE / COMMIT_LOG_SECTOR;

    header->payload_size = (uint32_t)payload.size;
    header->payload_crc = crc32c(0, payload.data, payload.size);
    commit_log_header_encode(header, header_bytes);
    memory_aligned_reserve(&writer->piece, &writer->capacity,
                           (sector_count < piece_sectors ? sector_count : piece_sectors) *
                               COMMIT_LOG_SECTOR);
    for (uint64_t sector = 0; sector < sector_count; sector += piece_sectors) {
        uint64_t left = sector_count - sector;
        uint64_t count = left < piece_sectors ? left : piece_sectors;
        commit_log_record_fill(header, header_bytes, payload, sector, count, writer->piece);
        int rc = disk->write(disk, file, offset + sector * COMMIT_LOG_SECTOR, writer->piece,
                             count * COMMIT_LOG_SECTOR);
        if (rc < 0)
            return rc;
    }
    return disk->sync(disk, file);
}

static int opening_write(struct disk_writer *writer, struct frame_writer_record *record)
{
    struct commit_log_header opening = record->header;

    opening.kind = COMMIT_LOG_OPENING;
    opening.file_id = record->opening_file_id;
    int rc = record_write(writer, record->opening_file, record->opening_offset, &opening,
                          bytes_of(NULL, 0));
    record->header.previous_crc = rc < 0 ? record->header.previous_crc : opening.crc;
    return rc;
}

int frame_writer_disk_write(struct frame_writer *base, struct frame_writer_record *record)
{
    struct disk_writer *writer = (struct disk_writer *)base;
    int rc = record->opening_file != NULL ? opening_write(writer, record) : 0;

    return rc < 0 ? rc
                  : record_write(writer, record->file, record->offset, &record->header,
                                 record->payload);
}

/* ---- writing by a job ---- */

static struct disk_writer *writer_of_job(struct job *job)
{
    return (struct disk_writer *)(void *)((char *)job - offsetof(struct disk_writer, job));
}

static void write_run(struct job *job)
{
    struct disk_writer *writer = writer_of_job(job);

    writer->status = frame_writer_disk_write(&writer->writer, writer->record);
}

static void write_done(struct job *job)
{
    struct disk_writer *writer = writer_of_job(job);

    writer->record = NULL;
    writer->writer.durable(writer->writer.context, writer->status);
}

static void disk_write(struct frame_writer *base, struct frame_writer_record *record)
{
    struct disk_writer *writer = (struct disk_writer *)base;

    check(writer->record == NULL && base->durable != NULL);
    writer->record = record;
    world_submit(writer->world, LANE_LOG, &writer->job, write_run, write_done);
}

/* ---- making and freeing ---- */

struct frame_writer *frame_writer_disk_new(struct world *world)
{
    struct disk_writer *writer = memory_zeroed(1, sizeof(*writer));

    writer->writer = (struct frame_writer){.write = disk_write};
    writer->world = world;
    return &writer->writer;
}

void frame_writer_disk_free(struct frame_writer *base)
{
    struct disk_writer *writer = (struct disk_writer *)base;

    if (writer == NULL)
        return;
    check(writer->record == NULL);
    memory_free(writer->piece);
    memory_free(writer);
}

/* commit_log_write: one record onto the disk, and synced.
 *
 * Runs on the log lane.  A record is laid out in a fixed piece of aligned memory, a piece at a
 * time, and written past the page cache; the sync comes once, after all of it.  An opening record
 * that is due is synced first, because a record is written only after the one before is durable. */
#include "base/crc32c.h"
#include "storage/log/commit_log_private.h"

_Static_assert(COMMIT_LOG_PIECE % COMMIT_LOG_BLOCK == 0, "pieces are written past the page cache");

static int record_write(struct commit_log_write *write, struct disk_file *file, uint64_t offset,
                        struct commit_log_header *header, struct bytes payload)
{
    uint8_t header_bytes[COMMIT_LOG_HEADER];
    uint64_t sector_count = commit_log_record_bytes(payload.size) / COMMIT_LOG_SECTOR;
    uint64_t piece_sectors = COMMIT_LOG_PIECE / COMMIT_LOG_SECTOR;

    header->payload_size = (uint32_t)payload.size;
    header->payload_crc = crc32c(0, payload.data, payload.size);
    commit_log_header_encode(header, header_bytes);
    for (uint64_t sector = 0; sector < sector_count; sector += piece_sectors) {
        uint64_t count = sector_count - sector;
        int rc;

        if (count > piece_sectors)
            count = piece_sectors;
        commit_log_record_fill(header, header_bytes, payload, sector, count, write->piece);
        rc = write->disk->write(write->disk, file, offset + sector * COMMIT_LOG_SECTOR,
                                write->piece, count * COMMIT_LOG_SECTOR);
        if (rc < 0)
            return rc;
    }
    return write->disk->sync(write->disk, file);
}

int commit_log_write_run(struct commit_log_write *write)
{
    if (write->opening_file != NULL) {
        struct commit_log_header opening = write->header;
        int rc;

        opening.kind = COMMIT_LOG_OPENING;
        opening.file_id = write->opening_file_id;
        rc = record_write(write, write->opening_file, write->opening_offset, &opening,
                          bytes_of(NULL, 0));
        if (rc < 0)
            return rc;
        write->header.previous_crc = opening.crc;
    }
    return record_write(write, write->file, write->offset, &write->header, write->payload);
}

/* commit_log_damage: counts the frames and clicks that would be lost if a log ended at its damage.
 *
 * Unlike recovery, this search continues behind the damage, block by block, and finds every valid
 * header.  A frame's clicks count only if all of the frame is valid. */
#include "base/crc32c.h"
#include "storage/log/commit_log_private.h"

/* False: no frame with a number from damage->frame_first on begins at `offset`. */
static bool header_at(struct commit_log_reader *reader, const struct commit_log_file *file,
                      uint64_t offset, const struct commit_log_damage *damage,
                      struct commit_log_header *header)
{
    const uint8_t *sector;
    uint64_t count;

    return commit_log_reader_at(reader, offset, &sector, &count, NULL) == 0 &&
           commit_log_header_decode(sector + COMMIT_LOG_STAMP, header, NULL) == 0 &&
           commit_log_is_frame(header) && header->file_id == file->id &&
           header->frame >= damage->frame_first &&
           commit_log_record_bytes(header->payload_size) <= file->size - offset;
}

/* False: a part of the record is missing, damaged or unreadable. */
static bool damage_count(struct commit_log_reader *reader, const struct commit_log_header *header,
                         uint64_t offset, struct buffer *content, struct commit_log_damage *damage)
{
    enum commit_log_sector shown;

    if (commit_log_reader_gather(reader, header, offset, content, &shown, NULL) < 0 ||
        shown != COMMIT_LOG_SECTOR_PRESENT)
        return false;
    struct bytes payload = bytes_of(content->data + COMMIT_LOG_HEADER, header->payload_size);
    if (crc32c(0, payload.data, payload.size) != header->payload_crc)
        return false;
    uint64_t purges;
    payload = commit_log_frame_payload(header, payload, &purges);
    if (damage->count != NULL)
        damage->clicks += damage->count(damage->context, payload);
    return true;
}

void commit_log_damage_add_file(struct commit_log_reader *reader,
                                const struct commit_log_file *file, uint64_t offset,
                                struct commit_log_damage *damage)
{
    struct buffer content = {0};

    while (offset < file->size) {
        struct commit_log_header header;
        uint64_t bytes = COMMIT_LOG_BLOCK;

        if (header_at(reader, file, offset, damage, &header)) {
            if (header.frame > damage->frame_last)
                damage->frame_last = header.frame;
            if (damage_count(reader, &header, offset, &content, damage))
                bytes = commit_log_record_bytes(header.payload_size);
        }
        offset += bytes;
    }
    buffer_release(&content);
}

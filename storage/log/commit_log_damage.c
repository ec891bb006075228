/* commit_log_damage: what would be lost with the end of a damaged log: its frames and their clicks.
 *
 * For the error that refuses to open, so it reads on where recovery must not: over damage, block by
 * block, to every record whose header makes sense.  A frame counts as there if its header is whole,
 * and its clicks if all of it is; what cannot be read is passed over. */
#include <string.h>

#include "base/crc32c.h"
#include "base/memory.h"
#include "storage/log/commit_log_private.h"

/* Join the record's sectors, header included.  False: one is missing or cannot be read. */
static bool gather(struct commit_log_reader *reader, const struct commit_log_header *header,
                   uint64_t offset, struct buffer *content)
{
    uint64_t left = commit_log_record_sectors(header->payload_size);
    uint8_t stamp[COMMIT_LOG_STAMP];

    commit_log_stamp(header->file_id, header->frame, stamp);
    buffer_clear(content);
    while (left > 0) {
        const uint8_t *sectors;
        uint64_t count;

        if (commit_log_reader_at(reader, offset, &sectors, &count, NULL) < 0)
            return false;
        count = count < left ? count : left;
        for (uint64_t i = 0; i < count; i++, sectors += COMMIT_LOG_SECTOR) {
            if (memcmp(sectors, stamp, COMMIT_LOG_STAMP) != 0)
                return false;
            buffer_append(content, sectors + COMMIT_LOG_STAMP, COMMIT_LOG_CONTENT);
        }
        offset += count * COMMIT_LOG_SECTOR;
        left -= count;
    }
    return true;
}

/* The header of a frame at `offset` that is at stake. */
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

static void damage_count(struct commit_log_damage *damage, const struct commit_log_header *header,
                         struct bytes payload)
{
    uint64_t purges;

    if (damage->count != NULL)
        damage->clicks +=
            damage->count(damage->context, commit_log_frame_payload(header, payload, &purges));
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
            if (gather(reader, &header, offset, &content) &&
                crc32c(0, content.data + COMMIT_LOG_HEADER, header.payload_size) ==
                    header.payload_crc) {
                damage_count(damage, &header,
                             bytes_of(content.data + COMMIT_LOG_HEADER, header.payload_size));
                bytes = commit_log_record_bytes(header.payload_size);
            }
        }
        offset += bytes;
    }
    buffer_release(&content);
}

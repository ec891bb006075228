/* commit_log_frame: encodes records of the commit log, and checks their sectors.
 *
 * The stamp of a sector says to which record it belongs, and has a checksum of its own.  After a
 * crash each sector of the last record is therefore exactly one of: present, old, or damaged.
 *
 *   sector   0..3 file id | 4..9 frame number | 10..11 check of bytes 0..9 | 12..511 content
 *   content  of a record's sectors, joined: header (44 bytes), payload, zeros to the 4 KiB block
 *
 * Example: frame 7 of file 3 with 1,000 bytes of payload has 44 + 1,000 bytes of content, in three
 * sectors.  The record takes one block of eight sectors; the other five have the stamp and
 * zeros. */
#include "storage/log/commit_log_private.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"

enum {
    HEADER_MAGIC = 0x474c4244, /* "DBLG" */
    HEADER_VERSION = 1,
    HEADER_CRC = offsetof(struct commit_log_header, crc) /* bytes under the checksum */
};

_Static_assert(HEADER_CRC + 4 == COMMIT_LOG_HEADER, "the checksum ends a header without gaps");
_Static_assert(COMMIT_LOG_HEADER <= COMMIT_LOG_CONTENT, "a header lies in one sector");

uint64_t commit_log_record_sectors(size_t payload_size)
{
    return (COMMIT_LOG_HEADER + (uint64_t)payload_size + COMMIT_LOG_CONTENT - 1) /
           COMMIT_LOG_CONTENT;
}

uint64_t commit_log_record_bytes(size_t payload_size)
{
    uint64_t bytes = commit_log_record_sectors(payload_size) * COMMIT_LOG_SECTOR;

    return (bytes + COMMIT_LOG_BLOCK - 1) / COMMIT_LOG_BLOCK * COMMIT_LOG_BLOCK;
}

void commit_log_header_encode(struct commit_log_header *header, uint8_t to[COMMIT_LOG_HEADER])
{
    header->magic = HEADER_MAGIC;
    header->version = HEADER_VERSION;
    header->crc = crc32c(0, header, HEADER_CRC);
    memcpy(to, header, COMMIT_LOG_HEADER);
}

int commit_log_header_decode(const uint8_t from[COMMIT_LOG_HEADER],
                             struct commit_log_header *header_out, struct error *err)
{
    memcpy(header_out, from, COMMIT_LOG_HEADER);
    if (header_out->magic != HEADER_MAGIC)
        return error_set(err, ERROR_CORRUPT, "no record begins here");
    if (header_out->crc != crc32c(0, from, HEADER_CRC))
        return error_set(err, ERROR_CORRUPT, "the checksum of the record's header is wrong");
    if (header_out->version != HEADER_VERSION)
        return error_set(err, ERROR_NEWER_FORMAT, "format %u, this program knows %d",
                         header_out->version, HEADER_VERSION);
    if (header_out->kind > COMMIT_LOG_PURGED)
        return error_set(err, ERROR_CORRUPT, "unknown kind of record %u", header_out->kind);
    if (header_out->payload_size > COMMIT_LOG_PAYLOAD_MAX + COMMIT_LOG_PURGES)
        return error_set(err, ERROR_CORRUPT, "a payload of %u bytes is over the limit",
                         header_out->payload_size);
    if (header_out->kind == COMMIT_LOG_PURGED && header_out->payload_size < COMMIT_LOG_PURGES)
        return error_set(err, ERROR_CORRUPT, "a payload of %u bytes is too small for its kind",
                         header_out->payload_size);
    return 0;
}

bool commit_log_is_frame(const struct commit_log_header *header)
{
    return header->kind == COMMIT_LOG_FRAME || header->kind == COMMIT_LOG_PURGED;
}

struct bytes commit_log_frame_payload(const struct commit_log_header *header, struct bytes payload,
                                      uint64_t *purges_out)
{
    *purges_out = 0;
    if (header->kind != COMMIT_LOG_PURGED)
        return payload;
    *purges_out = load_u64(payload.data + payload.size - COMMIT_LOG_PURGES);
    return bytes_of(payload.data, payload.size - COMMIT_LOG_PURGES);
}

void commit_log_stamp(uint32_t file_id, uint64_t frame, uint8_t stamp_out[COMMIT_LOG_STAMP])
{
    store_u32(stamp_out, file_id);
    store_u32(stamp_out + 4, (uint32_t)frame);
    store_u16(stamp_out + 8, (uint16_t)(frame >> 32));
    store_u16(stamp_out + 10, (uint16_t)crc32c(0, stamp_out, 10));
}

static bool sector_is_zero(const uint8_t *sector)
{
    return sector[0] == 0 && memcmp(sector, sector + 1, COMMIT_LOG_SECTOR - 1) == 0;
}

enum commit_log_sector commit_log_sector_check(const uint8_t sector[COMMIT_LOG_SECTOR],
                                               uint32_t file_id, uint64_t frame)
{
    uint8_t stamp[COMMIT_LOG_STAMP];

    commit_log_stamp(file_id, frame, stamp);
    if (memcmp(sector, stamp, COMMIT_LOG_STAMP) == 0)
        return COMMIT_LOG_SECTOR_PRESENT;
    if (sector_is_zero(sector))
        return COMMIT_LOG_SECTOR_OLD;
    if (load_u16(sector + 10) == (uint16_t)crc32c(0, sector, 10) && load_u32(sector) < file_id)
        return COMMIT_LOG_SECTOR_OLD;
    return COMMIT_LOG_SECTOR_DAMAGED;
}

uint64_t commit_log_sector_frame(const uint8_t sector[COMMIT_LOG_SECTOR])
{
    return load_u32(sector + 4) | (uint64_t)load_u16(sector + 8) << 32;
}

/* Fill one sector's content, which begins at byte `position` of the joined header and payload. */
static void content_fill(const uint8_t *header_bytes, struct bytes payload, uint64_t position,
                         uint8_t *to)
{
    size_t left = COMMIT_LOG_CONTENT;

    if (position == 0) {
        memcpy(to, header_bytes, COMMIT_LOG_HEADER);
        to += COMMIT_LOG_HEADER;
        left -= COMMIT_LOG_HEADER;
    } else {
        position -= COMMIT_LOG_HEADER;
    }
    if (position < payload.size) {
        size_t size = payload.size - position < left ? payload.size - position : left;
        memcpy(to, payload.data + position, size);
        to += size;
        left -= size;
    }
    memset(to, 0, left);
}

void commit_log_record_fill(const struct commit_log_header *header,
                            const uint8_t header_bytes[COMMIT_LOG_HEADER], struct bytes payload,
                            uint64_t sector_first, uint64_t sector_count, uint8_t *to)
{
    uint8_t stamp[COMMIT_LOG_STAMP];

    commit_log_stamp(header->file_id, header->frame, stamp);
    for (uint64_t i = 0; i < sector_count; i++) {
        memcpy(to, stamp, COMMIT_LOG_STAMP);
        content_fill(header_bytes, payload, (sector_first + i) * COMMIT_LOG_CONTENT,
                     to + COMMIT_LOG_STAMP);
        to += COMMIT_LOG_SECTOR;
    }
}

void commit_log_path(uint32_t file_id, char path[COMMIT_LOG_PATH])
{
    snprintf(path, COMMIT_LOG_PATH, "log/%08x.log", file_id);
}

bool commit_log_name_parse(const char *name, uint32_t *file_id_out)
{
    if (strspn(name, "0123456789abcdef") != 8 || strcmp(name + 8, ".log") != 0)
        return false;
    *file_id_out = (uint32_t)strtoul(name, NULL, 16);
    return true;
}

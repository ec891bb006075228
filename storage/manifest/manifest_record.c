/* manifest_record: see the header.
 *
 * The disk writes a sector wholly or not at all.  So a record with a wrong checksum was torn by a
 * crash if a sector of it is still zero and there is no later record; anything else is damage.
 * Because of the end mark, the last sector of a complete record is never zero. */
#include "storage/manifest/manifest_record.h"

#include <inttypes.h>
#include <string.h>

#include "base/crc32c.h"
#include "storage/manifest/manifest_probe.h"

enum {
    MANIFEST_FORMAT = 2,
    SECTOR = 512,
    FILE_HEADER_CRC = 24,
    RECORD_END_MARK = 0x45524244 /* "DBRE" */
};

int manifest_record_damage(uint64_t offset, uint64_t number, const char *what, struct error *err)
{
    return error_set(err, ERROR_CORRUPT, "manifest, byte %" PRIu64 ", record %" PRIu64 ": %s",
                     offset, number, what);
}

/* ---- the first block ---- */

void manifest_record_put_file(uint8_t to[MANIFEST_BLOCK], uint64_t size)
{
    memcpy(to, MANIFEST_MAGIC, MANIFEST_MAGIC_SIZE);
    store_u32(to + 8, MANIFEST_FORMAT);
    store_u64(to + 16, size);
    store_u32(to + FILE_HEADER_CRC, crc32c(0, to, FILE_HEADER_CRC));
}

int manifest_record_check_file(struct bytes content, struct error *err)
{
    if (content.size < MANIFEST_BLOCK ||
        memcmp(content.data, MANIFEST_MAGIC, MANIFEST_MAGIC_SIZE) != 0) {
        if (content.size >= MANIFEST_MAGIC_SIZE &&
            memcmp(content.data, MANIFEST_MAGIC, MANIFEST_MAGIC_SIZE) == 0)
            return manifest_record_damage(0, 0, "the file is cut", err);
        return error_set(err, ERROR_NOT_OURS, "the file manifest is not one of daybook's");
    }
    if (load_u32(content.data + FILE_HEADER_CRC) != crc32c(0, content.data, FILE_HEADER_CRC))
        return manifest_record_damage(0, 0, "the checksum of its header is wrong", err);
    if (load_u32(content.data + 8) > MANIFEST_FORMAT)
        return error_set(err, ERROR_NEWER_FORMAT,
                         "the directory has format %u, this program knows %d",
                         load_u32(content.data + 8), MANIFEST_FORMAT);
    if (load_u64(content.data + 16) != content.size || content.size % MANIFEST_BLOCK != 0)
        return manifest_record_damage(0, 0, "the file does not have the size that it was made with",
                                      err);
    return 0;
}

bool manifest_record_is_older(struct bytes content)
{
    check(content.size >= MANIFEST_BLOCK);
    return load_u32(content.data + 8) < MANIFEST_FORMAT;
}

/* ---- records ---- */

uint32_t manifest_record_seal(struct buffer *buffer, size_t begin, enum manifest_record_kind kind,
                              uint64_t number, uint32_t previous_crc)
{
    check(begin % MANIFEST_BLOCK == 0 && buffer->size >= begin + MANIFEST_RECORD_HEADER);
    uint8_t *record = buffer->data + begin;

    store_u32(record, (uint32_t)(buffer->size - begin - MANIFEST_RECORD_HEADER));
    store_u32(record + 4, (uint32_t)kind);
    store_u64(record + 8, number);
    store_u32(record + 16, previous_crc);
    uint32_t crc = crc32c(0, record, buffer->size - begin);
    buffer_put_u32(buffer, crc);
    buffer_put_u32(buffer, RECORD_END_MARK);
    buffer_put_zeros(buffer, (MANIFEST_BLOCK - buffer->size % MANIFEST_BLOCK) % MANIFEST_BLOCK);
    return crc;
}

/* Bytes of the record at `offset`; 0: it does not fit the file. */
static uint64_t record_size(struct bytes content, uint64_t offset)
{
    uint64_t size = MANIFEST_RECORD_HEADER + (uint64_t)load_u32(content.data + offset) +
                    MANIFEST_RECORD_TRAILER;

    return size <= content.size - offset ? size : 0;
}

bool manifest_record_is_valid(struct bytes content, uint64_t offset)
{
    uint64_t size = record_size(content, offset);
    const uint8_t *record = content.data + offset;

    if (size == 0 || load_u32(record + size - 4) != RECORD_END_MARK)
        return false;
    return load_u32(record + size - MANIFEST_RECORD_TRAILER) ==
           crc32c(0, record, size - MANIFEST_RECORD_TRAILER);
}

static bool sector_is_zero(const uint8_t *sector)
{
    return sector[0] == 0 && memcmp(sector, sector + 1, SECTOR - 1) == 0;
}

bool manifest_record_is_torn(struct bytes content, uint64_t offset, uint64_t number)
{
    uint64_t size = record_size(content, offset);
    bool is_torn = sector_is_zero(content.data + offset);

    if (!is_torn && (size == 0 || load_u64(content.data + offset + 8) != number))
        return false;
    for (uint64_t at = 0; !is_torn && at < size; at += SECTOR)
        is_torn = sector_is_zero(content.data + offset + at);
    for (uint64_t at = offset + MANIFEST_BLOCK; is_torn && at < content.size; at += MANIFEST_BLOCK)
        is_torn =
            !(manifest_record_is_valid(content, at) && load_u64(content.data + at + 8) > number);
    return is_torn;
}

bool manifest_record_is_unused(struct bytes content, uint64_t offset)
{
    while (offset < content.size && sector_is_zero(content.data + offset))
        offset += SECTOR;
    return offset >= content.size;
}

struct manifest_record manifest_record_at(struct bytes content, uint64_t offset)
{
    const uint8_t *record = content.data + offset;
    uint64_t size = record_size(content, offset);

    check(size > 0);
    return (struct manifest_record){
        .kind = load_u32(record + 4),
        .number = load_u64(record + 8),
        .previous_crc = load_u32(record + 16),
        .crc = load_u32(record + size - MANIFEST_RECORD_TRAILER),
        .body = bytes_of(record + MANIFEST_RECORD_HEADER,
                         size - MANIFEST_RECORD_HEADER - MANIFEST_RECORD_TRAILER),
        .size = (size + MANIFEST_BLOCK - 1) / MANIFEST_BLOCK * MANIFEST_BLOCK};
}

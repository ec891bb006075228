/* native_segment: see the header.
 *
 * What must hold: a payload is used only after its checksum was checked.  Example: a whole segment
 * without compression, whose payload is "hello":
 *
 *     05 00 02 | 19 99 9a | 68 65 6c 6c 6f | 74 80 0e b6
 */
#include "codec/native_segment.h"

#include "codec/native_compress.h"
#include "codec/native_crc.h"

enum {
    PLAIN_HEADER_SIZE = 3,
    LZ4_HEADER_SIZE = 5,
    CRC24_SIZE = 3,
    SIZE_BITS = 17,
    SIZE_MASK = (1 << SIZE_BITS) - 1,
    COMPRESS_SIZE_MIN = 256
};

static uint64_t load_little(const uint8_t *from, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

static void put_little(struct buffer *to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        buffer_put_u8(to, (uint8_t)(value >> (8 * i)));
}

int native_segment_header(struct bytes bytes, bool is_lz4, struct native_segment *segment_out)
{
    size_t field_size = is_lz4 ? LZ4_HEADER_SIZE : PLAIN_HEADER_SIZE;

    if (bytes.size < field_size + CRC24_SIZE)
        return 0;
    uint64_t field = load_little(bytes.data, field_size);
    if (load_little(bytes.data + field_size, CRC24_SIZE) != native_crc_24(bytes.data, field_size))
        return ERROR_CORRUPT;
    uint32_t plain_size = is_lz4 ? (uint32_t)(field >> SIZE_BITS) & SIZE_MASK : 0;
    *segment_out = (struct native_segment){
        .is_whole = (field >> (is_lz4 ? 2 * SIZE_BITS : SIZE_BITS) & 1) != 0,
        .is_compressed = plain_size != 0,
        .header_size = field_size + CRC24_SIZE,
        .payload_size = field & SIZE_MASK,
        .plain_size = plain_size != 0 ? plain_size : field & SIZE_MASK,
    };
    return segment_out->payload_size == 0 ? ERROR_CORRUPT : 1;
}

int native_segment_payload(struct bytes bytes, const struct native_segment *segment,
                           struct buffer *plain, struct bytes *payload_out)
{
    struct bytes payload = bytes_of(bytes.data + segment->header_size, segment->payload_size);
    size_t start = plain->size;

    check(bytes.size >= segment->header_size + segment->payload_size + NATIVE_SEGMENT_TRAILER_SIZE);
    *payload_out = payload;
    if (load_u32(payload.data + payload.size) != native_crc_32(payload.data, payload.size))
        return ERROR_CORRUPT;
    if (!segment->is_compressed)
        return 0;
    buffer_reserve(plain, segment->plain_size);
    int rc = native_compress_undo_block(payload, plain->data + start, segment->plain_size);
    if (rc != 0)
        return rc;
    plain->size += segment->plain_size;
    *payload_out = bytes_of(plain->data + start, segment->plain_size);
    return 0;
}

void native_segment_put(struct buffer *wire, struct bytes payload, bool is_whole, bool is_lz4)
{
    struct buffer block = {0};
    struct bytes sent = payload;
    uint64_t plain_size = 0; /* 0: not compressed */
    size_t field_size = is_lz4 ? LZ4_HEADER_SIZE : PLAIN_HEADER_SIZE;
    size_t start = wire->size;

    check(payload.size > 0 && payload.size <= NATIVE_SEGMENT_PAYLOAD_MAX);
    if (is_lz4 && payload.size >= COMPRESS_SIZE_MIN &&
        native_compress_block(payload, &block) < payload.size) {
        sent = buffer_view(&block);
        plain_size = payload.size;
    }
    put_little(wire,
               sent.size | plain_size << SIZE_BITS |
                   (uint64_t)is_whole << (is_lz4 ? 2 * SIZE_BITS : SIZE_BITS),
               field_size);
    put_little(wire, native_crc_24(wire->data + start, field_size), CRC24_SIZE);
    buffer_append_bytes(wire, sent);
    buffer_put_u32(wire, native_crc_32(sent.data, sent.size));
    buffer_release(&block);
}

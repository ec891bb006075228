/* reader: see the header.
 *
 * A size is compared with the number of bytes left before it is added to `offset`, because the sum
 * could wrap.  Varints are LEB128: 300 is ac 02.  A varint may have more bytes than its value
 * needs. */
#include "base/reader.h"

struct reader reader_of(struct bytes bytes)
{
    return (struct reader){.data = bytes.data, .size = bytes.size};
}

size_t reader_left(const struct reader *reader)
{
    return reader->failed ? 0 : reader->size - reader->offset;
}

static const uint8_t *reader_take(struct reader *reader, size_t size)
{
    if (size > reader_left(reader)) {
        reader->failed = true;
        return NULL;
    }
    const uint8_t *at = reader->data + reader->offset;
    reader->offset += size;
    return at;
}

uint8_t reader_no_u8(struct reader *reader)
{
    reader->failed = true;
    return 0;
}

uint16_t reader_u16(struct reader *reader)
{
    const uint8_t *at = reader_take(reader, 2);
    return at != NULL ? load_u16(at) : 0;
}

uint32_t reader_u32(struct reader *reader)
{
    const uint8_t *at = reader_take(reader, 4);
    return at != NULL ? load_u32(at) : 0;
}

uint64_t reader_u64(struct reader *reader)
{
    const uint8_t *at = reader_take(reader, 8);
    return at != NULL ? load_u64(at) : 0;
}

uint16_t reader_u16_be(struct reader *reader)
{
    return __builtin_bswap16(reader_u16(reader));
}

uint32_t reader_u32_be(struct reader *reader)
{
    return __builtin_bswap32(reader_u32(reader));
}

uint64_t reader_u64_be(struct reader *reader)
{
    return __builtin_bswap64(reader_u64(reader));
}

/* At least VARINT_SIZE_MAX bytes must be left.  False: the varint has more than 64 bits. */
static bool take_varint(struct reader *reader, uint64_t *value_out)
{
    const uint8_t *at = reader->data + reader->offset;
    uint64_t value = 0;
    unsigned shift = 0;
    for (; shift < 63 && *at >= 0x80; shift += 7)
        value |= (uint64_t)(*at++ & 0x7f) << shift;
    if (*at > (shift == 63 ? 1 : 0x7f))
        return false;
    *value_out = value | (uint64_t)*at++ << shift;
    reader->offset = (size_t)(at - reader->data);
    return true;
}

uint64_t reader_long_varint(struct reader *reader)
{
    uint64_t value = 0;
    if (!reader->failed && reader->size - reader->offset >= VARINT_SIZE_MAX &&
        take_varint(reader, &value))
        return value;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = reader_u8(reader);
        if (reader->failed)
            return 0;
        /* The tenth byte has room for bit 63 only. */
        if (shift == 63 && byte > 1)
            break;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    reader->failed = true;
    return 0;
}

struct bytes reader_bytes(struct reader *reader, size_t size)
{
    const uint8_t *at = reader_take(reader, size);
    return at != NULL ? bytes_of(at, size) : bytes_of(NULL, 0);
}

struct bytes reader_long_sized(struct reader *reader)
{
    uint64_t size = reader_varint(reader);
    if (size > SIZE_MAX)
        reader->failed = true;
    return reader_bytes(reader, (size_t)size);
}

uint64_t reader_count(struct reader *reader, size_t item_size_min)
{
    check(item_size_min > 0);
    uint64_t count = reader_varint(reader);
    if (count > reader_left(reader) / item_size_min) {
        reader->failed = true;
        return 0;
    }
    return count;
}

/* reader: reads forward through bytes that are not trusted, and never past their end.
 *
 * After a read that finds too few bytes or an invalid varint, `failed` stays set and all reads
 * return zeros.  A decoder must check `failed` at the end, and before it uses a count. */
#ifndef DAYBOOK_BASE_READER_H
#define DAYBOOK_BASE_READER_H

#include "base/bytes.h"

struct reader {
    const uint8_t *data;
    size_t size;
    size_t offset;
    bool failed;
};

struct reader reader_of(struct bytes bytes);
size_t reader_left(const struct reader *reader);
uint8_t reader_no_u8(struct reader *reader);            /* private, like the next two */
uint64_t reader_long_varint(struct reader *reader);
struct bytes reader_long_sized(struct reader *reader);
static inline uint8_t reader_u8(struct reader *reader)
{
    if (reader->failed || reader->offset == reader->size)
        return reader_no_u8(reader);
    return reader->data[reader->offset++];
}
uint16_t reader_u16(struct reader *reader);
uint32_t reader_u32(struct reader *reader);
uint64_t reader_u64(struct reader *reader);
uint16_t reader_u16_be(struct reader *reader);
uint32_t reader_u32_be(struct reader *reader);
uint64_t reader_u64_be(struct reader *reader);
/* A varint of more than 64 bits fails. */
static inline uint64_t reader_varint(struct reader *reader)
{
    bool is_short = !reader->failed && reader->offset < reader->size &&
                    reader->data[reader->offset] < 0x80;
    return is_short ? reader->data[reader->offset++] : reader_long_varint(reader);
}
/* A varint of more than 32 bits fails. */
static inline uint32_t reader_varint32(struct reader *reader)
{
    uint64_t value = reader_varint(reader);
    if (value > UINT32_MAX)
        reader->failed = true;
    return reader->failed ? 0 : (uint32_t)value;
}
static inline int64_t reader_signed(struct reader *reader)
{
    return zigzag_back(reader_varint(reader));
}
struct bytes reader_bytes(struct reader *reader, size_t size);      /* a view into the input */
static inline struct bytes reader_sized(struct reader *reader)
{
    size_t left = reader->size - reader->offset;
    bool is_short = !reader->failed && left > 0 && reader->data[reader->offset] < 0x80 &&
                    reader->data[reader->offset] < left;
    if (!is_short)
        return reader_long_sized(reader);
    struct bytes bytes = {reader->data + reader->offset + 1, reader->data[reader->offset]};
    reader->offset += 1 + bytes.size;
    return bytes;
}
/* Read a count of items.  Fails when fewer than `item_size_min` bytes per item are left, so memory
 * for the items may be allocated. */
uint64_t reader_count(struct reader *reader, size_t item_size_min);
#endif

/* bytes: views, growing buffers, and a reader for bytes that may lie.
 *
 * Formats on disk are little-endian and use the put/get functions below; Cassandra's serialized
 * values and composites are big-endian and say so by the suffix _be. */
#ifndef DAYBOOK_BASE_BYTES_H
#define DAYBOOK_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* A view; owns nothing and is valid as long as what it points into. */
struct bytes {
    const uint8_t *data;
    size_t size;
};

static inline struct bytes bytes_of(const void *data, size_t size)
{
    return (struct bytes){.data = (const uint8_t *)data, .size = size};
}

struct bytes bytes_text(const char *text);              /* without the final NUL */
bool bytes_equal(struct bytes a, struct bytes b);
int bytes_compare(struct bytes a, struct bytes b);      /* unsigned bytewise; <0, 0, >0 */
bool bytes_valid_utf8(struct bytes text);               /* RFC 3629: no surrogates, no overlongs */

struct arena;

/* A growing buffer.  All-zero is an empty one, which owns its memory; one that begins as
 * {.arena = arena} takes it there, within the arena's budget, and need not be released.  `data`
 * moves when it grows. */
struct buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    struct arena *arena;                                /* NULL: the heap */
};

void buffer_release(struct buffer *buffer);             /* an empty one of the same kind is left */
void buffer_clear(struct buffer *buffer);               /* keeps the memory */
void buffer_grow(struct buffer *buffer, size_t more);   /* private */
/* Room for `more` bytes past size. */
static inline void buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->capacity - buffer->size < more)
        buffer_grow(buffer, more);
}
struct bytes buffer_view(const struct buffer *buffer);
void buffer_append(struct buffer *buffer, const void *data, size_t size);
void buffer_append_bytes(struct buffer *buffer, struct bytes bytes);
void buffer_append_text(struct buffer *buffer, const char *text);
/* Between two of `quote`, those within doubled: 'it''s', "a ""name""". */
void buffer_append_quoted(struct buffer *buffer, struct bytes text, char quote);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline void buffer_put_u8(struct buffer *buffer, uint8_t value)
{
    buffer_reserve(buffer, 1);
    buffer->data[buffer->size++] = value;
}
void buffer_put_u16(struct buffer *buffer, uint16_t value);
void buffer_put_u32(struct buffer *buffer, uint32_t value);
void buffer_put_u64(struct buffer *buffer, uint64_t value);
void buffer_put_u16_be(struct buffer *buffer, uint16_t value);
void buffer_put_u32_be(struct buffer *buffer, uint32_t value);
void buffer_put_u64_be(struct buffer *buffer, uint64_t value);
void buffer_put_varint(struct buffer *buffer, uint64_t value);      /* LEB128 */
void buffer_put_signed(struct buffer *buffer, int64_t value);       /* zigzag, then varint */
void buffer_put_sized(struct buffer *buffer, struct bytes bytes);   /* varint size, then bytes */
void buffer_put_zeros(struct buffer *buffer, size_t count);

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "formats on disk are little-endian");

/* Unaligned loads and stores; inline, because decoders are made of them. */
static inline uint16_t load_u16(const void *from)
{
    uint16_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline uint32_t load_u32(const void *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline uint64_t load_u64(const void *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline uint16_t load_u16_be(const void *from)
{
    return __builtin_bswap16(load_u16(from));
}

static inline uint32_t load_u32_be(const void *from)
{
    return __builtin_bswap32(load_u32(from));
}

static inline uint64_t load_u64_be(const void *from)
{
    return __builtin_bswap64(load_u64(from));
}

static inline void store_u16(void *to, uint16_t value)
{
    memcpy(to, &value, sizeof value);
}

static inline void store_u16_be(void *to, uint16_t value)
{
    store_u16(to, __builtin_bswap16(value));
}

static inline void store_u32(void *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
}

static inline void store_u32_be(void *to, uint32_t value)
{
    store_u32(to, __builtin_bswap32(value));
}

static inline void store_u64(void *to, uint64_t value)
{
    memcpy(to, &value, sizeof value);
}

static inline void store_u64_be(void *to, uint64_t value)
{
    store_u64(to, __builtin_bswap64(value));
}

/* The same as buffer_put_varint and its kin to where there is room for them, for encoders that
 * reserve once for many; where the next goes. */
enum { VARINT_SIZE_MAX = 10 };
static inline uint8_t *store_varint(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

static inline uint8_t *store_signed(uint8_t *to, int64_t value)
{
    uint64_t bits = (uint64_t)value;
    return store_varint(to, (bits << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

static inline uint8_t *store_sized(uint8_t *to, struct bytes bytes)
{
    to = store_varint(to, bytes.size);
    if (bytes.size > 0)
        memcpy(to, bytes.data, bytes.size);
    return to + bytes.size;
}

/* Reads forward through a view and never past it.  After the first short read `failed` stays set
 * and every further read gives zeros, so a decoder checks once, at its end or before it trusts a
 * count. */
struct reader {
    const uint8_t *data;
    size_t size;
    size_t offset;
    bool failed;
};

struct reader reader_of(struct bytes bytes);
size_t reader_left(const struct reader *reader);
uint8_t reader_no_u8(struct reader *reader);            /* private, as the next two */
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
/* Over 64 bits: fails. */
static inline uint64_t reader_varint(struct reader *reader)
{
    bool is_short = !reader->failed && reader->offset < reader->size &&
                    reader->data[reader->offset] < 0x80;
    return is_short ? reader->data[reader->offset++] : reader_long_varint(reader);
}
static inline int64_t reader_signed(struct reader *reader)
{
    uint64_t bits = reader_varint(reader);
    return (int64_t)((bits >> 1) ^ ((bits & 1) != 0 ? UINT64_MAX : 0));
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
/* A count of items of at least `item_size_min` bytes each: fails when they could not fit. */
uint64_t reader_count(struct reader *reader, size_t item_size_min);
#endif

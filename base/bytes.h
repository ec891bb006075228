/* bytes: views of bytes, and integers stored as bytes.
 *
 * Formats on disk are little-endian.  Functions for big-endian bytes, as in Cassandra's serialized
 * values, have the suffix _be. */
#ifndef DAYBOOK_BASE_BYTES_H
#define DAYBOOK_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* A view of another owner's bytes. */
struct bytes {
    const uint8_t *data;
    size_t size;
};

static inline struct bytes bytes_of(const void *data, size_t size)
{
    return (struct bytes){.data = (const uint8_t *)data, .size = size};
}

struct bytes bytes_text(const char *text);
bool bytes_equal(struct bytes a, struct bytes b);
bool bytes_are_word(struct bytes text, const char *word);       /* ignores the case of letters */
int bytes_compare(struct bytes a, struct bytes b);      /* unsigned bytewise; <0, 0, >0 */
bool bytes_valid_utf8(struct bytes text);               /* RFC 3629 */
/* The size in bytes of the first character of `text`; 0: `text` does not begin with valid UTF-8.
 * `text` must not be empty. */
size_t bytes_utf8_character(struct bytes text);
/* The longest prefix of UTF-8 `text` that has at most `size_max` bytes and ends after a whole
 * character. */
struct bytes bytes_utf8_cut(struct bytes text, size_t size_max);

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "formats on disk are little-endian");

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

static inline uint32_t bit_length(uint64_t number)
{
    return number == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(number);
}

/* store_varint, store_signed and store_sized write the bytes that buffer_put_varint,
 * buffer_put_signed and buffer_put_sized append.  `to` must have room.  Each returns the end of the
 * bytes. */
enum { VARINT_SIZE_MAX = 10 };
static inline uint8_t *store_varint(uint8_t *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (uint8_t)(value | 0x80);
    *to++ = (uint8_t)value;
    return to;
}

/* 0, -1, 1, -2 become 0, 1, 2, 3. */
static inline uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t zigzag_back(uint64_t number)
{
    return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

static inline uint8_t *store_signed(uint8_t *to, int64_t value)
{
    return store_varint(to, zigzag(value));
}

static inline uint8_t *store_sized(uint8_t *to, struct bytes bytes)
{
    to = store_varint(to, bytes.size);
    if (bytes.size > 0)
        memcpy(to, bytes.data, bytes.size);
    return to + bytes.size;
}
#endif

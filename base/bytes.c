/* bytes: buffers that grow and readers that do not overrun.
 *
 * Correct means: no read or write outside what the caller gave, whatever the bytes say.  A reader
 * checks `size - offset`, never `offset + size`, so that a size near 2^64 cannot wrap.  Varints are
 * LEB128: 300 is ac 02.  A varint in more bytes than it needs is read as its value; one over 64
 * bits fails. */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

enum {
    BUFFER_SIZE_FIRST = 64,
    BUFFER_SIZE_IN_ARENA = 16 /* what was handed out last grows where it is */
};

/* ---- views ---- */

struct bytes bytes_text(const char *text)
{
    return bytes_of(text, strlen(text));
}

bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

int bytes_compare(struct bytes a, struct bytes b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

/* The bytes that may follow a lead byte first, which alone tell overlongs and surrogates apart
 * (RFC 3629 section 4); those after it are all 80..bf. */
struct utf8_lead {
    uint8_t first;
    uint8_t last;
    uint8_t next_first;
    uint8_t next_last;
    uint8_t size;
};

static const struct utf8_lead utf8_leads[] = {
    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

/* Size of the sequence of two to four bytes that starts at `at`, 0 if there is none. */
static size_t utf8_sequence(const uint8_t *at, size_t left)
{
    for (size_t i = 0; i < sizeof utf8_leads / sizeof utf8_leads[0]; i++) {
        const struct utf8_lead *lead = &utf8_leads[i];
        if (at[0] < lead->first || at[0] > lead->last)
            continue;
        if (left < lead->size || at[1] < lead->next_first || at[1] > lead->next_last)
            return 0;
        for (size_t k = 2; k < lead->size; k++)
            if ((at[k] & 0xc0) != 0x80)
                return 0;
        return lead->size;
    }
    return 0;
}

bool bytes_valid_utf8(struct bytes text)
{
    size_t i = 0;
    while (i < text.size) {
        /* Nearly all text is ASCII: eight bytes at a time. */
        if (text.size - i >= 8 && (load_u64(text.data + i) & UINT64_C(0x8080808080808080)) == 0) {
            i += 8;
            continue;
        }
        size_t size = text.data[i] < 0x80 ? 1 : utf8_sequence(text.data + i, text.size - i);
        if (size == 0)
            return false;
        i += size;
    }
    return true;
}

/* ---- buffers ---- */

void buffer_release(struct buffer *buffer)
{
    if (buffer->arena == NULL)
        memory_free(buffer->data);
    *buffer = (struct buffer){.arena = buffer->arena};
}

void buffer_clear(struct buffer *buffer)
{
    buffer->size = 0;
}

void buffer_grow(struct buffer *buffer, size_t more)
{
    check(more <= SIZE_MAX / 2 - buffer->size);
    size_t wanted = buffer->size + more;
    size_t first = buffer->arena != NULL ? BUFFER_SIZE_IN_ARENA : BUFFER_SIZE_FIRST;
    size_t capacity = buffer->capacity > 0 ? buffer->capacity * 2 : first;
    if (capacity < wanted)
        capacity = wanted;
    buffer->data = buffer->arena == NULL
                       ? memory_resize(buffer->data, capacity)
                       : arena_resize(buffer->arena, buffer->data, buffer->capacity, capacity);
    buffer->capacity = capacity;
}

struct bytes buffer_view(const struct buffer *buffer)
{
    return bytes_of(buffer->data, buffer->size);
}

void buffer_append(struct buffer *buffer, const void *data, size_t size)
{
    if (size == 0)
        return;
    buffer_reserve(buffer, size);
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void buffer_append_bytes(struct buffer *buffer, struct bytes bytes)
{
    buffer_append(buffer, bytes.data, bytes.size);
}

void buffer_append_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_append_quoted(struct buffer *buffer, struct bytes text, char quote)
{
    buffer_put_u8(buffer, (uint8_t)quote);
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == (uint8_t)quote)
            buffer_put_u8(buffer, (uint8_t)quote);
        buffer_put_u8(buffer, text.data[i]);
    }
    buffer_put_u8(buffer, (uint8_t)quote);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    size_t room = buffer->capacity - buffer->size;
    char *at = room > 0 ? (char *)buffer->data + buffer->size : NULL;
    int length = vsnprintf(at, room, format, arguments);
    va_end(arguments);
    check(length >= 0);
    if ((size_t)length >= room) {
        buffer_reserve(buffer, (size_t)length + 1);
        length = vsnprintf((char *)buffer->data + buffer->size, (size_t)length + 1, format, again);
        check(length >= 0);
    }
    va_end(again);
    buffer->size += (size_t)length;
}

void buffer_put_u16(struct buffer *buffer, uint16_t value)
{
    buffer_reserve(buffer, sizeof value);
    store_u16(buffer->data + buffer->size, value);
    buffer->size += sizeof value;
}

void buffer_put_u32(struct buffer *buffer, uint32_t value)
{
    buffer_reserve(buffer, sizeof value);
    store_u32(buffer->data + buffer->size, value);
    buffer->size += sizeof value;
}

void buffer_put_u64(struct buffer *buffer, uint64_t value)
{
    buffer_reserve(buffer, sizeof value);
    store_u64(buffer->data + buffer->size, value);
    buffer->size += sizeof value;
}

void buffer_put_u16_be(struct buffer *buffer, uint16_t value)
{
    buffer_put_u16(buffer, __builtin_bswap16(value));
}

void buffer_put_u32_be(struct buffer *buffer, uint32_t value)
{
    buffer_put_u32(buffer, __builtin_bswap32(value));
}

void buffer_put_u64_be(struct buffer *buffer, uint64_t value)
{
    buffer_put_u64(buffer, __builtin_bswap64(value));
}

void buffer_put_varint(struct buffer *buffer, uint64_t value)
{
    buffer_reserve(buffer, VARINT_SIZE_MAX);
    const uint8_t *end = store_varint(buffer->data + buffer->size, value);
    buffer->size = (size_t)(end - buffer->data);
}

void buffer_put_signed(struct buffer *buffer, int64_t value)
{
    buffer_reserve(buffer, VARINT_SIZE_MAX);
    const uint8_t *end = store_signed(buffer->data + buffer->size, value);
    buffer->size = (size_t)(end - buffer->data);
}

void buffer_put_sized(struct buffer *buffer, struct bytes bytes)
{
    buffer_put_varint(buffer, bytes.size);
    buffer_append_bytes(buffer, bytes);
}

void buffer_put_zeros(struct buffer *buffer, size_t count)
{
    if (count == 0)
        return;
    buffer_reserve(buffer, count);
    memset(buffer->data + buffer->size, 0, count);
    buffer->size += count;
}

/* ---- reader ---- */

struct reader reader_of(struct bytes bytes)
{
    return (struct reader){.data = bytes.data, .size = bytes.size};
}

size_t reader_left(const struct reader *reader)
{
    return reader->failed ? 0 : reader->size - reader->offset;
}

/* The next `size` bytes, which are then behind the reader; NULL if they are not all there. */
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

/* Where there is room for the longest one, no byte of it need be looked for. */
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

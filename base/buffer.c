/* buffer: memory of the heap or of an arena, doubled when it is full. */
#include "base/buffer.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/memory.h"

enum { BUFFER_SIZE_FIRST = 64, BUFFER_SIZE_IN_ARENA = 16 };

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

void buffer_set(struct buffer *buffer, struct bytes bytes)
{
    buffer_clear(buffer);
    buffer_append_bytes(buffer, bytes);
}

void buffer_append_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

static void append_json_character(struct buffer *buffer, struct bytes character)
{
    uint8_t c = character.data[0];

    if (c == '"' || c == '\\') {
        buffer_put_u8(buffer, '\\');
        buffer_put_u8(buffer, c);
    } else if (c == '\n') {
        buffer_append_text(buffer, "\\n");
    } else if (c < 0x20 || c == 0x7F) {
        buffer_printf(buffer, "\\u%04x", c);
    } else {
        buffer_append_bytes(buffer, character);
    }
}

void buffer_append_json(struct buffer *buffer, struct bytes text)
{
    buffer_put_u8(buffer, '"');
    for (size_t i = 0; i < text.size;) {
        size_t size = bytes_utf8_character(bytes_of(text.data + i, text.size - i));

        if (size == 0)
            buffer_append_text(buffer, "\xEF\xBF\xBD");
        else
            append_json_character(buffer, bytes_of(text.data + i, size));
        i += size == 0 ? 1 : size;
    }
    buffer_put_u8(buffer, '"');
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

void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    size_t room = buffer->capacity - buffer->size;
    char *at = room > 0 ? (char *)buffer->data + buffer->size : NULL;
    int length = vsnprintf(at, room, format, arguments);
    check(length >= 0);
    if ((size_t)length >= room) {
        buffer_reserve(buffer, (size_t)length + 1);
        length = vsnprintf((char *)buffer->data + buffer->size, (size_t)length + 1, format, again);
        check(length >= 0);
    }
    va_end(again);
    buffer->size += (size_t)length;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_vprintf(buffer, format, arguments);
    va_end(arguments);
}

void buffer_put_u16(struct buffer *buffer, uint16_t value)
{
    buffer_append(buffer, &value, sizeof value);
}

void buffer_put_u32(struct buffer *buffer, uint32_t value)
{
    buffer_append(buffer, &value, sizeof value);
}

void buffer_put_u64(struct buffer *buffer, uint64_t value)
{
    buffer_append(buffer, &value, sizeof value);
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

void buffer_put_repeated(struct buffer *buffer, uint8_t value, size_t count)
{
    if (count == 0)
        return;
    buffer_reserve(buffer, count);
    memset(buffer->data + buffer->size, value, count);
    buffer->size += count;
}

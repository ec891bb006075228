/* buffer: collects bytes in memory that grows as needed. */
#ifndef DAYBOOK_BASE_BUFFER_H
#define DAYBOOK_BASE_BUFFER_H

#include <stdarg.h>

#include "base/bytes.h"

struct arena;

/* A buffer that begins as zeros uses the heap.  One that begins as {.arena = arena} need not be
 * released; if the arena has a budget, an append may end by longjmp (struct arena_budget).
 * `data` may move at any append. */
struct buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    struct arena *arena;
};

void buffer_release(struct buffer *buffer);             /* empties it; the arena stays */
void buffer_clear(struct buffer *buffer);               /* keeps the memory */
void buffer_grow(struct buffer *buffer, size_t more);   /* private */
static inline void buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->capacity - buffer->size < more)
        buffer_grow(buffer, more);
}
struct bytes buffer_view(const struct buffer *buffer);
void buffer_append(struct buffer *buffer, const void *data, size_t size);
void buffer_append_bytes(struct buffer *buffer, struct bytes bytes);
void buffer_set(struct buffer *buffer, struct bytes bytes);
void buffer_append_text(struct buffer *buffer, const char *text);
/* Append `text` between quotes, with each quote in it doubled: 'it''s'. */
void buffer_append_quoted(struct buffer *buffer, struct bytes text, char quote);
/* Append `text` as a JSON string.  Each byte that is not part of valid UTF-8 becomes U+FFFD. */
void buffer_append_json(struct buffer *buffer, struct bytes text);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
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
void buffer_put_repeated(struct buffer *buffer, uint8_t value, size_t count);
static inline void buffer_put_zeros(struct buffer *buffer, size_t count)
{
    buffer_put_repeated(buffer, 0, count);
}
#endif

/* frame_reader: see frame_reader.h. */
#include "client/frame_reader.h"

#include <stdlib.h>

#include "client/array.h"
#include "client/daybook.h"
#include "client/wire.h"
#include "base/bytes.h"
#include "base/crc32c.h"

void frame_reader_release(struct frame_reader *reader)
{
    free(reader->bytes);
    *reader = (struct frame_reader){0};
}

void frame_reader_clear(struct frame_reader *reader)
{
    reader->size = 0;
    reader->taken = 0;
}

int frame_reader_add(struct frame_reader *reader, const void *bytes, size_t size)
{
    size_t left = reader->size - reader->taken;

    if (reader->taken > 0)
        memmove(reader->bytes, reader->bytes + reader->taken, left);
    reader->taken = 0;
    reader->size = left;
    if (!array_reserve(&reader->bytes, &reader->capacity, left + size, 1))
        return DAYBOOK_NO_MEMORY;
    if (size > 0)
        memcpy(reader->bytes + left, bytes, size);
    reader->size += size;
    return 0;
}

enum frame_reader_result frame_reader_next(struct frame_reader *reader, const char **text_out,
                                           size_t *size_out)
{
    size_t left = reader->size - reader->taken;
    const uint8_t *header = reader->bytes + reader->taken;

    if (left < WIRE_HEADER_SIZE)
        return FRAME_READER_NONE;
    const void *text = header + WIRE_HEADER_SIZE;
    uint32_t size = load_u32(header);
    if (size > WIRE_PAYLOAD_MAX || header[4] != WIRE_ANSWER)
        return FRAME_READER_FOREIGN;
    if (left - WIRE_HEADER_SIZE < size)
        return FRAME_READER_NONE;
    if (load_u32(header + 8) != crc32c(crc32c(0, header, 8), text, size))
        return FRAME_READER_DAMAGED;
    reader->taken += WIRE_HEADER_SIZE + size;
    *text_out = text;
    *size_out = size;
    return FRAME_READER_TEXT;
}

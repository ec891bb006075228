/* native_outbox: see the header. */
#include "codec/native_outbox.h"

#include "codec/native_compress.h"
#include "codec/native_segment.h"

enum {
    OUTBOX_KEEP_MAX = 16 << 10, /* largest capacity of the empty buffer */
    COMPRESS_SIZE_MIN = 256
};

void native_outbox_init(struct native_outbox *outbox, bool is_client)
{
    *outbox = (struct native_outbox){.is_client = is_client};
}

void native_outbox_release(struct native_outbox *outbox)
{
    buffer_release(&outbox->envelopes);
}

void native_outbox_start(struct native_outbox *outbox, enum native_compression compression)
{
    check(outbox->envelopes.size == 0);
    outbox->compression = compression;
    outbox->is_framed = outbox->version >= 5;
}

struct buffer *native_outbox_begin(struct native_outbox *outbox, uint8_t flags, int16_t stream,
                                   uint8_t opcode)
{
    struct buffer *to = &outbox->envelopes;

    check(outbox->version != 0);
    outbox->open = to->size;
    buffer_put_u8(to, outbox->version | (outbox->is_client ? 0 : NATIVE_RESPONSE_BIT));
    buffer_put_u8(to, flags);
    buffer_put_u16_be(to, (uint16_t)stream);
    buffer_put_u8(to, opcode);
    buffer_put_u32_be(to, 0);
    return to;
}

static void compress_open_body(struct native_outbox *outbox)
{
    struct buffer *to = &outbox->envelopes;
    size_t start = outbox->open + NATIVE_HEADER_SIZE;
    struct bytes plain = bytes_of(to->data + start, to->size - start);
    struct buffer body = {0};

    native_compress_body(outbox->compression, plain, &body);
    if (body.size < plain.size) {
        to->size = start;
        buffer_append_bytes(to, buffer_view(&body));
        to->data[outbox->open + 1] |= NATIVE_FLAG_COMPRESSED;
    }
    buffer_release(&body);
}

void native_outbox_end(struct native_outbox *outbox)
{
    struct buffer *to = &outbox->envelopes;
    size_t size = to->size - outbox->open - NATIVE_HEADER_SIZE;

    if (outbox->compression != NATIVE_PLAIN && !outbox->is_framed && size >= COMPRESS_SIZE_MIN)
        compress_open_body(outbox);
    size = to->size - outbox->open - NATIVE_HEADER_SIZE;
    check(size <= INT32_MAX);
    store_u32_be(to->data + outbox->open + 5, (uint32_t)size);
}

size_t native_outbox_size(const struct native_outbox *outbox)
{
    return outbox->envelopes.size;
}

/* ---- segments ---- */

static size_t envelope_size(const struct native_outbox *outbox, size_t at)
{
    return NATIVE_HEADER_SIZE + (size_t)load_u32_be(outbox->envelopes.data + at + 5);
}

static void cut_envelope(struct native_outbox *outbox, size_t start, size_t end,
                         struct buffer *wire)
{
    bool is_lz4 = outbox->compression == NATIVE_LZ4;

    while (start < end) {
        size_t size =
            end - start < NATIVE_SEGMENT_PAYLOAD_MAX ? end - start : NATIVE_SEGMENT_PAYLOAD_MAX;

        native_segment_put(wire, bytes_of(outbox->envelopes.data + start, size), false, is_lz4);
        start += size;
    }
}

static void take_segments(struct native_outbox *outbox, struct buffer *wire)
{
    size_t start = 0;

    while (start < outbox->envelopes.size) {
        size_t end = start + envelope_size(outbox, start);

        if (end - start > NATIVE_SEGMENT_PAYLOAD_MAX) {
            cut_envelope(outbox, start, end, wire);
            start = end;
            continue;
        }
        while (end < outbox->envelopes.size &&
               end + envelope_size(outbox, end) - start <= NATIVE_SEGMENT_PAYLOAD_MAX)
            end += envelope_size(outbox, end);
        native_segment_put(wire, bytes_of(outbox->envelopes.data + start, end - start), true,
                           outbox->compression == NATIVE_LZ4);
        start = end;
    }
}

void native_outbox_take(struct native_outbox *outbox, struct buffer *wire)
{
    if (outbox->is_framed)
        take_segments(outbox, wire);
    else
        buffer_append_bytes(wire, buffer_view(&outbox->envelopes));
    buffer_clear(&outbox->envelopes);
    if (outbox->envelopes.capacity > OUTBOX_KEEP_MAX)
        buffer_release(&outbox->envelopes);
}

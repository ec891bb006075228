/* decoded_frame: see decoded_frame.h.
 *
 * What must hold: a frame that is decoded ahead has the same meaning when the connection handles
 * it.  So what decoded_frame_plan returns ends before HELLO, LINES, a CONTROL line that chooses a
 * stream or is unknown, and bytes that are not a frame.
 *
 *     input   STRINGS │ BATCH │ CONTROL #file … │ BATCH │ CONTROL #stream … │ BATCH │ half a frame
 *     plan    ├─ 0 ─────  1  ─────────────────────  2  ─┤ */
#include "ingest/parse/decoded_frame.h"

#include "base/crc32c.h"
#include "ingest/parse/batch_hash.h"
#include "ingest/parse/control_line.h"

bool decoded_frame_is_sound(struct bytes frame)
{
    const uint8_t *header = frame.data;
    uint32_t sum =
        crc32c(crc32c(0, header, 8), header + WIRE_HEADER_SIZE, frame.size - WIRE_HEADER_SIZE);

    return sum == load_u32(header + 8) && header[5] == 0 && header[6] == 0 && header[7] == 0;
}

/* The first frame of the input.  Size 0: it is incomplete, or too long. */
static struct bytes frame_first(struct bytes input)
{
    if (input.size < WIRE_HEADER_SIZE || load_u32(input.data) > WIRE_PAYLOAD_MAX)
        return bytes_of(NULL, 0);
    size_t size = WIRE_HEADER_SIZE + (size_t)load_u32(input.data);
    return bytes_of(input.data, size <= input.size ? size : 0);
}

static uint64_t frame_rows(struct bytes frame)
{
    return frame.data[4] != WIRE_BATCH || frame.size < WIRE_HEADER_SIZE + WIRE_BATCH_HEADER
               ? 0
               : load_u32(frame.data + WIRE_HEADER_SIZE + 8);
}

static bool frame_is_passed(struct bytes frame)
{
    return frame.data[4] == WIRE_CONTROL && control_line_keeps_stream(decoded_frame_payload(frame));
}

bool decoded_frame_has_kind(uint8_t kind)
{
    return kind == WIRE_STRINGS || kind == WIRE_BATCH;
}

size_t decoded_frame_plan(struct bytes input, uint32_t *count_out)
{
    uint64_t rows = 0;
    size_t at = 0;

    for (*count_out = 0; *count_out < DECODED_FRAMES_MAX;) {
        struct bytes frame = frame_first(bytes_of(input.data + at, input.size - at));

        if (frame.size == 0)
            break;
        bool is_decoded = decoded_frame_has_kind(frame.data[4]);
        rows += frame_rows(frame);
        if ((!is_decoded && !frame_is_passed(frame)) ||
            (rows > DECODED_FRAMES_ROWS_MAX && *count_out > 0))
            break;
        *count_out += is_decoded;
        at += frame.size;
    }
    return at;
}

void decoded_frame_begin(struct decoded_frame *frame, struct binary_decoder *decoder, uint8_t kind,
                         struct bytes payload)
{
    if (kind == WIRE_STRINGS) {
        frame->rc = binary_decoder_strings(decoder, payload);
        frame->strings_bytes = binary_decoder_strings_bytes(decoder);
        return;
    }
    frame->rc = binary_decoder_read_batch(payload, &frame->batch);
    if (frame->rc == 0)
        frame->rc = binary_decoder_begin(decoder, &frame->batch, false);
}

void decoded_frame_hash(struct decoded_frame *frame, struct binary_decoder *decoder,
                        const struct ingest_stream *stream)
{
    static const char form[] = "columns";

    frame->hash = batch_hash_new(stream, bytes_of(form, sizeof form));
    binary_decoder_hash(decoder, &frame->batch, frame->hash);
}

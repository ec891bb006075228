/* frame_run: see frame_run.h.
 *
 * What decides correctness: a frame means the same here as when it is taken, so a plan ends before
 * any frame that could change that: HELLO, a CONTROL line that chooses a stream or is unknown,
 * LINES, what is no frame.
 *
 *     input   STRINGS │ BATCH │ CONTROL #file … │ BATCH │ CONTROL #stream … │ BATCH │ half a frame
 *     plan    ├──── run 0, run 1 ────── run 2 ──────────┤                                        */
#include "ingest/connection/frame_run.h"

#include "ingest/connection/text_commit.h"
#include "ingest/connection/text_control.h"
#include "base/hash.h"

bool frame_is_sound(struct bytes frame)
{
    const uint8_t *header = frame.data;
    uint32_t sum =
        crc32c(crc32c(0, header, 8), header + WIRE_HEADER_SIZE, frame.size - WIRE_HEADER_SIZE);

    return sum == load_u32(header + 8) && header[5] == 0 && header[6] == 0 && header[7] == 0;
}

/* The frame that `input` begins with; size 0: it is not whole, or too long to be one. */
static struct bytes frame_first(struct bytes input)
{
    size_t size;

    if (input.size < WIRE_HEADER_SIZE || load_u32(input.data) > WIRE_PAYLOAD_MAX)
        return bytes_of(NULL, 0);
    size = WIRE_HEADER_SIZE + (size_t)load_u32(input.data);
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
    return frame.data[4] == WIRE_CONTROL && text_control_keeps_stream(frame_payload(frame));
}

bool frame_is_run(uint8_t kind)
{
    return kind == WIRE_STRINGS || kind == WIRE_BATCH;
}

size_t frame_runs_plan(struct bytes input, uint32_t *runs_out)
{
    uint64_t rows = 0;
    size_t at = 0;

    for (*runs_out = 0; *runs_out < FRAME_RUNS_MAX;) {
        struct bytes frame = frame_first(bytes_of(input.data + at, input.size - at));
        bool is_run;

        if (frame.size == 0)
            break;
        is_run = frame_is_run(frame.data[4]);
        rows += frame_rows(frame);
        if ((!is_run && !frame_is_passed(frame)) || (rows > FRAME_RUNS_ROWS_MAX && *runs_out > 0))
            break;
        *runs_out += is_run;
        at += frame.size;
    }
    return at;
}

void frame_run_begin(struct frame_run *run, struct binary_decoder *decoder, uint8_t kind,
                     struct bytes payload)
{
    if (kind == WIRE_STRINGS) {
        run->rc = binary_decoder_strings(decoder, payload);
        run->strings_bytes = binary_decoder_strings_bytes(decoder);
        return;
    }
    run->rc = binary_decoder_read_batch(payload, &run->batch);
    if (run->rc == 0)
        run->rc = binary_decoder_begin(decoder, &run->batch, false);
}

void frame_run_hash(struct frame_run *run, struct binary_decoder *decoder,
                    const struct ingest_stream *stream)
{
    static const char form[] = "columns";

    run->hash = text_commit_hash(stream, bytes_of(form, sizeof form));
    binary_decoder_hash(decoder, &run->batch, run->hash);
}

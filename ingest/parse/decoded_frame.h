/* decoded_frame: a STRINGS or BATCH frame of the binary protocol after it was decoded, on any
 * thread.
 *
 * These frames change or use the connection's dictionary and nothing else, so they can be decoded
 * ahead.  Whether a batch is allowed (its producer, its number, room in the store) is checked when
 * the connection takes the frame.  A BATCH's rows also depend on the stream, which only a CONTROL
 * frame changes: no frame after such a one is decoded ahead.
 *
 * Only one thread uses the dictionary at a time: frames at the back of the input are decoded by the
 * engine thread, and only when all frames before them are taken (parse_ahead.h). */
#ifndef DAYBOOK_INGEST_PARSE_DECODED_FRAME_H
#define DAYBOOK_INGEST_PARSE_DECODED_FRAME_H

#include "base/hash128.h"
#include "client/wire.h"
#include "ingest/parse/binary_decoder.h"

enum {
    DECODED_FRAMES_MAX = 64,               /* of a chunk */
    DECODED_FRAMES_ROWS_MAX = 1 << 16      /* rows that the headers of a chunk's BATCH frames give;
                                            * the first frame may have more */
};

struct batch_group;

struct decoded_frame {
    struct row_part *part;             /* owned: a BATCH's rows; NULL: they are not decoded, taken,
                                        * or in `group` */
    const struct batch_group *group;   /* the group that its rows are in; NULL: none */
    uint32_t place;                    /* of its batch in the group */
    struct hash128_stream *hash;       /* owned: of its content, if it has a number; NULL: it is not
                                        * decoded, or taken */
    size_t start;                      /* of the frame within its chunk's data */
    bool is_sound;                     /* its checksum agrees */
    int rc;                            /* of the dictionary and tables: 0, ERROR_CORRUPT or
                                        * ERROR_LIMIT */
    int rows_rc;                       /* the same of the rows */
    size_t strings_bytes;              /* of a STRINGS frame: bytes of the dictionary after it */
    struct binary_batch batch;         /* of a BATCH; views into the frame */
};

/* Whether the checksum of `frame` agrees and the zeros of its header are zero; it is exactly one
 * whole frame. */
bool decoded_frame_is_sound(struct bytes frame);

static inline struct bytes decoded_frame_payload(struct bytes frame)
{
    return bytes_of(frame.data + WIRE_HEADER_SIZE, frame.size - WIRE_HEADER_SIZE);
}

/* Whether a frame of that kind is decoded: STRINGS and BATCH. */
bool decoded_frame_has_kind(uint8_t kind);

/* The bytes of the whole frames at the start of `input` that can be decoded ahead, and in
 * *count_out how many of these frames are decoded: at most DECODED_FRAMES_MAX. */
size_t decoded_frame_plan(struct bytes input, uint32_t *count_out);

/* Decode the payload of a STRINGS frame, or header and tables of a BATCH whose rows are joined to
 * no others. */
void decoded_frame_begin(struct decoded_frame *frame, struct binary_decoder *decoder, uint8_t kind,
                         struct bytes payload);
/* Of a BATCH that was begun and has a number: `stream`'s hash of it. */
void decoded_frame_hash(struct decoded_frame *frame, struct binary_decoder *decoder,
                        const struct ingest_stream *stream);
#endif

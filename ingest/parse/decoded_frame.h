/* decoded_frame: what a frame of the binary door comes to, on whichever thread it is decoded.
 *
 * STRINGS and BATCH frames change or use the connection's dictionary and nothing else, so they can
 * be decoded before anybody knows whether they may come: who produces, what number is due, whether
 * there is room is asked when its connection gets to them.  What a BATCH's rows are
 * also depends on the stream, which only a CONTROL frame changes: none is decoded past that.
 *
 * The dictionary is one thread's at a time: frames of the input's back are decoded by the engine
 * thread, and only when all before them are taken (parse_ahead.h). */
#ifndef DAYBOOK_INGEST_PARSE_DECODED_FRAME_H
#define DAYBOOK_INGEST_PARSE_DECODED_FRAME_H

#include "base/hash128.h"
#include "client/wire.h"
#include "ingest/parse/binary_decoder.h"

enum {
    DECODED_FRAMES_MAX = 64,               /* of a chunk */
    DECODED_FRAMES_ROWS_MAX = 1 << 16      /* as BATCH frames claim; a first one may have more */
};

struct batch_group;

struct decoded_frame {
    struct row_part *part;             /* owned: a BATCH's rows; NULL: not decoded, or taken, */
    const struct batch_group *group;   /* or they are in this group, */
    uint32_t place;                    /* of this batch of it */
    struct hash128_stream *hash;       /* owned: of its content if it has a number; the same */
    size_t start;                      /* of the frame within its chunk's data */
    bool is_sound;                     /* its checksum agrees */
    int rc;                            /* of the dictionary and tables: 0, ERROR_CORRUPT, _LIMIT */
    int rows_rc;                       /* of the rows */
    size_t strings_bytes;              /* of a STRINGS frame: what the dictionary takes with it */
    struct binary_batch batch;         /* of a BATCH; views into the frame */
};

/* `frame` is whole, and nothing else: its checksum agrees, and the zeros of its header are zero. */
bool decoded_frame_is_sound(struct bytes frame);

static inline struct bytes decoded_frame_payload(struct bytes frame)
{
    return bytes_of(frame.data + WIRE_HEADER_SIZE, frame.size - WIRE_HEADER_SIZE);
}

/* Whether a frame of that kind is decoded: STRINGS and BATCH. */
bool decoded_frame_has_kind(uint8_t kind);

/* How many bytes of frames at the start of `input` can be decoded one after the other, and how many
 * of these are to be decoded: whole ones only, at most DECODED_FRAMES_MAX of them. */
size_t decoded_frame_plan(struct bytes input, uint32_t *count_out);

/* Decode the payload of a STRINGS frame, or header and tables of a BATCH whose rows are joined to
 * no others. */
void decoded_frame_begin(struct decoded_frame *frame, struct binary_decoder *decoder, uint8_t kind,
                         struct bytes payload);
/* Of a BATCH that was begun and has a number: `stream`'s hash of it. */
void decoded_frame_hash(struct decoded_frame *frame, struct binary_decoder *decoder,
                        const struct ingest_stream *stream);
#endif

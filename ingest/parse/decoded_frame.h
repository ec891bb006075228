/* decoded_frame: a STRINGS or BATCH frame of the binary protocol after it was decoded, on any
 * thread.
 *
 * These frames use only the connection's dictionary, so another thread can decode them ahead,
 * before the connection handles them.  Whether a batch is allowed (its producer, its number, room
 * in the store) is checked when the connection handles the frame.  A BATCH's rows also depend on
 * the stream, which a CONTROL frame can change: no frame behind such a CONTROL frame is decoded
 * ahead.
 *
 * Only one thread uses the dictionary at a time.  The engine thread decodes a frame itself only
 * when all frames before it have been handled (parse_ahead.h). */
#ifndef DAYBOOK_INGEST_PARSE_DECODED_FRAME_H
#define DAYBOOK_INGEST_PARSE_DECODED_FRAME_H

#include "base/hash128.h"
#include "client/wire.h"
#include "ingest/parse/binary_decoder.h"

enum {
    DECODED_FRAMES_MAX = 64,               /* of a chunk of input */
    DECODED_FRAMES_ROWS_MAX = 1 << 16      /* rows of a chunk's BATCH frames, by their headers; the
                                            * first frame may have more */
};

struct batch_group;

struct decoded_frame {
    struct row_part *part;             /* owned: a BATCH's rows; NULL: they are not decoded, were
                                        * taken, or are in `group` */
    const struct batch_group *group;   /* has the BATCH's rows; NULL: no group has them */
    uint32_t place;                    /* index of the batch in the group */
    struct hash128_stream *hash;       /* owned: hash of a numbered BATCH; NULL: it is not decoded,
                                        * or was taken */
    size_t start;                      /* offset of the frame in its chunk's data */
    bool is_sound;                     /* decoded_frame_is_sound */
    int rc;                            /* result of reading the dictionary and tables: 0,
                                        * ERROR_CORRUPT or ERROR_LIMIT */
    int rows_rc;                       /* the same for the rows */
    size_t strings_bytes;              /* of a STRINGS frame: the dictionary's memory after it */
    struct binary_batch batch;         /* of a BATCH; views into the frame */
};

/* Whether the checksum of `frame` agrees and the unused bytes of its header are zero.  `frame` is
 * exactly one whole frame. */
bool decoded_frame_is_sound(struct bytes frame);

static inline struct bytes decoded_frame_payload(struct bytes frame)
{
    return bytes_of(frame.data + WIRE_HEADER_SIZE, frame.size - WIRE_HEADER_SIZE);
}

/* Whether `kind` is STRINGS or BATCH. */
bool decoded_frame_has_kind(uint8_t kind);

/* Plan the next chunk to decode ahead.  Returns how many bytes at the start of `input` the chunk
 * takes, always whole frames.  *count_out is the number of STRINGS and BATCH frames in these bytes,
 * at most DECODED_FRAMES_MAX. */
size_t decoded_frame_plan(struct bytes input, uint32_t *count_out);

/* Decode the payload of a STRINGS frame, or the header and tables of a BATCH that is not joined to
 * a group. */
void decoded_frame_begin(struct decoded_frame *frame, struct binary_decoder *decoder, uint8_t kind,
                         struct bytes payload);
/* Set the hash of a BATCH of `stream` that was begun and has a number. */
void decoded_frame_hash(struct decoded_frame *frame, struct binary_decoder *decoder,
                        const struct ingest_stream *stream);
#endif

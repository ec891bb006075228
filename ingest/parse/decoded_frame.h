/* decoded_frame: a STRINGS or BATCH frame of the binary protocol after it was decoded, on any
 * thread.
 *
 * These frames use only the connection's dictionary, so another thread can decode them before the
 * connection handles them.
 *
 * Only one thread at a time may use the dictionary. */
#ifndef DAYBOOK_INGEST_PARSE_DECODED_FRAME_H
#define DAYBOOK_INGEST_PARSE_DECODED_FRAME_H

#include "base/hash128.h"
#include "client/wire.h"
#include "ingest/parse/binary_decoder.h"

enum {
    DECODED_FRAMES_MAX = 64,
    DECODED_FRAMES_ROWS_MAX = 1 << 16      /* rows of all BATCH frames that decoded_frame_plan
                                            * counts, unless the first frame has more */
};

struct batch_group;

struct decoded_frame {
    struct row_part *part;             /* owned: a BATCH's rows; NULL: not decoded, taken, or in
                                        * `group` */
    const struct batch_group *group;   /* NULL: no group has the rows */
    uint32_t place;                    /* index in the group */
    struct hash128_stream *hash;       /* owned, of a numbered BATCH; NULL: not decoded, or taken */
    size_t start;                      /* offset in its chunk's data */
    bool is_sound;
    int rc;                            /* 0, ERROR_CORRUPT or ERROR_LIMIT */
    int rows_rc;
    size_t strings_bytes;              /* the dictionary's memory after a STRINGS frame; else 0 */
    struct binary_batch batch;
};

/* Whether the checksum and the header's zeros are right.  `frame` is exactly one whole frame. */
bool decoded_frame_is_sound(struct bytes frame);

static inline struct bytes decoded_frame_payload(struct bytes frame)
{
    return bytes_of(frame.data + WIRE_HEADER_SIZE, frame.size - WIRE_HEADER_SIZE);
}

bool decoded_frame_has_kind(uint8_t kind);

/* Plan the next chunk to decode ahead.  Returns the chunk's bytes: whole frames from the start of
 * `input` on.  *count_out is the number of STRINGS and BATCH frames among them, at most
 * DECODED_FRAMES_MAX. */
size_t decoded_frame_plan(struct bytes input, uint32_t *count_out);

/* Decode a STRINGS frame, or the header and tables of a BATCH outside of groups. */
void decoded_frame_begin(struct decoded_frame *frame, struct binary_decoder *decoder, uint8_t kind,
                         struct bytes payload);
/* Set the hash of a numbered BATCH, after decoded_frame_begin. */
void decoded_frame_hash(struct decoded_frame *frame, struct binary_decoder *decoder,
                        const struct ingest_stream *stream);
#endif

/* native_outbox: writes the envelopes of one direction of a connection as bytes.
 *
 * In version 5 a segment has as many envelopes as fit.  An envelope that is larger than a segment
 * is divided among several segments. */
#ifndef DAYBOOK_CODEC_NATIVE_OUTBOX_H
#define DAYBOOK_CODEC_NATIVE_OUTBOX_H

#include "base/buffer.h"
#include "codec/native.h"

struct native_outbox {
    bool is_client;                        /* the envelopes are requests */
    uint8_t version;                       /* set before the first envelope */
    bool is_framed;
    enum native_compression compression;
    /* private */
    struct buffer envelopes;               /* not yet taken */
    size_t open;                           /* offset of the last envelope */
};

void native_outbox_init(struct native_outbox *outbox, bool is_client);
void native_outbox_release(struct native_outbox *outbox);

/* Use `compression` and, in version 5, segments from now on.  All earlier envelopes must be
 * taken. */
void native_outbox_start(struct native_outbox *outbox, enum native_compression compression);

/* Begin an envelope.  The caller appends the body to the returned buffer. */
struct buffer *native_outbox_begin(struct native_outbox *outbox, uint8_t flags, int16_t stream,
                                   uint8_t opcode);
void native_outbox_end(struct native_outbox *outbox);

/* Returns the bytes of all envelopes, without headers and CRCs of segments. */
size_t native_outbox_size(const struct native_outbox *outbox);
/* Move all envelopes to `wire`. */
void native_outbox_take(struct native_outbox *outbox, struct buffer *wire);
#endif

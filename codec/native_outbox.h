/* native_outbox: envelopes of one direction of a connection in, bytes for the wire out.
 *
 * The counterpart of native_inbox.h, for a server and a client alike.  Envelopes gather until they
 * are taken: in version 5 those that fit together leave in one segment.
 *
 * Its specification is tests/unit/test_native_codec.c. */
#ifndef DAYBOOK_CODEC_NATIVE_OUTBOX_H
#define DAYBOOK_CODEC_NATIVE_OUTBOX_H

#include "base/buffer.h"
#include "codec/native.h"

struct native_outbox {
    bool is_client;                        /* requests go out, not answers */
    uint8_t version;                       /* set before the first envelope */
    bool is_framed;
    enum native_compression compression;
    /* private */
    struct buffer envelopes;               /* whole ones, and one that is open */
    size_t open;                           /* where that one begins */
};

void native_outbox_init(struct native_outbox *outbox, bool is_client);
void native_outbox_release(struct native_outbox *outbox);

/* From the next envelope on; what was put before has been taken. */
void native_outbox_start(struct native_outbox *outbox, enum native_compression compression);

/* Begin an envelope, and append its body to the buffer that is returned. */
struct buffer *native_outbox_begin(struct native_outbox *outbox, uint8_t flags, int16_t stream,
                                   uint8_t opcode);
/* The body is there. */
void native_outbox_end(struct native_outbox *outbox);

/* Bytes that wait, before segments are made of them. */
size_t native_outbox_size(const struct native_outbox *outbox);
/* Append all that waits to `wire`. */
void native_outbox_take(struct native_outbox *outbox, struct buffer *wire);
#endif

/* native_outbox: writes envelopes as the bytes of one direction of a connection.
 *
 * The counterpart of native_inbox.h, for servers and clients.  Envelopes are collected until they
 * are taken; in version 5 as many as fit are sent in one segment.
 *
 * Its specification is tests/unit/test_native_codec.c. */
#ifndef DAYBOOK_CODEC_NATIVE_OUTBOX_H
#define DAYBOOK_CODEC_NATIVE_OUTBOX_H

#include "base/buffer.h"
#include "codec/native.h"

struct native_outbox {
    bool is_client;                        /* it writes requests, not answers */
    uint8_t version;                       /* set before the first envelope */
    bool is_framed;
    enum native_compression compression;
    /* private */
    struct buffer envelopes;               /* whole ones, and perhaps one that is not ended */
    size_t open;                           /* where that one begins */
};

void native_outbox_init(struct native_outbox *outbox, bool is_client);
void native_outbox_release(struct native_outbox *outbox);

/* Use the compression, and in version 5 segments, from the next envelope on; all envelopes before
 * were taken. */
void native_outbox_start(struct native_outbox *outbox, enum native_compression compression);

/* Begin an envelope, and append its body to the buffer that is returned. */
struct buffer *native_outbox_begin(struct native_outbox *outbox, uint8_t flags, int16_t stream,
                                   uint8_t opcode);
/* End the envelope: its body is complete. */
void native_outbox_end(struct native_outbox *outbox);

/* How many bytes of envelopes were not taken yet, without the overhead of segments. */
size_t native_outbox_size(const struct native_outbox *outbox);
/* Append all envelopes to `wire`, and clear them. */
void native_outbox_take(struct native_outbox *outbox, struct buffer *wire);
#endif

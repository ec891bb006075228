/* native_outbox: writes envelopes as the bytes of one direction of a connection.
 *
 * This is the counterpart of native_inbox.h, for servers and clients.  Envelopes are collected
 * until they are taken.  In version 5 a segment has as many envelopes as fit; an envelope that is
 * larger than a segment is divided among several.
 *
 * Its specification is tests/unit/test_native_codec.c. */
#ifndef DAYBOOK_CODEC_NATIVE_OUTBOX_H
#define DAYBOOK_CODEC_NATIVE_OUTBOX_H

#include "base/buffer.h"
#include "codec/native.h"

struct native_outbox {
    bool is_client;                        /* the envelopes are requests, not answers */
    uint8_t version;                       /* set before the first envelope */
    bool is_framed;
    enum native_compression compression;
    /* private */
    struct buffer envelopes;               /* not taken yet; the last one may be unfinished */
    size_t open;                           /* where the last envelope begins */
};

void native_outbox_init(struct native_outbox *outbox, bool is_client);
void native_outbox_release(struct native_outbox *outbox);

/* From the next envelope on use `compression` and, in version 5, segments.  All earlier envelopes
 * were taken. */
void native_outbox_start(struct native_outbox *outbox, enum native_compression compression);

/* Begin an envelope; the caller appends its body to the buffer that is returned. */
struct buffer *native_outbox_begin(struct native_outbox *outbox, uint8_t flags, int16_t stream,
                                   uint8_t opcode);
/* End the envelope, whose body is complete. */
void native_outbox_end(struct native_outbox *outbox);

/* The bytes of the envelopes that were not taken yet, without headers and CRCs of segments. */
size_t native_outbox_size(const struct native_outbox *outbox);
/* Append all envelopes to `wire`, in segments if is_framed, and remove them from the outbox. */
void native_outbox_take(struct native_outbox *outbox, struct buffer *wire);
#endif

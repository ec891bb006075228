/* native_inbox: reads the envelopes of one direction of a connection from bytes.
 *
 *     version(1, 0x80 in answers) flags(1) stream(2) opcode(1) body size(4) | body
 *
 * All envelopes have the version of the first one.  In version 5, envelopes after the answer to
 * STARTUP are in segments (native_segment.h).
 *
 * An envelope that is too large is returned without its body. */
#ifndef DAYBOOK_CODEC_NATIVE_INBOX_H
#define DAYBOOK_CODEC_NATIVE_INBOX_H

#include "base/buffer.h"
#include "codec/native.h"

struct native_envelope {
    uint8_t version;
    uint8_t flags;
    int16_t stream;
    uint8_t opcode;
    bool is_too_large;                     /* `body` is empty */
    uint32_t size;                         /* bytes of the body as sent */
    struct bytes body;                     /* valid until the next call */
};

struct native_inbox {
    bool is_client;                        /* the envelopes are answers */
    bool is_secret;                        /* bytes are zeroed after use */
    uint32_t body_max;
    uint8_t version;                       /* 0: no envelope yet */
    bool is_framed;                        /* envelopes are in segments */
    enum native_compression compression;
    /* private */
    struct buffer input;
    size_t input_start;
    struct bytes window;                   /* envelopes not yet returned */
    struct buffer plain;                   /* a decompressed segment or body */
    struct buffer parts;                   /* the parts received so far of an envelope in several
                                            * segments */
    uint64_t drop;                         /* bytes not yet received of a body that is too large */
};

void native_inbox_init(struct native_inbox *inbox, bool is_client, uint32_t body_max);
void native_inbox_release(struct native_inbox *inbox);

/* Call this when STARTUP was answered. */
void native_inbox_start(struct native_inbox *inbox, enum native_compression compression);

/* The last native_inbox_next, if any, must have returned 0. */
void native_inbox_add(struct native_inbox *inbox, struct bytes bytes);

/* Read the next envelope.  Returns 1, or 0 when more bytes are needed.  After an error
 * native_inbox_add and native_inbox_next must not be called.  Errors:
 *
 *     ERROR_UNSUPPORTED   the version is not supported; `version` is set, and `flags` if received
 *     ERROR_CONFLICT      the version differs from the first envelope's; `version` is set
 *     ERROR_INVALID       an answer where requests are expected, or the reverse
 *     ERROR_CORRUPT       a checksum, a size or a compressed body is wrong
 *     ERROR_LIMIT         a compressed body is too large */
must_check int native_inbox_next(struct native_inbox *inbox, struct native_envelope *envelope_out,
                                 struct error *err);

/* Bytes that were added but not yet read, because the rest of an envelope or segment is missing. */
size_t native_inbox_unread(const struct native_inbox *inbox);
/* The capacity of the buffers. */
size_t native_inbox_held(const struct native_inbox *inbox);
#endif

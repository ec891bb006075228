/* native_inbox: reads envelopes from the bytes of one direction of a connection.
 *
 *     version(1, 0x80 in answers) flags(1) stream(2) opcode(1) body size(4) | body
 *
 * All envelopes have the version of the first one.  In versions 3 and 4 envelopes are sent one
 * after the other, and each body may be compressed.  In version 5 envelopes are sent one after the
 * other, without compression, until STARTUP is answered, and in segments (native_segment.h) after
 * that.  Servers and clients use the inbox in the same way.
 *
 * A body that is too large is not collected: the envelope is returned without its body as soon as
 * the header was read, and the bytes of the body are dropped.
 *
 * Its specification is tests/unit/test_native_codec.c. */
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
    uint32_t size;                         /* of the body as sent */
    struct bytes body;                     /* uncompressed; valid until the next call */
};

struct native_inbox {
    bool is_client;                        /* the envelopes are answers, not requests */
    bool is_secret;                        /* bytes may be a password: they are zeroed after use */
    uint32_t body_max;
    uint8_t version;                       /* 0: no envelope was read yet */
    bool is_framed;                        /* envelopes come in segments from now on */
    enum native_compression compression;
    /* private */
    struct buffer input;
    size_t input_start;
    struct bytes window;                   /* envelopes of a segment, not yet returned */
    struct buffer plain;                   /* a segment or a body, decompressed */
    struct buffer parts;                   /* of an envelope in several segments */
    uint64_t drop;                         /* bytes still to come of a body that is too large */
};

void native_inbox_init(struct native_inbox *inbox, bool is_client, uint32_t body_max);
void native_inbox_release(struct native_inbox *inbox);

/* STARTUP was answered: from now on bodies may be compressed by `compression`, and envelopes of
 * version 5 come in segments. */
void native_inbox_start(struct native_inbox *inbox, enum native_compression compression);

/* Add a copy of bytes that came.  The last call of native_inbox_next, if any, has returned 0. */
void native_inbox_add(struct native_inbox *inbox, struct bytes bytes);

/* Return the next envelope: 1, or 0 when more bytes are needed.  No call may follow an error:
 *
 *     ERROR_UNSUPPORTED   the version is not supported; `version` is set, and `flags` if their byte
 *                         has come, which is certain for a beta version
 *     ERROR_CONFLICT      the version differs from the first envelope's; `version` is set
 *     ERROR_INVALID       an answer where requests are expected, or the reverse
 *     ERROR_CORRUPT       a checksum, a size or a compressed body is wrong
 *     ERROR_LIMIT         a compressed body is too large */
must_check int native_inbox_next(struct native_inbox *inbox, struct native_envelope *envelope_out,
                                 struct error *err);

/* How many bytes came since the end of the last envelope (or segment) that was read. */
size_t native_inbox_unread(const struct native_inbox *inbox);
/* The memory of the inbox's buffers, in bytes. */
size_t native_inbox_held(const struct native_inbox *inbox);
#endif

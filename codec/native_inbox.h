/* native_inbox: reads envelopes from the bytes of one direction of a connection.
 *
 *     version(1, 0x80 in answers) flags(1) stream(2) opcode(1) body size(4) | body
 *
 * The first envelope decides the version of all.  Versions 3 and 4 send envelopes as they are, with
 * each body compressed by itself; version 5 does so until STARTUP is answered, and then sends them
 * in segments (native_segment.h).  Servers and clients use the inbox in the same way.
 *
 * A body that is too large is not collected: its envelope is returned without the body as soon as
 * its header was read, and the bytes of the body are dropped.
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
    bool is_client;                        /* it reads answers, not requests */
    bool is_secret;                        /* a password may come: bytes are zeroed after use */
    uint32_t body_max;
    uint8_t version;                       /* 0: no envelope was read yet */
    bool is_framed;                        /* segments come from now on */
    enum native_compression compression;
    /* private */
    struct buffer input;
    size_t input_start;
    struct bytes window;                   /* what is left of a whole segment */
    struct buffer plain;                   /* a segment or a body, decompressed */
    struct buffer parts;                   /* an envelope that comes in several segments */
    uint64_t drop;                         /* bytes still to come of a body that is too large */
};

void native_inbox_init(struct native_inbox *inbox, bool is_client, uint32_t body_max);
void native_inbox_release(struct native_inbox *inbox);

/* STARTUP was answered; from now on bodies may be compressed in this way. */
void native_inbox_start(struct native_inbox *inbox, enum native_compression compression);

/* Add bytes that came, which are copied.  native_inbox_next has returned 0 before. */
void native_inbox_add(struct native_inbox *inbox, struct bytes bytes);

/* The next envelope: 1; 0 when more bytes are needed.  After an error nothing more can be read:
 * ERROR_UNSUPPORTED  a version that is not supported; `version` and, of a beta one, `flags` are set
 * ERROR_CONFLICT  another version than before; `version` is set ERROR_INVALID  an answer where
 * requests are expected, or the reverse ERROR_CORRUPT  a checksum, a size or a compressed body is
 * wrong ERROR_LIMIT  a compressed body is too large */
must_check int native_inbox_next(struct native_inbox *inbox, struct native_envelope *envelope_out,
                                 struct error *err);

/* How many bytes came that belong to no envelope that was returned. */
size_t native_inbox_unread(const struct native_inbox *inbox);
/* How many bytes of memory its buffers have. */
size_t native_inbox_held(const struct native_inbox *inbox);
#endif

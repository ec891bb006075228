/* native_inbox: bytes of one direction of a connection in, envelopes out.
 *
 *     version(1, 0x80 in answers) flags(1) stream(2) opcode(1) body size(4) | body
 *
 * The first envelope decides the version of all.  Versions 3 and 4 send envelopes as they are, with
 * bodies compressed one by one; version 5 does so until STARTUP is answered, and then packs them
 * into segments (native_segment.h).  A server and a client use it alike.
 *
 * A body that is too large is not gathered: its envelope comes out as soon as its header is known,
 * without the body, and the bytes are dropped as they come.
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
    bool is_client;                        /* answers come in, not requests */
    bool is_secret;                        /* a password may come: what was taken is zeroed */
    uint32_t body_max;
    uint8_t version;                       /* 0: nothing came yet */
    bool is_framed;                        /* segments from here on */
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

/* STARTUP is answered, and this was agreed. */
void native_inbox_start(struct native_inbox *inbox, enum native_compression compression);

/* Bytes that came; copied.  native_inbox_next has returned 0 before. */
void native_inbox_add(struct native_inbox *inbox, struct bytes bytes);

/* The next envelope: 1; 0 when more bytes are needed.  After an error nothing more can be read:
 * ERROR_UNSUPPORTED   a version that is not spoken; `version` and, of a beta one, `flags` are set
 * ERROR_CONFLICT      another version than before; `version` is set
 * ERROR_INVALID       an answer where requests are expected, or the reverse
 * ERROR_CORRUPT       a checksum, a size or a compressed body is wrong
 * ERROR_LIMIT         a compressed body is too large */
must_check int native_inbox_next(struct native_inbox *inbox, struct native_envelope *envelope_out,
                                 struct error *err);

/* Bytes that came and were not handed out. */
size_t native_inbox_unread(const struct native_inbox *inbox);
/* Bytes of memory held. */
size_t native_inbox_held(const struct native_inbox *inbox);
#endif

/* native_segment: the checksummed segments that carry version 5's envelopes.
 *
 *     plain | 3 bytes: bits 0-16 payload size, bit 17 whole       | CRC24 | payload | CRC32 |
 *     LZ4   | 5 bytes: bits 0-16 payload size, bits 17-33 size
 *           |   without compression (0: no compression),
 *           |   bit 34 whole                                      | CRC24 | payload | CRC32 |
 *
 * All fields are little-endian.  The CRC24 covers the 3 or 5 bytes before it, and the CRC32 covers
 * the payload as sent.  A segment carries whole envelopes or, if the bit "whole" is 0, a part of
 * one envelope.  Source: native_protocol_v5.spec, section 2. */
#ifndef DAYBOOK_CODEC_NATIVE_SEGMENT_H
#define DAYBOOK_CODEC_NATIVE_SEGMENT_H

#include "base/buffer.h"
#include "codec/native.h"

enum {
    NATIVE_SEGMENT_PAYLOAD_MAX = (1 << 17) - 1,
    NATIVE_SEGMENT_TRAILER_SIZE = 4
};

struct native_segment {
    bool is_whole;
    bool is_compressed;
    size_t header_size;                    /* with the CRC24 */
    size_t payload_size;                   /* as sent */
    size_t plain_size;
};

/* Read the header at the start of `bytes`.  Returns 1, or 0 when more bytes are needed.
 * ERROR_CORRUPT when the checksum is wrong or the payload is empty. */
must_check int native_segment_header(struct bytes bytes, bool is_lz4,
                                     struct native_segment *segment_out);
/* Check and decompress the payload.  `*payload_out` is a view into `bytes` or, if the payload was
 * compressed, into `plain`.  ERROR_CORRUPT when the payload is damaged. */
must_check int native_segment_payload(struct bytes bytes, const struct native_segment *segment,
                                      struct buffer *plain, struct bytes *payload_out);

/* `payload` has 1 to NATIVE_SEGMENT_PAYLOAD_MAX bytes. */
void native_segment_put(struct buffer *wire, struct bytes payload, bool is_whole, bool is_lz4);
#endif

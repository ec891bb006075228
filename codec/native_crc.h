/* native_crc: the two checksums of version 5's segments.
 *
 * Source: native_protocol_v5.spec, section 2.2, and org.apache.cassandra.net.Crc. */
#ifndef DAYBOOK_CODEC_NATIVE_CRC_H
#define DAYBOOK_CODEC_NATIVE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* For a segment's header. */
uint32_t native_crc_24(const uint8_t *data, size_t size);

/* For a segment's payload: zlib's CRC-32 of the bytes FA 2D 55 CA and the payload. */
uint32_t native_crc_32(const void *data, size_t size);
#endif

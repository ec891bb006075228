/* native: the numbers of Cassandra's native protocol, versions 3, 4 and 5.
 *
 * Source: native_protocol_v3.spec, v4.spec and v5.spec of Apache Cassandra.  Integers are
 * big-endian, except in version 5's segments. */
#ifndef DAYBOOK_CODEC_NATIVE_H
#define DAYBOOK_CODEC_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    NATIVE_VERSION_MIN = 3,
    NATIVE_VERSION_MAX = 5,
    NATIVE_VERSION_BETA = 6,               /* refused */
    NATIVE_RESPONSE_BIT = 0x80             /* of the first byte */
};

#define NATIVE_VERSIONS_TEXT "3/v3, 4/v4, 5/v5"

enum native_flag {
    NATIVE_FLAG_COMPRESSED = 0x01,         /* ignored in version 5 */
    NATIVE_FLAG_TRACING = 0x02,
    NATIVE_FLAG_PAYLOAD = 0x04,            /* from version 4 on, like the next flag */
    NATIVE_FLAG_WARNING = 0x08,
    NATIVE_FLAG_BETA = 0x10
};

/* Opcode, number, name, whether clients send it. */
#define NATIVE_OPCODES(X)                                                                          \
    X(NATIVE_ERROR, 0x00, "ERROR", false)                                                          \
    X(NATIVE_STARTUP, 0x01, "STARTUP", true)                                                       \
    X(NATIVE_READY, 0x02, "READY", false)                                                          \
    X(NATIVE_AUTHENTICATE, 0x03, "AUTHENTICATE", false)                                            \
    X(NATIVE_OPTIONS, 0x05, "OPTIONS", true)                                                       \
    X(NATIVE_SUPPORTED, 0x06, "SUPPORTED", false)                                                  \
    X(NATIVE_QUERY, 0x07, "QUERY", true)                                                           \
    X(NATIVE_RESULT, 0x08, "RESULT", false)                                                        \
    X(NATIVE_PREPARE, 0x09, "PREPARE", true)                                                       \
    X(NATIVE_EXECUTE, 0x0A, "EXECUTE", true)                                                       \
    X(NATIVE_REGISTER, 0x0B, "REGISTER", true)                                                     \
    X(NATIVE_EVENT, 0x0C, "EVENT", false)                                                          \
    X(NATIVE_BATCH, 0x0D, "BATCH", true)                                                           \
    X(NATIVE_AUTH_CHALLENGE, 0x0E, "AUTH_CHALLENGE", false)                                        \
    X(NATIVE_AUTH_RESPONSE, 0x0F, "AUTH_RESPONSE", true)                                           \
    X(NATIVE_AUTH_SUCCESS, 0x10, "AUTH_SUCCESS", false)

enum native_opcode {
#define X(opcode, number, name, is_request) opcode = number,
    NATIVE_OPCODES(X)
#undef X
};

/* NULL for a number that is no opcode. */
const char *native_opcode_name(uint8_t opcode);
bool native_opcode_is_request(uint8_t opcode);

enum native_compression { NATIVE_PLAIN, NATIVE_LZ4, NATIVE_SNAPPY };

enum {
    NATIVE_HEADER_SIZE = 9,
    /* Cassandra's default limit, in bytes. */
    NATIVE_BODY_MAX = 16 << 20
};
#endif

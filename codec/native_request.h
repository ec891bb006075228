/* native_request: reads and writes the bodies of requests.  Sizes in bytes are in parentheses.
 *
 *     STARTUP        [string map]
 *     OPTIONS        nothing
 *     QUERY          [long string] [consistency] parameters
 *     PREPARE        [long string], version 5: flags(4), with 1 [string] the keyspace
 *     EXECUTE        [short bytes] id, version 5: [short bytes] id of the result's metadata,
 *                    [consistency] parameters
 *     BATCH          kind(1) n(2), n times: 0 [long string] or 1 [short bytes], then m(2) and
 *                    m [value]; [consistency] parameters
 *     REGISTER       n(2), n [string]
 *     AUTH_RESPONSE  [bytes]
 *
 * Parameters are flags (hexadecimal; 4 bytes in version 5, else 1), followed by the fields of the
 * flags that are set, in this order:
 *
 *     01 n(2), n [value]; if 40 is set, too, a [string] name before each value
 *     02 no field; the client wants no metadata in the result
 *     04 page size(4)   08 [bytes] paging state   10 [consistency] serial   20 timestamp(8)
 *     80 [string] keyspace (version 5)            100 now, in seconds(4) (version 5)
 *
 * From version 4 on a payload precedes the body if NATIVE_FLAG_PAYLOAD is set: n(2), n times
 * [string] [bytes].  As in Cassandra, bytes after a body are ignored. */
#ifndef DAYBOOK_CODEC_NATIVE_REQUEST_H
#define DAYBOOK_CODEC_NATIVE_REQUEST_H

#include "codec/native_inbox.h"
#include "codec/notation.h"

struct native_request {
    enum native_opcode opcode;
    /* any request may have cql.payload */
    struct cql_request cql;
    bool skips_metadata;
    struct bytes metadata_id;              /* EXECUTE of version 5 */
    /* STARTUP; names in upper or lower case */
    const struct cql_payload *options;
    uint32_t option_count;
    /* REGISTER */
    const struct bytes *events;
    uint32_t event_count;
    /* AUTH_RESPONSE; data NULL: null */
    struct bytes token;
};

/* The opcode must be that of a request.  Pointers point into the body or into `arena`.
 * ERROR_CORRUPT when the body is invalid, ERROR_LIMIT when a statement or a batch is too large; the
 * text of `err` is for the client. */
must_check int native_request_decode(const struct native_envelope *envelope, struct arena *arena,
                                     struct native_request *request_out, struct error *err);

uint8_t native_request_flags(const struct native_request *request);
/* Append the payload, if there is one, and the body. */
void native_request_encode(const struct native_request *request, uint8_t version,
                           struct buffer *body);
#endif

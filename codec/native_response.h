/* native_response: writes and reads the bodies of answers.  Sizes in bytes are in parentheses.
 *
 *     ERROR          code(4) [string] message, and by code:
 *                      1000  [consistency] required(4) alive(4)              unavailable
 *                      1100  [consistency] received(4) required(4) [string]  write timeout
 *                      1200  [consistency] received(4) required(4) data(1)   read timeout
 *                      1300  [consistency] received(4) required(4) failures data(1)
 *                      1400  [string] keyspace [string] function [string list] types of arguments
 *                      1500  [consistency] received(4) required(4) failures [string]
 *                      2400  [string] keyspace [string] table
 *                      2500  [short bytes] id
 *                    failures: n(4), in version 5 followed by n times an address (size(1), bytes)
 *                    and a reason (2)
 *     READY          nothing
 *     AUTHENTICATE   [string] class        AUTH_CHALLENGE, AUTH_SUCCESS   [bytes]
 *     SUPPORTED      [string multimap]
 *     RESULT         kind(4): 1 void; 2 rows: metadata n(4) n rows of cells; 3 [string] keyspace;
 *                    4 [short bytes] id, version 5: [short bytes] id of the result's metadata,
 *                    metadata to bind, metadata of rows; 5 a change
 *     EVENT          [string] type, then [string] change [inet], or a change of the schema
 *
 *     a change       [string] CREATED|UPDATED|DROPPED [string] KEYSPACE|TABLE|TYPE [string]
 *                    keyspace, then [string] name unless KEYSPACE
 *     metadata       flags(4) column count(4); with flag 2: [bytes] paging state; with 8: [short
 *                    bytes] new id; with 4: no more.  Without 4: with 1, [string] keyspace and
 *                    [string] table of all columns; then for each column: without 1, its [string]
 *                    keyspace and [string] table; [string] name [option] type
 *     to bind        metadata; in versions 4 and 5 the column count is followed by k(4) and k
 *                    indexes(2) of the bind values that form the partition key
 *
 * The parts whose flags are set in the envelope precede the body, in this order: 02 the uuid of a
 * trace (16 bytes), 08 [string list] warnings, 04 the payload: n(2), n times [string] [bytes].
 * Source: native_protocol_v5.spec, sections 4.2 and 8. */
#ifndef DAYBOOK_CODEC_NATIVE_RESPONSE_H
#define DAYBOOK_CODEC_NATIVE_RESPONSE_H

#include "codec/native_inbox.h"
#include "codec/notation.h"

enum native_event_kind { NATIVE_TOPOLOGY_CHANGE = 1, NATIVE_STATUS_CHANGE = 2,
                         NATIVE_SCHEMA_CHANGE = 4 };

struct native_event {
    enum native_event_kind kind;
    const char *change;                    /* NEW_NODE, REMOVED_NODE, UP, DOWN */
    struct cql_address address;
    struct cql_schema_change schema;
};

/* False: no kind has this name. */
bool native_response_event_kind(struct bytes name, enum native_event_kind *kind_out);

/* ---- writing ---- */

uint8_t native_response_extras_flags(const struct cql_extras *extras, uint8_t version);
void native_response_put_extras(const struct cql_extras *extras, uint8_t version,
                                struct buffer *body);

void native_response_put_error(const struct cql_error *error, uint8_t version,
                               struct buffer *body);
void native_response_put_event(const struct native_event *event, struct buffer *body);
void native_response_put_supported(struct buffer *body);

/* `known_id` (version 5) is the id of the metadata that the client has.  The rows' metadata is left
 * out if `skips_metadata` is set and `known_id` is empty or equals the rows' `metadata_id`. */
void native_response_put_result(const struct cql_result *result, bool skips_metadata,
                                struct bytes known_id, uint8_t version, struct buffer *body);

/* ---- reading, for a client ---- */

struct native_supported {
    const char *name;
    const char *const *values;
    uint32_t value_count;
};

struct native_response {
    enum native_opcode opcode;
    struct cql_extras extras;
    struct cql_error error;
    const char *authenticator;
    struct bytes token;                    /* AUTH_CHALLENGE, AUTH_SUCCESS */
    const struct native_supported *supported;
    uint32_t supported_count;
    /* rows of `result` have columns only if has_metadata */
    struct cql_result result;
    bool has_metadata;
    struct bytes new_metadata_id;          /* version 5 */
    uint32_t column_count;                 /* also without metadata */
    struct native_event event;
};

/* Pointers point into the body or into `arena`.  ERROR_CORRUPT when the body is invalid. */
must_check int native_response_decode(const struct native_envelope *envelope, struct arena *arena,
                                      struct native_response *response_out, struct error *err);
#endif

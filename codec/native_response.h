/* native_response: bodies of answers, written, and read.
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
 *                    keyspace, and but for a keyspace [string] name
 *     metadata       flags(4) columns(4), 2: [bytes] paging state, 8: [short bytes] new id, then
 *                    unless 4: 1: [string] keyspace [string] table of all columns; and of each
 *                    column: without 1 its own two; [string] name [option] type
 *     to bind        the same, in version 4 and 5 with k(4), k times (2), after the columns' count
 *
 * Before a body, in this order, what the envelope's flags announce: 02 a trace's uuid (16 bytes),
 * 08 [string list] warnings, 04 n(2), n times [string] [bytes].  Warnings and payload exist from
 * version 4 on.  Source: native_protocol_v5.spec, sections 4.2 and 8.
 *
 * Its specification is tests/unit/test_native_codec.c. */
#ifndef DAYBOOK_CODEC_NATIVE_RESPONSE_H
#define DAYBOOK_CODEC_NATIVE_RESPONSE_H

#include "codec/native_inbox.h"
#include "codec/notation.h"

enum native_event_kind { NATIVE_TOPOLOGY_CHANGE = 1, NATIVE_STATUS_CHANGE = 2,
                         NATIVE_SCHEMA_CHANGE = 4 };

struct native_event {
    enum native_event_kind kind;
    const char *change;                    /* NEW_NODE, REMOVED_NODE; UP, DOWN */
    struct cql_address address;
    struct cql_schema_change schema;
};

/* False: there is no event of that name. */
bool native_response_event_kind(struct bytes name, enum native_event_kind *kind_out);

/* ---- writing ---- */

/* The envelope's flags for them in this version, and the bytes before the body. */
uint8_t native_response_extras_flags(const struct cql_extras *extras, uint8_t version);
void native_response_put_extras(const struct cql_extras *extras, uint8_t version,
                                struct buffer *body);

void native_response_put_error(const struct cql_error *error, uint8_t version,
                               struct buffer *body);
void native_response_put_event(const struct native_event *event, struct buffer *body);
/* CQL_VERSION, COMPRESSION, PROTOCOL_VERSIONS. */
void native_response_put_supported(struct buffer *body);

/* Write a result that is no error.  `skips_metadata`: the client has the metadata of the rows.
 * `known_id`: the id of the metadata that it has (version 5); when the rows have other metadata, it
 * is written nevertheless. */
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
    struct cql_error error;             /* ERROR */
    const char *authenticator;             /* AUTHENTICATE */
    struct bytes token;                    /* AUTH_CHALLENGE, AUTH_SUCCESS */
    const struct native_supported *supported;
    uint32_t supported_count;
    /* RESULT; its rows have no columns when the metadata was left out. */
    struct cql_result result;
    bool has_metadata;
    struct bytes new_metadata_id;          /* rows whose metadata changed (version 5) */
    uint32_t column_count;                 /* of rows, also without metadata */
    struct native_event event;             /* EVENT */
};

/* Read an answer, whose pointers lead into the body and into `arena`.  ERROR_CORRUPT when the body
 * is invalid. */
must_check int native_response_decode(const struct native_envelope *envelope, struct arena *arena,
                                      struct native_response *response_out, struct error *err);
#endif

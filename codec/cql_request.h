/* cql_request: requests of CQL clients and their results, with the contents of the native
 * protocol's messages. */
#ifndef DAYBOOK_CODEC_CQL_REQUEST_H
#define DAYBOOK_CODEC_CQL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct cql_edit;
struct type;

#define CQL_RELEASE_VERSION "5.0.9"
#define CQL_LANGUAGE_VERSION "3.4.7"
#define CQL_PROTOCOL_VERSION "5"
#define CQL_CLUSTER_NAME "daybook"
#define CQL_DATACENTER "datacenter1"
#define CQL_RACK "rack1"
#define CQL_PARTITIONER "org.apache.cassandra.dht.Murmur3Partitioner"

enum {
    CQL_ID_SIZE = 16,                    /* MD5 */
    CQL_TEXT_MAX = 1 << 20               /* bytes of a statement */
};

struct cql_address {
    uint8_t bytes[16];
    uint8_t size;                        /* bytes: 4 or 16; 0: unknown, sent as 127.0.0.1 */
    uint16_t port;
};

/* ---- requests ---- */

/* The native protocol's numbers. */
enum cql_consistency {
    CQL_ANY = 0, CQL_ONE = 1, CQL_TWO = 2, CQL_THREE = 3, CQL_QUORUM = 4, CQL_ALL = 5,
    CQL_LOCAL_QUORUM = 6, CQL_EACH_QUORUM = 7, CQL_SERIAL = 8, CQL_LOCAL_SERIAL = 9,
    CQL_LOCAL_ONE = 10
};

enum cql_request_kind { CQL_QUERY, CQL_PREPARE, CQL_EXECUTE, CQL_BATCH, CQL_EDIT };
enum cql_batch_kind { CQL_BATCH_LOGGED = 0, CQL_BATCH_UNLOGGED = 1, CQL_BATCH_COUNTER = 2 };

enum cql_value_state { CQL_VALUE_SET, CQL_VALUE_NULL, CQL_VALUE_UNSET };

struct cql_value {
    enum cql_value_state state;
    struct bytes data;                   /* serialized; only when set */
    struct bytes name;                   /* only where values are named */
};

struct cql_batch_item {
    bool is_prepared;
    struct bytes text;                   /* the statement; if is_prepared, the id */
    const struct cql_value *values;
    uint32_t value_count;
};

struct cql_payload {
    struct bytes name;
    struct bytes value;
};

/* The callee copies the struct, but the memory to which it points must not change before the
 * answer. */
struct cql_request {
    enum cql_request_kind kind;
    struct bytes text;                   /* the statement; EXECUTE: the id */
    const struct cql_value *values;
    uint32_t value_count;
    bool values_are_named;
    enum cql_consistency consistency;
    enum cql_consistency serial_consistency;   /* CQL_SERIAL by default */
    int32_t page_size;                   /* rows; <= 0: all */
    struct bytes paging_state;           /* empty: from the first row on */
    bool has_timestamp;
    int64_t timestamp_us;                /* used where the statement has no timestamp */
    bool has_now;
    int64_t now_s;                       /* for TTLs and expiry (v5) */
    struct bytes keyspace;               /* v5; empty: the keyspace of the session */
    const struct cql_edit *edit;         /* EDIT, which is not in the protocol */
    enum cql_batch_kind batch_kind;
    const struct cql_batch_item *items;
    uint32_t item_count;
    const struct cql_payload *payload;
    uint32_t payload_count;
    bool is_short;                       /* pages end early, to save memory */
    bool is_traced;
};

/* ---- results ---- */

enum cql_change { CQL_CREATED, CQL_UPDATED, CQL_DROPPED };
enum cql_target { CQL_TARGET_KEYSPACE, CQL_TARGET_TABLE, CQL_TARGET_TYPE };

struct cql_schema_change {
    enum cql_change change;
    enum cql_target target;
    const char *keyspace;
    const char *name;                    /* "" for a keyspace */
};

enum cql_error_code {
    CQL_SERVER_ERROR = 0x0000,
    CQL_PROTOCOL_ERROR = 0x000A,
    CQL_BAD_CREDENTIALS = 0x0100,
    CQL_UNAVAILABLE = 0x1000,
    CQL_OVERLOADED = 0x1001,
    CQL_BOOTSTRAPPING = 0x1002,
    CQL_TRUNCATE_ERROR = 0x1003,
    CQL_WRITE_TIMEOUT = 0x1100,
    CQL_READ_TIMEOUT = 0x1200,
    CQL_READ_FAILURE = 0x1300,
    CQL_FUNCTION_FAILURE = 0x1400,
    CQL_WRITE_FAILURE = 0x1500,
    CQL_SYNTAX_ERROR = 0x2000,
    CQL_UNAUTHORIZED = 0x2100,
    CQL_INVALID = 0x2200,
    CQL_CONFIG_ERROR = 0x2300,
    CQL_ALREADY_EXISTS = 0x2400,
    CQL_UNPREPARED = 0x2500
};

/* The failure of one node (version 5). */
struct cql_failure {
    struct cql_address address;          /* without a port */
    uint16_t reason;
};

/* The code says which members are used (codec/native_response.h).  All other members are zero.
 * Texts that are used are not NULL. */
struct cql_error {
    enum cql_error_code code;
    const char *message;
    enum cql_consistency consistency;    /* of UNAVAILABLE, timeouts and failures */
    int32_t received;                    /* answers of nodes; UNAVAILABLE: nodes that are up */
    int32_t required;
    const char *write_type;              /* SIMPLE, BATCH, UNLOGGED_BATCH, COUNTER, CAS */
    uint16_t contentions;                /* how many a CAS write met; version 5 */
    bool has_data;                       /* READ_TIMEOUT, READ_FAILURE */
    int32_t failure_count;
    const struct cql_failure *failures;  /* version 5; NULL: unknown */
    const char *keyspace;                /* ALREADY_EXISTS, FUNCTION_FAILURE */
    const char *name;                    /* of a table or function; "": the keyspace itself */
    const char *const *argument_types;
    uint32_t argument_type_count;
    uint8_t id[CQL_ID_SIZE];             /* UNPREPARED */
};

struct cql_column {
    const char *keyspace;
    const char *table;
    const char *name;
    const struct type *type;
};

struct cql_metadata {
    const struct cql_column *columns;
    uint32_t count;
};

struct cql_rows {
    struct cql_metadata metadata;
    uint8_t metadata_id[CQL_ID_SIZE];    /* MD5 of the metadata */
    uint32_t row_count;
    /* The cells row by row, each as a big-endian int32 length, -1 for null, and the bytes. */
    struct bytes cells;
    struct bytes paging_state;           /* empty: the last page */
};

struct cql_prepared {
    uint8_t id[CQL_ID_SIZE];             /* MD5 of keyspace and text */
    uint8_t metadata_id[CQL_ID_SIZE];
    struct cql_metadata bind;
    /* The indexes of the bind values that form the partition key, in the key's order.  key_count is
     * 0 if a column of the key has no bind value. */
    const uint16_t *key_indexes;
    uint32_t key_count;
    struct cql_metadata result;          /* count 0: no rows, or their columns vary (IF) */
};

/* From 1 on these are the numbers of the native protocol. */
enum cql_result_kind {
    CQL_RESULT_ERROR = 0,
    CQL_RESULT_VOID = 1,
    CQL_RESULT_ROWS = 2,
    CQL_RESULT_SET_KEYSPACE = 3,
    CQL_RESULT_PREPARED = 4,
    CQL_RESULT_SCHEMA_CHANGE = 5
};

struct cql_extras {
    const uint8_t *trace_id;             /* 16 bytes; NULL: not traced */
    const char *const *warnings;
    uint32_t warning_count;
    const struct cql_payload *payload;
    uint32_t payload_count;
};

struct cql_result {
    enum cql_result_kind kind;
    struct cql_error error;
    struct cql_rows rows;
    struct cql_prepared prepared;
    const char *keyspace;                /* SET_KEYSPACE */
    struct cql_schema_change change;
    struct cql_extras extras;
};

/* `result` is valid during the call. */
typedef void (*cql_answer)(void *context, const struct cql_result *result);
#endif

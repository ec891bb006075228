/* cql_session: CQL statements in, results out: what a door that speaks CQL calls.
 *
 * A `struct cql` is one per server: prepared statements, virtual system tables, and the store
 * behind them.  A `struct cql_session` is one per connection and cheap.  A request is asynchronous
 * and answered exactly once, possibly before the call that made it returns, on the engine thread.
 *
 *     struct cql_request request = {.kind = CQL_QUERY, .text = bytes_text("SELECT ...")};
 *     cql_run(session, &request, answered, connection);
 *
 * Nothing is held here between the pages of a SELECT: the paging state is bytes that say where the
 * store goes on and what is left of the limits, with a checksum and the statement it belongs to.
 * It survives a restart; one that is damaged or of another statement is an error.
 *
 * Order of a schema change: durable, then visible, then the listener, then the answer. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_SESSION_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/metrics.h"
#include "storage/engine/store.h"

/* What the server says it is: in SUPPORTED, system.local and DESCRIBE. */
#define CQL_RELEASE_VERSION "5.0.9"
#define CQL_LANGUAGE_VERSION "3.4.7"
#define CQL_PROTOCOL_VERSION "5"
#define CQL_CLUSTER_NAME "daybook"
#define CQL_DATACENTER "datacenter1"
#define CQL_RACK "rack1"
#define CQL_PARTITIONER "org.apache.cassandra.dht.Murmur3Partitioner"

enum {
    CQL_ID_SIZE = 16,                    /* of a prepared statement or its result metadata: MD5 */
    CQL_TEXT_MAX = 1 << 20,              /* bytes of a statement */
    CQL_PREPARED_BYTES_DEFAULT = 16 << 20,
    CQL_PAGE_ROWS_MAX = 10000,           /* rows of a page, whatever the client asks for */
    CQL_PAGE_BYTES_MAX = 16 << 20,       /* a page ends after the row that passes it, or a quarter
                                          * of `work_bytes_max`, */
    CQL_PAGE_BYTES_SHORT = 32 << 10,     /* or this, of a short one */
    CQL_WORK_BYTES_DEFAULT = 128 << 20,
    CQL_LITTLE_BYTES = 256 << 10         /* a request that holds no more has a quarter of these to
                                          * itself */
};

struct cql_address {
    uint8_t bytes[16];
    uint8_t size;                        /* 4 or 16; 0: unknown, shown as 127.0.0.1 */
    uint16_t port;
};

/* ---- the server's side ---- */

enum cql_change { CQL_CREATED, CQL_UPDATED, CQL_DROPPED };
enum cql_target { CQL_TARGET_KEYSPACE, CQL_TARGET_TABLE, CQL_TARGET_TYPE };

struct cql_schema_change {
    enum cql_change change;
    enum cql_target target;
    const char *keyspace;
    const char *name;                    /* table or type; "" for a keyspace */
};

struct streams;

struct cql_options {
    struct store *store;                 /* outlives the cql */
    struct world *world;                 /* the store's */
    struct streams *streams;             /* writes go through it, so that clicks are counted; NULL:
                                          * a store without its tables (tests) */
    const uint8_t *host_id;              /* 16 bytes: the directory's id (engine_directory_id) */
    struct metrics *metrics;             /* may be NULL */
    size_t prepared_bytes_max;           /* 0: CQL_PREPARED_BYTES_DEFAULT */
    size_t work_bytes_max;               /* of all requests while they are carried out, with the
                                          * answers that they make; 0: CQL_WORK_BYTES_DEFAULT */
};

struct cql;

struct cql *cql_new(const struct cql_options *options);
/* What a server starts with: a changed copy of the schema without the tables of indexes that a
 * crash left half built, to be applied; NULL: there are none. */
struct schema *cql_schema_without_unbuilt(const struct schema *schema);
/* No request may be under way. */
void cql_free(struct cql *cql);
/* Requests that are not answered yet. */
uint32_t cql_running(const struct cql *cql);
/* How long a request of a client may take, from cql_run on: then it is answered 0x1200, or 0x1100
 * if it is a write that the store does not have yet, and never will.  0, as at first: no limit. */
void cql_set_statement_time(struct cql *cql, int64_t time_us);
/* From now on requests of clients that are not with the store yet are refused. */
void cql_stop(struct cql *cql);

/* Called with every change that became visible, before the request that made it is answered.  At
 * most one listener; NULL takes it back. */
void cql_on_schema_change(struct cql *cql,
                          void (*changed)(void *context, const struct cql_schema_change *change),
                          void *context);

/* Requests under way hold half of what they may: pages are short, and a door starts no further
 * requests of a connection that has some until `has_room` is called, when they hold a quarter.  One
 * that finds no room is answered 0x1001, and one that alone would hold more than any may 0x2200.
 * At most one listener; NULL takes it back. */
bool cql_is_crowded(const struct cql *cql);
/* Only the part that is for small requests is left: no door starts any. */
bool cql_is_full(const struct cql *cql);
void cql_on_room(struct cql *cql, void (*has_room)(void *context), void *context);

/* ---- a connection's side ---- */

struct cql_session {
    struct cql *cql;
    bool read_only;                      /* SELECT, USE and DESCRIBE only */
    bool leaves;                         /* no answer is wanted any more; from leaves_us on */
    int64_t leaves_us;                   /* what is not with the store ends; monotonic */
    char keyspace[SCHEMA_NAME_MAX + 1];  /* "": no USE yet */
    char user[128];                      /* "": nobody logged in */
    struct cql_address client;
    struct cql_address local;            /* the end of the connection that is ours */
    struct cql_work *ready_first, *ready_last;   /* works that wait for a slice (cql_slice.h) */
    TAILQ_ENTRY(cql_session) ready_link;
    int64_t used_us, used_at_us;         /* of the engine thread's time; when it was halved last */
};

/* The session lives until its last request is answered. */
void cql_session_init(struct cql_session *session, struct cql *cql);
/* Its client is gone, or has said its last and may be: requests that are not with the store yet end
 * in so long. */
void cql_session_leave(struct cql_session *session, int64_t grace_us);

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
    struct bytes name;                   /* only where the request's values are named */
};

/* One statement of a batch: its text, or the id of a prepared one. */
struct cql_batch_item {
    bool is_prepared;
    struct bytes text;                   /* or the id */
    const struct cql_value *values;
    uint32_t value_count;
};

struct cql_payload {
    struct bytes name;
    struct bytes value;
};

/* A change of the schema that CQL has no words for, by a command: made as CREATE and DROP are, when
 * no write by CQL is under way, with those that come meanwhile waiting until it is answered.
 *
 *     prepare ─▶ ready ─▶ edit ─▶ durable ─▶ applied ─▶ ready ─▶ listener ─▶ answer             */
struct cql_edit {
    void (*prepare)(void *context, store_done ready, void *ready_context);     /* may be NULL */
    /* The copy of the schema, and rows for its frame.  The error's text is the answer's. */
    int (*edit)(void *context, struct schema *schema, struct write_batch *batch,
                struct error *err);
    void (*applied)(void *context, store_done ready, void *ready_context);     /* may be NULL */
    void *context;
    const struct cql_schema_change *changes;   /* for the listener */
    uint32_t change_count;
};

/* Everything it points to stays as it is until the answer came; the struct itself is copied. */
struct cql_request {
    enum cql_request_kind kind;
    struct bytes text;                   /* QUERY, PREPARE: the statement; EXECUTE: the id */
    const struct cql_value *values;
    uint32_t value_count;
    bool values_are_named;
    enum cql_consistency consistency;
    enum cql_consistency serial_consistency;   /* CQL_SERIAL unless the client says otherwise */
    int32_t page_size;                   /* rows; <= 0: all in one page */
    struct bytes paging_state;           /* of the page before; empty: from the start */
    bool has_timestamp;
    int64_t timestamp_us;                /* the client's default one */
    bool has_now;
    int64_t now_s;                       /* the client's idea of now, for TTLs and expiry (v5) */
    struct bytes keyspace;               /* instead of the session's (v5); empty: the session's */
    const struct cql_edit *edit;         /* EDIT */
    enum cql_batch_kind batch_kind;      /* BATCH */
    const struct cql_batch_item *items;
    uint32_t item_count;
    const struct cql_payload *payload;
    uint32_t payload_count;
    bool is_short;                       /* pages end early: answers take much memory already */
    bool is_traced;                      /* the client asks for a trace */
};

/* ---- results ---- */

/* CQL's codes. */
enum cql_error_code {
    CQL_SERVER_ERROR = 0x0000,
    CQL_PROTOCOL_ERROR = 0x000A,
    CQL_OVERLOADED = 0x1001,
    CQL_WRITE_TIMEOUT = 0x1100,
    CQL_READ_TIMEOUT = 0x1200,
    CQL_FUNCTION_FAILURE = 0x1400,
    CQL_SYNTAX_ERROR = 0x2000,
    CQL_UNAUTHORIZED = 0x2100,
    CQL_INVALID = 0x2200,
    CQL_CONFIG_ERROR = 0x2300,
    CQL_ALREADY_EXISTS = 0x2400,
    CQL_UNPREPARED = 0x2500
};

/* Fields beyond the message, by code; unused ones are zero. */
struct cql_error {
    enum cql_error_code code;
    const char *message;
    enum cql_consistency consistency;    /* WRITE_TIMEOUT, READ_TIMEOUT, with 0 received of 1 */
    const char *write_type;              /* WRITE_TIMEOUT: SIMPLE, BATCH, UNLOGGED_BATCH, COUNTER,
                                          * CAS */
    bool has_data;                       /* READ_TIMEOUT */
    const char *keyspace;                /* ALREADY_EXISTS, FUNCTION_FAILURE */
    const char *name;                    /* the table ("": the keyspace itself) or function */
    const char *const *argument_types;   /* FUNCTION_FAILURE */
    uint32_t argument_type_count;
    uint8_t id[CQL_ID_SIZE];             /* UNPREPARED */
};

/* A column of rows, or a value to be bound. */
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
    /* The cells row by row, each as the protocol has them: int32 big-endian length, -1 for null,
     * then the bytes. */
    struct bytes cells;
    struct bytes paging_state;           /* where the next page begins; empty: this is the last */
};

struct cql_prepared {
    uint8_t id[CQL_ID_SIZE];             /* MD5 of keyspace and text */
    uint8_t metadata_id[CQL_ID_SIZE];
    struct cql_metadata bind;
    /* Which bind values make up the partition key, in its order; 0: not all of them are bound. */
    const uint16_t *key_indexes;
    uint32_t key_count;
    struct cql_metadata result;          /* count 0: no rows, or columns that vary (conditions) */
};

enum cql_result_kind {
    CQL_RESULT_ERROR,
    CQL_RESULT_VOID,
    CQL_RESULT_ROWS,
    CQL_RESULT_SET_KEYSPACE,
    CQL_RESULT_PREPARED,
    CQL_RESULT_SCHEMA_CHANGE
};

struct cql_result {
    enum cql_result_kind kind;
    struct cql_error error;
    struct cql_rows rows;
    struct cql_prepared prepared;
    const char *keyspace;                /* SET_KEYSPACE: the session has it already */
    struct cql_schema_change change;
    const char *const *warnings;
    uint32_t warning_count;
    const uint8_t *trace_id;             /* 16 bytes; NULL: not traced */
    const struct cql_payload *payload;   /* entries for the response */
    uint32_t payload_count;
};

/* `result` is valid during the call. */
typedef void (*cql_answer)(void *context, const struct cql_result *result);

void cql_run(struct cql_session *session, const struct cql_request *request, cql_answer answer,
             void *context);
#endif

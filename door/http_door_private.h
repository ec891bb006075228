/* http_door_private: the parts of the HTTP door, and the structs that they share.
 *
 *     http_door.c         the door: routes, metrics, accounts of memory, turns
 *     http_connection.c   a connection: its input, its clocks, its end
 *     http_exchange.c     a request: its route, its checks and its answer
 *     http_stream.c       answers that do not end, and how much all of them may hold
 *
 * What must hold: while a request is served or its answer is sent, the input of a connection has at
 * most the bytes of one read beyond the request.  The head of a request is copied from the input to
 * its call, because the input's memory may move while the body is received.
 *
 * Input that is not yet a whole request is charged to the door's quota for logins: if many clients
 * begin requests and do not finish them, the oldest connection is evicted.  A request takes its
 * memory from the quota for requests before its body is read. */
#ifndef DAYBOOK_DOOR_HTTP_DOOR_PRIVATE_H
#define DAYBOOK_DOOR_HTTP_DOOR_PRIVATE_H

#include "door/http_door.h"
#include "door/wake_queue.h"

enum {
    HTTP_READ_SIZE = 16 << 10,
    HTTP_STATUS_CLASSES = 6
};

enum http_state {
    HTTP_READING,
    HTTP_READY,
    HTTP_SERVING,
    HTTP_STREAMING,
    HTTP_SENDING,
    HTTP_ENDING
};

struct http_call {
    struct http_exchange exchange;     /* first: http_door_answer casts it */
    struct http_connection *connection;
    const struct http_route *route;    /* NULL: the request is refused */
    void (*more)(void *context);       /* of http_door_begin */
    bool wants_more;                   /* `more` is to be called when all bytes are sent */
    bool is_chunked;
    int64_t whole_us;                  /* monotonic: when the request's last byte was there */
    size_t body_size;                  /* bytes; the body is at the beginning of the input */
    size_t head_size;
    uint8_t *head;                     /* owned; NULL for a stream that does not end */
};

struct http_connection {
    struct http_door *door;
    struct connection *connection;
    LIST_ENTRY(http_connection) link;
    enum http_state state;
    bool has_ended;                    /* the peer has sent its last byte */
    bool is_last;                      /* the answer being sent is the last one */
    bool is_closing;
    bool is_closed;
    struct buffer input;
    struct http_scan scan;
    struct http_call *call;            /* NULL before the end of a head and after the answer */
    size_t input_bytes, output_bytes;  /* charged to the door's quotas */
    bool is_endless;                   /* its answer is a stream that does not end */
    bool is_stalled;                   /* that stream has unsent bytes */
    TAILQ_ENTRY(http_connection) of_endless, of_stalled;
    struct wake_entry wake;
    struct door_slot slot;
    uint64_t written;                  /* bytes given to the network */
    uint64_t left;                     /* how many of them were sent when `slot`'s clock began */
};

TAILQ_HEAD(http_connections, http_connection);

struct http_metrics {
    struct metric *connections, *connections_max, *evicted, *shed, *accepted, *refused;
    struct metric *answers[HTTP_STATUS_CLASSES];   /* by the first digit; NULL below 2 */
    struct metric *bytes_in, *bytes_out, *request_bytes, *answer_bytes;
    struct metric *request_seconds;
};

struct http_route_link {
    struct http_route route;
    SLIST_ENTRY(http_route_link) next;
};

struct http_door {
    struct http_options options;
    struct http_metrics metrics;
    struct door door;
    SLIST_HEAD(, http_route_link) routes;
    LIST_HEAD(, http_connection) connections;
    struct quota requests;             /* bytes of inputs and calls */
    struct quota answers;              /* unsent bytes */
    struct quota endless_requests;     /* the part of `requests` of streams that do not end */
    struct quota endless_answers;      /* the same part of `answers` */
    struct http_connections endless;   /* streams that do not end, the oldest first */
    struct http_connections stalled;   /* those with unsent bytes, the longest stalled first */
    struct wake_queue woken;
    bool is_flushing;                  /* door_flush is running; the door is not freed */
    struct buffer wire;
    bool is_closing;
    void (*closed)(void *context);
    void *closed_context;
    uint8_t read[HTTP_READ_SIZE];
};

/* ---- http_door.c ---- */

/* Report the bytes of the quotas to options.held and the metrics. */
void http_door_account(struct http_door *door);
/* Free the door if it is closing and has no connections. */
void http_door_release(struct http_door *door);

/* ---- http_connection.c ---- */

struct http_connection *http_connection_of(struct door_slot *slot);
void http_connection_wake(struct http_connection *connection);
/* Continue as the state requires.  Call this in a turn of the door. */
void http_connection_turn(struct http_connection *connection);
void http_connection_late(struct http_connection *connection);
/* Close the connection, and call exchange->gone of a request under way. */
void http_connection_close(struct http_connection *connection);
/* Free a closed connection that is not woken. */
void http_connection_release(struct http_connection *connection);

/* ---- http_stream.c ---- */

/* The answer to the connection's request becomes a stream that does not end by itself. */
void http_stream_begin(struct http_connection *connection);
/* The stream has ended.  There is no effect if the answer is not such a stream. */
void http_stream_end(struct http_connection *connection);
/* Call this when the connection's charges have changed. */
void http_stream_count(struct http_connection *connection);
/* Close streams until all of them together are within their quotas. */
void http_stream_shed(struct http_door *door);

/* ---- http_exchange.c ---- */

/* Begin a request: the first `head_size` bytes of the input are its whole head. */
void http_exchange_begin(struct http_connection *connection, size_t head_size);
/* Call the handler, in state HTTP_READY. */
void http_exchange_serve(struct http_connection *connection);
/* Send the refusal as the last answer of the connection, and drop the input. */
void http_exchange_refuse(struct http_connection *connection, const struct http_refusal *refusal);
void http_exchange_drop(struct http_connection *connection);
#endif

/* http_door_private: what the door for HTTP is made of.
 *
 *     http_door.c         the door: routes, metrics, accounts of memory, turns
 *     http_connection.c   a connection: its input, its clocks, its end
 *     http_exchange.c     a request: who may ask what, and its answer
 *     http_stream.c       answers that do not end, and how much all of them may hold
 *
 * What must hold: while a request is served or its answer is sent, the input of a connection has at
 * most one read beyond the request.  The head of a request is moved from the input to its call,
 * because the input moves as the body comes.
 *
 * Input that is no whole request yet is charged to the door's quota for logins: of many clients
 * that begin requests and do not go on, the first is evicted.  A request takes its room from the
 * quota for requests before its body is read. */
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
    void (*more)(void *context);       /* of a stream */
    bool wants_more;                   /* `more` is to be called when all bytes are sent */
    bool is_chunked;
    int64_t served_us;                 /* monotonic: when the handler got it */
    size_t body_size;                  /* what the input begins with, when it is whole */
    size_t head_size;
    uint8_t *head;                     /* owned; NULL of a stream that does not end */
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
    struct http_call *call;            /* from the end of its head to its answer; NULL: none */
    size_t input_bytes, output_bytes;  /* charged to the door's quotas */
    bool is_endless;                   /* its answer is a stream that does not end */
    bool is_stalled;                   /* such a stream has bytes that are not sent */
    TAILQ_ENTRY(http_connection) of_endless, of_stalled;
    struct wake_entry wake;
    struct door_slot slot;
    uint64_t written;                  /* bytes given to the network */
    uint64_t left;                     /* how many of these were sent when the slot's clock began */
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
    struct quota answers;              /* bytes that the network holds */
    struct quota endless_requests;     /* of these, those of streams that do not end */
    struct quota endless_answers;
    struct http_connections endless;   /* these streams, the oldest first */
    struct http_connections stalled;   /* of these, with bytes that are not sent, the one that has
                                        * them for longest first */
    struct wake_queue woken;
    bool is_flushing;                  /* door_flush is running; the door is not freed */
    struct buffer wire;
    bool is_closing;
    void (*closed)(void *context);
    void *closed_context;
    uint8_t read[HTTP_READ_SIZE];
};

/* ---- http_door.c ---- */

/* Report what the quotas have taken. */
void http_door_account(struct http_door *door);
/* Free the door if it is closing and nothing is left of it. */
void http_door_release(struct http_door *door);

/* ---- http_connection.c ---- */

struct http_connection *http_connection_of(struct door_slot *slot);
void http_connection_wake(struct http_connection *connection);
/* Go on with what the state waits for; in a turn of the door's. */
void http_connection_turn(struct http_connection *connection);
void http_connection_late(struct http_connection *connection);
/* Hang up; calls exchange->gone of a request under way. */
void http_connection_close(struct http_connection *connection);
/* Free a closed connection that is not woken. */
void http_connection_release(struct http_connection *connection);

/* ---- http_stream.c ---- */

/* The answer of the connection's request is a stream that does not end; it does all the same. */
void http_stream_begin(struct http_connection *connection);
void http_stream_end(struct http_connection *connection);      /* no effect if it is none */
/* What the connection holds has changed. */
void http_stream_count(struct http_connection *connection);
/* Close streams that are too many, or have too many bytes that are not sent. */
void http_stream_shed(struct http_door *door);

/* ---- http_exchange.c ---- */

/* A whole head is at the input's begin. */
void http_exchange_begin(struct http_connection *connection, size_t head_size);
/* Call the handler, in state HTTP_READY. */
void http_exchange_serve(struct http_connection *connection);
/* Answer, and take nothing more: the input has no meaning any more. */
void http_exchange_refuse(struct http_connection *connection, const struct http_refusal *refusal);
void http_exchange_drop(struct http_connection *connection);
#endif

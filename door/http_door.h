/* http_door: the door for clients of HTTP/1.1; port 7680 unless another is given.
 *
 * http_request.h says which requests are served.  The door finds the route of a request and calls
 * its handler, which answers at once or later.  A connection has one request under way: the next
 * one is taken when the answer has been sent.
 *
 *     READING ──whole request──▶ SERVING ──answer──▶ SENDING ──all sent──▶ READING
 *        └─────refused, or late──────────────────────▶ │
 *                                     the last answer └──▶ ENDING ──hung up, linger──▶ closed
 *
 * Errors are JSON, in one line:
 *
 *     {"error":"not_found","what":"nothing has this address","where":"path","todo":"…"}
 *
 * docs/PROTOCOL.md "HTTP door" says what is served, refused and limited.  All functions are called
 * on the engine thread. */
#ifndef DAYBOOK_DOOR_HTTP_DOOR_H
#define DAYBOOK_DOOR_HTTP_DOOR_H

#include "door/door.h"
#include "door/http_request.h"
#include "door/http_response.h"

struct http_door;
struct http_exchange;

enum {
    HTTP_CONNECTIONS_MAX = 8192,
    HTTP_HEAD_MS = 10000,              /* from a head's first byte to its last */
    HTTP_BODY_MS = 30000,              /* from a head's last byte to the body's last */
    HTTP_IDLE_MS = 75000,              /* between requests */
    HTTP_BYTES_MAX = 32 << 20,         /* of all requests, or answers, under way */
    HTTP_GUEST_BYTES = 2 << 20         /* of all heads that are not whole */
};

/* 0 in a member means the default, which its comment gives. */
struct http_limits {
    uint32_t connections_max;          /* HTTP_CONNECTIONS_MAX */
    size_t bytes_max;                  /* HTTP_BYTES_MAX */
    size_t head_bytes_max;             /* HTTP_GUEST_BYTES */
    int64_t head_ms;                   /* HTTP_HEAD_MS; the times must differ from each other */
    int64_t body_ms;                   /* HTTP_BODY_MS */
    int64_t idle_ms;                   /* HTTP_IDLE_MS */
    int64_t slow_reader_ms;            /* DOOR_SLOW_READER_MS */
    int64_t linger_ms;                 /* DOOR_LINGER_MS */
};

struct http_route {
    const char *path;                  /* "/metrics": the whole path, as it is sent */
    unsigned methods;                  /* HTTP_METHOD_GET includes HEAD */
    size_t body_max;                   /* bytes, at most HTTP_BYTES_MAX; 0: no body is taken */
    /* Calls http_answer or http_door_refuse, now, or later if it has set exchange->gone. */
    void (*serve)(void *context, struct http_exchange *exchange);
    void *context;
};

struct http_options {
    struct world *world;               /* these three outlive the door */
    struct network *network;
    struct metrics *metrics;
    const char *host_names;            /* outlives the door; see http_request_check_host */
    /* The door now holds so many bytes more, or less, for requests and answers; or NULL. */
    void (*held)(void *context, int64_t request_bytes, int64_t answer_bytes);
    void *held_context;
    struct http_limits limits;
};

/* A request under way. */
struct http_exchange {
    struct http_request request;       /* valid until the answer */
    /* Set by a handler that answers later: the connection was closed before the answer, and the
     * exchange must not be used any more. */
    void (*gone)(void *context);
    void *gone_context;
};

struct http_door *http_door_new(const struct http_options *options);
/* `path` and other members are borrowed for the life of the door. */
void http_door_route(struct http_door *door, const struct http_route *route);
/* Listen; call this at most once.  `*address_out` is valid until the door closes. */
must_check int http_door_listen(struct http_door *door, const struct door_place *place,
                                const char **address_out, struct error *err);
/* Take ownership of an accepted `connection`. */
void http_door_attach(struct http_door *door, struct connection *connection);

/* These end the exchange.  HEAD, If-None-Match and the rest of the connection's life are the
 * door's. */
void http_door_answer(struct http_exchange *exchange, const struct http_answer *answer);
void http_door_refuse(struct http_exchange *exchange, const struct http_refusal *refusal);

/* Hang up on all clients, also those whose requests are under way; then free the door and call
 * `closed`. */
void http_door_close(struct http_door *door, void (*closed)(void *context), void *context);
void http_door_dump(const struct http_door *door, struct buffer *text);
#endif

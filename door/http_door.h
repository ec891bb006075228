/* http_door: the door for clients of HTTP/1.1; port 7680 unless another is given.
 *
 * http_request.h says which requests are accepted.  The door finds the route of a request and calls
 * its handler, which answers at once or later.  A connection has one request under way: the next
 * one begins when the answer has been sent.
 *
 *     READING ─whole request─▶ READY ─its turn─▶ SERVING ─────answer─────▶ SENDING ─sent─▶ READING
 *        │                                          └─begin─▶ STREAMING ─end─▶│
 *        └─refused, or late──────────────────────────────────────────────────▶│
 *                                                            the last answer  └─▶ ENDING ─▶ closed
 *
 * A handler, and its route:
 *
 *     static void serve_count(void *context, struct http_exchange *exchange)
 *     {
 *         struct http_parameters parameters;
 *         const struct http_refusal *refusal =
 *             http_parameters_parse(exchange->request.query, &parameters);
 *         struct buffer json = {0};
 *
 *         if (refusal == NULL)
 *             refusal = put_count(context, http_parameters_find(&parameters, "ad"), &json);
 *         if (refusal != NULL)
 *             http_door_refuse(exchange, refusal);
 *         else
 *             http_door_answer(exchange, &(struct http_answer){.status = 200,
 *                                                              .type = "application/json",
 *                                                              .body = buffer_view(&json)});
 *         buffer_release(&json);
 *         http_parameters_release(&parameters);
 *     }
 *
 *     http_door_route(door, &(struct http_route){.path = "/api/count", .methods = HTTP_METHOD_GET,
 *                                                .serve = serve_count, .context = counts});
 *
 * A handler may run for about a millisecond.  A handler that needs more time sets `exchange->gone`,
 * returns, and continues in timers or callbacks of its own.  A long answer is sent in pieces, so
 * that only one piece is in memory:
 *
 *     exchange->gone = export_free;                  the client has left
 *     exchange->gone_context = export;
 *     if (!http_door_begin(exchange, &answer, export_more))
 *         export_free(export);                       HEAD or 304: it was answered
 *
 *     static void export_more(void *context)         the client has all that was sent
 *     {
 *         if (export has another page)               it may also be sent later
 *             http_door_send(export->exchange, page);
 *         else
 *             http_door_end(export->exchange);       and export_free(export)
 *     }
 *
 * http_events.h sends answers that never end.  docs/PROTOCOL.md "The HTTP door" says what is
 * served, refused and limited.  All functions are called on the engine thread. */
#ifndef DAYBOOK_DOOR_HTTP_DOOR_H
#define DAYBOOK_DOOR_HTTP_DOOR_H

#include "door/door.h"
#include "door/http_parameters.h"
#include "door/http_request.h"
#include "door/http_response.h"

struct http_door;
struct http_exchange;

enum {
    HTTP_CONNECTIONS_MAX = 8192,
    HTTP_HEAD_MS = 10000,              /* from a head's first byte to its last */
    HTTP_BODY_MS = 30000,              /* from a head's last byte to the body's last */
    HTTP_IDLE_MS = 75000,              /* between requests */
    HTTP_BYTES_MAX = 32 << 20,         /* of all requests under way; as much for all answers */
    HTTP_GUEST_BYTES = 2 << 20         /* of all input that is not yet a whole request */
};

/* A member that is 0 has its default, which the comment names. */
struct http_limits {
    uint32_t connections_max;          /* HTTP_CONNECTIONS_MAX */
    size_t bytes_max;                  /* HTTP_BYTES_MAX */
    size_t head_bytes_max;             /* HTTP_GUEST_BYTES */
    int64_t head_ms;                   /* HTTP_HEAD_MS; the five times must differ (door_clock) */
    int64_t body_ms;                   /* HTTP_BODY_MS */
    int64_t idle_ms;                   /* HTTP_IDLE_MS */
    int64_t slow_reader_ms;            /* DOOR_SLOW_READER_MS */
    int64_t linger_ms;                 /* DOOR_LINGER_MS */
};

struct http_route {
    const char *path;                  /* "/metrics": the whole path, as it is sent */
    unsigned methods;                  /* HTTP_METHOD_GET includes HEAD */
    size_t body_max;                   /* bytes, at most HTTP_BYTES_MAX; 0: no body is accepted */
    /* Calls http_door_answer, http_door_refuse or http_door_begin: within this call, or later if
     * it sets exchange->gone. */
    void (*serve)(void *context, struct http_exchange *exchange);
    void *context;
    bool has_effects;                  /* a read-only door refuses it */
};

/* The texts outlive the door. */
struct http_options {
    struct world *world;               /* these three outlive the door */
    struct network *network;
    struct metrics *metrics;
    const char *host_names;            /* see http_request_check_host */
    const char *base;                  /* "/clicks": see http_proxy_is_base; NULL: none */
    const char *proxies;               /* see http_proxy_client; NULL: none */
    bool is_read_only;
    /* Called with the changes, in bytes, of what requests and answers hold; may be NULL. */
    void (*held)(void *context, int64_t request_bytes, int64_t answer_bytes);
    void *held_context;
    struct http_limits limits;
};

/* A request under way. */
struct http_exchange {
    struct http_request request;       /* valid until the exchange ends; `path` without the base */
    char client[DOOR_PEER_TEXT];       /* address of the client, also behind a named proxy */
    const char *base;                  /* the beginning of all links: "/clicks", or "" */
    bool is_https;                     /* the client asked a named proxy by https */
    bool is_read_only;                 /* nothing may be changed by this door */
    /* Set by a handler that answers later.  Called when the client has left or the door closes; the
     * exchange must not be used after that.  Functions that take an exchange do not call `gone`. */
    void (*gone)(void *context);
    void *gone_context;                /* for `gone`, and for `more` of http_door_begin */
};

struct http_door *http_door_new(const struct http_options *options);
/* `path` and other members are borrowed for the life of the door. */
void http_door_route(struct http_door *door, const struct http_route *route);
/* Listen; call this at most once.  `*address_out` is valid until the door closes. */
must_check int http_door_listen(struct http_door *door, const struct door_place *place,
                                const char **address_out, struct error *err);
/* Take ownership of an accepted `connection`. */
void http_door_attach(struct http_door *door, struct connection *connection);

/* http_door_answer and http_door_refuse end the exchange.  The door handles HEAD and If-None-Match,
 * and closes the connection if necessary. */
void http_door_answer(struct http_exchange *exchange, const struct http_answer *answer);
void http_door_refuse(struct http_exchange *exchange, const struct http_refusal *refusal);

/* A file that does not change while the server runs.  All members are borrowed. */
struct http_asset {
    const char *type;
    const char *policy;                /* as in struct http_answer */
    const char *etag, *gzip_etag;      /* with their quotes, made from the bytes */
    struct bytes plain, gzip;
};

/* Answer with the asset, compressed if the client takes gzip. */
void http_door_answer_asset(struct http_exchange *exchange, const struct http_asset *asset);

/* Begin an answer whose body is sent in pieces; `answer->body` is not used.  False: the answer has
 * no body (HEAD or 304), and the exchange has ended.  Otherwise `more` is called in a later turn,
 * and again each time all bytes that http_door_send got have been sent. */
must_check bool http_door_begin(struct http_exchange *exchange, const struct http_answer *answer,
                                void (*more)(void *context));
/* Like http_door_begin, for a body that does not end by itself.  `exchange->request` is not valid
 * afterwards.  All such answers together may take half of the memory for requests and a quarter of
 * the memory for answers.  Over the first limit the oldest answer is closed; over the second, the
 * answer that has had unsent bytes for the longest time. */
must_check bool http_door_begin_endless(struct http_exchange *exchange,
                                        const struct http_answer *answer,
                                        void (*more)(void *context));
/* Send a piece of at most about 100 KB.  Bytes that the client does not take at once are copied. */
void http_door_send(struct http_exchange *exchange, struct bytes piece);
/* Bytes that are not sent yet. */
size_t http_door_queued(const struct http_exchange *exchange);
/* End the body and the exchange. */
void http_door_end(struct http_exchange *exchange);
/* End the exchange and close the connection, so that the client sees that the body is not whole. */
void http_door_break(struct http_exchange *exchange);

/* Close all connections, also those whose requests are under way; then free the door and call
 * `closed`. */
void http_door_close(struct http_door *door, void (*closed)(void *context), void *context);
void http_door_dump(const struct http_door *door, struct buffer *text);
#endif

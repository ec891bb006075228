/* http_ingest: POST /ingest: clicks over HTTP, with the meaning of the text door.
 *
 *     POST /ingest HTTP/1.1                                  client of the HTTP door
 *     X-Daybook-Producer: 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11
 *     X-Daybook-Batch: 1
 *                                                            the request is a client of the text
 *     body ─▶ #stream, #columns, #producer, #batch, lines ─▶ door, over a pair of sockets in this
 *     JSON ◀─ reject, ok, error ◀─────────────────────────── process
 *
 * So the code of the text door parses, rejects and acknowledges the lines, and counts a repeated
 * batch once.  While the disk or the memory is full, a request waits, for at most HTTP_INGEST_MS.
 * docs/PROTOCOL.md "Clicks over HTTP" describes headers and answers. */
#ifndef DAYBOOK_INGEST_CONNECTION_HTTP_INGEST_H
#define DAYBOOK_INGEST_CONNECTION_HTTP_INGEST_H

#include "base/world/network.h"
#include "base/world/world.h"
#include "door/http_door.h"

enum {
    HTTP_INGEST_POSTS_MAX = 64,        /* requests at a time; more are answered 503 */
    HTTP_INGEST_MS = 60000,
    HTTP_INGEST_BODY_MAX = 8 << 20     /* bytes, as many as a batch may have */
};

struct http_ingest;

struct http_ingest_options {
    struct network *network;           /* this and `world` outlive the result */
    struct world *world;
    /* Serves one end of a pair of sockets as a client of the text door (ingest_attach). */
    void (*attach)(void *context, struct connection *connection);
    void *context;
    int64_t late_ms;                   /* 0: HTTP_INGEST_MS */
};

/* Add the address /ingest to the door.  http_ingest_close frees the result. */
struct http_ingest *http_ingest_new(struct http_door *door,
                                    const struct http_ingest_options *options);
/* To be called after the door has closed.  When no request is under way, frees `http`, then calls
 * `closed`. */
void http_ingest_close(struct http_ingest *http, void (*closed)(void *context), void *context);
#endif

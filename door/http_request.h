/* http_request: the head of an HTTP/1.1 request, in the strict subset that the HTTP door serves.
 *
 *     POST /ingest?stream=clicks HTTP/1.1 CR LF    method, target, HTTP/1.0 or HTTP/1.1
 *     Host: 127.0.0.1:7680 CR LF                   at most HTTP_HEADERS_MAX such lines
 *     Content-Length: 5 CR LF
 *     CR LF                                        ends the head, of at most HTTP_HEAD_MAX bytes
 *     hello                                        Content-Length bytes of body
 *
 * If a proxy and a server disagree about the end of a line, a head or a body, an attacker can hide
 * a request in another one.  So everything ambiguous is refused: an LF without CR, a CR without LF,
 * a line that continues the line before, an empty line before the request, a second Content-Length,
 * and any Transfer-Encoding.  llhttp parses the rest, with all its lenient modes off.
 *
 * After a refusal the end of the request is unknown, so the door answers and closes the
 * connection. */
#ifndef DAYBOOK_DOOR_HTTP_REQUEST_H
#define DAYBOOK_DOOR_HTTP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    HTTP_HEAD_MAX = 16 << 10,          /* bytes, with the empty line that ends it */
    HTTP_HEADERS_MAX = 64
};

/* A set of methods is a sum of them. */
enum http_method { HTTP_METHOD_GET = 1, HTTP_METHOD_HEAD = 2, HTTP_METHOD_POST = 4 };

/* Why a request is refused.  The texts are escaped when they are sent. */
struct http_refusal {
    uint16_t status;                   /* 400 */
    const char *code;                  /* "bare_lf", for programs */
    const char *what;
    const char *where;                 /* "header Host" */
    const char *todo;
};

struct http_header {
    struct bytes name, value;          /* as sent, without blanks around the value */
};

/* Views of the head. */
struct http_request {
    enum http_method method;
    struct bytes path;                 /* begins with '/'; not decoded */
    struct bytes query;                /* after the first '?'; empty if there is none */
    struct bytes host;                 /* value of Host: name or address, perhaps with a port */
    struct http_header headers[HTTP_HEADERS_MAX];
    uint32_t header_count;
    uint64_t body_size;                /* Content-Length; 0 without one */
    bool is_http_1_1;                  /* else HTTP/1.0 */
    bool is_kept_alive;                /* the client may send another request */
    bool expects_continue;             /* sends the body after a 100 (Continue) */
    struct bytes body;                 /* set by the door when the whole body is received */
};

/* Finds the end of a head in input that grows.  Begins as zeros. */
struct http_scan {
    size_t at;                         /* bytes that were scanned */
    size_t line;                       /* offset of the present line */
};

/* `input` is all input from the first byte of the head on.  Returns the size of the head, or 0.
 * After 0, `*refusal_out` is the reason of a refusal, or NULL when more bytes are needed. */
size_t http_request_scan(struct http_scan *scan, struct bytes input,
                         const struct http_refusal **refusal_out);
/* `head` is a whole head that http_request_scan found.  Returns NULL, or the reason of a refusal;
 * after a refusal `request->method` is valid or 0. */
const struct http_refusal *http_request_parse(struct bytes head, struct http_request *request);

/* The value of the first header with this name, which is compared without case.  Empty if there is
 * none. */
struct bytes http_request_header(const struct http_request *request, const char *name);
/* Remove the first item of `*list`, and the comma after it.  Returns the item without the blanks
 * around it.  `*list` must not be empty. */
struct bytes http_request_next_item(struct bytes *list);
/* Whether the header `name`, which is a list such as Accept-Encoding, has the item, with a quality
 * other than 0.  The comparison ignores case.  A wildcard matches no item. */
bool http_request_lists(const struct http_request *request, const char *name, const char *item);
/* Whether If-None-Match has this entity tag, or is "*".  `etag` has its quotes. */
bool http_request_has_etag(const struct http_request *request, struct bytes etag);

/* The owner of a web page can make the page's host name resolve to this server's address (DNS
 * rebinding), so that the browser lets the page send requests here.  So Host must be an address,
 * "localhost", or one of `names`, a list with commas, or NULL.  The port is ignored, because a
 * tunnel may change it. */
const struct http_refusal *http_request_check_host(const struct http_request *request,
                                                   const char *names);
/* Whether `names` is such a list.  A name has letters, digits, and - . _, but no scheme or port. */
bool http_request_are_names(const char *names);
/* Browsers send the page's Origin with every POST; it must be the request's Host or one of `names`.
 * Without an Origin, a Sec-Fetch-Site must be "same-origin" or "none".  A request with neither
 * header is accepted, because programs other than browsers send neither. */
const struct http_refusal *http_request_check_origin(const struct http_request *request,
                                                     const char *names);
#endif

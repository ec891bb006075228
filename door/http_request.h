/* http_request: the head of an HTTP/1.1 request, in the strict subset that the HTTP door serves.
 *
 *     POST /ingest?stream=clicks HTTP/1.1 CR LF    method, target, HTTP/1.0 or HTTP/1.1
 *     Host: 127.0.0.1:7680 CR LF                   at most HTTP_HEADERS_MAX such lines
 *     Content-Length: 5 CR LF
 *     CR LF                                        ends the head, of at most HTTP_HEAD_MAX bytes
 *     hello                                        Content-Length bytes of body
 *
 * Proxies and servers that take different bytes for the end of a line, a head or a body can be made
 * to disagree about where the next request begins.  So whatever has two readings is refused: an LF
 * without CR, a CR without LF, a line that continues the one before, an empty line before the
 * request, a Content-Length twice, and any Transfer-Encoding.  llhttp parses what is left, with all
 * its lenient modes off.
 *
 * After a refusal nothing of the connection's input has a meaning: the door answers and closes. */
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
    struct bytes body;                 /* set by the door when all of it is there */
};

/* Finds the end of a head in input that grows.  Begins as zeros. */
struct http_scan {
    size_t at;                         /* bytes that were looked at */
    size_t line;                       /* where the line begins */
};

/* `input` is all of the head that is there, with what follows it.  Returns the head's size, or 0
 * when more is needed or `*refusal_out` is set; it is NULL otherwise. */
size_t http_request_scan(struct http_scan *scan, struct bytes input,
                         const struct http_refusal **refusal_out);
/* `head` is a whole one by http_request_scan.  Returns NULL, or why it is refused; even then
 * `request->method` is valid or 0. */
const struct http_refusal *http_request_parse(struct bytes head, struct http_request *request);

/* The value of the header, whose name is compared without case; of several the first.  Empty if
 * there is none. */
struct bytes http_request_header(const struct http_request *request, const char *name);
/* Take the first item of `*list`, which is not empty, with the comma behind it; without the blanks
 * around it. */
struct bytes http_request_next_item(struct bytes *list);
/* Whether a header that is a list has the item, with a quality other than 0: "accept-encoding" has
 * "gzip".  The comparison ignores case, and wildcards are no items. */
bool http_request_lists(const struct http_request *request, const char *name, const char *item);
/* Whether If-None-Match has this entity tag, or is "*".  `etag` has its quotes. */
bool http_request_has_etag(const struct http_request *request, struct bytes etag);

/* A web page can give its own name the address of this server (DNS rebinding), and then ask it as
 * its own origin.  So a request's Host is an address, "localhost", or one of `names`, which are
 * words between commas or NULL.  The port is not looked at, as a tunnel may change it. */
const struct http_refusal *http_request_check_host(const struct http_request *request,
                                                   const char *names);
/* Whether `names` are such words: of letters, digits, and - . _, without scheme and port. */
bool http_request_are_names(const char *names);
/* Browsers send the Origin of the page with every POST: it must be ours, by Host or by a name of
 * `names`.  Where one sends none, Sec-Fetch-Site must say that it is ours.  Programs that are no
 * browsers send neither. */
const struct http_refusal *http_request_check_origin(const struct http_request *request,
                                                     const char *names);
#endif

/* http_response: the bytes of an HTTP/1.1 answer.
 *
 *     HTTP/1.1 200 OK CR LF
 *     Date: Sun, 06 Nov 1994 08:49:37 GMT CR LF
 *     ... CR LF
 *     Content-Length: 3 CR LF
 *     CR LF
 *     ok LF
 *
 * Headers of every answer forbid a browser to guess another type and, unless `policy` allows it, to
 * load other resources or to show the answer in a frame of another site. */
#ifndef DAYBOOK_DOOR_HTTP_RESPONSE_H
#define DAYBOOK_DOOR_HTTP_RESPONSE_H

#include "base/buffer.h"
#include "door/http_request.h"

/* A control character in a value is sent as a blank. */
struct http_field {
    const char *name, *value;
};

struct http_answer {
    uint16_t status;
    const char *type;                  /* "text/plain; charset=utf-8"; NULL: without a body */
    struct bytes body;                 /* copied */
    const char *etag;                  /* with its quotes: the client may keep the body, and must
                                        * ask whether it is still right; NULL: it may not keep it */
    const char *allow;                 /* the methods, for status 405; else NULL */
    const char *policy;                /* Content-Security-Policy; NULL: nothing may be loaded */
    const struct http_field *fields;   /* further headers, such as Content-Disposition */
    uint32_t field_count;
    /* Content-Encoding of the body, "gzip", or NULL.  `is_variant`: the body depends on the
     * request's Accept-Encoding or Accept. */
    const char *encoding;
    bool is_variant;
};

struct http_response {
    const struct http_answer *answer;
    int64_t time_us;                   /* since 1970 */
    bool is_head;                      /* the request is HEAD, so no body is sent */
    bool is_last;                      /* the connection is closed after this answer */
    bool is_streamed;                  /* the body is sent in pieces, its size is unknown */
    bool is_chunked;                   /* the pieces are chunks of HTTP/1.1 */
};

void http_response_put_head(const struct http_response *response, struct buffer *wire);
/* The body to send after the head.  It is empty for HEAD, a stream, and a status without a body. */
struct bytes http_response_body(const struct http_response *response);
/* Append the refusal as one JSON object in one line. */
void http_response_put_refusal(const struct http_refusal *refusal, struct buffer *json);
#endif

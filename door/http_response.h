/* http_response: the bytes of an HTTP/1.1 answer.
 *
 *     HTTP/1.1 200 OK CR LF
 *     Date: Sun, 06 Nov 1994 08:49:37 GMT CR LF
 *     ... CR LF
 *     Content-Length: 3 CR LF
 *     CR LF
 *     ok LF
 *
 * Every answer forbids what a browser might do with it beyond showing it: guessing another type,
 * loading anything else, being framed by another site. */
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
    const char *etag;                  /* with its quotes: the client may keep the body, and is
                                        * told if it still has the right one; NULL: it may not */
    const char *allow;                 /* of a 405, or NULL */
    const char *policy;                /* Content-Security-Policy; NULL: nothing is loaded */
    const struct http_field *fields;   /* further headers, such as Content-Disposition */
    uint32_t field_count;
    /* Content-Encoding of the body, "gzip", or NULL.  `is_variant`: another client might get
     * another body here (http_request_lists of Accept-Encoding or Accept). */
    const char *encoding;
    bool is_variant;
};

struct http_response {
    const struct http_answer *answer;
    int64_t time_us;                   /* since 1970 */
    bool is_head;                      /* of a HEAD: no body */
    bool is_last;                      /* the connection closes after it */
    bool is_streamed;                  /* the body comes in pieces, of unknown size */
    bool is_chunked;                   /* the pieces are chunks of HTTP/1.1 */
};

void http_response_put_head(const struct http_response *response, struct buffer *wire);
/* What follows the head: nothing for HEAD, a stream, and statuses without a body. */
struct bytes http_response_body(const struct http_response *response);
/* One object in one line. */
void http_response_put_refusal(const struct http_refusal *refusal, struct buffer *json);
#endif

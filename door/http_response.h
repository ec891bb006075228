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

struct http_answer {
    uint16_t status;
    const char *type;                  /* "text/plain; charset=utf-8" */
    struct bytes body;                 /* copied */
    const char *etag;                  /* with its quotes: the client may keep the body, and is
                                        * told if it still has the right one; NULL: it may not */
    const char *allow;                 /* of a 405, or NULL */
};

struct http_response {
    const struct http_answer *answer;
    int64_t time_us;                   /* since 1970 */
    bool is_head;                      /* of a HEAD: no body */
    bool is_last;                      /* the connection closes after it */
};

/* A 304 has no body, whatever the answer has. */
void http_response_put(const struct http_response *response, struct buffer *wire);
/* One object in one line. */
void http_response_put_refusal(const struct http_refusal *refusal, struct buffer *json);
#endif

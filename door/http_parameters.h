/* http_parameters: the parameters of a query, or of a form's body.
 *
 *     from=2013-11-01&reseller=caf%C3%A9+3&reseller=b&live
 *
 * Parameters are in the order in which they were sent, and a name may be there several times.  %XX
 * is a byte, + a blank; a parameter without = has the empty value.  Decoded names and values must
 * be UTF-8 without NUL. */
#ifndef DAYBOOK_DOOR_HTTP_PARAMETERS_H
#define DAYBOOK_DOOR_HTTP_PARAMETERS_H

#include "base/buffer.h"
#include "door/http_request.h"

enum { HTTP_PARAMETERS_MAX = 64 };

struct http_parameter {
    struct bytes name, value;
};

struct http_parameters {
    struct http_parameter items[HTTP_PARAMETERS_MAX];
    uint32_t count;
    struct buffer text;                /* the decoded bytes, to which `items` point */
};

/* The caller releases `parameters` even if this returns a refusal, which is static. */
must_check const struct http_refusal *http_parameters_parse(struct bytes text,
                                                            struct http_parameters *parameters);
void http_parameters_release(struct http_parameters *parameters);
/* The value of the first parameter with that name; `data` is NULL: there is none. */
struct bytes http_parameters_find(const struct http_parameters *parameters, const char *name);
#endif

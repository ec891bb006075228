/* http_begin: whether a connection's first line is an HTTP request's.
 *
 * A page in a browser can make the browser send a request with a body of the page's choosing to any
 * port of the machine that it runs on.  A door that takes lines of text would refuse the request's
 * header line by line, and take the body.  So a door that does not speak HTTP asks here first. */
#ifndef DAYBOOK_DOOR_HTTP_BEGIN_H
#define DAYBOOK_DOOR_HTTP_BEGIN_H

#include <stdbool.h>

#include "base/bytes.h"

/* `line` is a connection's first line without its LF: a method, a target and HTTP/. */
bool http_begin_is_request(struct bytes line);
/* The same of how a line begins that is too long to be gathered: a method and a path or a URL. */
bool http_begin_is_long_request(struct bytes begin);
#endif

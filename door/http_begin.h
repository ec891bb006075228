/* http_begin: recognizes an HTTP request by a connection's first line.
 *
 * A page can make its browser send a request with a body of the page's choosing to any port of the
 * machine that the browser runs on.  A door that takes lines of text would refuse the lines of the
 * request's header, and accept those of the body.  So such a door checks the first line here. */
#ifndef DAYBOOK_DOOR_HTTP_BEGIN_H
#define DAYBOOK_DOOR_HTTP_BEGIN_H

#include <stdbool.h>

#include "base/bytes.h"

/* Whether `line`, a connection's first line without its LF, is a method, a target and HTTP/. */
bool http_begin_is_request(struct bytes line);
/* Whether `begin`, the beginning of a line that is too long to be read whole, is a method and a
 * path or URL. */
bool http_begin_is_long_request(struct bytes begin);
#endif

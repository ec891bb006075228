/* http_begin: recognizes an HTTP request by a connection's first line.
 *
 * A web page can make a browser send a request with any body to any port of the browser's machine.
 * A door that reads lines of text would accept the lines of that body.  So such a door refuses
 * connections that begin like HTTP. */
#ifndef DAYBOOK_DOOR_HTTP_BEGIN_H
#define DAYBOOK_DOOR_HTTP_BEGIN_H

#include <stdbool.h>

#include "base/bytes.h"

/* Whether `line`, without its LF, is a method, a target and a word that begins with HTTP/. */
bool http_begin_is_request(struct bytes line);
/* Whether `begin`, the beginning of a line too long to be read whole, starts like an HTTP request:
 * a method, and the beginning of a path or URL. */
bool http_begin_is_long_request(struct bytes begin);
#endif

/* http_begin: recognizes an HTTP request by a connection's first line.
 *
 * A web page can make a browser send a request with any body to any port of the machine that the
 * browser runs on.  A door that reads lines of text would refuse the lines of the request's header,
 * and accept the lines of its body.  So such a door checks a connection's first line. */
#ifndef DAYBOOK_DOOR_HTTP_BEGIN_H
#define DAYBOOK_DOOR_HTTP_BEGIN_H

#include <stdbool.h>

#include "base/bytes.h"

/* Whether `line`, without its LF, is a method, a target and a word that begins with HTTP/. */
bool http_begin_is_request(struct bytes line);
/* The same for a line that is too long to be read as a whole: whether `begin`, its beginning, is a
 * method, followed by the beginning of a path or URL. */
bool http_begin_is_long_request(struct bytes begin);
#endif

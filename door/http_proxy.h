/* http_proxy: what a proxy in front of the HTTP door changes in its requests: it may put a base
 * before each path, and it says for whom it asks.
 *
 *     GET /clicks/api/report HTTP/1.1              base "/clicks": the path is /api/report
 *     X-Forwarded-For: 10.9.8.7, 203.0.113.9       the client is 203.0.113.9, if the proxy is named
 *
 * The last address of X-Forwarded-For is the peer that the proxy saw; what is before it the client
 * may have written.  So it is believed only from a named proxy, and of its addresses the last is
 * taken that is not a named proxy itself. */
#ifndef DAYBOOK_DOOR_HTTP_PROXY_H
#define DAYBOOK_DOOR_HTTP_PROXY_H

#include "base/world/network.h"
#include "door/http_request.h"

/* Whether `base` is "" or like "/clicks/eu": letters, digits, and - . _ ~ between slashes. */
bool http_proxy_is_base(const char *base);
/* Take the base off the path; "/clicks" itself becomes "/".  A path without the base stays: a proxy
 * may have taken it off already. */
void http_proxy_strip(struct http_request *request, const char *base);

/* Whether `proxies` are addresses between commas, such as "127.0.0.1, 2001:db8::5". */
bool http_proxy_are_addresses(const char *proxies);
/* The client for whom `peer` asks: `*peer` itself unless it is one of `proxies`, which may be NULL,
 * and names an address. */
struct network_address http_proxy_client(const struct http_request *request,
                                         const struct network_address *peer, const char *proxies);
#endif

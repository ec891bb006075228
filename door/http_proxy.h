/* http_proxy: reads requests that a proxy forwards to the HTTP door.  The proxy may put a base
 * before each path, and names its client in a header.
 *
 *     GET /clicks/api/report HTTP/1.1              base "/clicks": the path is /api/report
 *     X-Forwarded-For: 10.9.8.7, 203.0.113.9       the client is 203.0.113.9
 *     X-Forwarded-Proto: https                     links begin with https://
 *
 * Both headers are used only if a *named* proxy sent them, one that the operator has listed.  The
 * last address of X-Forwarded-For is the peer that the proxy saw; the client may have invented the
 * addresses before it.  So the client is the last address that is not itself a named proxy. */
#ifndef DAYBOOK_DOOR_HTTP_PROXY_H
#define DAYBOOK_DOOR_HTTP_PROXY_H

#include "base/world/network.h"
#include "door/http_request.h"

/* Whether `base` is "" or like "/clicks/eu": letters, digits, and - . _ ~ between slashes. */
bool http_proxy_is_base(const char *base);
/* Remove the base from the path; "/clicks" itself becomes "/".  A path without the base stays
 * unchanged, because the proxy may have removed the base. */
void http_proxy_strip(struct http_request *request, const char *base);

/* Whether `proxies` are addresses between commas, such as "127.0.0.1, 2001:db8::5". */
bool http_proxy_are_addresses(const char *proxies);
/* Returns the address of the client.  It is `*peer`, unless `*peer` is one of `proxies` and the
 * request names another address.  `proxies` may be NULL. */
struct network_address http_proxy_client(const struct http_request *request,
                                         const struct network_address *peer, const char *proxies);
/* Whether the client uses https, by the first scheme of X-Forwarded-Proto.  False if `peer` is none
 * of `proxies`, which may be NULL. */
bool http_proxy_is_https(const struct http_request *request, const struct network_address *peer,
                         const char *proxies);
#endif

/* http_proxy: see the header. */
#include "door/http_proxy.h"

#include <arpa/inet.h>
#include <string.h>

enum { ADDRESS_TEXT_MAX = INET6_ADDRSTRLEN };

/* ---- the base ---- */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~", c) != NULL);
}

bool http_proxy_is_base(const char *base)
{
    char before = '\0';

    for (const char *at = base; *at != '\0'; at++) {
        bool fits = *at == '/' ? before != '/' : before != '\0' && is_plain(*at);

        if (!fits)
            return false;
        before = *at;
    }
    return before != '/';
}

void http_proxy_strip(struct http_request *request, const char *base)
{
    struct bytes own = bytes_text(base);
    struct bytes path = request->path;

    if (own.size == 0 || path.size < own.size || memcmp(path.data, own.data, own.size) != 0)
        return;
    if (path.size == own.size)
        request->path = bytes_of("/", 1);
    else if (path.data[own.size] == '/')
        request->path = bytes_of(path.data + own.size, path.size - own.size);
}

/* ---- the client ---- */

static bool parse_as(int family, struct bytes text, struct network_address *address_out)
{
    char copy[ADDRESS_TEXT_MAX];

    if (text.size >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *address_out = (struct network_address){.size = family == AF_INET ? 4 : 16};
    return inet_pton(family, copy, address_out->bytes) == 1;
}

/* A mapped IPv4 address becomes an IPv4 address, as in network_addresses. */
static bool parse_v6(struct bytes text, struct network_address *address_out)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};

    if (!parse_as(AF_INET6, text, address_out))
        return false;
    if (memcmp(address_out->bytes, mapped, sizeof mapped) == 0) {
        memmove(address_out->bytes, address_out->bytes + sizeof mapped, 4);
        address_out->size = 4;
    }
    return true;
}

/* "10.0.0.5", "10.0.0.5:80", "2001:db8::5", "[2001:db8::5]" or "[2001:db8::5]:80". */
static bool parse_address(struct bytes text, struct network_address *address_out)
{
    const uint8_t *end;

    if (text.size > 0 && text.data[0] == '[') {
        end = memchr(text.data, ']', text.size);
        return end != NULL &&
               parse_v6(bytes_of(text.data + 1, (size_t)(end - text.data) - 1), address_out);
    }
    if (parse_v6(text, address_out))
        return true;
    end = text.size > 0 ? memchr(text.data, ':', text.size) : NULL;
    return parse_as(AF_INET,
                    bytes_of(text.data, end != NULL ? (size_t)(end - text.data) : text.size),
                    address_out);
}

static bool is_same(const struct network_address *a, const struct network_address *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool is_proxy(const struct network_address *address, const char *proxies)
{
    struct bytes left = bytes_text(proxies);
    struct network_address proxy;

    while (left.size > 0)
        if (parse_address(http_request_next_item(&left), &proxy) && is_same(&proxy, address))
            return true;
    return false;
}

bool http_proxy_are_addresses(const char *proxies)
{
    struct bytes left = bytes_text(proxies);
    struct network_address proxy;
    bool are = left.size > 0;

    while (are && left.size > 0)
        are = parse_address(http_request_next_item(&left), &proxy);
    return are;
}

struct network_address http_proxy_client(const struct http_request *request,
                                         const struct network_address *peer, const char *proxies)
{
    struct network_address client = *peer;

    if (proxies == NULL || !is_proxy(peer, proxies))
        return client;
    for (uint32_t i = 0; i < request->header_count; i++) {
        struct bytes left = request->headers[i].value;

        while (bytes_are_word(request->headers[i].name, "x-forwarded-for") && left.size > 0) {
            struct network_address address;

            if (!parse_address(http_request_next_item(&left), &address))
                client = *peer;
            else if (!is_proxy(&address, proxies))
                client = address;
        }
    }
    return client;
}

bool http_proxy_is_https(const struct http_request *request, const struct network_address *peer,
                         const char *proxies)
{
    struct bytes schemes = http_request_header(request, "x-forwarded-proto");

    return proxies != NULL && schemes.size > 0 && is_proxy(peer, proxies) &&
           bytes_are_word(http_request_next_item(&schemes), "https");
}

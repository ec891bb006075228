/* What proxies change: the base before paths, and whom a request is from. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "door/door.h"
#include "door/http_proxy.h"

TestSuite(http_proxy, .timeout = 60);

Test(http_proxy, bases)
{
    static const char *const good[] = {"", "/clicks", "/a/b-c/d.e_f~", "/0"};
    static const char *const bad[] = {"/",    "clicks", "/clicks/", "//a", "/a//b",
                                      "/a b", "/a?b",   "/a%20",    "/\"", "/caf\xC3\xA9"};

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        cr_expect(http_proxy_is_base(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect(!http_proxy_is_base(bad[i]), "%s", bad[i]);
}

Test(http_proxy, a_base_is_taken_off)
{
    static const struct {
        const char *path, *base, *left;
    } cases[] = {
        {"/clicks/api", "/clicks", "/api"}, {"/clicks", "/clicks", "/"},
        {"/clicks/", "/clicks", "/"},       {"/clicksy/api", "/clicks", "/clicksy/api"},
        {"/api", "/clicks", "/api"},        {"/", "/clicks", "/"},
        {"/clicks/api", "", "/clicks/api"}, {"/clicks/clicks", "/clicks", "/clicks"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct http_request request = {.path = bytes_text(cases[i].path)};

        http_proxy_strip(&request, cases[i].base);
        cr_expect(bytes_equal(request.path, bytes_text(cases[i].left)), "%s", cases[i].path);
    }
}

Test(http_proxy, addresses)
{
    cr_expect(http_proxy_are_addresses("127.0.0.1"));
    cr_expect(http_proxy_are_addresses("127.0.0.1, ::1,[2001:db8::5]"));
    cr_expect(!http_proxy_are_addresses(""));
    cr_expect(!http_proxy_are_addresses("proxy.example.com"));
    cr_expect(!http_proxy_are_addresses("127.0.0.1,,::1"));
    cr_expect(!http_proxy_are_addresses("10.0.0.0/8"));
}

/* The client of a request from `peer` whose X-Forwarded-For has these values. */
static const char *client_of(const char *peer, const char *proxies, const char *first,
                             const char *second)
{
    static char text[DOOR_PEER_TEXT];
    struct http_request request = {.headers = {{bytes_text("Host"), bytes_text("1.1.1.1")}},
                                   .header_count = 1};
    struct network_address address = {.size = 4};
    unsigned parts[4];

    cr_assert(sscanf(peer, "%u.%u.%u.%u", &parts[0], &parts[1], &parts[2], &parts[3]) == 4);
    for (int i = 0; i < 4; i++)
        address.bytes[i] = (uint8_t)parts[i];
    if (first != NULL)
        request.headers[request.header_count++] =
            (struct http_header){bytes_text("X-Forwarded-For"), bytes_text(first)};
    if (second != NULL)
        request.headers[request.header_count++] =
            (struct http_header){bytes_text("x-forwarded-for"), bytes_text(second)};
    address = http_proxy_client(&request, &address, proxies);
    door_address_text(&address, text);
    return text;
}

static bool is_https(const char *proxies, const char *schemes)
{
    const struct network_address peer = {.size = 4, .bytes = {10, 0, 0, 1}};
    const struct http_request request = {
        .headers = {{bytes_text("X-Forwarded-Proto"), bytes_text(schemes)}}, .header_count = 1};

    return http_proxy_is_https(&request, &peer, proxies);
}

Test(http_proxy, schemes)
{
    cr_expect(is_https("10.0.0.1", "https"));
    cr_expect(is_https("10.0.0.1", "HTTPS, http"));
    cr_expect(!is_https("10.0.0.1", "http, https"));
    cr_expect(!is_https("10.0.0.1", ""));
    cr_expect(!is_https("10.0.0.2", "https"));
    cr_expect(!is_https(NULL, "https"));
}

/* Only a named proxy is believed, and of what it says only what the client cannot have written. */
Test(http_proxy, clients)
{
    static const char near[] = "10.0.0.1, 2001:db8::1";

    cr_expect_str_eq(client_of("9.9.9.9", NULL, "1.2.3.4", NULL), "9.9.9.9");
    cr_expect_str_eq(client_of("9.9.9.9", near, "1.2.3.4", NULL), "9.9.9.9");
    cr_expect_str_eq(client_of("10.0.0.1", near, NULL, NULL), "10.0.0.1");
    cr_expect_str_eq(client_of("10.0.0.1", near, "1.2.3.4", NULL), "1.2.3.4");
    cr_expect_str_eq(client_of("10.0.0.1", near, "6.6.6.6, 1.2.3.4", NULL), "1.2.3.4");
    cr_expect_str_eq(client_of("10.0.0.1", near, "6.6.6.6", "1.2.3.4:5678"), "1.2.3.4");
    cr_expect_str_eq(client_of("10.0.0.1", near, "1.2.3.4,2001:db8::1", "10.0.0.1"), "1.2.3.4");
    cr_expect_str_eq(client_of("10.0.0.1", near, "[2001:db8::9]:80", NULL), "2001:db8::9");
    cr_expect_str_eq(client_of("10.0.0.1", near, "::ffff:1.2.3.4", NULL), "1.2.3.4");
    cr_expect_str_eq(client_of("10.0.0.1", near, "1.2.3.4, unknown", NULL), "10.0.0.1");
    cr_expect_str_eq(client_of("10.0.0.1", near, ",", NULL), "10.0.0.1");
    cr_expect_str_eq(client_of("10.0.0.1", near, "[", NULL), "10.0.0.1");
}

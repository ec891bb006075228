/* What the HTTP door takes for a request: heads that are served, each refusal of the strict subset,
 * the same answer whatever the pieces in which a head comes, and who may ask. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/buffer.h"
#include "door/http_request.h"

TestSuite(http_request, .timeout = 60);

static struct http_request request;

/* Find the head's end in input that grows by `piece` bytes, and parse it. */
static const struct http_refusal *take(struct bytes input, size_t piece, size_t *head_out)
{
    struct http_scan scan = {0};
    const struct http_refusal *refusal = NULL;
    size_t head = 0;

    for (size_t size = 0; head == 0 && refusal == NULL && size < input.size;) {
        size = size + piece < input.size ? size + piece : input.size;
        head = http_request_scan(&scan, bytes_of(input.data, size), &refusal);
    }
    *head_out = head;
    if (head == 0)
        return refusal;
    return http_request_parse(bytes_of(input.data, head), &request);
}

/* "" if the request is served, "more" if its head has no end, or the refusal's code. */
static const char *outcome(const char *text)
{
    size_t head;
    const struct http_refusal *whole = take(bytes_text(text), strlen(text) + 1, &head);
    size_t whole_head = head;
    const struct http_refusal *pieces = take(bytes_text(text), 1, &head);

    cr_expect(whole == pieces && whole_head == head, "by single bytes it is not the same: %s",
              text);
    if (whole != NULL)
        return whole->code;
    return head == 0 ? "more" : "";
}

#define HOST "Host: localhost\r\n"

/* A request has its parts, and what follows the head is not looked at. */
Test(http_request, parts)
{
    const char *text = "POST /ingest/a%20b?stream=x?&y HTTP/1.1\r\n"
                       "hOST:  127.0.0.1:7680\t \r\nContent-Length: 5\r\n"
                       "X-Empty:\r\nExpect: 100-Continue\r\n\r\nab\ncd";
    size_t head;

    cr_assert(take(bytes_text(text), 1000, &head) == NULL);
    cr_expect(head == strlen(text) - 5);
    cr_expect(request.method == HTTP_METHOD_POST);
    cr_expect(bytes_equal(request.path, bytes_text("/ingest/a%20b")));
    cr_expect(bytes_equal(request.query, bytes_text("stream=x?&y")));
    cr_expect(bytes_equal(request.host, bytes_text("127.0.0.1:7680")));
    cr_expect(request.header_count == 4);
    cr_expect(request.body_size == 5 && request.is_kept_alive && request.expects_continue);
    cr_expect(http_request_header(&request, "x-empty").size == 0);
    cr_expect(bytes_equal(http_request_header(&request, "EXPECT"), bytes_text("100-Continue")));
    cr_expect(http_request_header(&request, "cookie").size == 0);
}

/* A connection goes on by HTTP/1.1 unless the client says otherwise, and never by HTTP/1.0. */
Test(http_request, keep_alive)
{
    cr_assert_str_eq(outcome("GET / HTTP/1.1\r\n" HOST "\r\n"), "");
    cr_expect(request.is_kept_alive && request.method == HTTP_METHOD_GET);
    cr_assert_str_eq(outcome("HEAD / HTTP/1.1\r\n" HOST "Connection: x, CLOSE\r\n\r\n"), "");
    cr_expect(!request.is_kept_alive && request.method == HTTP_METHOD_HEAD);
    cr_assert_str_eq(outcome("GET / HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n\r\n"), "");
    cr_expect(!request.is_kept_alive);
}

/* Each refusal, whether the head comes whole or by single bytes. */
Test(http_request, refusals)
{
    static const struct {
        const char *text, *code;
    } cases[] = {
        {"", "more"},
        {"GET / HTTP/1.1\r\n" HOST, "more"},
        {"GET / HTTP/1.1\r\n" HOST "\r", "more"},
        {"GET / HTTP/1.1\n" HOST "\r\n", "bare_lf"},
        {"GET / HTTP/1.1\r\nHost: localhost\n\r\n", "bare_lf"},
        {"GET / HTTP/1.1\r\n" HOST "\n", "bare_lf"},
        {"\n", "bare_lf"},
        {"GET / HTTP/1.1\rHost: localhost\r\n\r\n", "bare_cr"},
        {"GET / HTTP/1.1\r\r\n" HOST "\r\n", "bare_cr"},
        {"GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n", "folded_header"},
        {"GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n", "folded_header"},
        {"GET / HTTP/1.1\r\n Host: localhost\r\n\r\n", "folded_header"},
        {"\r\nGET / HTTP/1.1\r\n" HOST "\r\n", "empty_line"},
        {" GET / HTTP/1.1\r\n" HOST "\r\n", "bad_syntax"},
        {"GET / HTTP/1.1\r\n" HOST "X: a\x01\r\n\r\n", "control_character"},
        {"GET / HTTP/1.1\r\n" HOST "X: a\x7f\r\n\r\n", "control_character"},
        {"GET / HTTP/1.1\r\n" HOST "X : a\r\n\r\n", "bad_syntax"},
        {"GET / HTTP/1.1\r\n" HOST ": a\r\n\r\n", "bad_syntax"},
        {"GET / HTTP/1.1\r\n: a\r\n" HOST "\r\n", "bad_syntax"},
        {"GET / HTTP/1.1\r\n" HOST "Xa\r\n\r\n", "bad_syntax"},
        {"GET / HTTP/1.1\r\n" HOST "X(: a\r\n\r\n", "bad_syntax"},
        {"GET  / HTTP/1.1\r\n" HOST "\r\n", "bad_syntax"},
        {"GET /  HTTP/1.1\r\n" HOST "\r\n", "version_not_supported"},
        {"GET / a HTTP/1.1\r\n" HOST "\r\n", "bad_syntax"},
        {"GET /\r\n" HOST "\r\n", "version_not_supported"},
        {"GET / HTTP/1.1 \r\n" HOST "\r\n", "version_not_supported"},
        {"GET / HTTP/2.0\r\n" HOST "\r\n", "version_not_supported"},
        {"GET / HTTP/0.9\r\n" HOST "\r\n", "version_not_supported"},
        {"GET / http/1.1\r\n" HOST "\r\n", "bad_syntax"},
        {"GET / ICE/1.0\r\n" HOST "\r\n", "bad_syntax"},
        {"GET / RTSP/1.0\r\n" HOST "\r\n", "version_not_supported"},
        {"ANNOUNCE / RTSP/1.0\r\n" HOST "\r\n", "method_not_allowed"},
        {"GET / HTTP/1.11\r\n" HOST "\r\n", "version_not_supported"},
        {"GET http://localhost/ HTTP/1.1\r\n" HOST "\r\n", "bad_target"},
        {"GET * HTTP/1.1\r\n" HOST "\r\n", "bad_target"},
        {"GET /a#b HTTP/1.1\r\n" HOST "\r\n", "bad_target"},
        {"GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n", "bad_target"},
        {"PUT / HTTP/1.1\r\n" HOST "\r\n", "method_not_allowed"},
        {"OPTIONS / HTTP/1.1\r\n" HOST "\r\n", "method_not_allowed"},
        {"CONNECT localhost:1 HTTP/1.1\r\n" HOST "\r\n", "method_not_allowed"},
        {"get / HTTP/1.1\r\n" HOST "\r\n", "method_not_allowed"},
        {"PRI * HTTP/2.0\r\n\r\n", "bad_syntax"},
        {"GET / HTTP/1.1\r\n\r\n", "host_missing"},
        {"GET / HTTP/1.0\r\n\r\n", "host_missing"},
        {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", "host_missing"},
        {"POST / HTTP/1.1\r\n" HOST "\r\n", "length_missing"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
         "two_lengths"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1, 1\r\n\r\n", "bad_length"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1 1\r\n\r\n", "bad_length"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n\r\n", "bad_length"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 0x1\r\n\r\n", "bad_length"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n\r\n", "bad_length"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", "bad_length"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n", "bad_length"},
        {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         "two_lengths"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
         "two_lengths"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", "transfer_encoding"},
        {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n", "transfer_encoding"},
        {"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n\r\n", "transfer_encoding"},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n", "body_not_expected"},
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n", ""},
        {"GET / HTTP/1.1\r\n" HOST "Expect: more\r\n\r\n", "bad_expect"},
        {"GET / HTTP/1.1\r\n" HOST "Upgrade: h2c\r\nConnection: Upgrade\r\n\r\n", ""},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *code = outcome(cases[i].text);

        cr_expect(strcmp(code, cases[i].code) == 0, "%s: \"%s\", not \"%s\"", cases[i].text, code,
                  cases[i].code);
    }
}

static const char *with_headers(int count, size_t value_size)
{
    static struct buffer text;

    buffer_clear(&text);
    buffer_append_text(&text, "GET / HTTP/1.1\r\n" HOST);
    for (int i = 1; i < count; i++) {
        buffer_printf(&text, "X-%d:", i);
        buffer_put_repeated(&text, 'a', value_size);
        buffer_append_text(&text, "\r\n");
    }
    buffer_append_text(&text, "\r\n");
    buffer_put_u8(&text, 0);
    return (const char *)text.data;
}

/* The limits are reached exactly: 64 headers, and 16,384 bytes with the empty line. */
Test(http_request, limits)
{
    size_t around = strlen(with_headers(2, 0));

    cr_expect_str_eq(outcome(with_headers(HTTP_HEADERS_MAX, 1)), "");
    cr_expect_str_eq(outcome(with_headers(HTTP_HEADERS_MAX + 1, 1)), "too_many_headers");
    cr_expect_str_eq(outcome(with_headers(2, HTTP_HEAD_MAX - around)), "");
    cr_expect_str_eq(outcome(with_headers(2, HTTP_HEAD_MAX - around + 1)), "head_too_large");
}

/* ---- conditional requests ---- */

static bool has_etag(const char *value)
{
    char text[256];

    (void)snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" HOST "If-None-Match: %s\r\n\r\n", value);
    cr_assert_str_eq(outcome(text), "");
    return http_request_has_etag(&request, bytes_text("\"a,b\"")) ||
           http_request_has_etag(&request, bytes_text("\"c\""));
}

Test(http_request, etags)
{
    cr_expect(has_etag("*"));
    cr_expect(has_etag("\"c\""));
    cr_expect(has_etag("\"x\" ,W/\"c\", \"y\""));
    cr_expect(!has_etag("\"x\""));
    cr_expect(!has_etag("c"));
    cr_expect(!has_etag(",,"));
    cr_expect(!has_etag(""));
}

/* ---- who is asked ---- */

static bool is_ours(const char *host, const char *names)
{
    char text[1024];

    (void)snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host);
    cr_assert_str_eq(outcome(text), "");
    return http_request_check_host(&request, names) == NULL;
}

/* An address cannot be a foreign name; a name must be ours. */
Test(http_request, hosts)
{
    char longest[600];

    memset(longest, '1', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    cr_expect(is_ours("127.0.0.1:7680", NULL));
    cr_expect(is_ours("10.0.0.5", NULL));
    cr_expect(is_ours("[::1]:1", NULL));
    cr_expect(is_ours("[fe80::1]", NULL));
    cr_expect(is_ours("LocalHost:80", NULL));
    cr_expect(is_ours("clicks.example.com", "a, Clicks.Example.com"));
    cr_expect(is_ours("a:7680", "a,b"));
    for (const char *const *host =
             (const char *const[]){"evil.example.com", "localhost.evil.com", "localhost.", "127.1",
                                   "", ":80", "localhost:", "localhost:80x", "localhost:80:80",
                                   "[::1", "[::1]x", "::1", "[localhost]", "[127.0.0.1]", "a,b",
                                   "user@localhost", longest, NULL};
         *host != NULL; host++)
        cr_expect(!is_ours(*host, "a,b,,"), "%s", *host);
}

Test(http_request, names_that_are_given)
{
    cr_expect(http_request_are_names("clicks.example.com"));
    cr_expect(http_request_are_names("a, B-1.example, c_d"));
    for (const char *const *names =
             (const char *const[]){"", ",", "a,", "a,,b", "a:80", "http://a", "a/b", "a b", NULL};
         *names != NULL; names++)
        cr_expect(!http_request_are_names(*names), "%s", *names);
}

static bool is_own_page(const char *method, const char *origin)
{
    char text[256];

    (void)snprintf(text, sizeof text,
                   "%s / HTTP/1.1\r\nHost: localhost:7680\r\nContent-Length: 0\r\n%s%s\r\n\r\n",
                   method, origin != NULL ? "Origin: " : "X: ", origin != NULL ? origin : "");
    cr_assert_str_eq(outcome(text), "");
    return http_request_check_origin(&request, "clicks.example.com") == NULL;
}

Test(http_request, origins)
{
    cr_expect(is_own_page("POST", NULL));
    cr_expect(is_own_page("POST", "http://localhost:7680"));
    cr_expect(is_own_page("POST", "https://LOCALHOST:7680"));
    cr_expect(is_own_page("POST", "https://clicks.example.com"));
    cr_expect(!is_own_page("POST", "https://clicks.example.com:8080"));
    cr_expect(!is_own_page("POST", "http://localhost"));
    cr_expect(!is_own_page("POST", "http://localhost:7681"));
    cr_expect(!is_own_page("POST", "http://evil.example.com"));
    cr_expect(!is_own_page("POST", "null"));
    cr_expect(!is_own_page("POST", ""));
    cr_expect(!is_own_page("POST", "http://"));
    cr_expect(!is_own_page("POST", "http://localhost:7680\r\nOrigin: http://localhost:7680"));
    cr_expect(is_own_page("GET", "http://evil.example.com"), "a GET changes nothing");
}

/* The HTTP door, spoken to over real sockets, with routes that the test answers for: answers and
 * their headers, keep-alive, bodies, refusals, deadlines, accounts, and requests whose clients hang
 * up. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/unit/http_fixture.h"

enum { BODY_MAX = 100000, LARGE = 8 << 20, SLOW_US = 50000 };

/* ---- routes ---- */

static struct http_exchange *held; /* by /later, until the test answers */
static bool held_is_gone;
static uint32_t later_count;

static void serve_echo(void *context, struct http_exchange *exchange)
{
    (void)context;
    http_door_answer(exchange,
                     &(struct http_answer){.status = 200,
                                           .type = "text/plain",
                                           .body = exchange->request.method == HTTP_METHOD_POST
                                                       ? exchange->request.body
                                                       : exchange->request.query});
}

static void serve_asset(void *context, struct http_exchange *exchange)
{
    (void)context;
    http_door_answer_asset(exchange, &(struct http_asset){.type = "text/css",
                                                          .etag = "\"7\"",
                                                          .gzip_etag = "\"7z\"",
                                                          .plain = bytes_text("p {}"),
                                                          .gzip = bytes_text("smaller")});
}

static void serve_large(void *context, struct http_exchange *exchange)
{
    struct buffer body = {0};

    (void)context;
    buffer_put_repeated(&body, 'x', LARGE);
    http_door_answer(
        exchange,
        &(struct http_answer){.status = 200, .type = "text/plain", .body = buffer_view(&body)});
    buffer_release(&body);
}

/* Others wait meanwhile. */
static void serve_slow(void *context, struct http_exchange *exchange)
{
    (void)context;
    usleep(SLOW_US);
    http_door_answer(
        exchange,
        &(struct http_answer){.status = 200, .type = "text/plain", .body = bytes_text("slow")});
}

static void exchange_gone(void *context)
{
    (void)context;
    held = NULL;
    held_is_gone = true;
}

static void serve_later(void *context, struct http_exchange *exchange)
{
    (void)context;
    later_count++;
    held = exchange;
    exchange->gone = exchange_gone;
}

static void answer_held(void)
{
    struct http_exchange *exchange = held;

    held = NULL;
    http_door_answer(
        exchange,
        &(struct http_answer){.status = 200, .type = "text/plain", .body = bytes_text("late")});
}

/* Who asks, by which base, and what the answer's headers may be. */
static void serve_who(void *context, struct http_exchange *exchange)
{
    struct buffer body = {0};
    struct http_field field = {"X-Client", "a\r\nX-Injected: b"};

    (void)context;
    buffer_printf(&body, "%s at '%s'%s", exchange->client, exchange->base,
                  exchange->is_read_only ? ", read only" : "");
    http_door_answer(exchange, &(struct http_answer){.status = 200,
                                                     .type = "text/plain",
                                                     .policy = "default-src 'self'",
                                                     .fields = &field,
                                                     .field_count = 1,
                                                     .body = buffer_view(&body)});
    buffer_release(&body);
}

static void serve_refusal(void *context, struct http_exchange *exchange)
{
    (void)context;
    http_door_refuse(
        exchange, &(struct http_refusal){422, "bad_day", "\"2013-13-01\" is no day", "from", ""});
}

/* ---- an answer in pieces ---- */

enum { PIECE = 50000 };

static struct stream {
    struct http_exchange *exchange; /* NULL: none */
    uint32_t pieces_left;           /* UINT32_MAX: it has no end */
    uint32_t piece_count;           /* that were sent */
    bool is_paused;                 /* the next piece comes later */
    bool is_cut;                    /* after the last piece there would be more */
} stream;

static void stream_gone(void *context)
{
    struct stream *own = context;

    own->exchange = NULL;
    held_is_gone = true;
}

static void stream_more(void *context)
{
    struct stream *own = context;
    struct http_exchange *exchange = own->exchange;
    struct buffer piece = {0};

    cr_assert(http_door_queued(exchange) == 0);
    if (own->is_paused)
        return;
    if (own->pieces_left == 0) {
        own->exchange = NULL;
        if (own->is_cut)
            http_door_break(exchange);
        else
            http_door_end(exchange);
        return;
    }
    own->pieces_left--;
    own->piece_count++;
    buffer_put_repeated(&piece, (uint8_t)('a' + own->piece_count % 26), PIECE);
    http_door_send(exchange, buffer_view(&piece));
    buffer_release(&piece);
}

static void serve_stream(void *context, struct http_exchange *exchange)
{
    struct stream *own = context;

    own->exchange = exchange;
    exchange->gone = stream_gone;
    exchange->gone_context = own;
    if (!http_door_begin(
            exchange,
            &(struct http_answer){.status = 200, .type = "text/csv", .etag = "\"stream\""},
            stream_more))
        own->exchange = NULL;
}

/* ---- the routes ---- */

static void add_routes(void)
{
    static const struct http_route routes[] = {
        {"/", HTTP_METHOD_GET, 0, serve_who, NULL, false},
        {"/echo", HTTP_METHOD_GET | HTTP_METHOD_POST, BODY_MAX, serve_echo, NULL, false},
        {"/asset", HTTP_METHOD_GET, 0, serve_asset, NULL, false},
        {"/large", HTTP_METHOD_GET, 0, serve_large, NULL, false},
        {"/slow", HTTP_METHOD_GET, 0, serve_slow, NULL, false},
        {"/later", HTTP_METHOD_GET, 0, serve_later, NULL, false},
        {"/only-post", HTTP_METHOD_POST, 10, serve_echo, NULL, false},
        {"/change", HTTP_METHOD_POST, 10, serve_echo, NULL, true},
        {"/who", HTTP_METHOD_GET, 0, serve_who, NULL, false},
        {"/refusal", HTTP_METHOD_GET, 0, serve_refusal, NULL, false},
        {"/stream", HTTP_METHOD_GET, 0, serve_stream, &stream, false},
    };

    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        http_door_route(door, &routes[i]);
}

TestSuite(http_door, .init = setup, .fini = teardown, .timeout = 60);

/* What the door answers to the text, after which it says that it closes. */
static void expect_last(const char *text, const char *status, const char *code)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, text);
    wait_end(&client);
    cr_expect(has_got(&client, status), "%s: %.*s", text, (int)client.got.size,
              (const char *)client.got.data);
    cr_expect(has_got(&client, code), "%s: %.*s", text, (int)client.got.size,
              (const char *)client.got.data);
    cr_expect(has_got(&client, "Connection: close\r\n"));
    network_client_close(&client, &loop);
}

/* ---- answers ---- */

Test(http_door, an_answer_has_its_headers)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /echo?ab=c HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "ab=c");
    cr_expect(memcmp(client.got.data, "HTTP/1.1 200 OK\r\nDate: ", 23) == 0);
    cr_expect(has_got(&client, " GMT\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n"));
    cr_expect(has_got(&client, "Cache-Control: no-store\r\n"));
    cr_expect(has_got(&client, "X-Content-Type-Options: nosniff\r\n"));
    cr_expect(has_got(&client, "Content-Security-Policy: default-src 'none'"));
    cr_expect(!has_got(&client, "Connection: close"));
    network_client_close(&client, &loop);
}

/* HEAD has the headers of a GET and no body, and the connection goes on. */
Test(http_door, head)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "HEAD /asset HTTP/1.1\r\n" HOST "\r\n"
                       "HEAD /nothing HTTP/1.1\r\n" HOST "\r\n"
                       "GET /echo?last HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "last");
    cr_expect(has_got(&client, "Content-Length: 4\r\nETag: \"7\"\r\nCache-Control: no-cache\r\n"));
    cr_expect(has_got(&client, "404 Not Found"));
    cr_expect(!has_got(&client, "p {}") && !has_got(&client, "{\"error"));
    network_client_close(&client, &loop);
}

/* What the client has already is not sent again. */
Test(http_door, conditional)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /asset HTTP/1.1\r\n" HOST "If-None-Match: W/\"7\"\r\n\r\n"
                       "GET /echo?middle HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "middle");
    cr_expect(has_got(&client, "HTTP/1.1 304 Not Modified\r\n"));
    cr_expect(has_got(&client, "ETag: \"7\"\r\n"));
    cr_expect(!has_got(&client, "p {}") && !has_got(&client, "Content-Length: 4"));
    send_text(&client, "GET /asset HTTP/1.1\r\n" HOST "If-None-Match: \"6\"\r\n\r\n");
    wait_for(&client, "p {}");
    network_client_close(&client, &loop);
}

/* The client's encoding is chosen, and each has a tag of its own. */
Test(http_door, an_asset_may_be_compressed)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /asset HTTP/1.1\r\n" HOST "Accept-Encoding: br, gzip;q=0.5\r\n\r\n");
    wait_for(&client, "smaller");
    cr_expect(has_got(&client, "Content-Encoding: gzip\r\nContent-Length: 7\r\n"));
    cr_expect(has_got(&client, "ETag: \"7z\"\r\n"));
    cr_expect(has_got(&client, "Vary: Accept, Accept-Encoding\r\n"));
    send_text(&client, "GET /asset HTTP/1.1\r\n" HOST "Accept-Encoding: gzip;q=0\r\n"
                       "If-None-Match: \"7z\"\r\n\r\n");
    wait_for(&client, "p {}");
    send_text(&client, "GET /asset HTTP/1.1\r\n" HOST "Accept-Encoding: gzip\r\n"
                       "If-None-Match: \"7\", \"7z\"\r\n\r\n");
    wait_for(&client, "304 Not Modified");
    cr_expect(count_of(&client, "smaller") == 1);
    network_client_close(&client, &loop);
}

/* A handler's headers are sent, and none of them ends early. */
Test(http_door, a_handler_has_headers)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /who HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "local at ''");
    cr_expect(has_got(&client, "X-Client: a  X-Injected: b\r\n"));
    cr_expect(has_got(&client, "Content-Security-Policy: default-src 'self'\r\n"));
    network_client_close(&client, &loop);
}

/* The base is taken off, and need not be there; a read-only door changes nothing. */
Test(http_door, base_and_read_only)
{
    struct network_client client;

    close_door();
    open_door_with(&(struct http_options){.base = "/clicks/eu", .is_read_only = true});
    client_open(&client);
    send_text(&client, "GET /clicks/eu/who HTTP/1.1\r\n" HOST "\r\n"
                       "GET /who HTTP/1.1\r\n" HOST "\r\n"
                       "GET /clicks/eu HTTP/1.1\r\n" HOST "\r\n"
                       "GET /clicks/eua/who HTTP/1.1\r\n" HOST "\r\n"
                       "POST /change HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n");
    wait_for(&client, "\"error\":\"read_only\"");
    cr_expect(count_of(&client, "local at '/clicks/eu', read only") == 3);
    cr_expect(count_of(&client, "404 Not Found") == 1);
    cr_expect(count_of(&client, "403 Forbidden") == 1);
    network_client_close(&client, &loop);
}

/* Requests that come together are answered in their order, and so are those that come by single
 * bytes. */
Test(http_door, requests_in_a_row)
{
    static const char requests[] =
        "GET /echo?first HTTP/1.1\r\n" HOST "\r\n"
        "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 7\r\n\r\na\nb GET"
        "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"
        "GET /echo?fourth HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"
        "GET /echo?fifth HTTP/1.1\r\n" HOST "\r\n";
    struct network_client client;
    struct buffer whole = {0};

    for (int is_slow = 0; is_slow < 2; is_slow++) {
        client_open(&client);
        for (size_t i = 0; is_slow && i < sizeof requests - 1; i++) {
            network_write(client.connection, bytes_of(requests + i, 1));
            uv_run(&loop, UV_RUN_NOWAIT);
        }
        if (!is_slow)
            send_text(&client, requests);
        wait_end(&client);
        cr_expect(count_of(&client, "HTTP/1.1 ") == 4);
        cr_expect(has_got(&client, "first") && has_got(&client, "\r\n\r\na\nb GETHTTP/1.1 200"));
        cr_expect(has_got(&client, "fourth") && !has_got(&client, "fifth"));
        if (!is_slow)
            buffer_append_bytes(&whole, buffer_view(&client.got));
        else
            cr_expect(whole.size == client.got.size);
        network_client_close(&client, &loop);
    }
    buffer_release(&whole);
}

/* A client that half-closes gets the answers to what it has sent. */
Test(http_door, half_close)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /echo?one HTTP/1.1\r\n" HOST "\r\nGET /echo?two HTTP/1.1\r\n" HOST
                       "\r\nGET /echo?thr");
    network_finish(client.connection);
    wait_end(&client);
    cr_expect(count_of(&client, "HTTP/1.1 ") == 2 && has_got(&client, "two"));
    network_client_close(&client, &loop);
}

/* ---- bodies ---- */

Test(http_door, a_large_body_comes_in_pieces)
{
    struct network_client client;
    struct buffer body = {0};

    buffer_put_repeated(&body, 'b', BODY_MAX - 3);
    buffer_append_text(&body, "end");
    client_open(&client);
    send_text(&client, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 100000\r\n"
                       "Expect: 100-continue\r\n\r\n");
    wait_for(&client, "HTTP/1.1 100 Continue\r\n\r\n");
    network_write(client.connection, buffer_view(&body));
    wait_for(&client, "bbbend");
    cr_expect(has_got(&client, "Content-Length: 100000\r\n"));
    network_client_close(&client, &loop);
    buffer_release(&body);
}

/* A body that is not taken is not asked for. */
Test(http_door, bodies_that_are_refused)
{
    expect_last("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 100001\r\n"
                "Expect: 100-continue\r\n\r\n",
                "HTTP/1.1 413 ", "body_too_large");
    expect_last("POST /only-post HTTP/1.1\r\n" HOST "Content-Length: 11\r\n\r\n", "HTTP/1.1 413 ",
                "body_too_large");
    expect_last("POST /nothing HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n", "HTTP/1.1 404 ",
                "not_found");
    expect_last("POST /asset HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n", "HTTP/1.1 405 ",
                "Allow: GET, HEAD\r\n");
    expect_last("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 18446744073709551615\r\n\r\n",
                "HTTP/1.1 413 ", "body_too_large");
}

/* A body takes at most half of what is left in the door's account, so that small requests have
 * room. */
Test(http_door, bodies_without_room)
{
    struct network_client first, second;

    close_door();
    open_door(&(struct http_limits){.bytes_max = 250000});
    client_open(&first);
    send_text(&first, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 100000\r\n"
                      "Expect: 100-continue\r\n\r\n");
    wait_for(&first, "100 Continue");
    cr_expect(held_requests >= 100000);
    client_open(&second);
    send_text(&second, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 100000\r\n\r\n");
    wait_end(&second);
    cr_expect(has_got(&second, "HTTP/1.1 503 ") && has_got(&second, "Retry-After: 1\r\n"));
    network_client_close(&second, &loop);
    client_open(&second);
    send_text(&second, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nsmall");
    wait_for(&second, "small");
    network_client_close(&second, &loop);
    network_client_close(&first, &loop);
}

/* However many bodies are under way, requests without one have room. */
Test(http_door, bodies_leave_room)
{
    enum { CLIENTS = 60 };
    static struct network_client clients[CLIENTS], other;
    char text[200];

    close_door();
    open_door(&(struct http_limits){.bytes_max = 250000});
    for (int i = 0; i < CLIENTS; i++) {
        client_open(&clients[i]);
        (void)snprintf(text, sizeof text,
                       "POST /echo HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n",
                       BODY_MAX >> (i < 32 ? i / 2 : 16));
        send_text(&clients[i], text);
        turns();
    }
    cr_expect(has_got(&clients[CLIENTS - 1], "HTTP/1.1 503 "));
    client_open(&other);
    send_text(&other, "GET /echo?small HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&other, "\r\n\r\n");
    cr_expect(has_got(&other, "small"));
    network_client_close(&other, &loop);
    for (int i = 0; i < CLIENTS; i++)
        network_client_close(&clients[i], &loop);
}

/* What a client sends behind a body takes no room from the heads that others have begun, though
 * the body is larger than all of that room. */
Test(http_door, a_large_body_with_more_behind_it)
{
    struct network_client client, other;
    struct buffer text = {0};

    close_door();
    open_door(&(struct http_limits){.head_bytes_max = 80000});
    client_open(&other);
    send_text(&other, "GET /echo?other HTTP/1.1\r\n");
    turns();
    buffer_printf(&text, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n", BODY_MAX);
    buffer_put_repeated(&text, 'x', BODY_MAX);
    buffer_append_text(&text, "GET /echo?behind HTTP/1.1\r\n" HOST "\r\nGET /ec");
    client_open(&client);
    network_write(client.connection, buffer_view(&text));
    wait_for(&client, "behind");
    turns();
    cr_expect(held_requests < 50000, "the body's room was given back");
    send_text(&other, HOST "\r\n");
    wait_for(&other, "other");
    network_client_close(&other, &loop);
    network_client_close(&client, &loop);
    buffer_release(&text);
}

/* The second request is there while the handler of the first one works. */
Test(http_door, the_time_of_a_request_has_its_wait)
{
    const struct metric *seconds = metrics_find(metrics, "daybook_http_request_seconds");
    struct network_client clients[2];

    for (size_t i = 0; i < 2; i++) {
        client_open(&clients[i]);
        send_text(&clients[i], "GET /slow HTTP/1.1\r\n" HOST "\r\n");
    }
    for (size_t i = 0; i < 2; i++)
        wait_for(&clients[i], "slow");
    cr_expect(seconds->count == 2 && seconds->value >= 3 * SLOW_US, "%" PRId64 " us",
              seconds->value);
    for (size_t i = 0; i < 2; i++)
        network_client_close(&clients[i], &loop);
}

/* ---- refusals ---- */

/* After a request that is none, nothing of the connection is taken. */
Test(http_door, refusals_close)
{
    expect_last("GET / HTTP/1.1\n" HOST "\n", "HTTP/1.1 400 Bad Request\r\n", "\"bare_lf\"");
    expect_last("GET /echo HTTP/1.1\r\nHost: evil.example.com\r\n\r\n",
                "HTTP/1.1 421 Misdirected Request\r\n", "\"bad_host\"");
    expect_last("POST /echo HTTP/1.1\r\n" HOST "Origin: http://evil.example.com\r\n"
                "Content-Length: 2\r\n\r\nab",
                "HTTP/1.1 403 Forbidden\r\n", "\"bad_origin\"");
    expect_last("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                "0\r\n\r\nGET /echo?smuggled HTTP/1.1\r\n" HOST "\r\n",
                "HTTP/1.1 501 Not Implemented\r\n", "\"transfer_encoding\"");
    expect_last("PUT /echo HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 405 ",
                "Allow: GET, HEAD, POST\r\n");
    cr_expect(metrics_find(metrics, "daybook_http_refused_total")->value == 5);
}

/* A good request for what is not there leaves the connection open. */
Test(http_door, not_found_goes_on)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /nothing HTTP/1.1\r\n" HOST "\r\n"
                       "GET /only-post HTTP/1.1\r\n" HOST "\r\n"
                       "GET /echo?after HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "after");
    cr_expect(has_got(&client, "{\"error\":\"not_found\",\"what\":\""));
    cr_expect(has_got(&client, "Content-Type: application/json\r\n"));
    cr_expect(has_got(&client, "405 Method Not Allowed\r\n") &&
              has_got(&client, "Allow: POST\r\n"));
    network_client_close(&client, &loop);
}

/* What a handler refuses, with words of the client in it. */
Test(http_door, a_refusal_is_json)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /refusal HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "{\"error\":\"bad_day\",\"what\":\"\\\"2013-13-01\\\" is no day\","
                      "\"where\":\"from\",\"todo\":\"\"}\n");
    cr_expect(has_got(&client, "HTTP/1.1 422 Unprocessable Content\r\n"));
    network_client_close(&client, &loop);
}

/* ---- answers in pieces ---- */

/* The body of a chunked answer in what was got, into `body`.  False: it has no end. */
static bool take_chunks(const struct network_client *client, struct buffer *body)
{
    const uint8_t *at = memmem(client->got.data, client->got.size, "\r\n\r\n", 4);
    const uint8_t *end = client->got.data + client->got.size;

    for (at += 4; at < end;) {
        char *after;
        size_t size = strtoul((const char *)at, &after, 16);

        cr_assert(memcmp(after, "\r\n", 2) == 0);
        at = (const uint8_t *)after + 2;
        if (size == 0)
            return memcmp(at, "\r\n", 2) == 0;
        if ((size_t)(end - at) < size + 2)
            return false;
        buffer_append(body, at, size);
        cr_assert(memcmp(at + size, "\r\n", 2) == 0);
        at += size + 2;
    }
    return false;
}

/* The pieces come whole, and the connection goes on; by HTTP/1.0 it ends with them. */
Test(http_door, a_stream)
{
    struct network_client client;
    struct buffer body = {0};

    client_open(&client);
    stream = (struct stream){.pieces_left = 20};
    send_text(&client, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "\r\n0\r\n\r\n");
    cr_expect(has_got(&client, "Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n"));
    cr_expect(take_chunks(&client, &body) && body.size == 20 * PIECE);
    cr_expect(body.data[0] == 'b' && body.data[body.size - 1] == 'a' + 20);
    send_text(&client, "GET /echo?next HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "next");
    cr_expect(!held_is_gone);
    network_client_close(&client, &loop);
    client_open(&client);
    stream = (struct stream){.pieces_left = 2};
    send_text(&client, "GET /stream HTTP/1.0\r\n" HOST "\r\n");
    wait_end(&client);
    cr_expect(!has_got(&client, "Transfer-Encoding") && has_got(&client, "Connection: close"));
    cr_expect(memcmp(client.got.data + client.got.size - 2 * PIECE - 1, "\nb", 2) == 0);
    network_client_close(&client, &loop);
    buffer_release(&body);
}

/* HEAD and If-None-Match have the whole answer at once. */
Test(http_door, a_stream_without_a_body)
{
    struct network_client client;

    client_open(&client);
    stream = (struct stream){.pieces_left = 20};
    send_text(&client, "HEAD /stream HTTP/1.1\r\n" HOST "\r\n"
                       "GET /stream HTTP/1.1\r\n" HOST "If-None-Match: \"stream\"\r\n\r\n"
                       "GET /echo?next HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "next");
    cr_expect(stream.piece_count == 0 && stream.exchange == NULL && !held_is_gone);
    cr_expect(count_of(&client, "200 OK") == 2 && count_of(&client, "304 Not Modified") == 1);
    network_client_close(&client, &loop);
}

/* Memory holds what the client has not taken of one piece; a client that takes nothing is closed.
 */
Test(http_door, a_stream_waits_for_its_reader)
{
    struct network_client client;

    client_open(&client);
    network_pause(client.connection);
    stream = (struct stream){.pieces_left = UINT32_MAX};
    send_text(&client, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    while (held_answers == 0)
        uv_run(&loop, UV_RUN_ONCE);
    uint32_t count = stream.piece_count;
    turns();
    cr_expect(stream.piece_count == count && held_answers <= PIECE + 100);
    while (!held_is_gone)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(held_answers == 0);
    network_client_close(&client, &loop);
}

/* A client that closes, or only ends its side, has left. */
Test(http_door, a_client_may_leave_a_stream)
{
    struct network_client client;

    for (int is_half = 0; is_half < 2; is_half++) {
        held_is_gone = false;
        client_open(&client);
        stream = (struct stream){.pieces_left = 3, .is_paused = true};
        send_text(&client, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
        wait_for(&client, "chunked");
        if (is_half)
            network_finish(client.connection);
        else
            network_client_close(&client, &loop);
        while (!held_is_gone)
            uv_run(&loop, UV_RUN_ONCE);
        if (is_half)
            network_client_close(&client, &loop);
    }
}

/* A body that cannot be made whole has no last chunk. */
Test(http_door, a_stream_that_is_cut)
{
    struct network_client client;
    struct buffer body = {0};

    client_open(&client);
    stream = (struct stream){.pieces_left = 1, .is_cut = true};
    send_text(&client, "GET /stream HTTP/1.1\r\n" HOST "\r\n");
    wait_end(&client);
    cr_expect(!take_chunks(&client, &body) && body.size == PIECE);
    cr_expect(!held_is_gone);
    network_client_close(&client, &loop);
    buffer_release(&body);
}

/* ---- time ---- */

Test(http_door, late_heads_and_bodies)
{
    expect_last("GET /echo HTT", "HTTP/1.1 408 ", "\"late\"");
    expect_last("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nab", "HTTP/1.1 408 ",
                "\"late\"");
}

Test(http_door, an_idle_connection_is_closed)
{
    struct network_client client;
    uint64_t began_ms = uv_now(&loop);

    client_open(&client);
    wait_end(&client);
    cr_expect(client.got.size == 0);
    cr_expect(uv_now(&loop) - began_ms >= 399);
    network_client_close(&client, &loop);
}

/* A client that reads nothing of its answer for so long is hung up on. */
Test(http_door, a_slow_reader_is_closed)
{
    struct network_client client;

    client_open(&client);
    network_pause(client.connection);
    send_text(&client, "GET /large HTTP/1.1\r\n" HOST "\r\n");
    while (held_answers == 0)
        uv_run(&loop, UV_RUN_ONCE);
    while (metrics_find(metrics, "daybook_http_connections")->value > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(held_answers == 0);
    network_client_close(&client, &loop);
}

Test(http_door, a_large_answer_comes_whole)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /large HTTP/1.0\r\n" HOST "\r\n");
    wait_end(&client);
    cr_expect(client.got.size > LARGE && client.got.data[client.got.size - 1] == 'x');
    network_client_close(&client, &loop);
}

/* ---- answers that come later ---- */

Test(http_door, an_answer_may_come_later)
{
    struct network_client client;

    client_open(&client);
    send_text(&client,
              "GET /later HTTP/1.1\r\n" HOST "\r\nGET /echo?next HTTP/1.1\r\n" HOST "\r\n");
    while (held == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < 10; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect(client.got.size == 0 && later_count == 1);
    answer_held();
    wait_for(&client, "next");
    cr_expect(has_got(&client, "late"));
    cr_expect(!held_is_gone);
    network_client_close(&client, &loop);
}

/* A client that leaves while its answer is computed. */
Test(http_door, a_client_may_leave_before_its_answer)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /later HTTP/1.1\r\n" HOST "\r\n");
    while (held == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    network_client_close(&client, &loop);
    while (!held_is_gone)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(held_requests == 0);
}

/* What a client sends ahead is not read further than the first bytes. */
Test(http_door, little_is_read_ahead)
{
    struct network_client client;
    struct buffer ahead = {0};

    client_open(&client);
    send_text(&client, "GET /later HTTP/1.1\r\n" HOST "\r\n");
    while (held == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    buffer_put_repeated(&ahead, 'x', 100000);
    network_write(client.connection, buffer_view(&ahead));
    turns();
    cr_expect(held_requests < 50000);
    answer_held();
    wait_end(&client);
    cr_expect(has_got(&client, "late") && has_got(&client, "head_too_large"));
    network_client_close(&client, &loop);
    buffer_release(&ahead);
}

/* The door closes while a request is under way: its handler learns that. */
Test(http_door, a_request_under_way_when_the_door_closes)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "GET /later HTTP/1.1\r\n" HOST "\r\n");
    while (held == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    close_door();
    cr_expect(held_is_gone);
    open_door(&(struct http_limits){0});
    network_client_close(&client, &loop);
}

/* ---- crowds ---- */

/* Many heads that are begun and not ended have a small account; the first ones go. */
Test(http_door, begun_heads_share_an_account)
{
    enum { CLIENTS = 20 };
    static struct network_client clients[CLIENTS];
    struct buffer head = {0};

    close_door();
    open_door(&(struct http_limits){.head_bytes_max = 100000});
    buffer_append_text(&head, "GET /echo HTTP/1.1\r\n" HOST "X: ");
    buffer_put_repeated(&head, 'a', 8000);
    for (int i = 0; i < CLIENTS; i++) {
        client_open(&clients[i]);
        network_write(clients[i].connection, buffer_view(&head));
        for (int turn = 0; turn < 5; turn++)
            uv_run(&loop, UV_RUN_NOWAIT);
    }
    wait_end(&clients[0]);
    cr_expect(!clients[CLIENTS - 1].has_ended);
    send_text(&clients[CLIENTS - 1], "\r\n\r\n");
    wait_for(&clients[CLIENTS - 1], "200 OK");
    for (int i = 0; i < CLIENTS; i++)
        network_client_close(&clients[i], &loop);
    buffer_release(&head);
}

/* Readers that take nothing of large answers fill the account; who holds most of it goes. */
Test(http_door, slow_readers_share_an_account)
{
    struct network_client first, second;

    close_door();
    open_door(&(struct http_limits){.bytes_max = LARGE + LARGE / 2});
    client_open(&first);
    network_pause(first.connection);
    send_text(&first, "GET /large HTTP/1.1\r\n" HOST "\r\n");
    while (held_answers == 0)
        uv_run(&loop, UV_RUN_ONCE);
    client_open(&second);
    network_pause(second.connection);
    send_text(&second, "GET /large HTTP/1.1\r\n" HOST "\r\n");
    while (metrics_find(metrics, "daybook_http_shed_total")->value == 0)
        uv_run(&loop, UV_RUN_ONCE);
    turns();
    cr_expect(held_answers > 0 && held_answers <= LARGE + LARGE / 2);
    network_client_close(&first, &loop);
    network_client_close(&second, &loop);
}

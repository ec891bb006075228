/* The HTTP door, spoken to over real sockets, with routes that the test answers for: answers and
 * their headers, keep-alive, bodies, refusals, deadlines, accounts, and requests whose clients hang
 * up. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <uv.h>

#include "base/world/world.h"
#include "door/http_door.h"
#include "tests/lib/network_client.h"

enum { BODY_MAX = 100000, LARGE = 8 << 20 };

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
    http_door_answer(exchange, &(struct http_answer){.status = 200,
                                                     .type = "text/css",
                                                     .body = bytes_text("p {}"),
                                                     .etag = "\"7\""});
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

/* ---- the door ---- */

static uv_loop_t loop;
static struct network *network;
static struct world *world;
static struct metrics *metrics;
static struct http_door *door;
static int64_t held_requests, held_answers;
static bool door_is_closed;
static char root[] = "/tmp/daybook-http-XXXXXX";

static void charge(void *context, int64_t request_bytes, int64_t answer_bytes)
{
    (void)context;
    held_requests += request_bytes;
    held_answers += answer_bytes;
}

static void open_door(const struct http_limits *limits)
{
    static const struct http_route routes[] = {
        {"/echo", HTTP_METHOD_GET | HTTP_METHOD_POST, BODY_MAX, serve_echo, NULL},
        {"/asset", HTTP_METHOD_GET, 0, serve_asset, NULL},
        {"/large", HTTP_METHOD_GET, 0, serve_large, NULL},
        {"/later", HTTP_METHOD_GET, 0, serve_later, NULL},
        {"/only-post", HTTP_METHOD_POST, 10, serve_echo, NULL},
    };

    door = http_door_new(&(struct http_options){
        .world = world, .network = network, .metrics = metrics, .held = charge, .limits = *limits});
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
        http_door_route(door, &routes[i]);
}

static void setup(void)
{
    struct error err = {0};

    cr_assert(mkdtemp(root) != NULL);
    cr_assert(uv_loop_init(&loop) == 0);
    network = network_uv_new(&loop);
    metrics = metrics_new();
    cr_assert(world_uv_open(root, false, &loop, &world, &err) == 0, "%s", err.text);
    open_door(&(struct http_limits){
        .head_ms = 150, .body_ms = 160, .idle_ms = 400, .slow_reader_ms = 170, .linger_ms = 180});
}

static void closed(void *context)
{
    (void)context;
    door_is_closed = true;
}

static void close_door(void)
{
    door_is_closed = false;
    http_door_close(door, closed, NULL);
    while (!door_is_closed)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(held_requests == 0 && held_answers == 0, "all memory was given back");
}

static void teardown(void)
{
    close_door();
    metrics_free(metrics);
    network_uv_free(network);
    world_uv_close(world);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(uv_loop_close(&loop) == 0, "every handle was given back");
    rmdir(root);
}

TestSuite(http_door, .init = setup, .fini = teardown, .timeout = 60);

/* ---- clients ---- */

#define HOST "Host: localhost\r\n"

static void client_open(struct network_client *client)
{
    memset(client, 0, sizeof *client);
    http_door_attach(door, network_client_open(client, network));
}

static void send_text(struct network_client *client, const char *text)
{
    network_write(client->connection, bytes_text(text));
}

static bool has_got(struct network_client *client, const char *text)
{
    return client->got.size > 0 &&
           memmem(client->got.data, client->got.size, text, strlen(text)) != NULL;
}

static void wait_for(struct network_client *client, const char *text)
{
    while (!has_got(client, text)) {
        cr_assert(!client->has_ended, "no \"%s\" in \"%.*s\"", text, (int)client->got.size,
                  (const char *)client->got.data);
        uv_run(&loop, UV_RUN_ONCE);
    }
}

static void wait_end(struct network_client *client)
{
    while (!client->has_ended)
        uv_run(&loop, UV_RUN_ONCE);
}

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

static uint32_t count_answers(const struct network_client *client)
{
    static const char start[] = "HTTP/1.1 ";
    struct bytes left = buffer_view(&client->got);
    uint32_t count = 0;
    const uint8_t *at;

    while ((at = memmem(left.data, left.size, start, sizeof start - 1)) != NULL) {
        count++;
        left = bytes_of(at + 1, left.size - (size_t)(at + 1 - left.data));
    }
    return count;
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
        cr_expect(count_answers(&client) == 4);
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
    cr_expect(count_answers(&client) == 2 && has_got(&client, "two"));
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

/* Bodies have room in the door's account, or are told to come again. */
Test(http_door, bodies_without_room)
{
    struct network_client first, second;

    close_door();
    open_door(&(struct http_limits){.bytes_max = 150000});
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
    network_client_close(&first, &loop);
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

/* http_fixture: an HTTP door and its clients, over real sockets. */
#ifndef DAYBOOK_TESTS_HTTP_FIXTURE_H
#define DAYBOOK_TESTS_HTTP_FIXTURE_H

#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <uv.h>

#include "base/world/world.h"
#include "door/http_door.h"
#include "tests/lib/network_client.h"

/* The test's: adds its routes to `door`. */
static void add_routes(void);

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

/* The door with the routes of the test, which has `add_routes`. */
static void open_door_with(const struct http_options *wanted)
{
    struct http_options options = *wanted;

    options.world = world;
    options.network = network;
    options.metrics = metrics;
    options.held = charge;
    door = http_door_new(&options);
    add_routes();
}

static inline void open_door(const struct http_limits *limits)
{
    open_door_with(&(struct http_options){.limits = *limits});
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

static inline void close_door(void)
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

/* ---- clients ---- */

#define HOST "Host: localhost\r\n"

static inline void client_open(struct network_client *client)
{
    memset(client, 0, sizeof *client);
    http_door_attach(door, network_client_open(client, network));
}

static inline void send_text(struct network_client *client, const char *text)
{
    network_write(client->connection, bytes_text(text));
}

static inline bool has_got(struct network_client *client, const char *text)
{
    return client->got.size > 0 &&
           memmem(client->got.data, client->got.size, text, strlen(text)) != NULL;
}

static inline void wait_for(struct network_client *client, const char *text)
{
    while (!has_got(client, text)) {
        cr_assert(!client->has_ended, "no \"%s\" in \"%.*s\"", text, (int)client->got.size,
                  (const char *)client->got.data);
        uv_run(&loop, UV_RUN_ONCE);
    }
}

static inline void wait_end(struct network_client *client)
{
    while (!client->has_ended)
        uv_run(&loop, UV_RUN_ONCE);
}

/* Turns of the loop after which nothing more comes by itself. */
enum { TURNS = 20 };

static inline void turns(void)
{
    for (int i = 0; i < TURNS; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
}

/* How often the text is in what the client got. */
static inline uint32_t count_of(const struct network_client *client, const char *text)
{
    struct bytes left = buffer_view(&client->got);
    uint32_t count = 0;
    const uint8_t *at;

    while (left.size > 0 && (at = memmem(left.data, left.size, text, strlen(text))) != NULL) {
        count++;
        left = bytes_of(at + 1, left.size - (size_t)(at + 1 - left.data));
    }
    return count;
}
#endif

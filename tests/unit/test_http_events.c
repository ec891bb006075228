/* Event streams: what a viewer gets when it comes, then, when it is slow, and when it comes back;
 * and heartbeats. */
#include <stdio.h>

#include "door/http_events.h"
#include "tests/unit/http_fixture.h"

enum { HEARTBEAT_MS = 200 };

static struct http_events *events;

static void serve_events(void *context, struct http_exchange *exchange)
{
    (void)context;
    http_events_join(events, exchange);
}

static void add_routes(void)
{
    static const struct http_route route = {"/events", HTTP_METHOD_GET, 0, serve_events, NULL,
                                            false};

    http_door_route(door, &route);
}

static void events_setup(void)
{
    setup();
    events = http_events_new(world, HEARTBEAT_MS);
}

static void events_teardown(void)
{
    http_events_free(events);
    teardown();
}

TestSuite(http_events, .init = events_setup, .fini = events_teardown, .timeout = 60);

static void set(const char *name, const char *data)
{
    http_events_set(events, name, bytes_text(data));
}

static void join(struct network_client *client, const char *last_id)
{
    client_open(client);
    send_text(client, "GET /events HTTP/1.1\r\n" HOST);
    if (last_id != NULL) {
        send_text(client, "Last-Event-ID: ");
        send_text(client, last_id);
        send_text(client, "\r\n");
    }
    send_text(client, "\r\n");
    wait_for(client, "retry: 2000\n\n");
}

/* A viewer gets the states that are there, then each new one. */
Test(http_events, a_viewer)
{
    struct network_client client;

    cr_expect(http_events_viewers(events) == 0);
    set("live", "{\"old\":1}");
    set("live", "{\"clicks\":1}");
    set("rates", "one\r\ntwo\n");
    join(&client, NULL);
    wait_for(&client, "event: rates\ndata: one\ndata: two\ndata: \n\n");
    cr_expect(has_got(&client, "-2\nevent: live\ndata: {\"clicks\":1}\n\nid: "));
    cr_expect(!has_got(&client, "old"));
    cr_expect(has_got(&client, "Content-Type: text/event-stream\r\n"));
    cr_expect(has_got(&client, "X-Accel-Buffering: no\r\n"));
    cr_expect(has_got(&client, "Cache-Control: no-store\r\n"));
    cr_expect(http_events_viewers(events) == 1);
    set("live", "{\"clicks\":2}");
    wait_for(&client, "{\"clicks\":2}");
    turns();
    cr_expect(count_of(&client, "event: live\n") == 2 && count_of(&client, "event: rates\n") == 1);
    network_client_close(&client, &loop);
    while (http_events_viewers(events) > 0)
        uv_run(&loop, UV_RUN_ONCE);
}

/* After a time without viewers the last states are old. */
Test(http_events, states_are_forgotten)
{
    struct network_client client;

    set("live", "old");
    http_events_forget(events);
    join(&client, NULL);
    turns();
    cr_expect(!has_got(&client, "event: live"));
    set("live", "new");
    wait_for(&client, "-2\nevent: live\ndata: new\n");
    network_client_close(&client, &loop);
}

/* All of many viewers get a state, in several turns, and leave in any order. */
Test(http_events, many_viewers)
{
    enum { CLIENTS = 150 };
    static struct network_client clients[CLIENTS];

    for (int i = 0; i < CLIENTS; i++)
        join(&clients[i], NULL);
    set("live", "first");
    for (int i = 0; i < CLIENTS; i++)
        wait_for(&clients[i], "data: first\n");
    for (int i = 0; i < CLIENTS; i += 3)
        network_client_close(&clients[i], &loop);
    set("live", "second");
    for (int i = 0; i < CLIENTS; i++)
        if (i % 3 != 0)
            wait_for(&clients[i], "data: second\n");
    cr_expect(http_events_viewers(events) == CLIENTS - CLIENTS / 3);
    for (int i = 0; i < CLIENTS; i++)
        if (i % 3 != 0)
            network_client_close(&clients[i], &loop);
}

/* A viewer that reads nothing for a while costs one state, and then gets the last one. */
Test(http_events, a_slow_viewer)
{
    enum { SIZE = 100000, STATES = 200 };
    struct network_client client;
    struct buffer data = {0};

    close_door();
    open_door(&(struct http_limits){0});
    join(&client, NULL);
    network_pause(client.connection);
    for (int i = 0; i < STATES; i++) {
        buffer_clear(&data);
        buffer_put_repeated(&data, (uint8_t)('a' + i % 26), SIZE);
        buffer_printf(&data, "state %d.", i);
        http_events_set(events, "live", buffer_view(&data));
        turns();
        cr_assert(held_answers <= SIZE + 1000);
    }
    cr_expect(held_answers > 0);
    network_resume(client.connection);
    wait_for(&client, "state 199.");
    cr_expect(count_of(&client, "event: live\n") < STATES / 2);
    network_client_close(&client, &loop);
    buffer_release(&data);
}

/* Slow viewers that fill the account leave within a push, and the others go on. */
Test(http_events, slow_viewers_share_an_account)
{
    enum { SLOW = 8, SIZE = 100000, STATES = 6 };
    static struct network_client slow[SLOW], quick;
    struct buffer data = {0};

    close_door();
    open_door(&(struct http_limits){.bytes_max = 3 * SIZE + SIZE / 2});
    for (int i = 0; i < SLOW; i++) {
        join(&slow[i], NULL);
        network_pause(slow[i].connection);
    }
    join(&quick, NULL);
    for (int i = 0; i < STATES; i++) {
        buffer_clear(&data);
        buffer_put_repeated(&data, 'x', SIZE);
        buffer_printf(&data, "state %d.", i);
        http_events_set(events, "live", buffer_view(&data));
        turns();
    }
    wait_for(&quick, "state 5.");
    cr_expect(http_events_viewers(events) > 1 && http_events_viewers(events) < 1 + SLOW);
    cr_expect(held_answers <= 3 * SIZE + SIZE / 2);
    cr_expect(metrics_find(metrics, "daybook_http_shed_total")->value ==
              1 + SLOW - http_events_viewers(events));
    for (int i = 0; i < SLOW; i++)
        network_client_close(&slow[i], &loop);
    network_client_close(&quick, &loop);
    buffer_release(&data);
}

static bool is_answered(void)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "HEAD /events HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "\r\n\r\n");
    bool is_ok = has_got(&client, "HTTP/1.1 200 ");
    network_client_close(&client, &loop);
    return is_ok;
}

/* However many viewers there are and whatever they send, other requests are answered, and the last
 * viewer to come is one. */
Test(http_events, viewers_leave_room_to_others)
{
    enum { CLIENTS = 60, ROOM = 100000, HEAD = 12000 };
    static struct network_client clients[CLIENTS];
    struct buffer head = {0};

    close_door();
    open_door(&(struct http_limits){.bytes_max = ROOM});
    buffer_append_text(&head, "GET /events HTTP/1.1\r\n" HOST "X-Large: ");
    buffer_put_repeated(&head, 'x', HEAD);
    buffer_append_text(&head, "\r\n\r\n");
    for (int i = 0; i < CLIENTS; i++) {
        client_open(&clients[i]);
        network_write(clients[i].connection, buffer_view(&head));
        wait_for(&clients[i], "retry: 2000\n\n");
        turns();
        cr_assert(held_requests <= ROOM / 2 + HEAD, "%d", (int)held_requests);
        cr_assert(is_answered());
    }
    cr_expect(http_events_viewers(events) > 5 && http_events_viewers(events) < CLIENTS);
    set("live", "news");
    wait_for(&clients[CLIENTS - 1], "data: news\n");
    for (int i = 0; i < CLIENTS; i++)
        network_client_close(&clients[i], &loop);
    buffer_release(&head);
}

/* What slow viewers leave unsent is a part of the room for answers; the one that takes nothing for
 * longest goes. */
Test(http_events, slow_viewers_leave_room_to_others)
{
    enum { SLOW = 12, SIZE = 100000, STATES = 60, ROOM = 16 * SIZE };
    static struct network_client slow[SLOW], quick;
    struct buffer data = {0};

    close_door();
    open_door(&(struct http_limits){.bytes_max = ROOM});
    for (int i = 0; i < SLOW; i++)
        join(&slow[i], NULL);
    join(&quick, NULL);
    for (int i = 0; i < STATES; i++) {
        network_pause(slow[i % SLOW].connection);
        buffer_clear(&data);
        buffer_put_repeated(&data, 'x', SIZE);
        buffer_printf(&data, "state %d.", i);
        http_events_set(events, "live", buffer_view(&data));
        turns();
        cr_assert(held_answers <= ROOM / 4 + SIZE + 1000, "%d", (int)held_answers);
        cr_assert(is_answered());
    }
    wait_for(&quick, "state 59.");
    cr_expect(http_events_viewers(events) > 1 && http_events_viewers(events) <= 1 + SLOW / 2);
    for (int i = 0; i < SLOW; i++)
        network_client_close(&slow[i], &loop);
    network_client_close(&quick, &loop);
    buffer_release(&data);
}

/* A viewer that comes back gets what it has not seen; after a restart of the server all. */
Test(http_events, coming_back)
{
    static const char *const strange[] = {"", "x", "00000000-1", "18446744073709551615"};
    struct network_client client;
    char id[32];

    set("live", "first");
    join(&client, NULL);
    wait_for(&client, "first");
    const char *at = memmem(client.got.data, client.got.size, "id: ", 4);
    cr_assert(at != NULL && sscanf(at, "id: %31s", id) == 1);
    network_client_close(&client, &loop);
    set("rates", "second");
    join(&client, id);
    wait_for(&client, "second");
    turns();
    cr_expect(!has_got(&client, "first"));
    network_client_close(&client, &loop);
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        join(&client, strange[i]);
        wait_for(&client, "second");
        cr_expect(has_got(&client, "first"));
        network_client_close(&client, &loop);
    }
    id[strlen(id) - 1] = '9';
    join(&client, id);
    wait_for(&client, "second");
    cr_expect(has_got(&client, "first"), "a number that was never given");
    network_client_close(&client, &loop);
}

/* A viewer without news gets a heartbeat; one that left without a word is found by it. */
Test(http_events, heartbeats)
{
    struct network_client client;

    join(&client, NULL);
    wait_for(&client, "\n:\n\n");
    cr_expect(!has_got(&client, "event:"));
    network_client_close(&client, &loop);
}

/* HEAD is answered, and is no viewer. */
Test(http_events, head)
{
    struct network_client client;

    client_open(&client);
    send_text(&client, "HEAD /events HTTP/1.1\r\n" HOST "\r\n");
    wait_for(&client, "Content-Type: text/event-stream\r\n");
    cr_expect(http_events_viewers(events) == 0);
    network_client_close(&client, &loop);
}

/* The door may be closed before the events, and the events before the door. */
Test(http_events, either_may_end_first)
{
    struct network_client client;

    join(&client, NULL);
    close_door();
    cr_expect(http_events_viewers(events) == 0);
    wait_end(&client);
    network_client_close(&client, &loop);
    open_door(&(struct http_limits){0});
    join(&client, NULL);
    http_events_free(events);
    wait_for(&client, "\r\n0\r\n\r\n");
    events = http_events_new(world, 0);
    network_client_close(&client, &loop);
}

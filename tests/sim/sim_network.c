/* sim_network: see the header.
 *
 * A connection lives until both ends have let go of it: the server by network_close, which is
 * answered by `closed` in a later step as libuv does, the client by sim_network_drop. */
#include "tests/sim/sim_network.h"

#include <errno.h>

#include "base/memory.h"
#include "tests/sim/sim_random.h"

struct connection {
    struct network *network;
    struct connection *next;
    void *client;
    const struct connection_handler *handler;
    void *context;
    struct network_address peer;
    struct buffer to_server;
    struct buffer queued; /* written, and not yet on its way */
    struct buffer to_client;
    bool is_reading;
    bool is_closing;   /* by the server ... */
    bool is_closed;    /* ... which was told */
    bool is_finishing; /* half-closed by the server */
    bool is_dropped;   /* by the client ... */
    bool has_ended;    /* ... of which the server was told */
};

struct network {
    struct connection *connections;
    struct sim_random random;
    void (*written)(void *client, struct bytes bytes);
};

/* What a step can do. */
enum event { EVENT_DATA, EVENT_END, EVENT_SEND, EVENT_CLOSED, EVENT_COUNT };

struct network *sim_network_new(uint64_t seed, void (*written)(void *client, struct bytes bytes))
{
    struct network *network = memory_zeroed(1, sizeof *network);
    network->random.state = seed;
    network->written = written;
    return network;
}

void sim_network_free(struct network *network)
{
    check(network->connections == NULL);
    memory_free(network);
}

/* ---- the server's end ---- */

void network_start(struct connection *connection, const struct connection_handler *handler,
                   void *context)
{
    connection->handler = handler;
    connection->context = context;
    connection->is_reading = true;
}

void network_stop(struct connection *connection)
{
    connection->handler = NULL;
    connection->is_reading = false;
}

void network_pause(struct connection *connection)
{
    connection->is_reading = false;
}

void network_resume(struct connection *connection)
{
    connection->is_reading = true;
}

void network_write(struct connection *connection, struct bytes bytes)
{
    if (connection->is_closing)
        return;
    if (connection->network->written != NULL)
        connection->network->written(connection->client, bytes);
    buffer_append_bytes(&connection->queued, bytes);
}

size_t network_queued(const struct connection *connection)
{
    return connection->queued.size;
}

void network_finish(struct connection *connection)
{
    connection->is_finishing = true;
}

void network_close(struct connection *connection)
{
    connection->is_closing = true;
}

void network_addresses(const struct connection *connection, struct network_address *local_out,
                       struct network_address *peer_out)
{
    *local_out = (struct network_address){0};
    *peer_out = connection->peer;
}

void network_keepalive(struct connection *connection, int idle_s, int every_s, int probes)
{
    check(!connection->is_closing && idle_s > 0 && every_s > 0 && probes > 0);
}

/* Nobody asks anything here. */
bool network_has_question(const struct network *network)
{
    (void)network;
    return false;
}

/* Simulated clients are attached, not accepted. */
int network_listen(struct network *network, const char *address,
                   void (*accepted)(void *context, struct connection *connection), void *context,
                   struct listener **listener_out, struct error *err)
{
    (void)network;
    (void)accepted;
    (void)context;
    *listener_out = NULL;
    return error_set(err, -EADDRNOTAVAIL, "%s: the simulated network has no addresses", address);
}

const char *network_listener_address(const struct listener *listener)
{
    check(listener == NULL);
    return "";
}

bool network_listener_is_local(const struct listener *listener)
{
    check(listener == NULL);
    return true;
}

int network_listen_unix(struct network *network, const char *path,
                        void (*accepted)(void *context, struct connection *connection),
                        void *context, struct listener **listener_out, struct error *err)
{
    return network_listen(network, path, accepted, context, listener_out, err);
}

void network_listener_close(struct listener *listener)
{
    check(listener == NULL);
}

/* ---- the client's end ---- */

struct connection *sim_network_connect(struct network *network, void *client)
{
    struct connection *connection = memory_zeroed(1, sizeof *connection);
    connection->network = network;
    connection->client = client;
    connection->next = network->connections;
    network->connections = connection;
    return connection;
}

void sim_network_come_from(struct connection *connection, const struct network_address *peer)
{
    connection->peer = *peer;
}

void sim_network_send(struct connection *connection, struct bytes bytes)
{
    buffer_append_bytes(&connection->to_server, bytes);
}

struct buffer *sim_network_received(struct connection *connection)
{
    return &connection->to_client;
}

bool sim_network_has_ended(const struct connection *connection)
{
    return (connection->is_closing || connection->is_finishing) && connection->queued.size == 0;
}

static void connection_free_if_unused(struct connection *connection)
{
    if (!connection->is_dropped || !connection->is_closed)
        return;
    struct connection **link = &connection->network->connections;
    while (*link != connection)
        link = &(*link)->next;
    *link = connection->next;
    buffer_release(&connection->to_server);
    buffer_release(&connection->queued);
    buffer_release(&connection->to_client);
    memory_free(connection);
}

void sim_network_drop(struct connection *connection)
{
    struct buffer *sent = &connection->to_server;
    check(!connection->is_dropped);
    connection->is_dropped = true;
    sent->size = (size_t)sim_random_below(&connection->network->random, sent->size + 1);
    connection_free_if_unused(connection);
}

/* ---- what happens ---- */

static bool event_can_be(const struct connection *connection, enum event event)
{
    bool is_listening = connection->is_reading && !connection->is_closing;
    switch (event) {
    case EVENT_DATA:
        return is_listening && connection->to_server.size > 0;
    case EVENT_END:
        return is_listening && connection->to_server.size == 0 && connection->is_dropped &&
               !connection->has_ended;
    case EVENT_SEND:
        return connection->queued.size > 0;
    case EVENT_CLOSED:
        return connection->is_closing && !connection->is_closed;
    case EVENT_COUNT:
        break;
    }
    return false;
}

static void buffer_take(struct buffer *buffer, size_t size)
{
    memmove(buffer->data, buffer->data + size, buffer->size - size);
    buffer->size -= size;
}

static void deliver(struct connection *connection, uint64_t part)
{
    uint8_t *to;
    size_t space;
    connection->handler->space(connection->context, &to, &space);
    size_t size = connection->to_server.size;
    if (part % 3 != 0)
        size = 1 + (size_t)(part / 3 % size);
    size = size < space ? size : space;
    memcpy(to, connection->to_server.data, size);
    buffer_take(&connection->to_server, size);
    connection->handler->data(connection->context, size);
}

static void send_on(struct connection *connection, uint64_t part)
{
    size_t size = 1 + (size_t)(part % connection->queued.size);
    if (!connection->is_dropped)
        buffer_append(&connection->to_client, connection->queued.data, size);
    buffer_take(&connection->queued, size);
    if (connection->queued.size == 0 && !connection->is_closing)
        connection->handler->drained(connection->context);
}

static void happen(struct connection *connection, enum event event, uint64_t part)
{
    switch (event) {
    case EVENT_DATA:
        deliver(connection, part);
        return;
    case EVENT_END:
        connection->has_ended = true;
        connection->handler->end(connection->context, part % 2 == 0 ? 0 : -ECONNRESET);
        return;
    case EVENT_SEND:
        send_on(connection, part);
        return;
    case EVENT_CLOSED:
        connection->is_closed = true;
        connection->handler->closed(connection->context);
        connection_free_if_unused(connection);
        return;
    case EVENT_COUNT:
        return;
    }
}

bool sim_network_step(struct network *network)
{
    struct connection *chosen = NULL;
    enum event chosen_event = EVENT_COUNT;
    uint64_t possible = 0;
    for (struct connection *at = network->connections; at != NULL; at = at->next) {
        for (enum event event = EVENT_DATA; event < EVENT_COUNT; event++) {
            if (!event_can_be(at, event) || sim_random_below(&network->random, ++possible) != 0)
                continue;
            chosen = at;
            chosen_event = event;
        }
    }
    if (chosen == NULL)
        return false;
    happen(chosen, chosen_event, sim_random_next(&network->random));
    return true;
}

/* http_connection: a connection of the HTTP door; see http_door_private.h. */
#include <stddef.h>

#include "base/memory.h"
#include "door/http_door_private.h"

/* A reader that takes fewer bytes within slow_reader_ms is too slow, and is closed. */
enum { SLOW_BYTES = 16 << 10 };

static const struct http_refusal late = {408, "late", "the request did not come to its end in time",
                                         "connection", "send it again, at once"};

/* ---- accounts ---- */

static size_t input_held(const struct http_connection *connection)
{
    const struct http_call *call = connection->call;
    size_t size = connection->input.capacity;

    if (call == NULL)
        return size;
    return (call->body_size > size ? call->body_size : size) + sizeof *call + call->head_size;
}

/* Memory of input that belongs to no request under way. */
static size_t input_begun(const struct http_connection *connection)
{
    size_t body_size = connection->call != NULL ? connection->call->body_size : 0;

    return connection->input.size > body_size ? connection->input.capacity - body_size : 0;
}

static void connection_count(struct http_connection *connection)
{
    struct http_door *door = connection->door;
    bool is_gone = connection->is_closing;

    quota_charge(connection->is_endless ? &door->endless_requests : &door->requests,
                 &connection->input_bytes, is_gone ? 0 : input_held(connection));
    quota_charge(connection->is_endless ? &door->endless_answers : &door->answers,
                 &connection->output_bytes, is_gone ? 0 : network_queued(connection->connection));
    http_stream_count(connection);
    http_door_account(door);
}

/* ---- life ---- */

struct http_connection *http_connection_of(struct door_slot *slot)
{
    return (struct http_connection *)(void *)((char *)slot -
                                              offsetof(struct http_connection, slot));
}

void http_connection_wake(struct http_connection *connection)
{
    wake_queue_add(&connection->door->woken, &connection->wake);
}

/* Whether a request is under way that its handler answers later. */
static bool is_awaited(const struct http_connection *connection)
{
    return (connection->state == HTTP_SERVING || connection->state == HTTP_STREAMING) &&
           connection->call->exchange.gone != NULL;
}

void http_connection_close(struct http_connection *connection)
{
    if (connection->is_closing)
        return;
    connection->is_closing = true;
    door_leave(&connection->slot);
    if (is_awaited(connection))
        connection->call->exchange.gone(connection->call->exchange.gone_context);
    connection->state = HTTP_ENDING;
    http_exchange_drop(connection);
    buffer_release(&connection->input);
    connection_count(connection);
    network_close(connection->connection);
}

void http_connection_release(struct http_connection *connection)
{
    struct http_door *door = connection->door;

    if (!connection->is_closed || connection->wake.is_woken)
        return;
    LIST_REMOVE(connection, link);
    memory_free(connection);
    http_door_release(door);
}

static uint64_t bytes_left(const struct http_connection *connection)
{
    return connection->written - network_queued(connection->connection);
}

static int64_t wanted_ms(const struct http_connection *connection)
{
    const struct http_limits *limits = &connection->door->options.limits;

    switch (connection->state) {
    case HTTP_READING:
        return connection->call != NULL     ? limits->body_ms
               : connection->input.size > 0 ? limits->head_ms
                                            : limits->idle_ms;
    case HTTP_READY:
    case HTTP_SERVING:
        break;
    case HTTP_STREAMING:
    case HTTP_SENDING:
        return network_queued(connection->connection) > 0 ? limits->slow_reader_ms : 0;
    case HTTP_ENDING:
        return limits->linger_ms;
    }
    return 0;
}

static enum door_claim claim_of(const struct http_connection *connection)
{
    switch (connection->state) {
    case HTTP_READY:
    case HTTP_SERVING:
        return DOOR_OWED;
    case HTTP_STREAMING:
    case HTTP_SENDING:
        return DOOR_NAMED;
    case HTTP_READING:
    case HTTP_ENDING:
        break;
    }
    return DOOR_IDLE;
}

/* While an answer is awaited, the connection is read only to notice that the client has left, and
 * only until the client sends another request. */
static bool wants_input(const struct http_connection *connection)
{
    if (is_awaited(connection))
        return input_begun(connection) == 0;
    return connection->state == HTTP_READING || connection->state == HTTP_ENDING;
}

/* Set reading, clock, claim and charges as the state requires.  May close the connection. */
static void connection_settle(struct http_connection *connection)
{
    if (connection->is_closing)
        return;
    int64_t ms = wanted_ms(connection);

    if (wants_input(connection))
        network_resume(connection->connection);
    else
        network_pause(connection->connection);
    if (ms != connection->slot.clock_ms)
        connection->left = bytes_left(connection);
    door_clock(&connection->slot, ms);
    door_claim(&connection->slot, claim_of(connection));
    connection_count(connection);
    size_t begun = input_begun(connection);
    if (begun == 0) {
        door_login_done(&connection->slot);
        return;
    }
    door_login_pending(&connection->slot);
    door_login_charge(&connection->slot, sizeof *connection + NETWORK_CONNECTION_BYTES + begun);
}

/* ---- input ---- */

/* Take at most one request, in state HTTP_READING. */
static void take_input(struct http_connection *connection)
{
    if (connection->call == NULL) {
        const struct http_refusal *refusal;
        size_t head_size =
            http_request_scan(&connection->scan, buffer_view(&connection->input), &refusal);

        if (refusal != NULL)
            http_exchange_refuse(connection, refusal);
        else if (head_size > 0)
            http_exchange_begin(connection, head_size);
    }
    if (connection->state != HTTP_READING)
        return;
    if (connection->call != NULL && connection->input.size >= connection->call->body_size) {
        connection->state = HTTP_READY;
        connection->call->whole_us = world_monotonic_us(connection->door->options.world);
        http_connection_wake(connection);
    } else if (connection->has_ended) {
        http_connection_close(connection);
    }
}

void http_connection_late(struct http_connection *connection)
{
    bool is_begun = connection->call != NULL || connection->input.size > 0;
    bool is_sending = connection->state == HTTP_SENDING || connection->state == HTTP_STREAMING;

    if (connection->state == HTTP_READING && is_begun)
        http_exchange_refuse(connection, &late);
    else if (!is_sending || bytes_left(connection) - connection->left < SLOW_BYTES)
        http_connection_close(connection);
    connection_settle(connection);
}

static void connection_sent(struct http_connection *connection)
{
    if (!connection->is_last) {
        connection->state = HTTP_READING;
        take_input(connection);
        return;
    }
    connection->state = HTTP_ENDING;
    network_finish(connection->connection);
    if (connection->has_ended)
        http_connection_close(connection);
}

void http_connection_turn(struct http_connection *connection)
{
    bool is_sent = network_queued(connection->connection) == 0;

    if (connection->state == HTTP_SENDING && is_sent)
        connection_sent(connection);
    if (connection->is_closing)
        return;
    if (connection->state == HTTP_READY) {
        http_exchange_serve(connection);
        if (connection->has_ended && is_awaited(connection))
            http_connection_close(connection);
    } else if (connection->state == HTTP_STREAMING && is_sent && connection->call->wants_more) {
        connection->call->wants_more = false;
        connection->call->more(connection->call->exchange.gone_context);
    }
    connection_settle(connection);
}

/* ---- the network's calls ---- */

static void connection_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct http_connection *connection = context;

    *to_out = connection->door->read;
    *size_out = sizeof connection->door->read;
}

static void connection_data(void *context, size_t size)
{
    struct http_connection *connection = context;
    struct http_door *door = connection->door;

    door->metrics.bytes_in->value += (int64_t)size;
    door_use(&connection->slot, connection->slot.claim);
    if (connection->state == HTTP_ENDING)
        return;
    buffer_append(&connection->input, door->read, size);
    if (connection->state == HTTP_READING)
        take_input(connection);
    connection_settle(connection);
}

/* A client that ends its side while its answer is awaited has left: when a program ends or a page
 * is closed, the server sees nothing else. */
static void connection_end(void *context, int status)
{
    struct http_connection *connection = context;
    bool is_reading = connection->state == HTTP_READING || connection->state == HTTP_ENDING;

    connection->has_ended = true;
    if (status < 0 || is_reading || is_awaited(connection))
        http_connection_close(connection);
}

static void connection_drained(void *context)
{
    http_connection_wake(context);
}

static void connection_closed(void *context)
{
    struct http_connection *connection = context;

    connection->is_closed = true;
    http_connection_release(connection);
}

static const struct connection_handler connection_handler = {
    .space = connection_space,
    .data = connection_data,
    .end = connection_end,
    .drained = connection_drained,
    .closed = connection_closed,
};

void http_door_attach(struct http_door *door, struct connection *network)
{
    struct http_connection *connection = memory_zeroed(1, sizeof *connection);

    if (door->is_closing || !door_enter(&door->door, &connection->slot, network)) {
        memory_free(connection);
        door->metrics.refused->value++;
        network_close(network);
        return;
    }
    connection->door = door;
    connection->connection = network;
    LIST_INSERT_HEAD(&door->connections, connection, link);
    door->metrics.accepted->value++;
    network_start(network, &connection_handler, connection);
    network_expect_questions(network);
    connection_settle(connection);
}

/* http_door: see the header, and http_door_private.h. */
#include <stddef.h>
#include <stdio.h>

#include "base/memory.h"
#include "door/http_door_private.h"

/* The door delays other work of the loop by at most this time and one call of a handler. */
enum { TURN_US = 1000 };

/* ---- accounts ---- */

void http_door_account(struct http_door *door)
{
    int64_t request_bytes = quota_unreported(&door->requests);
    int64_t answer_bytes = quota_unreported(&door->answers);

    if (door->options.held != NULL && (request_bytes != 0 || answer_bytes != 0))
        door->options.held(door->options.held_context, request_bytes, answer_bytes);
    door->metrics.request_bytes->value = (int64_t)door->requests.taken;
    door->metrics.answer_bytes->value = (int64_t)door->answers.taken;
}

/* While the unsent answers of slow readers are together over the quota, close the connection that
 * has most of these bytes. */
static void shed_answers(struct http_door *door)
{
    while (door->answers.taken > door->answers.limit) {
        struct http_connection *most = LIST_FIRST(&door->connections);
        struct http_connection *connection;

        LIST_FOREACH (connection, &door->connections, link)
            if (connection->output_bytes > most->output_bytes)
                most = connection;
        door->metrics.shed->value++;
        http_connection_close(most);
    }
}

/* ---- turns ---- */

static struct http_connection *woken_connection(struct wake_entry *entry)
{
    return (struct http_connection *)(void *)((char *)entry -
                                              offsetof(struct http_connection, wake));
}

/* Serve the woken connections.  Those that are woken meanwhile, and those for which this turn has
 * no time left, are served in the next turn. */
static void door_flush(struct timer *timer)
{
    struct http_door *door = timer->context;
    struct wake_entry *last = TAILQ_LAST(&door->woken.woken, wake_entries);
    int64_t end_us = world_monotonic_us(door->options.world) + TURN_US;
    bool is_over = last == NULL;

    door->is_flushing = true;
    http_stream_shed(door);
    shed_answers(door);
    while (!is_over) {
        struct wake_entry *entry = wake_queue_take(&door->woken);
        struct http_connection *connection = woken_connection(entry);

        if (connection->is_closing)
            http_connection_release(connection);
        else
            http_connection_turn(connection);
        is_over = entry == last || world_monotonic_us(door->options.world) >= end_us;
    }
    wake_queue_start(&door->woken);
    door->is_flushing = false;
    http_door_release(door);
}

void http_door_release(struct http_door *door)
{
    void (*closed)(void *context) = door->closed;
    void *context = door->closed_context;

    if (!door->is_closing || !LIST_EMPTY(&door->connections) || door->is_flushing)
        return;
    door_close(&door->door);
    wake_queue_close(&door->woken);
    while (!SLIST_EMPTY(&door->routes)) {
        struct http_route_link *link = SLIST_FIRST(&door->routes);

        SLIST_REMOVE_HEAD(&door->routes, next);
        memory_free(link);
    }
    buffer_release(&door->wire);
    memory_free(door);
    closed(context);
}

/* ---- the door ---- */

static void add_metrics(struct http_door *door)
{
    struct metrics *metrics = door->options.metrics;
    struct http_metrics *own = &door->metrics;
    char labels[32];

    own->connections = metrics_add(metrics, METRIC_GAUGE, "daybook_http_connections", "",
                                   "Open connections of the HTTP door.");
    own->connections_max = metrics_add(metrics, METRIC_GAUGE, "daybook_http_connections_max", "",
                                       "How many there may be.");
    own->evicted = metrics_add(metrics, METRIC_COUNTER, "daybook_http_evicted_total", "",
                               "Idle connections that were closed for others to have their place.");
    own->shed =
        metrics_add(metrics, METRIC_COUNTER, "daybook_http_shed_total", "",
                    "Connections closed because their answers held most of a full account.");
    own->accepted = metrics_add(metrics, METRIC_COUNTER, "daybook_http_connections_total", "",
                                "Connections that were opened.");
    own->refused = metrics_add(metrics, METRIC_COUNTER, "daybook_http_refused_total", "",
                               "Connections refused for lack of room, or closed after an error.");
    for (int digit = 2; digit < HTTP_STATUS_CLASSES; digit++) {
        (void)snprintf(labels, sizeof labels, "class=\"%dxx\"", digit);
        own->answers[digit] = metrics_add(metrics, METRIC_COUNTER, "daybook_http_answers_total",
                                          labels, "Answers of the HTTP door, by status.");
    }
    own->bytes_in = metrics_add(metrics, METRIC_COUNTER, "daybook_http_received_bytes_total", "",
                                "Bytes that came in at the HTTP door.");
    own->bytes_out = metrics_add(metrics, METRIC_COUNTER, "daybook_http_sent_bytes_total", "",
                                 "Bytes that left by the HTTP door.");
    own->request_bytes = metrics_add(metrics, METRIC_GAUGE, "daybook_http_request_bytes", "",
                                     "Memory of HTTP requests that are under way.");
    own->answer_bytes = metrics_add(metrics, METRIC_GAUGE, "daybook_http_answer_bytes", "",
                                    "Memory of HTTP answers that wait for their readers.");
    own->request_seconds =
        metrics_add_histogram(metrics, "daybook_http_request_seconds", "",
                              "From the last byte of an HTTP request until its answer begins.");
}

static void set_default_ms(int64_t *limit_ms, int64_t otherwise_ms)
{
    *limit_ms = *limit_ms != 0 ? *limit_ms : otherwise_ms;
}

static void default_limits(struct http_limits *limits)
{
    if (limits->connections_max == 0)
        limits->connections_max = HTTP_CONNECTIONS_MAX;
    if (limits->bytes_max == 0)
        limits->bytes_max = HTTP_BYTES_MAX;
    if (limits->head_bytes_max == 0)
        limits->head_bytes_max = HTTP_GUEST_BYTES;
    set_default_ms(&limits->head_ms, HTTP_HEAD_MS);
    set_default_ms(&limits->body_ms, HTTP_BODY_MS);
    set_default_ms(&limits->idle_ms, HTTP_IDLE_MS);
    set_default_ms(&limits->slow_reader_ms, DOOR_SLOW_READER_MS);
    set_default_ms(&limits->linger_ms, DOOR_LINGER_MS);
}

static void evict(struct door_slot *slot)
{
    http_connection_close(http_connection_of(slot));
}

static void be_late(struct door_slot *slot)
{
    http_connection_late(http_connection_of(slot));
}

static void door_came(void *context, struct connection *connection)
{
    http_door_attach(context, connection);
}

struct http_door *http_door_new(const struct http_options *options)
{
    struct http_door *door = memory_zeroed(1, sizeof *door);

    door->options = *options;
    default_limits(&door->options.limits);
    door->requests.limit = door->options.limits.bytes_max;
    door->answers.limit = door->options.limits.bytes_max;
    door->endless_requests =
        (struct quota){.parent = &door->requests, .limit = door->requests.limit / 2};
    door->endless_answers =
        (struct quota){.parent = &door->answers, .limit = door->answers.limit / 4};
    TAILQ_INIT(&door->endless);
    TAILQ_INIT(&door->stalled);
    wake_queue_open(&door->woken, options->world->executor, door_flush, door);
    add_metrics(door);
    door_open(&door->door,
              &(struct door_options){.name = "http",
                                     .network = options->network,
                                     .world = options->world,
                                     .slots_max = door->options.limits.connections_max,
                                     .came = door_came,
                                     .context = door,
                                     .evict = evict,
                                     .late = be_late,
                                     .login_bytes_max = door->options.limits.head_bytes_max,
                                     .connections = door->metrics.connections,
                                     .connections_max = door->metrics.connections_max,
                                     .evicted = door->metrics.evicted});
    return door;
}

void http_door_route(struct http_door *door, const struct http_route *route)
{
    struct http_route_link *link = memory_zeroed(1, sizeof *link);

    link->route = *route;
    SLIST_INSERT_HEAD(&door->routes, link, next);
}

int http_door_listen(struct http_door *door, const struct door_place *place,
                     const char **address_out, struct error *err)
{
    return door_listen(&door->door, place, address_out, err);
}

void http_door_close(struct http_door *door, void (*closed)(void *context), void *context)
{
    struct http_connection *connection;

    check(!door->is_closing);
    door_stop(&door->door);
    door->closed = closed;
    door->closed_context = context;
    door->is_closing = true;
    LIST_FOREACH (connection, &door->connections, link)
        http_connection_close(connection);
    http_door_release(door);
}

void http_door_dump(const struct http_door *door, struct buffer *text)
{
    door_dump(&door->door, text);
    buffer_printf(text, "  %zu bytes of requests, %zu of answers\n", door->requests.taken,
                  door->answers.taken);
}

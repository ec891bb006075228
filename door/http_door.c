/* http_door: see the header.
 *
 * What must hold: nothing is read while a request is served or its answer is sent, so that the
 * input of a connection has at most one read beyond the request.  The head of a request is copied,
 * because the input moves as the body comes.
 *
 * A connection whose head is not whole yet is charged to the door's quota for logins: of many
 * clients that begin requests and do not go on, the first is evicted.  A body takes its room from
 * the quota for requests before it is read. */
#include "door/http_door.h"

#include <stddef.h>
#include <stdio.h>

#include "base/memory.h"
#include "door/wake_queue.h"

enum { READ_SIZE = 16 << 10, STATUS_CLASSES = 6 };

enum http_state { HTTP_READING, HTTP_SERVING, HTTP_SENDING, HTTP_ENDING };

struct http_call {
    struct http_exchange exchange; /* first: http_door_answer casts it */
    struct http_connection *connection;
    const struct http_route *route;
    size_t size; /* of head and body */
    uint8_t head[];
};

struct http_connection {
    struct http_door *door;
    struct connection *connection;
    LIST_ENTRY(http_connection) link;
    enum http_state state;
    bool has_ended; /* the peer has sent its last byte */
    bool is_last;   /* the answer being sent is the last one */
    bool is_closing;
    bool is_closed;
    struct buffer input;
    struct http_scan scan;
    struct http_call *call;           /* from the end of its head to its answer; NULL: none */
    size_t input_bytes, output_bytes; /* charged to the door's quotas */
    struct wake_entry wake;
    struct door_slot slot;
    uint64_t written; /* bytes given to the network */
    uint64_t left;    /* how many of these were sent when the slot's clock began */
};

struct http_metrics {
    struct metric *connections, *connections_max, *evicted, *accepted, *refused;
    struct metric *answers[STATUS_CLASSES]; /* by the first digit; NULL below 2 */
    struct metric *bytes_in, *bytes_out, *request_bytes, *answer_bytes;
};

struct http_route_link {
    struct http_route route;
    SLIST_ENTRY(http_route_link) next;
};

struct http_door {
    struct http_options options;
    struct http_metrics metrics;
    struct door door;
    SLIST_HEAD(, http_route_link) routes;
    LIST_HEAD(, http_connection) connections;
    struct quota requests; /* bytes of inputs and calls */
    struct quota answers;  /* bytes that the network holds */
    struct wake_queue woken;
    bool is_flushing; /* door_flush is running; the door is not freed */
    struct buffer wire;
    bool is_closing;
    void (*closed)(void *context);
    void *closed_context;
    uint8_t read[READ_SIZE];
};

/* ---- refusals ---- */

static const struct http_refusal not_found = {404, "not_found", "nothing has this address",
                                              "path of the request",
                                              "docs/PROTOCOL.md lists the addresses"};
static const struct http_refusal bad_method = {
    405, "method_not_allowed", "the address is not asked by this method", "method of the request",
    "use one that the header Allow names"};
static const struct http_refusal body_too_large = {
    413, "body_too_large", "the body is larger than this address takes", "header Content-Length",
    "send less, or several requests"};
static const struct http_refusal busy = {503, "busy", "too many requests and answers are under way",
                                         "server", "try again in a second"};
static const struct http_refusal late = {408, "late", "the request did not come to its end in time",
                                         "connection", "send it again, at once"};

/* ---- accounts ---- */

static void door_account(struct http_door *door)
{
    int64_t request_bytes = quota_unreported(&door->requests);
    int64_t answer_bytes = quota_unreported(&door->answers);

    if (door->options.held != NULL && (request_bytes != 0 || answer_bytes != 0))
        door->options.held(door->options.held_context, request_bytes, answer_bytes);
    door->metrics.request_bytes->value = (int64_t)door->requests.taken;
    door->metrics.answer_bytes->value = (int64_t)door->answers.taken;
}

static size_t input_held(const struct http_connection *connection)
{
    const struct http_call *call = connection->call;
    size_t size = connection->input.capacity;

    if (call == NULL)
        return size;
    return (call->size > size ? call->size : size) + sizeof *call + HTTP_HEAD_MAX;
}

static void connection_count(struct http_connection *connection)
{
    struct http_door *door = connection->door;
    bool is_gone = connection->is_closing;

    quota_charge(&door->requests, &connection->input_bytes, is_gone ? 0 : input_held(connection));
    quota_charge(&door->answers, &connection->output_bytes,
                 is_gone ? 0 : network_queued(connection->connection));
    door_account(door);
}

/* ---- life of a connection ---- */

static void wake(struct http_connection *connection)
{
    wake_queue_add(&connection->door->woken, &connection->wake);
}

static void drop_call(struct http_connection *connection)
{
    memory_free(connection->call);
    connection->call = NULL;
}

static void connection_close(struct http_connection *connection)
{
    if (connection->is_closing)
        return;
    connection->is_closing = true;
    door_leave(&connection->slot);
    if (connection->state == HTTP_SERVING && connection->call->exchange.gone != NULL)
        connection->call->exchange.gone(connection->call->exchange.gone_context);
    drop_call(connection);
    buffer_release(&connection->input);
    connection_count(connection);
    network_close(connection->connection);
}

static void door_release(struct http_door *door)
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

static void connection_release(struct http_connection *connection)
{
    struct http_door *door = connection->door;

    if (!connection->is_closed || connection->wake.is_woken)
        return;
    LIST_REMOVE(connection, link);
    memory_free(connection);
    door_release(door);
}

static struct http_connection *connection_of(struct door_slot *slot)
{
    return (struct http_connection *)(void *)((char *)slot -
                                              offsetof(struct http_connection, slot));
}

static void connection_evict(struct door_slot *slot)
{
    connection_close(connection_of(slot));
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
    case HTTP_SERVING:
        break;
    case HTTP_SENDING:
        return network_queued(connection->connection) > 0 ? limits->slow_reader_ms : 0;
    case HTTP_ENDING:
        return limits->linger_ms;
    }
    return 0;
}

static enum door_claim claim_of(const struct http_connection *connection)
{
    return connection->state == HTTP_SERVING   ? DOOR_OWED
           : connection->state == HTTP_SENDING ? DOOR_NAMED
                                               : DOOR_IDLE;
}

/* Set what follows from the state.  May close the connection. */
static void connection_settle(struct http_connection *connection)
{
    if (connection->is_closing)
        return;
    int64_t ms = wanted_ms(connection);
    bool is_reading = connection->state == HTTP_READING;

    if (is_reading || connection->state == HTTP_ENDING)
        network_resume(connection->connection);
    else
        network_pause(connection->connection);
    if (ms != connection->slot.clock_ms)
        connection->left = bytes_left(connection);
    door_clock(&connection->slot, ms);
    door_claim(&connection->slot, claim_of(connection));
    connection_count(connection);
    if (!is_reading || connection->call != NULL || connection->input.size == 0) {
        door_login_done(&connection->slot);
        return;
    }
    door_login_pending(&connection->slot);
    door_login_charge(&connection->slot,
                      sizeof *connection + NETWORK_CONNECTION_BYTES + connection->input.capacity);
}

/* ---- answers ---- */

static void connection_send(struct http_connection *connection, const struct http_answer *answer,
                            bool is_head)
{
    struct http_door *door = connection->door;
    struct http_response response = {.answer = answer,
                                     .time_us = world_wall_us(door->options.world),
                                     .is_head = is_head,
                                     .is_last = connection->is_last};
    struct metric *count = door->metrics.answers[answer->status / 100 % STATUS_CLASSES];

    http_response_put(&response, &door->wire);
    if (count != NULL)
        count->value++;
    door->metrics.bytes_out->value += (int64_t)door->wire.size;
    connection->written += door->wire.size;
    network_write(connection->connection, buffer_view(&door->wire));
    buffer_clear(&door->wire);
    if (door->wire.capacity > HTTP_GUEST_BYTES)
        buffer_release(&door->wire);
    connection->state = HTTP_SENDING;
    wake(connection);
}

static void send_refusal(struct http_connection *connection, const struct http_refusal *refusal,
                         unsigned methods, bool is_head)
{
    struct buffer json = {0};
    char allow[32];

    (void)snprintf(allow, sizeof allow, "%s%s%s",
                   (methods & HTTP_METHOD_GET) != 0 ? "GET, HEAD" : "",
                   methods == (HTTP_METHOD_GET | HTTP_METHOD_POST) ? ", " : "",
                   (methods & HTTP_METHOD_POST) != 0 ? "POST" : "");
    http_response_put_refusal(refusal, &json);
    connection_send(connection,
                    &(struct http_answer){.status = refusal->status,
                                          .type = "application/json",
                                          .body = buffer_view(&json),
                                          .allow = refusal->status == 405 ? allow : NULL},
                    is_head);
    buffer_release(&json);
}

/* Answer, and take nothing more. */
static void connection_refuse(struct http_connection *connection,
                              const struct http_refusal *refusal)
{
    const struct http_call *call = connection->call;
    bool is_head = call != NULL && call->exchange.request.method == HTTP_METHOD_HEAD;
    unsigned methods = HTTP_METHOD_GET | HTTP_METHOD_POST;

    if (call != NULL && call->route != NULL)
        methods = call->route->methods;
    connection->door->metrics.refused->value++;
    connection->is_last = true;
    send_refusal(connection, refusal, methods, is_head);
    drop_call(connection);
}

/* Remove the request from the input. */
static void end_call(struct http_connection *connection)
{
    size_t size = connection->call->size;
    struct buffer *input = &connection->input;

    input->size -= size;
    memmove(input->data, input->data + size, input->size);
    if (input->size == 0)
        buffer_release(input);
    connection->scan = (struct http_scan){0};
    drop_call(connection);
}

void http_door_answer(struct http_exchange *exchange, const struct http_answer *answer)
{
    struct http_call *call = (struct http_call *)exchange;
    struct http_connection *connection = call->connection;
    struct http_answer sent = *answer;
    bool is_head = exchange->request.method == HTTP_METHOD_HEAD;

    check(connection->call == call && connection->state == HTTP_SERVING);
    if (answer->status == 200 && answer->etag != NULL &&
        exchange->request.method != HTTP_METHOD_POST &&
        http_request_has_etag(&exchange->request, bytes_text(answer->etag)))
        sent.status = 304;
    connection->is_last = !exchange->request.is_kept_alive;
    connection_send(connection, &sent, is_head);
    end_call(connection);
}

void http_door_refuse(struct http_exchange *exchange, const struct http_refusal *refusal)
{
    struct http_call *call = (struct http_call *)exchange;
    struct http_connection *connection = call->connection;
    bool is_head = exchange->request.method == HTTP_METHOD_HEAD;

    check(connection->call == call && connection->state == HTTP_SERVING);
    connection->is_last = !exchange->request.is_kept_alive;
    send_refusal(connection, refusal, call->route->methods, is_head);
    end_call(connection);
}

/* ---- requests ---- */

static const struct http_route *find_route(const struct http_door *door, struct bytes path)
{
    const struct http_route_link *link;

    SLIST_FOREACH(link, &door->routes, next)
    if (bytes_equal(path, bytes_text(link->route.path)))
        return &link->route;
    return NULL;
}

static bool takes_method(const struct http_route *route, enum http_method method)
{
    unsigned wanted = method == HTTP_METHOD_HEAD ? HTTP_METHOD_GET : method;

    return (route->methods & wanted) != 0;
}

static const struct http_refusal *check_call(const struct http_door *door,
                                             const struct http_call *call)
{
    const struct http_request *request = &call->exchange.request;

    if (call->route == NULL)
        return &not_found;
    if (!takes_method(call->route, request->method))
        return &bad_method;
    if (request->body_size > call->route->body_max)
        return &body_too_large;
    if (request->body_size > quota_left(&door->requests) ||
        door->answers.taken > door->answers.limit)
        return &busy;
    return NULL;
}

/* A well-formed request is refused; if it has no body, the connection goes on. */
static void refuse_call(struct http_connection *connection, const struct http_refusal *refusal)
{
    const struct http_request *request = &connection->call->exchange.request;

    if (request->body_size > 0) {
        connection_refuse(connection, refusal);
        return;
    }
    const struct http_route *route = connection->call->route;
    connection->is_last = !request->is_kept_alive;
    send_refusal(connection, refusal, route != NULL ? route->methods : 0,
                 request->method == HTTP_METHOD_HEAD);
    end_call(connection);
}

static void call_begin(struct http_connection *connection, size_t head_size)
{
    const struct http_door *door = connection->door;
    struct http_call *call = memory_alloc(sizeof *call + head_size);
    struct http_request *request = &call->exchange.request;
    const char *names = door->options.host_names;

    *call = (struct http_call){.connection = connection};
    memcpy(call->head, connection->input.data, head_size);
    connection->call = call;
    const struct http_refusal *refusal =
        http_request_parse(bytes_of(call->head, head_size), request);
    refusal = refusal != NULL ? refusal : http_request_check_host(request, names);
    refusal = refusal != NULL ? refusal : http_request_check_origin(request, names);
    if (refusal != NULL) {
        connection_refuse(connection, refusal);
        return;
    }
    call->route = find_route(door, request->path);
    call->size = head_size;
    refusal = check_call(door, call);
    if (refusal != NULL) {
        refuse_call(connection, refusal);
        return;
    }
    call->size += (size_t)request->body_size;
    if (request->expects_continue && connection->input.size < call->size) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        network_write(connection->connection, bytes_of(go_on, sizeof go_on - 1));
        connection->written += sizeof go_on - 1;
    }
}

static void call_serve(struct http_connection *connection)
{
    struct http_call *call = connection->call;
    size_t body_size = (size_t)call->exchange.request.body_size;

    call->exchange.request.body =
        bytes_of(connection->input.data + call->size - body_size, body_size);
    connection->state = HTTP_SERVING;
    connection_settle(connection);
    call->route->serve(call->route->context, &call->exchange);
}

/* Take at most one request, in state HTTP_READING. */
static void take_input(struct http_connection *connection)
{
    if (connection->call == NULL) {
        const struct http_refusal *refusal;
        size_t head_size =
            http_request_scan(&connection->scan, buffer_view(&connection->input), &refusal);

        if (refusal != NULL)
            connection_refuse(connection, refusal);
        else if (head_size > 0)
            call_begin(connection, head_size);
    }
    if (connection->call != NULL && connection->input.size >= connection->call->size)
        call_serve(connection);
    else if (connection->state == HTTP_READING && connection->has_ended)
        connection_close(connection);
}

static void connection_late(struct door_slot *slot)
{
    struct http_connection *connection = connection_of(slot);
    bool is_begun = connection->call != NULL || connection->input.size > 0;

    if (connection->state == HTTP_READING && is_begun)
        connection_refuse(connection, &late);
    else if (connection->state != HTTP_SENDING || bytes_left(connection) == connection->left)
        connection_close(connection);
    connection_settle(connection);
}

/* An answer may have been sent: go on with the next request, or end. */
static void connection_turn(struct http_connection *connection)
{
    if (connection->state == HTTP_SENDING && network_queued(connection->connection) == 0) {
        if (connection->is_last) {
            connection->state = HTTP_ENDING;
            buffer_release(&connection->input);
            network_finish(connection->connection);
            if (connection->has_ended)
                connection_close(connection);
        } else {
            connection->state = HTTP_READING;
            take_input(connection);
        }
    }
    connection_settle(connection);
}

static void door_flush(struct timer *timer)
{
    struct http_door *door = timer->context;
    struct wake_entry *last = TAILQ_LAST(&door->woken.woken, wake_entries);
    bool is_last = last == NULL;

    door->is_flushing = true;
    /* Connections that are woken meanwhile wait for the next turn. */
    while (!is_last) {
        struct wake_entry *entry = wake_queue_take(&door->woken);
        struct http_connection *connection =
            (struct http_connection *)(void *)((char *)entry -
                                               offsetof(struct http_connection, wake));

        is_last = entry == last;
        if (connection->is_closing)
            connection_release(connection);
        else
            connection_turn(connection);
    }
    wake_queue_start(&door->woken);
    door->is_flushing = false;
    door_release(door);
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

static void connection_end(void *context, int status)
{
    struct http_connection *connection = context;
    bool is_waiting = connection->state == HTTP_READING || connection->state == HTTP_ENDING;

    connection->has_ended = true;
    if (status < 0 || is_waiting)
        connection_close(connection);
}

static void connection_drained(void *context)
{
    wake(context);
}

static void connection_closed(void *context)
{
    struct http_connection *connection = context;

    connection->is_closed = true;
    connection_release(connection);
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
    own->accepted = metrics_add(metrics, METRIC_COUNTER, "daybook_http_connections_total", "",
                                "Connections that were opened.");
    own->refused = metrics_add(metrics, METRIC_COUNTER, "daybook_http_refused_total", "",
                               "Connections refused for lack of room, or closed after an error.");
    for (int digit = 2; digit < STATUS_CLASSES; digit++) {
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
    wake_queue_open(&door->woken, options->world->executor, door_flush, door);
    add_metrics(door);
    door_open(&door->door,
              &(struct door_options){.name = "http",
                                     .network = options->network,
                                     .world = options->world,
                                     .slots_max = door->options.limits.connections_max,
                                     .came = door_came,
                                     .context = door,
                                     .evict = connection_evict,
                                     .late = connection_late,
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
        connection_close(connection);
    door_release(door);
}

void http_door_dump(const struct http_door *door, struct buffer *text)
{
    door_dump(&door->door, text);
    buffer_printf(text, "  %zu bytes of requests, %zu of answers\n", door->requests.taken,
                  door->answers.taken);
}

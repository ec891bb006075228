/* http_exchange: a request of the HTTP door and its answer; see http_door_private.h. */
#include <stdio.h>

#include "base/memory.h"
#include "door/http_door_private.h"
#include "door/http_proxy.h"

enum { COPIED_MAX = 64 << 10 };

/* ---- refusals ---- */

static const struct http_refusal not_found = {404, "not_found", "nothing has this address",
                                              "path of the request",
                                              "docs/PROTOCOL.md lists the addresses"};
static const struct http_refusal bad_method = {
    405, "method_not_allowed", "the address is not asked by this method", "method of the request",
    "use one that the header Allow names"};
static const struct http_refusal read_only = {
    403, "read_only", "nothing can be changed through this door", "server",
    "use the command line, or start the server without --http-readonly"};
static const struct http_refusal body_too_large = {
    413, "body_too_large", "the body is larger than this address takes", "header Content-Length",
    "send less, or several requests"};
static const struct http_refusal busy = {503, "busy", "too many requests and answers are under way",
                                         "server", "try again in a second"};

/* ---- sending ---- */

static void send_bytes(struct http_connection *connection, struct bytes bytes)
{
    connection->door->metrics.bytes_out->value += (int64_t)bytes.size;
    connection->written += bytes.size;
    network_write(connection->connection, bytes);
    http_connection_wake(connection);
}

static void send_wire(struct http_connection *connection)
{
    struct buffer *wire = &connection->door->wire;

    send_bytes(connection, buffer_view(wire));
    buffer_clear(wire);
    if (wire->capacity > 2 * COPIED_MAX)
        buffer_release(wire);
}

/* Send the answer's head, and the body of a whole answer. */
static void send_answer(struct http_connection *connection, struct http_response *response)
{
    struct http_door *door = connection->door;
    const struct http_answer *answer = response->answer;
    struct metric *count = door->metrics.answers[answer->status / 100 % HTTP_STATUS_CLASSES];

    response->time_us = world_wall_us(door->options.world);
    response->is_last = connection->is_last;
    if (count != NULL)
        count->value++;
    if (connection->state == HTTP_SERVING)
        metrics_observe_us(door->metrics.request_seconds,
                           world_monotonic_us(door->options.world) - connection->call->whole_us);
    http_response_put_head(response, &door->wire);
    struct bytes body = http_response_body(response);
    if (body.size <= COPIED_MAX)
        buffer_append_bytes(&door->wire, body);
    send_wire(connection);
    if (body.size > COPIED_MAX)
        send_bytes(connection, body);
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
    struct http_answer answer = {.status = refusal->status,
                                 .type = "application/json",
                                 .body = buffer_view(&json),
                                 .allow = refusal->status == 405 ? allow : NULL};
    send_answer(connection, &(struct http_response){.answer = &answer, .is_head = is_head});
    connection->state = HTTP_SENDING;
    buffer_release(&json);
}

void http_exchange_drop(struct http_connection *connection)
{
    http_stream_end(connection);
    if (connection->call != NULL)
        memory_free(connection->call->head);
    memory_free(connection->call);
    connection->call = NULL;
}

void http_exchange_refuse(struct http_connection *connection, const struct http_refusal *refusal)
{
    const struct http_call *call = connection->call;
    bool is_head = call != NULL && call->exchange.request.method == HTTP_METHOD_HEAD;
    unsigned methods = HTTP_METHOD_GET | HTTP_METHOD_POST;

    if (call != NULL && call->route != NULL)
        methods = call->route->methods;
    connection->door->metrics.refused->value++;
    connection->is_last = true;
    send_refusal(connection, refusal, methods, is_head);
    buffer_release(&connection->input);
    http_exchange_drop(connection);
}

/* Remove the first `size` bytes of the input.  At most the bytes of one read remain, so they are
 * copied, and the memory of the body is freed. */
static void take_off(struct buffer *input, size_t size)
{
    struct buffer left = {0};

    if (input->size > size)
        buffer_append(&left, input->data + size, input->size - size);
    buffer_release(input);
    *input = left;
}

static void end_call(struct http_connection *connection)
{
    size_t body_size = connection->call->body_size;

    connection->state = HTTP_SENDING;
    if (body_size > 0)
        take_off(&connection->input, body_size);
    http_exchange_drop(connection);
}

/* ---- a request ---- */

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

/* Requests with a body leave an eighth of the quota to requests without a body, and one body may
 * take at most half of the bytes that are left. */
static bool has_room(const struct http_door *door, const struct http_call *call)
{
    uint64_t body_size = call->exchange.request.body_size;
    size_t kept = body_size > 0 ? door->requests.limit / 8 : 0;
    size_t left = quota_left(&door->requests);

    left = left > kept ? left - kept : 0;
    return body_size <= left / 2 && sizeof *call + call->head_size <= left - body_size &&
           !quota_is_past(&door->answers, door->answers.limit, false);
}

static const struct http_refusal *check_call(const struct http_door *door,
                                             const struct http_call *call)
{
    const struct http_request *request = &call->exchange.request;

    if (call->route == NULL)
        return &not_found;
    if (!takes_method(call->route, request->method))
        return &bad_method;
    if (call->route->has_effects && door->options.is_read_only)
        return &read_only;
    if (request->body_size > call->route->body_max)
        return &body_too_large;
    return has_room(door, call) ? NULL : &busy;
}

/* Refuse a well-formed request.  If the request has no body, the connection can stay open. */
static void refuse_call(struct http_connection *connection, const struct http_refusal *refusal)
{
    const struct http_request *request = &connection->call->exchange.request;
    const struct http_route *route = connection->call->route;

    if (request->body_size > 0) {
        http_exchange_refuse(connection, refusal);
        return;
    }
    connection->is_last = !request->is_kept_alive;
    send_refusal(connection, refusal, route != NULL ? route->methods : 0,
                 request->method == HTTP_METHOD_HEAD);
    end_call(connection);
}

static void fill_exchange(const struct http_connection *connection, struct http_exchange *exchange)
{
    const struct http_options *options = &connection->door->options;
    struct network_address client =
        http_proxy_client(&exchange->request, &connection->slot.peer, options->proxies);

    exchange->base = options->base != NULL ? options->base : "";
    exchange->is_https =
        http_proxy_is_https(&exchange->request, &connection->slot.peer, options->proxies);
    exchange->is_read_only = options->is_read_only;
    door_address_text(&client, exchange->client);
    http_proxy_strip(&exchange->request, exchange->base);
}

void http_exchange_begin(struct http_connection *connection, size_t head_size)
{
    const struct http_door *door = connection->door;
    struct http_call *call = memory_alloc(sizeof *call);
    struct http_request *request = &call->exchange.request;
    const char *names = door->options.host_names;

    *call = (struct http_call){
        .connection = connection, .head_size = head_size, .head = memory_alloc(head_size)};
    memcpy(call->head, connection->input.data, head_size);
    take_off(&connection->input, head_size);
    connection->scan = (struct http_scan){0};
    connection->call = call;
    const struct http_refusal *refusal =
        http_request_parse(bytes_of(call->head, head_size), request);
    refusal = refusal != NULL ? refusal : http_request_check_host(request, names);
    refusal = refusal != NULL ? refusal : http_request_check_origin(request, names);
    if (refusal != NULL) {
        http_exchange_refuse(connection, refusal);
        return;
    }
    fill_exchange(connection, &call->exchange);
    call->route = find_route(door, request->path);
    refusal = check_call(door, call);
    if (refusal != NULL) {
        refuse_call(connection, refusal);
        return;
    }
    call->body_size = (size_t)request->body_size;
    if (connection->input.size >= call->body_size)
        return;
    /* One read may go beyond the body; without room for it the input would double. */
    buffer_reserve(&connection->input, call->body_size - connection->input.size + HTTP_READ_SIZE);
    if (request->expects_continue) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        send_bytes(connection, bytes_of(go_on, sizeof go_on - 1));
    }
}

void http_exchange_serve(struct http_connection *connection)
{
    struct http_call *call = connection->call;

    call->exchange.request.body =
        call->body_size > 0 ? bytes_of(connection->input.data, call->body_size) : bytes_of("", 0);
    connection->state = HTTP_SERVING;
    call->route->serve(call->route->context, &call->exchange);
    check(connection->state != HTTP_SERVING || call->exchange.gone != NULL);
}

/* ---- the handler's calls ---- */

static struct http_call *call_of(struct http_exchange *exchange, enum http_state state)
{
    struct http_call *call = (struct http_call *)exchange;

    check(call->connection->call == call && call->connection->state == state);
    return call;
}

static bool is_not_modified(const struct http_exchange *exchange, const struct http_answer *answer)
{
    return answer->status == 200 && answer->etag != NULL &&
           exchange->request.method != HTTP_METHOD_POST &&
           http_request_has_etag(&exchange->request, bytes_text(answer->etag));
}

void http_door_answer(struct http_exchange *exchange, const struct http_answer *answer)
{
    struct http_connection *connection = call_of(exchange, HTTP_SERVING)->connection;
    struct http_answer sent = *answer;

    if (is_not_modified(exchange, answer))
        sent.status = 304;
    connection->is_last = !exchange->request.is_kept_alive;
    send_answer(connection,
                &(struct http_response){.answer = &sent,
                                        .is_head = exchange->request.method == HTTP_METHOD_HEAD});
    end_call(connection);
}

void http_door_answer_asset(struct http_exchange *exchange, const struct http_asset *asset)
{
    bool is_gzip = http_request_lists(&exchange->request, "accept-encoding", "gzip");

    http_door_answer(exchange,
                     &(struct http_answer){.status = 200,
                                           .type = asset->type,
                                           .policy = asset->policy,
                                           .body = is_gzip ? asset->gzip : asset->plain,
                                           .etag = is_gzip ? asset->gzip_etag : asset->etag,
                                           .encoding = is_gzip ? "gzip" : NULL,
                                           .is_variant = true});
}

void http_door_refuse(struct http_exchange *exchange, const struct http_refusal *refusal)
{
    struct http_call *call = call_of(exchange, HTTP_SERVING);
    struct http_connection *connection = call->connection;

    connection->is_last = !exchange->request.is_kept_alive;
    send_refusal(connection, refusal, call->route->methods,
                 exchange->request.method == HTTP_METHOD_HEAD);
    end_call(connection);
}

/* In HTTP/1.0 there are no chunks, so the end of the connection is the end of the body. */
bool http_door_begin(struct http_exchange *exchange, const struct http_answer *answer,
                     void (*more)(void *context))
{
    struct http_call *call = call_of(exchange, HTTP_SERVING);
    struct http_connection *connection = call->connection;
    bool is_head = exchange->request.method == HTTP_METHOD_HEAD;

    if (is_not_modified(exchange, answer)) {
        http_door_answer(exchange, answer);
        return false;
    }
    check(exchange->gone != NULL);
    call->is_chunked = exchange->request.is_http_1_1;
    call->more = more;
    call->wants_more = true;
    connection->is_last = !exchange->request.is_kept_alive;
    send_answer(connection, &(struct http_response){.answer = answer,
                                                    .is_head = is_head,
                                                    .is_streamed = true,
                                                    .is_chunked = call->is_chunked});
    connection->state = HTTP_STREAMING;
    if (is_head)
        end_call(connection);
    return !is_head;
}

bool http_door_begin_endless(struct http_exchange *exchange, const struct http_answer *answer,
                             void (*more)(void *context))
{
    struct http_call *call = call_of(exchange, HTTP_SERVING);

    if (!http_door_begin(exchange, answer, more))
        return false;
    memory_free(call->head);
    call->head = NULL;
    call->head_size = 0;
    exchange->request = (struct http_request){0};
    http_stream_begin(call->connection);
    return true;
}

/* A chunk: its size in hexadecimal digits CR LF, the bytes, CR LF. */
void http_door_send(struct http_exchange *exchange, struct bytes piece)
{
    struct http_call *call = call_of(exchange, HTTP_STREAMING);
    struct buffer *wire = &call->connection->door->wire;

    if (piece.size == 0)
        return;
    call->wants_more = true;
    if (call->is_chunked)
        buffer_printf(wire, "%zx\r\n", piece.size);
    buffer_append_bytes(wire, piece);
    if (call->is_chunked)
        buffer_append_text(wire, "\r\n");
    send_wire(call->connection);
}

size_t http_door_queued(const struct http_exchange *exchange)
{
    const struct http_call *call = (const struct http_call *)exchange;

    return network_queued(call->connection->connection);
}

void http_door_end(struct http_exchange *exchange)
{
    struct http_call *call = call_of(exchange, HTTP_STREAMING);

    if (call->is_chunked)
        send_bytes(call->connection, bytes_text("0\r\n\r\n"));
    else
        http_connection_wake(call->connection);
    end_call(call->connection);
}

void http_door_break(struct http_exchange *exchange)
{
    struct http_call *call = call_of(exchange, HTTP_STREAMING);

    exchange->gone = NULL;
    http_connection_close(call->connection);
}

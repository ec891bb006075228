/* played_door: see the header. */
#include "tests/fuzz/played_door.h"

#include <stdlib.h>
#include <yajl/yajl_parse.h>

enum { ROUTES_MAX = 32 };

static struct http_route routes[ROUTES_MAX];
static uint32_t route_count;

void http_door_route(struct http_door *door, const struct http_route *added)
{
    (void)door;
    check(route_count < ROUTES_MAX);
    routes[route_count++] = *added;
}

/* NULL: there is none, or not for this method and size. */
static const struct http_route *find_route(const struct http_request *request, size_t body_size)
{
    for (uint32_t i = 0; i < route_count; i++)
        if (bytes_equal(request->path, bytes_text(routes[i].path)) &&
            (routes[i].methods & request->method) != 0 && body_size <= routes[i].body_max)
            return &routes[i];
    return NULL;
}

bool played_door_ask(struct played_exchange *played, struct bytes head, struct bytes body)
{
    struct http_request *request = &played->exchange.request;
    const struct http_route *route = NULL;

    *played = (struct played_exchange){.exchange = {.base = ""}};
    buffer_append_bytes(&played->head, head);
    buffer_printf(&played->head, "Content-Length: %zu\r\n\r\n", body.size);
    if (http_request_parse(buffer_view(&played->head), request) == NULL)
        route = find_route(request, body.size);
    if (route == NULL) {
        buffer_release(&played->head);
        return false;
    }
    request->body = body;
    route->serve(route->context, &played->exchange);
    return true;
}

void played_door_end(struct played_exchange *played)
{
    check(played->status != 0);
    buffer_release(&played->head);
    buffer_release(&played->answer);
}

static void check_json(struct bytes json)
{
    yajl_handle parser = yajl_alloc(NULL, NULL, NULL);

    check(yajl_parse(parser, json.data, json.size) == yajl_status_ok &&
          yajl_complete_parse(parser) == yajl_status_ok);
    yajl_free(parser);
}

static void answered(struct http_exchange *exchange, uint16_t status)
{
    struct played_exchange *played = (struct played_exchange *)exchange;

    check(played->status == 0 && status >= 200 && status < 600);
    played->status = status;
}

void http_door_answer(struct http_exchange *exchange, const struct http_answer *answer)
{
    struct buffer *body = &((struct played_exchange *)exchange)->answer;

    buffer_append_bytes(body, answer->body);
    if (answer->type != NULL && strcmp(answer->type, "application/json") == 0)
        check_json(buffer_view(body));
    answered(exchange, answer->status);
}

void http_door_refuse(struct http_exchange *exchange, const struct http_refusal *refusal)
{
    check(refusal->status >= 400 && refusal->code[0] != '\0' && refusal->what[0] != '\0' &&
          refusal->where[0] != '\0' && refusal->todo[0] != '\0');
    http_response_put_refusal(refusal, &((struct played_exchange *)exchange)->answer);
    check_json(buffer_view(&((struct played_exchange *)exchange)->answer));
    answered(exchange, refusal->status);
}

/* What is in a file does not follow from the request. */
void http_door_answer_asset(struct http_exchange *exchange, const struct http_asset *asset)
{
    (void)asset;
    answered(exchange, 200);
}

/* ---- answers in pieces, which no handler that is fuzzed gives ---- */

bool http_door_begin(struct http_exchange *exchange, const struct http_answer *answer,
                     void (*more)(void *context))
{
    (void)exchange;
    (void)answer;
    (void)more;
    abort();
}

void http_door_send(struct http_exchange *exchange, struct bytes piece)
{
    (void)exchange;
    (void)piece;
    abort();
}

size_t http_door_queued(const struct http_exchange *exchange)
{
    (void)exchange;
    abort();
}

void http_door_end(struct http_exchange *exchange)
{
    (void)exchange;
    abort();
}

void http_door_break(struct http_exchange *exchange)
{
    (void)exchange;
    abort();
}

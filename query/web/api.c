/* api: see the header. */
#include "query/web/api.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/hash64.h"
#include "base/memory.h"
#include "query/web/api_call.h"
#include "query/web/api_cql.h"
#include "query/web/api_endpoints.h"
#include "query/web/openapi.h"

enum { PATH_MAX_BYTES = 32, ADDRESSES_MAX = 32, FORM_MAX = 64 << 10 };

struct api_address {
    const struct api *api;
    const struct api_endpoint *endpoint; /* serves GET; NULL: GET is refused */
    const struct api_endpoint *change;   /* serves POST; NULL: POST is refused */
    bool is_csv;
    char path[PATH_MAX_BYTES];
};

struct api {
    struct api_options options;
    struct api_address addresses[ADDRESSES_MAX];
    uint32_t address_count;
    char description_etag[24];
};

static void serve(void *context, struct http_exchange *exchange)
{
    const struct api_address *address = context;
    const struct http_request *request = &exchange->request;
    const struct api_endpoint *endpoint =
        request->method == HTTP_METHOD_POST ? address->change : address->endpoint;
    bool is_table = endpoint->form == API_TABLE;
    bool is_csv =
        address->is_csv || (is_table && http_request_lists(request, "accept", "text/csv"));

    api_call_begin(&address->api->options, endpoint, is_csv, exchange);
}

static void serve_description(void *context, struct http_exchange *exchange)
{
    const struct api *api = context;

    http_door_answer(exchange,
                     &(struct http_answer){.status = 200,
                                           .type = "application/json",
                                           .body = bytes_of(openapi_json, openapi_json_size),
                                           .etag = api->description_etag});
}

static void add_description(struct api *api, struct http_door *door)
{
    uint64_t hash = hash64(openapi_json, openapi_json_size);

    (void)snprintf(api->description_etag, sizeof api->description_etag, "\"%016" PRIx64 "\"", hash);
    http_door_route(door, &(struct http_route){.path = "/api/openapi.json",
                                               .methods = HTTP_METHOD_GET,
                                               .serve = serve_description,
                                               .context = api});
}

static struct api_address *find_address(struct api *api, const char *path)
{
    for (uint32_t i = 0; i < api->address_count; i++)
        if (strcmp(api->addresses[i].path, path) == 0)
            return &api->addresses[i];
    check(api->address_count < ADDRESSES_MAX);
    struct api_address *address = &api->addresses[api->address_count++];
    address->api = api;
    (void)snprintf(address->path, sizeof address->path, "%s", path);
    return address;
}

static void take_endpoint(struct api *api, const struct api_endpoint *endpoint)
{
    char csv_path[PATH_MAX_BYTES];

    if (endpoint->has_effects) {
        find_address(api, endpoint->path)->change = endpoint;
        return;
    }
    find_address(api, endpoint->path)->endpoint = endpoint;
    if (endpoint->form != API_TABLE)
        return;
    (void)snprintf(csv_path, sizeof csv_path, "%s.csv", endpoint->path);
    struct api_address *address = find_address(api, csv_path);
    address->endpoint = endpoint;
    address->is_csv = true;
}

static void add_route(struct http_door *door, struct api_address *address)
{
    unsigned methods = (address->endpoint != NULL ? HTTP_METHOD_GET : 0) |
                       (address->change != NULL ? HTTP_METHOD_POST : 0);

    http_door_route(door, &(struct http_route){.path = address->path,
                                               .methods = methods,
                                               .body_max = address->change != NULL ? FORM_MAX : 0,
                                               .serve = serve,
                                               .context = address});
}

struct api *api_new(struct http_door *door, const struct api_options *options)
{
    struct api *api = memory_zeroed(1, sizeof *api);
    const struct api_endpoint *endpoint;

    api->options = *options;
    for (uint32_t i = 0; (endpoint = api_endpoints_at(i)) != NULL; i++)
        take_endpoint(api, endpoint);
    for (uint32_t i = 0; i < api->address_count; i++)
        add_route(door, &api->addresses[i]);
    add_description(api, door);
    api_cql_add(door, &api->options);
    return api;
}

void api_free(struct api *api)
{
    memory_free(api);
}

/* network_client: see the header. */
#include "tests/lib/network_client.h"

#include <criterion/criterion.h>
#include <uv.h>

static void client_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct network_client *client = context;

    *to_out = client->space;
    *size_out = sizeof client->space;
}

static void client_data(void *context, size_t size)
{
    struct network_client *client = context;

    buffer_append(&client->got, client->space, size);
}

static void client_end(void *context, int status)
{
    (void)status;
    ((struct network_client *)context)->has_ended = true;
}

static void client_drained(void *context)
{
    (void)context;
}

static void client_closed(void *context)
{
    ((struct network_client *)context)->is_closed = true;
}

static const struct connection_handler client_handler = {
    .space = client_space,
    .data = client_data,
    .end = client_end,
    .drained = client_drained,
    .closed = client_closed,
};

struct connection *network_client_open(struct network_client *client, struct network *network)
{
    struct connection *ends[2];
    struct error err = {0};

    memset(client, 0, sizeof *client);
    cr_assert(network_pair(network, ends, &err) == 0, "%s", err.text);
    client->connection = ends[0];
    network_start(ends[0], &client_handler, client);
    return ends[1];
}

void network_client_close(struct network_client *client, void *loop)
{
    network_close(client->connection);
    while (!client->is_closed)
        uv_run(loop, UV_RUN_NOWAIT);
    buffer_release(&client->got);
}

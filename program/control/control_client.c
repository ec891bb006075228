/* control_client: see the header. */
#include "program/control/control_client.h"

#include "program/control/control_message.h"
#include "base/memory.h"

struct client {
    struct connection *connection;
    struct message_reader reader;
    struct command_output *output;                                /* of RUN */
    void (*opened)(void *context, struct connection *connection); /* of INGEST */
    void *context;
    int exit_status;
    bool is_closing;
};

static void client_close(struct client *client, int exit_status)
{
    if (!client->is_closing) {
        client->is_closing = true;
        client->exit_status = exit_status;
        network_close(client->connection);
    }
}

static void client_free(struct client *client)
{
    control_message_release(&client->reader);
    memory_free(client);
}

static void client_opened(struct client *client)
{
    void (*opened)(void *context, struct connection *connection) = client->opened;
    void *context = client->context;
    struct connection *connection = client->connection;
    network_stop(connection);
    client_free(client);
    opened(context, connection);
}

static void client_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct client *client = context;
    control_message_space(&client->reader, to_out, size_out);
}

static void client_data(void *context, size_t size)
{
    struct client *client = context;
    enum control_kind kind;
    struct bytes body;
    int rc;
    control_message_added(&client->reader, size);
    while (!client->is_closing && (rc = control_message_next(&client->reader, &kind, &body)) != 0) {
        if (rc == 1 && kind == CONTROL_OPEN && client->opened != NULL) {
            client_opened(client);
            return;
        }
        if (rc == 1 && (kind == CONTROL_OUT || kind == CONTROL_ERR) && client->output != NULL) {
            client->output->write(client->output, kind == CONTROL_OUT ? COMMAND_OUT : COMMAND_ERR,
                                  body);
        } else if (rc == 1 && kind == CONTROL_EXIT && body.size == 1) {
            client_close(client, body.data[0]);
        } else {
            client_close(client, EXIT_SYSTEM_FAILED);
        }
    }
}

static void client_end(void *context, int status)
{
    struct client *client = context;
    (void)status;
    if (client->output != NULL && !client->is_closing)
        command_printf(client->output, COMMAND_ERR,
                       "daybook: the server went away before the command had ended\n");
    client_close(client, EXIT_SYSTEM_FAILED);
}

static void client_drained(void *context)
{
    (void)context;
}

static void client_closed(void *context)
{
    struct client *client = context;
    struct client copy = *client;
    client_free(client);
    if (copy.output != NULL)
        copy.output->finish(copy.output, copy.exit_status);
    else
        copy.opened(copy.context, NULL);
}

static const struct connection_handler client_connection = {.space = client_space,
                                                            .data = client_data,
                                                            .end = client_end,
                                                            .drained = client_drained,
                                                            .closed = client_closed};

static struct client *client_new(struct connection *connection)
{
    struct client *client = memory_zeroed(1, sizeof(*client));
    client->connection = connection;
    return client;
}

void control_client_run(struct connection *connection, const struct control_request *request,
                        struct command_output *output)
{
    struct client *client = client_new(connection);
    struct buffer body = {0};
    client->output = output;
    control_message_put_request(request, &body);
    control_message_send(connection, CONTROL_RUN, buffer_view(&body));
    buffer_release(&body);
    network_start(connection, &client_connection, client);
}

void control_client_ingest(struct connection *connection,
                           void (*opened)(void *context, struct connection *connection),
                           void *context)
{
    struct client *client = client_new(connection);
    client->opened = opened;
    client->context = context;
    control_message_send(connection, CONTROL_INGEST, (struct bytes){0});
    network_start(connection, &client_connection, client);
}

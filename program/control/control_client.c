/* control_client: sends one request and passes the answer on. */
#include "program/control/control.h"

#include "program/control/control_message.h"
#include "base/memory.h"

struct client {
    struct connection *connection;
    struct message_reader reader;
    const struct control_client_handler *handler;                 /* of RUN */
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
    message_reader_release(&client->reader);
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
    message_reader_space(&client->reader, to_out, size_out);
}

static void client_data(void *context, size_t size)
{
    struct client *client = context;
    enum control_kind kind;
    struct bytes body;
    int rc;
    message_reader_added(&client->reader, size);
    while (!client->is_closing && (rc = message_reader_next(&client->reader, &kind, &body)) != 0) {
        if (rc == 1 && kind == CONTROL_OPEN && client->opened != NULL) {
            client_opened(client);
            return;
        }
        if (rc == 1 && (kind == CONTROL_OUT || kind == CONTROL_ERR) && client->handler != NULL) {
            client->handler->write(client->context, kind == CONTROL_OUT ? COMMAND_OUT : COMMAND_ERR,
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
    if (client->handler != NULL && !client->is_closing) {
        client->handler->write(client->context, COMMAND_ERR,
                               bytes_text("daybook: the server went away before the command had "
                                          "ended\n"));
    }
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
    if (copy.handler != NULL)
        copy.handler->finished(copy.context, copy.exit_status);
    else
        copy.opened(copy.context, NULL);
}

static const struct connection_handler client_connection = {.space = client_space,
                                                            .data = client_data,
                                                            .end = client_end,
                                                            .drained = client_drained,
                                                            .closed = client_closed};

static struct client *client_new(struct connection *connection, void *context)
{
    struct client *client = memory_zeroed(1, sizeof(*client));
    client->connection = connection;
    client->context = context;
    return client;
}

void control_request_put(const struct control_request *request, struct buffer *body)
{
    buffer_put_u8(body, request->is_terminal ? 1 : 0);
    buffer_put_sized(body, bytes_text(request->actor));
    buffer_put_sized(body, bytes_text(request->text));
    buffer_put_sized(body, bytes_text(request->folder != NULL ? request->folder : ""));
    buffer_put_varint(body, (uint64_t)request->word_count);
    for (int i = 0; i < request->word_count; i++)
        buffer_put_sized(body, bytes_text(request->words[i]));
    buffer_put_u8(body, request->input.data != NULL ? 1 : 0);
    if (request->input.data != NULL)
        buffer_put_sized(body, request->input);
}

void control_client_run(struct connection *connection, const struct control_request *request,
                        const struct control_client_handler *handler, void *context)
{
    struct client *client = client_new(connection, context);
    struct buffer body = {0};
    client->handler = handler;
    control_request_put(request, &body);
    message_send(connection, CONTROL_RUN, buffer_view(&body));
    buffer_release(&body);
    network_start(connection, &client_connection, client);
}

void control_client_ingest(struct connection *connection,
                           void (*opened)(void *context, struct connection *connection),
                           void *context)
{
    struct client *client = client_new(connection, context);
    client->opened = opened;
    message_send(connection, CONTROL_INGEST, (struct bytes){0});
    network_start(connection, &client_connection, client);
}

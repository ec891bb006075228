/* control_client: sends one request over the socket and passes on what comes. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_CLIENT_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_CLIENT_H

#include "base/cli/command.h"
#include "base/world/network.h"
#include "program/control/control_message.h"

/* Send a request on `connection` and pass what comes on: `write` for each piece, `finished` once
 * with the exit status, or with EXIT_SYSTEM_FAILED when the connection breaks.  The connection is
 * closed and gone when `finished` is called. */
struct control_client_handler {
    void (*write)(void *context, enum command_stream stream, struct bytes bytes);
    void (*finished)(void *context, int exit_status);
};
void control_client_run(struct connection *connection, const struct control_request *request,
                        const struct control_client_handler *handler, void *context);

/* Ask for the ingest door.  `opened` gets the connection back, without a handler, or NULL. */
void control_client_ingest(struct connection *connection,
                           void (*opened)(void *context, struct connection *connection),
                           void *context);
#endif

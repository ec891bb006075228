/* control_client: sends one request over a server's control socket, and passes the answer on. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_CLIENT_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_CLIENT_H

#include "base/cli/command.h"
#include "base/world/network.h"
#include "program/control/control_message.h"

/* Send a request on `connection`.  `write` of the output gets each piece of the answer.  `finish`
 * is called once, after the connection was closed: with the exit status, or with EXIT_SYSTEM_FAILED
 * if the connection broke. */
void control_client_run(struct connection *connection, const struct control_request *request,
                        struct command_output *output);

/* Send an INGEST request.  `opened` gets the connection back, without a handler, or NULL after a
 * refusal or failure. */
void control_client_ingest(struct connection *connection,
                           void (*opened)(void *context, struct connection *connection),
                           void *context);
#endif

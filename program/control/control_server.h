/* control_server: takes connections on the socket and runs the commands that clients send. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_SERVER_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_SERVER_H

#include "base/world/network.h"
#include "base/world/world.h"
#include "program/control/control.h"

struct control_server;

struct control_server_options {
    struct network *network;
    struct world *world;               /* on the network's loop */
    const char *path;                  /* of the socket */
    const struct control_entry *entries;           /* outlive the server */
    uint32_t entry_count;
    uint32_t connections_max;          /* 0: CONTROL_CONNECTIONS_MAX */
    size_t bytes_max;                  /* of each of three quotas: the memory of running commands,
                                        * unread answers, and what commands keep (command_keep);
                                        * 0: CONTROL_BYTES_MAX */
    /* Called with each change of the bytes that running commands, unread answers and command_keep
     * use together; may be NULL. */
    void (*held)(void *context, int64_t change_bytes);
    /* Takes over a connection on which ingest was requested; NULL: such a connection is closed. */
    void (*ingest)(void *context, struct connection *connection);
    void *context;
};

must_check int control_server_open(const struct control_server_options *options,
                                   struct control_server **server_out, struct error *err);
/* Take no more requests.  Close the connections whose command has not started, and those with an
 * answer of which the client has not taken all bytes.  When the last running command has finished,
 * the server is freed and `closed` is called. */
void control_server_close(struct control_server *server, void (*closed)(void *context),
                          void *context);

/* Append the state of the socket's connections as lines of text (door_dump). */
void control_server_dump(const struct control_server *server, struct buffer *text);
#endif

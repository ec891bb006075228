/* control_server: takes connections on the socket and runs the commands that clients send. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_SERVER_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_SERVER_H

#include "base/world/network.h"
#include "base/world/world.h"
#include "program/control/control.h"

struct control_server;

struct control_server_options {
    struct network *network;
    struct world *world;               /* on the same loop */
    const char *path;                  /* of the socket */
    const struct control_entry *entries;           /* outlive the server */
    uint32_t entry_count;
    uint32_t connections_max;          /* 0: CONTROL_CONNECTIONS_MAX */
    size_t bytes_max;                  /* of memory, each for commands that run, answers that
                                        * wait and what is kept; 0: CONTROL_BYTES_MAX */
    /* Tells an account of it; NULL: there is none. */
    void (*held)(void *context, int64_t change_bytes);
    /* Takes a connection that asked for the ingest door. */
    void (*ingest)(void *context, struct connection *connection);
    void *context;
};

must_check int control_server_open(const struct control_server_options *options,
                                   struct control_server **server_out, struct error *err);
/* Takes no more requests and hangs up on clients that have sent none or do not take their answer;
 * frees itself when the last running command has finished, then calls `closed`. */
void control_server_close(struct control_server *server, void (*closed)(void *context),
                          void *context);

/* Append the connections of commands. */
void control_server_dump(const struct control_server *server, struct buffer *text);
#endif

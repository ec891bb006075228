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
    size_t bytes_max;                  /* of memory: so many for commands that run, as many for
                                        * answers that wait, and as many for what commands keep
                                        * besides; 0: CONTROL_BYTES_MAX */
    /* Called with each change of that memory, for an account of it; NULL: there is none. */
    void (*held)(void *context, int64_t change_bytes);
    /* Takes over a connection whose client wants to ingest; NULL: it is closed. */
    void (*ingest)(void *context, struct connection *connection);
    void *context;
};

must_check int control_server_open(const struct control_server_options *options,
                                   struct control_server **server_out, struct error *err);
/* Take no more requests, and close the connections of clients that have sent none or do not read
 * their answer.  When the last running command has finished the server is freed, and then `closed`
 * is called. */
void control_server_close(struct control_server *server, void (*closed)(void *context),
                          void *context);

/* Append how many connections there are, and a line for each of the first ones (door_dump). */
void control_server_dump(const struct control_server *server, struct buffer *text);
#endif

/* control_server: takes connections on the control socket, and runs the commands of its clients. */
#ifndef DAYBOOK_PROGRAM_CONTROL_CONTROL_SERVER_H
#define DAYBOOK_PROGRAM_CONTROL_CONTROL_SERVER_H

#include "base/world/network.h"
#include "base/world/world.h"
#include "program/control/control.h"

struct control_server;

struct control_server_options {
    struct network *network;
    struct world *world;
    const char *path;
    const struct command_entry *entries;           /* outlive the server */
    uint32_t entry_count;
    uint32_t connections_max;          /* 0: CONTROL_CONNECTIONS_MAX */
    size_t bytes_max;                  /* of each of three quotas: running commands, unread answers,
                                        * and what command_keep charges; 0: CONTROL_BYTES_MAX */
    /* Called with each change of the bytes of all three quotas together; may be NULL. */
    void (*held)(void *context, int64_t change_bytes);
    int64_t long_us;                   /* a command that runs longer is logged; 0: 10 s */
    /* Called with a connection on which ingest was requested.  NULL: the connection is closed. */
    void (*ingest)(void *context, struct connection *connection);
    void *context;
};

must_check int control_server_open(const struct control_server_options *options,
                                   struct control_server **server_out, struct error *err);
/* Accept no more requests.  Close each connection whose command has not started, or whose client
 * has not read its answer.  `closed` is called when the last command has finished and the server is
 * freed. */
void control_server_close(struct control_server *server, void (*closed)(void *context),
                          void *context);

void control_server_dump(const struct control_server *server, struct buffer *text);
#endif

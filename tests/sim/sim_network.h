/* sim_network: connections whose bytes move when a test says so, in pieces drawn from a seed.
 *
 * It takes the place of network_uv.c: a program linked with it serves simulated clients by the same
 * code that serves real ones.  Nothing arrives by itself; sim_network_step moves one thing: a piece
 * of what a client sent, a piece of what the server wrote, or the news that somebody hung up. What
 * a client that is gone had sent may still arrive, late, and cut anywhere. */
#ifndef DAYBOOK_TESTS_SIM_SIM_NETWORK_H
#define DAYBOOK_TESTS_SIM_SIM_NETWORK_H

#include "base/buffer.h"
#include "base/world/network.h"

/* `written` is called with all that a server writes to a client, before it is on its way; may be
 * NULL. */
struct network *sim_network_new(uint64_t seed,
                                void (*written)(void *client, struct bytes bytes));
void sim_network_free(struct network *network);        /* all connections are closed and dropped */

/* One thing happens; false when nothing is on its way. */
bool sim_network_step(struct network *network);

/* A connection, for the server to attach, and for the calls below, until it is dropped. */
struct connection *sim_network_connect(struct network *network, void *client);
/* Before it is attached; without it a connection is of this machine. */
void sim_network_come_from(struct connection *connection, const struct network_address *peer);
void sim_network_send(struct connection *connection, struct bytes bytes);
/* What has arrived and not been taken; the caller takes from it. */
struct buffer *sim_network_received(struct connection *connection);
/* The server hung up, and everything it wrote has arrived. */
bool sim_network_has_ended(const struct connection *connection);
/* The client is gone: any part of what it sent still arrives. */
void sim_network_drop(struct connection *connection);
#endif

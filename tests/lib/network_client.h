/* network_client: the other end of a door's connection: what a test sends, and all that it got.
 *
 * A test that wants to know more of its client embeds this first. */
#ifndef DAYBOOK_TESTS_NETWORK_CLIENT_H
#define DAYBOOK_TESTS_NETWORK_CLIENT_H

#include "base/buffer.h"
#include "base/world/network.h"

struct network_client {
    struct connection *connection;
    struct buffer got;                 /* what came, as it came */
    uint8_t space[65536];
    bool has_ended;                    /* the door sent its last byte, or hung up */
    bool is_closed;
};

/* A new pair; the door's end is returned, for it to attach.  `client` is zeroed. */
struct connection *network_client_open(struct network_client *client, struct network *network);
/* Hang up, and run `loop` (a uv_loop_t) until that is done; forgets what came. */
void network_client_close(struct network_client *client, void *loop);
#endif

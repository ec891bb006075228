/* network: listens on and connects TCP and unix sockets, on the engine's loop.
 *
 * network_uv.c implements this on libuv; tests may link another implementation.  Every callback is
 * called on the engine thread.  Only network_close closes a connection; `closed` is the last
 * callback, and the connection is freed after it. */
#ifndef DAYBOOK_BASE_WORLD_NETWORK_H
#define DAYBOOK_BASE_WORLD_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

enum { NETWORK_CONNECTION_BYTES = 1024 };      /* about the memory of an idle connection */

struct network;
struct listener;
struct connection;

/* The address of one end of a connection. */
struct network_address {
    uint8_t bytes[16];
    uint8_t size;              /* 4 or 16; 0: not an internet address */
    uint16_t port;
};

/* Whether `address` is a loopback address, or has size 0 as that of a unix socket. */
static inline bool network_address_is_local(const struct network_address *address)
{
    static const uint8_t v6_loopback[16] = {[15] = 1};

    if (address->size == 16)
        return memcmp(address->bytes, v6_loopback, sizeof v6_loopback) == 0;
    return address->size == 0 || address->bytes[0] == 127;
}

struct connection_handler {
    /* Called before every read: returns the memory for its bytes; `*size_out` is at least 1. */
    void (*space)(void *context, uint8_t **to_out, size_t *size_out);
    /* `size` bytes were stored at the start of the memory that `space` returned. */
    void (*data)(void *context, size_t size);
    /* Status 0: the peer has sent its last byte.  A negative status: the connection has failed, and
     * queued bytes are dropped; this may come after a call with status 0. */
    void (*end)(void *context, int status);
    /* All queued bytes were sent: network_queued is 0 again. */
    void (*drained)(void *context);
    void (*closed)(void *context);
};

/* `loop` is a uv_loop_t.  The process ignores SIGPIPE from this call on. */
struct network *network_uv_new(void *loop);
/* The caller must first have closed all listeners and connections (network_listener_close,
 * network_close).  NULL is fine. */
void network_uv_free(struct network *network);

/* Listen on `address`: "127.0.0.1:7600", "[::1]:7600", or ":7600" for 127.0.0.1; port 0 is replaced
 * by a free port.  `accepted` is called with each new connection, which then belongs to the caller:
 * it calls network_start, at once or later, or network_close. */
must_check int network_listen(struct network *network, const char *address,
                              void (*accepted)(void *context, struct connection *connection),
                              void *context, struct listener **listener_out, struct error *err);
/* Listen on a unix socket at `path`, with mode 0600.  A socket on which no process listens any more
 * is replaced.  A path over 107 bytes, which does not fit a socket's address, is reached through a
 * descriptor of its directory. */
must_check int network_listen_unix(struct network *network, const char *path,
                                   void (*accepted)(void *context, struct connection *connection),
                                   void *context, struct listener **listener_out,
                                   struct error *err);
/* The address and port (or path) that the listener is bound to; valid as long as the listener. */
const char *network_listener_address(const struct listener *listener);
/* Whether the listener is bound to a loopback address or a path, which only this machine can
 * reach. */
bool network_listener_is_local(const struct listener *listener);
void network_listener_close(struct listener *listener);

/* Connect to a unix socket.  The call may block, so the server does not use it. */
must_check int network_connect_unix(struct network *network, const char *path,
                                    struct connection **connection_out, struct error *err);
/* Two connected ends in one process. */
must_check int network_pair(struct network *network, struct connection *ends_out[2],
                            struct error *err);

/* Begin to read, and call `handler`.  network_stop ends reading and removes the handler, so that
 * network_start can set another one later.  network_start may also be called again without a stop,
 * to replace the handler. */
void network_start(struct connection *connection, const struct connection_handler *handler,
                   void *context);
void network_stop(struct connection *connection);
void network_pause(struct connection *connection);     /* stop reading, for back-pressure */
void network_resume(struct connection *connection);
/* Send bytes; those that cannot be sent now are copied and queued. */
void network_write(struct connection *connection, struct bytes bytes);
size_t network_queued(const struct connection *connection);       /* bytes not yet sent */
/* Half-close the connection after all queued bytes were sent. */
void network_finish(struct connection *connection);
/* The addresses of this end and of the peer.  The peer of a TCP connection that was reset has the
 * unspecified address "::". */
void network_addresses(const struct connection *connection, struct network_address *local_out,
                       struct network_address *peer_out);
void network_close(struct connection *connection);     /* now: queued bytes may be lost */

/* Set TCP keepalive: when no bytes have come for `idle_s` seconds the system sends `probes` probes,
 * one every `every_s` seconds; if the peer answers none of them, the connection fails.  No effect
 * on a unix socket. */
void network_keepalive(struct connection *connection, int idle_s, int every_s, int probes);

/* Bytes that come on this connection are requests whose clients wait for an answer, so
 * network_has_question checks this connection while it is read from. */
void network_expect_questions(struct connection *connection);
/* Whether a client has connected to a unix socket and was not accepted yet, or bytes that were not
 * read yet have come on a connection that expects questions.  If so, long work for which no client
 * waits ends its turn of the loop.  Takes one system call. */
bool network_has_question(const struct network *network);
#endif

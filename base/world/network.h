/* network: listening and connected byte streams on the engine's loop.
 *
 * The program has the implementation on libuv (network_uv.c); tests may link another one.  Every
 * callback is called on the engine thread.  Only network_close closes a connection; `closed` is the
 * last callback, after which the connection is freed. */
#ifndef DAYBOOK_BASE_WORLD_NETWORK_H
#define DAYBOOK_BASE_WORLD_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

enum { NETWORK_CONNECTION_BYTES = 1024 };      /* of memory, about, for an idle one */

struct network;
struct listener;
struct connection;

/* One end of a connection. */
struct network_address {
    uint8_t bytes[16];
    uint8_t size;              /* 4 or 16; 0: not an internet address, or unknown */
    uint16_t port;
};

/* Whether it is a loopback address, or that of a unix socket, which has none. */
static inline bool network_address_is_local(const struct network_address *address)
{
    static const uint8_t v6_loopback[16] = {[15] = 1};

    if (address->size == 16)
        return memcmp(address->bytes, v6_loopback, sizeof v6_loopback) == 0;
    return address->size == 0 || address->bytes[0] == 127;
}

struct connection_handler {
    /* Called before every read: where its bytes are to be stored, at least 1. */
    void (*space)(void *context, uint8_t **to_out, size_t *size_out);
    /* `size` bytes were stored at the start of that space. */
    void (*data)(void *context, size_t size);
    /* The peer has sent its last byte (status 0), or the connection has failed (a negative status,
     * which may follow a 0 when the peer had half-closed before): queued bytes are then dropped. */
    void (*end)(void *context, int status);
    /* All bytes that were written were sent (network_queued is 0 again). */
    void (*drained)(void *context);
    void (*closed)(void *context);
};

/* `loop` is a uv_loop_t.  SIGPIPE is ignored from here on. */
struct network *network_uv_new(void *loop);
/* All listeners and connections were closed; NULL is fine. */
void network_uv_free(struct network *network);

/* `address` is "127.0.0.1:7600", "[::1]:7600", ":7600" (127.0.0.1), or port 0 for a free one.
 * `accepted` gets each new connection and must call network_start on it, now or later. */
must_check int network_listen(struct network *network, const char *address,
                              void (*accepted)(void *context, struct connection *connection),
                              void *context, struct listener **listener_out, struct error *err);
/* A unix socket at `path`, mode 0600; an old socket on which no process listens is replaced.  A
 * path over 107 bytes, which no address can hold, is reached through a descriptor of its
 * directory. */
must_check int network_listen_unix(struct network *network, const char *path,
                                   void (*accepted)(void *context, struct connection *connection),
                                   void *context, struct listener **listener_out,
                                   struct error *err);
/* The address that it is bound to, port included; valid as long as the listener. */
const char *network_listener_address(const struct listener *listener);
/* Whether it is bound to a loopback address or a path, so that only this machine can reach it. */
bool network_listener_is_local(const struct listener *listener);
void network_listener_close(struct listener *listener);

/* Connect (blocking; for commands, not for the server). */
must_check int network_connect_unix(struct network *network, const char *path,
                                    struct connection **connection_out, struct error *err);
/* Two connected ends in one process. */
must_check int network_pair(struct network *network, struct connection *ends_out[2],
                            struct error *err);

/* Begin reading for `handler`.  network_stop ends reading and detaches the handler, so that another
 * one can take the connection over; a second network_start does the same without a stop. */
void network_start(struct connection *connection, const struct connection_handler *handler,
                   void *context);
void network_stop(struct connection *connection);
void network_pause(struct connection *connection);     /* stop reading, for back-pressure */
void network_resume(struct connection *connection);
/* Queue bytes (copied). */
void network_write(struct connection *connection, struct bytes bytes);
size_t network_queued(const struct connection *connection);       /* bytes not yet sent */
/* Half-close after what is queued. */
void network_finish(struct connection *connection);
/* The addresses of this end and of the peer's. */
void network_addresses(const struct connection *connection, struct network_address *local_out,
                       struct network_address *peer_out);
void network_close(struct connection *connection);     /* now: queued bytes may be lost */

/* TCP keepalive: when nothing has come for `idle_s` seconds the system sends `probes` probes, one
 * in `every_s` seconds; if the peer answers none the connection fails.  No effect on a unix
 * socket. */
void network_keepalive(struct connection *connection, int idle_s, int every_s, int probes);

/* Clients wait for answers to what they send on this connection: network_has_question looks at it
 * while it is read from. */
void network_expect_questions(struct connection *connection);
/* Whether a client has connected to a unix socket, or bytes have come on a connection that expects
 * questions, and neither was read yet.  Long work for which no client waits ends its turn of the
 * loop then.  One system call. */
bool network_has_question(const struct network *network);
#endif

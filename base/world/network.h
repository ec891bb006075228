/* network: listening and connected byte streams on the engine's loop.
 *
 * The program has libuv's (network_uv.c); tests can bring their own.  Every callback comes on the
 * engine thread.  A connection is closed by network_close only; `closed` is the last callback and
 * after it the connection is gone. */
#ifndef DAYBOOK_BASE_WORLD_NETWORK_H
#define DAYBOOK_BASE_WORLD_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

enum { NETWORK_CONNECTION_BYTES = 1024 };      /* what one takes that holds nothing, about */

struct network;
struct listener;
struct connection;

/* One end of a connection. */
struct network_address {
    uint8_t bytes[16];
    uint8_t size;              /* 4 or 16; 0: no internet address, or not known */
    uint16_t port;
};

/* Loopback, or a unix socket's, which has none. */
static inline bool network_address_is_local(const struct network_address *address)
{
    static const uint8_t v6_loopback[16] = {[15] = 1};

    if (address->size == 16)
        return memcmp(address->bytes, v6_loopback, sizeof v6_loopback) == 0;
    return address->size == 0 || address->bytes[0] == 127;
}

struct connection_handler {
    /* Where the next bytes shall go; asked before every read.  At least 1 byte. */
    void (*space)(void *context, uint8_t **to_out, size_t *size_out);
    /* `size` bytes were put at the start of that space. */
    void (*data)(void *context, size_t size);
    /* The peer has sent its last byte (status 0) or is gone (negative, which may follow a 0 when
     * it had half-closed first); what was queued is then dropped. */
    void (*end)(void *context, int status);
    /* All that was written has left (bytes queued is 0 again). */
    void (*drained)(void *context);
    void (*closed)(void *context);
};

/* `loop` is a uv_loop_t.  SIGPIPE is ignored from here on. */
struct network *network_uv_new(void *loop);
void network_uv_free(struct network *network);         /* all listeners, connections closed */

/* `address` is "127.0.0.1:7600", "[::1]:7600", ":7600" (127.0.0.1), or port 0 for a free one.
 * `accepted` gets each new connection and must call network_start on it, now or later. */
must_check int network_listen(struct network *network, const char *address,
                              void (*accepted)(void *context, struct connection *connection),
                              void *context, struct listener **listener_out, struct error *err);
/* A unix socket at `path`, mode 0600; an old one that nobody answers on is replaced.  Paths over
 * 107 bytes are reached through the directory. */
must_check int network_listen_unix(struct network *network, const char *path,
                                   void (*accepted)(void *context, struct connection *connection),
                                   void *context, struct listener **listener_out,
                                   struct error *err);
/* The address it really has, port included; valid as long as the listener. */
const char *network_listener_address(const struct listener *listener);
/* Whether it is bound to a loopback address or a path, so that this machine alone reaches it. */
bool network_listener_is_local(const struct listener *listener);
void network_listener_close(struct listener *listener);

/* Connect (blocking; for commands, not for the server). */
must_check int network_connect_unix(struct network *network, const char *path,
                                    struct connection **connection_out, struct error *err);
/* Two connected ends in one process. */
must_check int network_pair(struct network *network, struct connection *ends_out[2],
                            struct error *err);

/* Begin reading for `handler`; stop reading and forget it, so that the connection can be handed
 * over to another.  A second start hands it over at once. */
void network_start(struct connection *connection, const struct connection_handler *handler,
                   void *context);
void network_stop(struct connection *connection);
void network_pause(struct connection *connection);     /* stop reading: back-pressure */
void network_resume(struct connection *connection);
/* Queue bytes (copied). */
void network_write(struct connection *connection, struct bytes bytes);
size_t network_queued(const struct connection *connection);       /* bytes not yet sent */
/* Half-close after what is queued. */
void network_finish(struct connection *connection);
/* Our end and the peer's. */
void network_addresses(const struct connection *connection, struct network_address *local_out,
                       struct network_address *peer_out);
void network_close(struct connection *connection);     /* at once; what is queued may be lost */

/* When nothing came for `idle_s` seconds the system asks the peer's whether it is there, `probes`
 * times, `every_s` seconds apart; without an answer the connection ends.  Not of a unix socket. */
void network_keepalive(struct connection *connection, int idle_s, int every_s, int probes);

/* What comes on this connection are questions, whose askers wait: network_has_question sees them,
 * while it is read from. */
void network_expect_questions(struct connection *connection);
/* Whether somebody has connected to a unix socket, or asks on a connection that expects it, and has
 * not been heard yet: who works through much that nobody waits for ends his turn of the loop then.
 * One system call. */
bool network_has_question(const struct network *network);
#endif

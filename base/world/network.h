/* network: listens on and connects TCP and unix sockets, on the engine's loop (network_uv.c).
 *
 * Every callback runs on the engine thread.  Only network_close closes a connection; `closed` is
 * the last callback, and the connection is freed after it. */
#ifndef DAYBOOK_BASE_WORLD_NETWORK_H
#define DAYBOOK_BASE_WORLD_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

enum { NETWORK_CONNECTION_BYTES = 1024 };      /* memory of an idle connection */

struct network;
struct listener;
struct connection;

struct network_address {
    uint8_t bytes[16];
    uint8_t size;              /* 4 or 16; 0: not an internet address */
    uint16_t port;
};

/* An address of size 0, as of a unix socket, is local. */
static inline bool network_address_is_local(const struct network_address *address)
{
    static const uint8_t v6_loopback[16] = {[15] = 1};

    if (address->size == 16)
        return memcmp(address->bytes, v6_loopback, sizeof v6_loopback) == 0;
    return address->size == 0 || address->bytes[0] == 127;
}

struct connection_handler {
    /* Returns memory for the next read; `*size_out` is at least 1. */
    void (*space)(void *context, uint8_t **to_out, size_t *size_out);
    /* `size` bytes were read into the memory of `space`. */
    void (*data)(void *context, size_t size);
    /* Status 0: the peer has sent its last byte.  Negative, perhaps after 0: the connection has
     * failed, and queued bytes are dropped. */
    void (*end)(void *context, int status);
    /* All queued bytes were sent. */
    void (*drained)(void *context);
    void (*closed)(void *context);
};

/* `loop` is a uv_loop_t.  From now on the process ignores SIGPIPE. */
struct network *network_uv_new(void *loop);
/* The caller must first close all listeners and connections. */
void network_uv_free(struct network *network);

/* Listen on "127.0.0.1:7600", "[::1]:7600", or ":7600" for 127.0.0.1; port 0 means a free port.
 * `accepted` gets each new connection, and must have it started (network_start) or closed. */
must_check int network_listen(struct network *network, const char *address,
                              void (*accepted)(void *context, struct connection *connection),
                              void *context, struct listener **listener_out, struct error *err);
/* The socket has mode 0600.  A socket on which no process listens is replaced.  `path` may be
 * longer than the system's limit of 107 bytes. */
must_check int network_listen_unix(struct network *network, const char *path,
                                   void (*accepted)(void *context, struct connection *connection),
                                   void *context, struct listener **listener_out,
                                   struct error *err);
/* The bound address and port, or path; valid as long as the listener. */
const char *network_listener_address(const struct listener *listener);
/* Whether only this machine can reach the listener. */
bool network_listener_is_local(const struct listener *listener);
void network_listener_close(struct listener *listener);

/* This call may block. */
must_check int network_connect_unix(struct network *network, const char *path,
                                    struct connection **connection_out, struct error *err);
/* Make two connections that are connected to each other. */
must_check int network_pair(struct network *network, struct connection *ends_out[2],
                            struct error *err);

/* Begin to read.  A second call replaces the handler; network_stop ends reading and removes the
 * handler. */
void network_start(struct connection *connection, const struct connection_handler *handler,
                   void *context);
void network_stop(struct connection *connection);
void network_pause(struct connection *connection);
void network_resume(struct connection *connection);
/* Bytes that cannot be sent now are copied and queued. */
void network_write(struct connection *connection, struct bytes bytes);
size_t network_queued(const struct connection *connection);       /* bytes not yet sent */
/* Half-close after all queued bytes were sent. */
void network_finish(struct connection *connection);
/* The peer of a TCP connection that was reset has the address "::". */
void network_addresses(const struct connection *connection, struct network_address *local_out,
                       struct network_address *peer_out);
void network_close(struct connection *connection);     /* queued bytes may be lost */

/* After `idle_s` seconds without bytes, send `probes` probes, one every `every_s` seconds.  If none
 * is answered, the connection fails.  There is no effect on a unix socket. */
void network_keepalive(struct connection *connection, int idle_s, int every_s, int probes);

/* Have network_has_question report unread bytes of this connection, because they are requests. */
void network_expect_questions(struct connection *connection);
/* Whether a client waits to be accepted by a unix listener, or a connection that expects questions
 * has unread bytes.  If true, long work for which no client waits must end its turn of the loop. */
bool network_has_question(const struct network *network);
#endif

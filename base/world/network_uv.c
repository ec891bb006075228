/* network_uv: byte streams on a libuv loop.
 *
 * What must hold: a handler may close its connection within any callback.  The memory of a handle
 * is freed only in the callback of uv_close.
 *
 * At most one uv_write is under way, that of `sending`.  Replies that queue behind it are joined,
 * and the next uv_write sends them together:
 *
 *     network_write ── socket accepts all ──────────────────────▶ done
 *                   └─ rest ─▶ waiting ─ swap ─▶ sending ─▶ done, drained()
 *
 * A failed write drops the queue and calls `end` with the error, even if `end` was called with 0
 * before.  Unix sockets are made without libuv, because the mode must be 0600 before another
 * process can connect, and paths may be long. */
#include "base/world/network.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <uv.h>

#include "base/world/descriptors.h"
#include "base/log.h"
#include "base/world/loop_times.h"
#include "base/memory.h"
#include "base/world/watch.h"

enum {
    NETWORK_BACKLOG = 512,
    NETWORK_HOST_MAX = 255,
    NETWORK_ADDRESS_MAX = 320,
    NETWORK_AT_ONCE_MAX = 16,     /* connections per listener and turn */
    NETWORK_KEEP_MAX = 64 << 10,  /* largest capacity of an empty buffer */
    NETWORK_REFUSED_US = 60000000 /* between log lines */
};

union network_handle {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct network {
    uv_loop_t *loop;
    struct watch questions; /* descriptors for network_has_question: unix listeners, and connections
                             * on which requests arrive */
    uint32_t users;
    struct descriptors descriptors;
    struct log_group refused;
};

struct listener {
    union network_handle uv;
    uv_check_t turn;  /* active from a turn's first connection on */
    uint32_t at_once; /* connections of this turn */
    struct network *network;
    void (*accepted)(void *context, struct connection *connection);
    void *context;
    char *path; /* of a unix socket, else NULL */
    bool is_local;
    char address[NETWORK_ADDRESS_MAX];
};

struct connection {
    union network_handle uv;
    struct network *network;
    const struct connection_handler *handler;
    void *context;
    uv_write_t write;
    uv_shutdown_t shutdown;
    struct buffer sending; /* empty: no uv_write is under way */
    struct buffer waiting;
    bool is_reading;
    bool is_asked;     /* expects questions: watched while is_reading */
    bool is_finishing; /* half-close once both buffers are empty */
    bool is_finished;
    bool is_closing;
    bool has_ended;
    bool has_failed;
};

struct network *network_uv_new(void *loop)
{
    struct network *network = memory_zeroed(1, sizeof *network);

    (void)signal(SIGPIPE, SIG_IGN);
    network->loop = loop;
    network->users = 1;
    network->questions = watch_new();
    network->descriptors = descriptors_look();
    network->refused = (struct log_group){.period_us = NETWORK_REFUSED_US};
    return network;
}

static void network_release(struct network *network)
{
    if (--network->users > 0)
        return;
    watch_free(network->questions);
    memory_free(network);
}

void network_uv_free(struct network *network)
{
    if (network != NULL)
        network_release(network);
}

static void handle_init(struct network *network, union network_handle *uv, bool is_unix, void *data)
{
    network->users++;
    if (is_unix)
        check(uv_pipe_init(network->loop, &uv->pipe, 0) == 0);
    else
        check(uv_tcp_init(network->loop, &uv->tcp) == 0);
    uv->handle.data = data;
}

/* ---- connections: life ---- */

static struct connection *connection_new(struct network *network, bool is_unix)
{
    struct connection *connection = memory_zeroed(1, sizeof *connection);

    connection->network = network;
    handle_init(network, &connection->uv, is_unix, connection);
    return connection;
}

static void connection_closed(uv_handle_t *handle)
{
    struct connection *connection = handle->data;
    struct network *network = connection->network;

    if (connection->handler != NULL)
        connection->handler->closed(connection->context);
    buffer_release(&connection->sending);
    buffer_release(&connection->waiting);
    memory_free(connection);
    network_release(network);
}

void network_close(struct connection *connection)
{
    if (connection->is_closing)
        return;
    connection->is_closing = true;
    uv_close(&connection->uv.handle, connection_closed);
}

/* On an error `fd` is closed. */
static int connection_adopt(struct network *network, int fd, struct connection **connection_out,
                            struct error *err)
{
    struct connection *connection = connection_new(network, true);
    int rc = uv_pipe_open(&connection->uv.pipe, fd);

    if (rc != 0) {
        close(fd);
        network_close(connection);
        return error_set(err, rc, "cannot use a socket: %s", error_text(rc));
    }
    *connection_out = connection;
    return 0;
}

/* ---- connections: reading ---- */

/* A connection that is not read from must not be watched, because its unread bytes would make
 * network_has_question true for ever. */
static void connection_watch(struct connection *connection, bool is_watched)
{
    uv_os_fd_t fd;

    if (!connection->is_asked || uv_fileno(&connection->uv.handle, &fd) != 0)
        return;
    if (is_watched)
        watch_add(connection->network->questions, fd);
    else
        watch_remove(connection->network->questions, fd);
}

static void connection_failed(struct connection *connection, int status)
{
    buffer_clear(&connection->waiting);
    if (connection->is_closing || connection->has_failed)
        return;
    connection->has_failed = true;
    connection->has_ended = true;
    if (connection->handler != NULL)
        connection->handler->end(connection->context, status);
}

static void connection_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct connection *connection = handle->data;
    uint8_t *to = NULL;
    size_t size = 0;

    (void)suggested;
    connection->handler->space(connection->context, &to, &size);
    check(size > 0);
    *buf = uv_buf_init((char *)to, size > UINT32_MAX ? UINT32_MAX : (unsigned)size);
}

static void connection_take(struct connection *connection, ssize_t count)
{
    if (count == 0 || connection->is_closing)
        return;
    if (count > 0) {
        connection->handler->data(connection->context, (size_t)count);
        return;
    }
    network_pause(connection);
    if (count != UV_EOF) {
        connection_failed(connection, (int)count);
        return;
    }
    connection->has_ended = true;
    connection->handler->end(connection->context, 0);
}

static void connection_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
    int64_t began_ns = loop_times_begin(stream->loop->data);
    struct connection *connection = stream->data;

    (void)buf;
    connection_take(connection, count);
    loop_times_end(stream->loop->data, LOOP_SOCKET, began_ns);
}

void network_resume(struct connection *connection)
{
    if (connection->is_reading || connection->is_closing || connection->has_ended)
        return;
    check(uv_read_start(&connection->uv.stream, connection_alloc, connection_read) == 0);
    connection->is_reading = true;
    connection_watch(connection, true);
}

void network_pause(struct connection *connection)
{
    if (!connection->is_reading || connection->is_closing)
        return;
    (void)uv_read_stop(&connection->uv.stream);
    connection->is_reading = false;
    connection_watch(connection, false);
}

void network_expect_questions(struct connection *connection)
{
    if (connection->is_asked || connection->is_closing)
        return;
    connection->is_asked = true;
    if (connection->is_reading)
        connection_watch(connection, true);
}

bool network_has_question(const struct network *network)
{
    return watch_is_ready(network->questions);
}

void network_start(struct connection *connection, const struct connection_handler *handler,
                   void *context)
{
    check(!connection->is_closing);
    connection->handler = handler;
    connection->context = context;
    network_resume(connection);
}

void network_stop(struct connection *connection)
{
    network_pause(connection);
    connection->handler = NULL;
    connection->context = NULL;
}

/* A mapped IPv4 address (RFC 4291 section 2.5.5.2) becomes an IPv4 address. */
static struct network_address address_of(const struct sockaddr_storage *from)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    struct network_address address = {0};

    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;

        memcpy(address.bytes, &v4->sin_addr, 4);
        address.size = 4;
        address.port = ntohs(v4->sin_port);
    } else if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
        bool is_mapped = memcmp(&v6->sin6_addr, mapped, sizeof mapped) == 0;

        address.size = is_mapped ? 4 : 16;
        memcpy(address.bytes, v6->sin6_addr.s6_addr + (is_mapped ? sizeof mapped : 0),
               address.size);
        address.port = ntohs(v6->sin6_port);
    }
    return address;
}

void network_addresses(const struct connection *connection, struct network_address *local_out,
                       struct network_address *peer_out)
{
    struct sockaddr_storage local = {0};
    struct sockaddr_storage peer = {0};
    int local_size = sizeof local;
    int peer_size = sizeof peer;

    if (connection->uv.handle.type == UV_TCP) {
        (void)uv_tcp_getsockname(&connection->uv.tcp, (struct sockaddr *)&local, &local_size);
        /* uv_tcp_getpeername fails after a reset.  The peer then becomes the all-zero IPv6 address,
         * because an address of size 0 means a unix socket. */
        if (uv_tcp_getpeername(&connection->uv.tcp, (struct sockaddr *)&peer, &peer_size) != 0)
            peer.ss_family = AF_INET6;
    }
    *local_out = address_of(&local);
    *peer_out = address_of(&peer);
}

void network_keepalive(struct connection *connection, int idle_s, int every_s, int probes)
{
    int on = 1;
    uv_os_fd_t fd;

    if (connection->uv.handle.type != UV_TCP || uv_fileno(&connection->uv.handle, &fd) != 0)
        return;
    /* Errors do not matter: keepalive only finds dead peers earlier. */
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof every_s);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

/* ---- connections: writing ---- */

static void connection_send(struct connection *connection);

static void connection_shut(uv_shutdown_t *request, int status)
{
    (void)request;
    (void)status; /* an error shows again when the connection is read from */
}

static void connection_shutdown(struct connection *connection)
{
    if (connection->is_finished || connection->is_closing || connection->has_failed)
        return;
    connection->is_finished = true;
    (void)uv_shutdown(&connection->shutdown, &connection->uv.stream, connection_shut);
}

static void connection_write_ended(struct connection *connection, int status)
{
    buffer_clear(&connection->sending);
    if (connection->sending.capacity > NETWORK_KEEP_MAX)
        buffer_release(&connection->sending);
    if (connection->is_closing)
        return;
    if (status < 0) {
        connection_failed(connection, status);
        return;
    }
    if (connection->waiting.size > 0) {
        connection_send(connection);
        return;
    }
    if (connection->is_finishing)
        connection_shutdown(connection);
    if (connection->handler != NULL)
        connection->handler->drained(connection->context);
}

static void connection_sent(uv_write_t *request, int status)
{
    struct loop_times *times = request->handle->loop->data;
    int64_t began_ns = loop_times_begin(times);

    connection_write_ended(request->data, status);
    loop_times_end(times, LOOP_SOCKET, began_ns);
}

static void connection_send(struct connection *connection)
{
    struct buffer empty = connection->sending;

    connection->sending = connection->waiting;
    connection->waiting = empty;
    uv_buf_t buf =
        uv_buf_init((char *)connection->sending.data, (unsigned)connection->sending.size);
    connection->write.data = connection;
    int rc = uv_write(&connection->write, &connection->uv.stream, &buf, 1, connection_sent);
    if (rc != 0) {
        buffer_clear(&connection->sending);
        connection_failed(connection, rc);
    }
}

void network_write(struct connection *connection, struct bytes bytes)
{
    int taken = 0;

    if (bytes.size == 0 || connection->is_closing || connection->has_failed)
        return;
    check(!connection->is_finishing);
    check(network_queued(connection) + bytes.size <= UINT32_MAX);
    if (connection->sending.size == 0) {
        uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes.data, (unsigned)bytes.size);

        taken = uv_try_write(&connection->uv.stream, &buf, 1);
        /* The uv_write that follows gets the error again. */
        if (taken < 0)
            taken = 0;
    }
    if ((size_t)taken == bytes.size)
        return;
    buffer_append(&connection->waiting, bytes.data + taken, bytes.size - (size_t)taken);
    if (connection->sending.size == 0)
        connection_send(connection);
}

size_t network_queued(const struct connection *connection)
{
    return connection->sending.size + connection->waiting.size;
}

void network_finish(struct connection *connection)
{
    if (connection->is_finishing)
        return;
    connection->is_finishing = true;
    if (network_queued(connection) == 0)
        connection_shutdown(connection);
}

/* ---- listeners ---- */

static struct listener *listener_new(struct network *network, bool is_unix,
                                     void (*accepted)(void *context, struct connection *connection),
                                     void *context)
{
    struct listener *listener = memory_zeroed(1, sizeof *listener);

    listener->network = network;
    listener->accepted = accepted;
    listener->context = context;
    handle_init(network, &listener->uv, is_unix, listener);
    check(uv_check_init(network->loop, &listener->turn) == 0);
    listener->turn.data = listener;
    return listener;
}

static void listener_closed(uv_handle_t *handle)
{
    struct listener *listener = handle->data;
    struct network *network = listener->network;

    memory_free(listener->path);
    memory_free(listener);
    network_release(network);
}

static void listener_socket_closed(uv_handle_t *handle)
{
    struct listener *listener = handle->data;

    uv_close((uv_handle_t *)&listener->turn, listener_closed);
}

void network_listener_close(struct listener *listener)
{
    if (uv_is_closing(&listener->uv.handle))
        return;
    if (listener->path != NULL)
        (void)unlink(listener->path);
    (void)uv_check_stop(&listener->turn);
    uv_close(&listener->uv.handle, listener_socket_closed);
}

const char *network_listener_address(const struct listener *listener)
{
    return listener->address;
}

bool network_listener_is_local(const struct listener *listener)
{
    return listener->is_local;
}

/* Read the bytes that a new connection has already sent, because libuv would read them one turn
 * later.  An end or error is ignored, because libuv's own read will get it again. */
static void connection_read_now(struct connection *connection)
{
    uint8_t *to = NULL;
    size_t size = 0;
    uv_os_fd_t fd;

    if (connection->is_closing || !connection->is_reading ||
        uv_fileno(&connection->uv.handle, &fd) != 0)
        return;
    connection->handler->space(connection->context, &to, &size);
    ssize_t count = recv(fd, to, size, MSG_DONTWAIT);
    if (count > 0)
        connection->handler->data(connection->context, (size_t)count);
}

static bool connection_admitted(struct network *network, const struct connection *connection,
                                bool is_unix)
{
    uint64_t count;
    uv_os_fd_t fd;

    if (uv_fileno(&connection->uv.handle, &fd) != 0 ||
        descriptors_admit(&network->descriptors, fd, is_unix))
        return true;
    if (log_group_admit(&network->refused, (int64_t)(uv_hrtime() / 1000), &count))
        log_event(LOG_WARNING, "descriptors_short",
                  log_number("connections_closed", (int64_t)count),
                  log_number("limit", network->descriptors.limit),
                  log_number("reserved_for_files", network->descriptors.reserved));
    return false;
}

static void listener_accept(struct listener *listener)
{
    bool is_unix = listener->uv.handle.type == UV_NAMED_PIPE;

    struct connection *connection = connection_new(listener->network, is_unix);
    if (uv_accept(&listener->uv.stream, &connection->uv.stream) != 0 ||
        !connection_admitted(listener->network, connection, is_unix)) {
        network_close(connection);
        return;
    }
    if (!is_unix)
        (void)uv_tcp_nodelay(&connection->uv.tcp, 1);
    listener->accepted(listener->context, connection);
    if (is_unix)
        connection_read_now(connection);
}

static void listener_turn(uv_check_t *turn)
{
    struct listener *listener = turn->data;
    int64_t began_ns = loop_times_begin(turn->loop->data);
    bool is_waiting = listener->at_once == NETWORK_AT_ONCE_MAX;

    (void)uv_check_stop(turn);
    listener->at_once = 0;
    if (is_waiting)
        listener_accept(listener);
    loop_times_end(turn->loop->data, LOOP_SOCKET, began_ns);
}

/* libuv would accept all waiting connections before it reads from one.  It accepts no further
 * connection until uv_accept is called for the last one; so for connection NETWORK_AT_ONCE_MAX of a
 * turn, that call is left to listener_turn. */
static void listener_connection(uv_stream_t *stream, int status)
{
    struct listener *listener = stream->data;
    int64_t began_ns = loop_times_begin(stream->loop->data);

    /* Without a free descriptor libuv has closed the connection. */
    if (status == 0) {
        if (++listener->at_once == 1)
            check(uv_check_start(&listener->turn, listener_turn) == 0);
        if (listener->at_once < NETWORK_AT_ONCE_MAX)
            listener_accept(listener);
    }
    loop_times_end(stream->loop->data, LOOP_SOCKET, began_ns);
}

/* ---- TCP addresses ---- */

/* The caller frees *found_out by freeaddrinfo. */
static int address_resolve(const char *address, struct addrinfo **found_out, struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    char host[NETWORK_HOST_MAX + 1];
    const char *colon = strrchr(address, ':');
    const char *start = address;
    size_t size = colon == NULL ? 0 : (size_t)(colon - address);

    if (colon == NULL || colon[1] == '\0' || size > NETWORK_HOST_MAX)
        return error_set(err, ERROR_USAGE, "'%s' is no address: HOST:PORT is needed", address);
    if (size >= 2 && start[0] == '[' && start[size - 1] == ']') {
        start++;
        size -= 2;
    }
    if (size == 0) {
        start = "127.0.0.1";
        size = strlen(start);
    }
    memcpy(host, start, size);
    host[size] = '\0';
    /* getaddrinfo would use the last 16 bits of a larger number. */
    if (strtoul(colon + 1, NULL, 10) > UINT16_MAX)
        return error_set(err, ERROR_USAGE, "'%s' is no address: ports end at 65535", address);
    int rc = getaddrinfo(host, colon + 1, &hints, found_out);
    if (rc != 0)
        return error_set(err, ERROR_USAGE, "'%s' is no address: %s", address, gai_strerror(rc));
    return 0;
}

static void address_format(const struct sockaddr *name, socklen_t size, char *to, size_t to_size)
{
    char host[NETWORK_HOST_MAX + 1] = "?";
    char port[16] = "?";

    (void)getnameinfo(name, size, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV);
    (void)snprintf(to, to_size, name->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

int network_listen(struct network *network, const char *address,
                   void (*accepted)(void *context, struct connection *connection), void *context,
                   struct listener **listener_out, struct error *err)
{
    struct sockaddr_storage name = {0};
    int name_size = sizeof name;
    struct addrinfo *found;

    *listener_out = NULL;
    int rc = address_resolve(address, &found, err);
    if (rc != 0)
        return rc;
    struct listener *listener = listener_new(network, false, accepted, context);
    rc = uv_tcp_bind(&listener->uv.tcp, found->ai_addr, 0);
    freeaddrinfo(found);
    /* uv_tcp_bind hides the error of an address in use. */
    if (rc == 0)
        rc = uv_listen(&listener->uv.stream, NETWORK_BACKLOG, listener_connection);
    if (rc == 0)
        rc = uv_tcp_getsockname(&listener->uv.tcp, (struct sockaddr *)&name, &name_size);
    if (rc != 0) {
        network_listener_close(listener);
        return error_set(err, rc, "cannot listen on %s: %s", address, uv_strerror(rc));
    }
    address_format((struct sockaddr *)&name, (socklen_t)name_size, listener->address,
                   sizeof listener->address);
    struct network_address bound = address_of(&name);
    listener->is_local = network_address_is_local(&bound);
    *listener_out = listener;
    return 0;
}

/* ---- unix sockets ---- */

struct unix_name {
    struct sockaddr_un address;
    int directory; /* -1: none */
};

static int unix_name_of(const char *path, struct unix_name *name_out, struct error *err)
{
    struct sockaddr_un *address = &name_out->address;
    const char *slash = strrchr(path, '/');

    *name_out = (struct unix_name){.address.sun_family = AF_UNIX, .directory = -1};
    if (strlen(path) < sizeof address->sun_path) {
        memcpy(address->sun_path, path, strlen(path));
        return 0;
    }
    char *directory = memory_string(path);
    directory[slash == NULL ? 0 : slash - path] = '\0';
    name_out->directory = open(slash == NULL ? "." : directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    memory_free(directory);
    if (name_out->directory < 0)
        return error_set(err, -errno, "cannot open the directory of %s: %s", path,
                         error_text(-errno));
    int length = snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d/%s",
                          name_out->directory, slash == NULL ? path : slash + 1);
    if ((size_t)length >= sizeof address->sun_path) {
        close(name_out->directory);
        return error_set(err, ERROR_LIMIT, "the name of the socket %s is too long", path);
    }
    return 0;
}

/* Returns a descriptor or a negative code. */
static int unix_socket(const struct unix_name *name, bool is_bound)
{
    const struct sockaddr *address = (const struct sockaddr *)&name->address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    /* On Linux bind gives the file this mode, so other users can never open it. */
    int rc = is_bound ? fchmod(fd, S_IRUSR | S_IWUSR) : 0;
    if (rc == 0)
        rc = is_bound ? bind(fd, address, sizeof name->address)
                      : connect(fd, address, sizeof name->address);
    if (rc == 0)
        return fd;
    int code = errno;
    close(fd);
    return -code;
}

/* The lock of the data directory keeps two processes from replacing a socket at the same time. */
static int unix_bind(const char *path, const struct unix_name *name)
{
    struct stat status;
    int fd = unix_socket(name, false);

    if (fd >= 0) {
        close(fd);
        return ERROR_BUSY;
    }
    if (fd == -ECONNREFUSED && lstat(path, &status) == 0 && S_ISSOCK(status.st_mode))
        (void)unlink(path);
    return unix_socket(name, true);
}

static int unix_open(const char *path, bool is_bound, struct error *err)
{
    struct unix_name name;
    int rc = unix_name_of(path, &name, err);

    if (rc != 0)
        return rc;
    int fd = is_bound ? unix_bind(path, &name) : unix_socket(&name, false);
    if (name.directory >= 0)
        close(name.directory);
    if (fd < 0)
        return error_set(err, fd, "cannot %s %s: %s", is_bound ? "listen on" : "connect to", path,
                         error_text(fd));
    return fd;
}

int network_listen_unix(struct network *network, const char *path,
                        void (*accepted)(void *context, struct connection *connection),
                        void *context, struct listener **listener_out, struct error *err)
{
    *listener_out = NULL;
    int fd = unix_open(path, true, err);
    if (fd < 0)
        return fd;
    struct listener *listener = listener_new(network, true, accepted, context);
    listener->is_local = true;
    listener->path = memory_string(path);
    int rc = uv_pipe_open(&listener->uv.pipe, fd);
    if (rc != 0)
        close(fd);
    else
        rc = uv_listen(&listener->uv.stream, NETWORK_BACKLOG, listener_connection);
    if (rc != 0) {
        network_listener_close(listener);
        return error_set(err, rc, "cannot listen on %s: %s", path, error_text(rc));
    }
    watch_add(network->questions, fd);
    (void)snprintf(listener->address, sizeof listener->address, "%s", path);
    *listener_out = listener;
    return 0;
}

int network_connect_unix(struct network *network, const char *path,
                         struct connection **connection_out, struct error *err)
{
    *connection_out = NULL;
    int fd = unix_open(path, false, err);
    return fd < 0 ? fd : connection_adopt(network, fd, connection_out, err);
}

int network_pair(struct network *network, struct connection *ends_out[2], struct error *err)
{
    int fds[2];

    ends_out[0] = ends_out[1] = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return error_set(err, -errno, "cannot make a socket pair: %s", error_text(-errno));
    int rc = connection_adopt(network, fds[0], &ends_out[0], err);
    if (rc != 0) {
        close(fds[1]);
        return rc;
    }
    rc = connection_adopt(network, fds[1], &ends_out[1], err);
    if (rc != 0) {
        network_close(ends_out[0]);
        ends_out[0] = NULL;
    }
    return rc;
}

/* daybook_connection: makes and uses the TCP connection to the server.  Only resolving a host name
 * blocks.
 *
 * What must hold: a new connection begins without bytes and strings of the old one, and every batch
 * after the last acknowledged one is written again, in order. */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client/daybook_private.h"

enum {
    RETRY_FIRST_MS = 10, /* doubles up to RETRY_LAST_MS */
    RETRY_LAST_MS = 1000,
    RECEIVE_SIZE = 16 << 10,
    SENT_KEPT_MAX = 1 << 20 /* sent bytes that may stay in `out` */
};

int64_t daybook_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- connecting ---- */

/* `text` is HOST:PORT, [HOST]:PORT or :PORT. */
static void address_split(char *text, const char **host_out, const char **port_out)
{
    char *colon = strrchr(text, ':');

    *colon = '\0';
    *port_out = colon + 1;
    *host_out = colon == text ? "127.0.0.1" : text;
    if (text[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        *host_out = text + 1;
    }
}

static int open_socket(struct daybook *daybook, const struct addrinfo *found)
{
    int one = 1;
    int descriptor =
        socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, found->ai_protocol);

    if (descriptor < 0)
        return daybook_fail(daybook, DAYBOOK_UNREACHABLE, "socket: %s", strerror(errno));
    (void)setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(descriptor, found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS) {
        int failure = errno;

        daybook->failed_connects++;
        (void)close(descriptor);
        return daybook_fail(daybook, DAYBOOK_UNREACHABLE, "%s: %s", daybook->address,
                            strerror(failure));
    }
    daybook->descriptor = descriptor;
    daybook->is_connecting = true;
    return 0;
}

/* A host may have several addresses, as localhost has ::1 and 127.0.0.1, and the server may listen
 * on only one of them.  So each failed attempt to connect selects the next address. */
static const struct addrinfo *address_choose(const struct addrinfo *found, uint32_t failed_connects)
{
    uint32_t count = 0;

    for (const struct addrinfo *each = found; each != NULL; each = each->ai_next)
        count++;
    for (uint32_t i = failed_connects % count; i > 0; i--)
        found = found->ai_next;
    return found;
}

static int resolve(struct daybook *daybook)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char *text = strdup(daybook->address);
    const char *host;
    const char *port;
    int rc;

    if (text == NULL)
        return daybook_fail(daybook, DAYBOOK_NO_MEMORY, "out of memory");
    address_split(text, &host, &port);
    rc = getaddrinfo(host, port, &hints, &found);
    if (rc != 0)
        rc = daybook_fail(daybook, DAYBOOK_UNREACHABLE, "%s: %s", daybook->address,
                          gai_strerror(rc));
    else
        rc = open_socket(daybook, address_choose(found, daybook->failed_connects));
    if (found != NULL)
        freeaddrinfo(found);
    free(text);
    return rc;
}

static int introduce(struct daybook *daybook)
{
    const uint8_t *id = daybook->producer;
    char line[1100];
    int rc = frame_writer_hello(&daybook->writer);

    if (rc == 0 && daybook->stream != NULL) {
        (void)snprintf(line, sizeof line, "#stream %s", daybook->stream);
        rc = frame_writer_control(&daybook->writer, line);
    }
    (void)snprintf(line, sizeof line,
                   "#producer %02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x"
                   " %" PRIu64 "%s",
                   id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9], id[10],
                   id[11], id[12], id[13], id[14], id[15], daybook->epoch,
                   daybook->is_known ? "" : " new");
    if (rc == 0)
        rc = frame_writer_control(&daybook->writer, line);
    return rc == 0 ? 0 : daybook_fail(daybook, rc, "out of memory");
}

int daybook_connect(struct daybook *daybook)
{
    daybook->retry_ms = daybook->retry_ms == 0                  ? RETRY_FIRST_MS
                        : daybook->retry_ms * 2 > RETRY_LAST_MS ? RETRY_LAST_MS
                                                                : daybook->retry_ms * 2;
    daybook->retry_at_ms = daybook_now_ms() + daybook->retry_ms;
    int rc = introduce(daybook);
    if (rc == 0)
        rc = resolve(daybook);
    return rc;
}

void daybook_disconnect(struct daybook *daybook)
{
    if (daybook->descriptor >= 0)
        (void)close(daybook->descriptor);
    daybook->descriptor = -1;
    daybook->failed_connects += daybook->is_connecting;
    daybook->is_connecting = false;
    daybook->writer.out_size = 0;
    daybook->sent = 0;
    frame_reader_clear(&daybook->reader);
    daybook->line_size = 0;
    daybook->waiting[0] = '\0';
    daybook->written = daybook->totals.acknowledged;
}

/* ---- sending and receiving ---- */

static int connection_failed(struct daybook *daybook, int failure)
{
    return daybook_fail(daybook, DAYBOOK_UNREACHABLE, "%s: %s", daybook->address,
                        failure == 0 ? "the server hung up" : strerror(failure));
}

static int finish_connecting(struct daybook *daybook)
{
    int failure = 0;
    socklen_t size = sizeof failure;

    if (getsockopt(daybook->descriptor, SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
        failure = errno;
    if (failure != 0)
        return connection_failed(daybook, failure);
    daybook->is_connecting = false;
    daybook->totals.connects++;
    return 0;
}

static int send_some(struct daybook *daybook)
{
    struct frame_writer *writer = &daybook->writer;
    ssize_t sent = send(daybook->descriptor, writer->out + daybook->sent,
                        writer->out_size - daybook->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        /* receive_some may still get the server's error. */
        return errno == EPIPE || errno == ECONNRESET ? 0 : connection_failed(daybook, errno);
    }
    if (sent > 0)
        daybook->sent += (size_t)sent;
    /* Moving the unsent bytes takes time, so they are moved rarely. */
    if (daybook->sent == writer->out_size || daybook->sent > SENT_KEPT_MAX) {
        memmove(writer->out, writer->out + daybook->sent, writer->out_size - daybook->sent);
        writer->out_size -= daybook->sent;
        daybook->sent = 0;
    }
    return 0;
}

static int receive_some(struct daybook *daybook, bool *progress)
{
    uint8_t bytes[RECEIVE_SIZE];
    ssize_t got = recv(daybook->descriptor, bytes, sizeof bytes, MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (got <= 0)
        return connection_failed(daybook, got == 0 ? 0 : errno);
    return daybook_take_answers(daybook, bytes, (size_t)got, progress);
}

int daybook_exchange(struct daybook *daybook, int wait_ms, bool *progress)
{
    bool is_sending = daybook->is_connecting || daybook->writer.out_size > daybook->sent;
    struct pollfd descriptor = {.fd = daybook->descriptor,
                                .events = (short)(is_sending ? POLLIN | POLLOUT : POLLIN)};
    int rc = 0;

    if (poll(&descriptor, 1, wait_ms) < 0)
        return errno == EINTR ? 0 : connection_failed(daybook, errno);
    if (descriptor.revents == 0)
        return 0;
    if (daybook->is_connecting)
        return finish_connecting(daybook);
    if (descriptor.revents & (POLLIN | POLLHUP | POLLERR))
        rc = receive_some(daybook, progress);
    if (rc == 0 && (descriptor.revents & POLLOUT) && daybook->writer.out_size > daybook->sent)
        rc = send_some(daybook);
    return rc;
}

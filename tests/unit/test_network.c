/* Byte streams on the loop: what is written arrives in order, whatever the socket takes at once;
 * ends and closes are told once; unix sockets have their mode and survive long paths. */
#include "base/buffer.h"
#include "base/world/network.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <uv.h>

/* One side of a conversation: remembers all that came. */
struct side {
    struct connection *connection;
    struct buffer got;
    uint8_t space[4096];
    int ends;
    int end_status;
    int drains;
    int closes;
    bool echoes;
};

static void side_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct side *side = context;

    *to_out = side->space;
    *size_out = sizeof side->space;
}

static void side_data(void *context, size_t size)
{
    struct side *side = context;

    buffer_append(&side->got, side->space, size);
    if (side->echoes)
        network_write(side->connection, bytes_of(side->space, size));
}

static void side_end(void *context, int status)
{
    struct side *side = context;

    side->ends++;
    side->end_status = status;
    if (side->echoes)
        network_finish(side->connection);
}

static void side_drained(void *context)
{
    struct side *side = context;

    side->drains++;
}

static void side_closed(void *context)
{
    struct side *side = context;

    side->closes++;
    buffer_release(&side->got);
}

static const struct connection_handler side_handler = {
    .space = side_space,
    .data = side_data,
    .end = side_end,
    .drained = side_drained,
    .closed = side_closed,
};

static void side_start(struct side *side, struct connection *connection)
{
    side->connection = connection;
    network_start(connection, &side_handler, side);
}

static void side_accept(void *context, struct connection *connection)
{
    side_start(context, connection);
}

static uv_loop_t loop;
static struct network *network;

static void setup(void)
{
    cr_assert(uv_loop_init(&loop) == 0);
    network = network_uv_new(&loop);
}

static void teardown(void)
{
    network_uv_free(network);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(uv_loop_close(&loop) == 0, "every handle was given back");
}

TestSuite(network, .init = setup, .fini = teardown, .timeout = 20);

static void run_until(const int *flag)
{
    while (*flag == 0)
        uv_run(&loop, UV_RUN_ONCE);
}

/* A client that sends back what it reads, until its reading ends. */
struct echo {
    int fd;
    pthread_t thread;
    uint16_t own_port;
};

static void echo_connect(struct echo *echo, const char *address)
{
    struct sockaddr_in own;
    socklen_t own_size = sizeof own;
    const char *port = strchr(address, ':') + 1;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    echo->fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(connect(echo->fd, (const struct sockaddr *)&to, sizeof to) == 0);
    cr_assert(getsockname(echo->fd, (struct sockaddr *)&own, &own_size) == 0);
    echo->own_port = ntohs(own.sin_port);
}

static void *echo_run(void *argument)
{
    const struct echo *echo = argument;
    char piece[4096];

    for (ssize_t size = read(echo->fd, piece, sizeof piece); size > 0;
         size = read(echo->fd, piece, sizeof piece))
        cr_assert(send(echo->fd, piece, (size_t)size, 0) == size);
    close(echo->fd);
    return NULL;
}

Test(network, large_writes_come_back_whole_through_a_listener)
{
    struct side server = {0};
    struct echo echo;
    struct listener *listener;
    struct buffer sent = {0};
    uint16_t peer_port;
    struct error err;

    cr_assert(network_listen(network, "127.0.0.1:0", side_accept, &server, &listener, &err) == 0);
    echo_connect(&echo, network_listener_address(listener));
    while (server.connection == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    for (uint32_t i = 0; i < 1 << 20; i++)
        buffer_put_u32(&sent, i * 2654435761u);
    {
        struct network_address local;
        struct network_address peer;
        char text[32];

        network_addresses(server.connection, &local, &peer);
        (void)snprintf(text, sizeof text, "%u.%u.%u.%u:%u", local.bytes[0], local.bytes[1],
                       local.bytes[2], local.bytes[3], local.port);
        cr_expect_str_eq(text, network_listener_address(listener));
        peer_port = peer.port;
    }
    network_write(server.connection, bytes_of(sent.data, 100));
    network_write(server.connection, bytes_of(sent.data + 100, sent.size - 100));
    network_finish(server.connection);
    /* Not before: the socket could take all bytes at once from a client that reads. */
    cr_expect(network_queued(server.connection) > 0);
    cr_assert(pthread_create(&echo.thread, NULL, echo_run, &echo) == 0);
    run_until(&server.ends);
    cr_assert(pthread_join(echo.thread, NULL) == 0);
    cr_expect(peer_port == echo.own_port);
    cr_expect(server.end_status == 0);
    cr_expect(server.drains == 1 && network_queued(server.connection) == 0);
    cr_expect(bytes_equal(buffer_view(&server.got), buffer_view(&sent)));
    network_close(server.connection);
    network_listener_close(listener);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(server.closes == 1 && server.ends == 1);
    buffer_release(&sent);
}

Test(network, a_peer_that_has_reset_its_connection_is_not_local)
{
    struct side server = {0};
    struct echo echo;
    struct listener *listener;
    struct network_address local;
    struct network_address peer;
    const struct linger reset = {.l_onoff = 1};
    struct error err;

    cr_assert(network_listen(network, "127.0.0.1:0", side_accept, &server, &listener, &err) == 0);
    echo_connect(&echo, network_listener_address(listener));
    cr_assert(setsockopt(echo.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) == 0);
    close(echo.fd);
    while (server.connection == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    network_addresses(server.connection, &local, &peer);
    cr_expect(network_address_is_local(&local));
    cr_expect(!network_address_is_local(&peer));
    network_close(server.connection);
    network_listener_close(listener);
    uv_run(&loop, UV_RUN_DEFAULT);
}

static void crowd_accept(void *context, struct connection *connection)
{
    uint32_t *accepted = context;

    ++*accepted;
    network_close(connection);
}

Test(network, a_crowd_of_connections_does_not_keep_the_loop)
{
    struct listener *listener;
    struct sockaddr_in address;
    struct error err;
    uint32_t accepted = 0;
    int clients[64];
    int port;

    cr_assert(network_listen(network, "127.0.0.1:0", crowd_accept, &accepted, &listener, &err) ==
              0);
    cr_assert(sscanf(network_listener_address(listener), "127.0.0.1:%d", &port) == 1);
    cr_assert(uv_ip4_addr("127.0.0.1", port, &address) == 0);
    for (int i = 0; i < 64; i++) {
        clients[i] = socket(AF_INET, SOCK_STREAM, 0);
        cr_assert(connect(clients[i], (const struct sockaddr *)&address, sizeof address) == 0);
    }
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect(accepted > 0 && accepted <= 16, "%u in one turn", accepted);
    while (accepted < 64)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < 64; i++)
        close(clients[i]);
    network_listener_close(listener);
    uv_run(&loop, UV_RUN_DEFAULT);
}

Test(network, an_address_in_use_or_malformed_is_named)
{
    struct side server = {0};
    struct listener *listener;
    struct listener *second;
    struct error err;

    cr_assert(network_listen(network, ":0", side_accept, &server, &listener, &err) == 0);
    cr_expect(strncmp(network_listener_address(listener), "127.0.0.1:", 10) == 0);
    cr_expect(network_listen(network, network_listener_address(listener), side_accept, &server,
                             &second, &err) == UV_EADDRINUSE);
    cr_expect(strstr(err.text, network_listener_address(listener)) != NULL, "%s", err.text);
    cr_expect(second == NULL);
    cr_expect(network_listen(network, "7600", side_accept, &server, &second, &err) == ERROR_USAGE);
    cr_expect(network_listen(network, "127.0.0.1:", side_accept, &server, &second, &err) ==
              ERROR_USAGE);
    cr_expect(network_listen(network, ":99999", side_accept, &server, &second, &err) ==
              ERROR_USAGE);
    cr_expect(network_listen(network, ":-1", side_accept, &server, &second, &err) == ERROR_USAGE);
    network_listener_close(listener);
}

Test(network, a_paused_connection_reads_nothing_until_it_is_resumed)
{
    struct side a = {0};
    struct side b = {0};
    struct connection *ends[2];
    struct error err;

    cr_assert(network_pair(network, ends, &err) == 0);
    side_start(&a, ends[0]);
    side_start(&b, ends[1]);
    network_pause(ends[1]);
    network_write(ends[0], bytes_text("hello"));
    for (int i = 0; i < 5; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect(b.got.size == 0);
    network_resume(ends[1]);
    network_resume(ends[1]);
    while (b.got.size < 5)
        uv_run(&loop, UV_RUN_ONCE);
    network_close(ends[0]);
    run_until(&b.ends);
    cr_expect(b.ends == 1 && b.end_status == 0);
    network_close(ends[1]);
    uv_run(&loop, UV_RUN_DEFAULT);
}

Test(network, a_question_is_known_from_when_it_came_until_it_is_heard)
{
    struct side asker = {0};
    struct side asked = {0};
    struct connection *ends[2];
    struct error err;

    cr_assert(network_pair(network, ends, &err) == 0);
    side_start(&asker, ends[0]);
    side_start(&asked, ends[1]);
    network_write(ends[0], bytes_text("lines"));
    cr_expect(!network_has_question(network), "of a connection that brings none");
    while (asked.got.size < 5)
        uv_run(&loop, UV_RUN_ONCE);
    network_expect_questions(ends[1]);
    cr_expect(!network_has_question(network));
    network_write(ends[0], bytes_text("how many?"));
    cr_expect(network_has_question(network));
    network_pause(ends[1]);
    cr_expect(!network_has_question(network), "of one that is not read from");
    network_resume(ends[1]);
    cr_expect(network_has_question(network));
    while (asked.got.size < 14)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(!network_has_question(network));
    network_close(ends[0]);
    run_until(&asked.ends);
    cr_expect(!network_has_question(network), "an end that was heard");
    network_close(ends[1]);
    uv_run(&loop, UV_RUN_DEFAULT);
}

/* Whoever has his answer asks again, on a connection of his own, before the server goes on. */
struct quick {
    struct sockaddr_un address;
    uint8_t space[16];
    struct connection *connections[64];
    int clients[64];
    int accepted;
    int asked;
};

static void quick_ask(struct quick *quick)
{
    int client = socket(AF_UNIX, SOCK_STREAM, 0);

    cr_assert(connect(client, (const struct sockaddr *)&quick->address, sizeof quick->address) ==
              0);
    cr_assert(send(client, "?", 1, 0) == 1);
    quick->clients[quick->asked] = client;
}

static void quick_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct quick *quick = context;

    *to_out = quick->space;
    *size_out = sizeof quick->space;
}

static void quick_data(void *context, size_t size)
{
    struct quick *quick = context;

    (void)size;
    if (++quick->asked < 64)
        quick_ask(quick);
}

static void quick_end(void *context, int status)
{
    (void)context;
    (void)status;
}

static void quick_nothing(void *context)
{
    (void)context;
}

static void quick_accept(void *context, struct connection *connection)
{
    static const struct connection_handler handler = {.space = quick_space,
                                                      .data = quick_data,
                                                      .end = quick_end,
                                                      .drained = quick_nothing,
                                                      .closed = quick_nothing};
    struct quick *quick = context;

    quick->connections[quick->accepted++] = connection;
    network_start(connection, &handler, quick);
}

Test(network, who_asks_again_at_once_does_not_keep_the_loop)
{
    struct quick quick = {.address = {.sun_family = AF_UNIX}};
    char root[] = "/tmp/daybook-network-XXXXXX";
    struct listener *listener;
    struct error err;

    cr_assert(mkdtemp(root) != NULL);
    (void)snprintf(quick.address.sun_path, sizeof quick.address.sun_path, "%s/socket", root);
    cr_assert(network_listen_unix(network, quick.address.sun_path, quick_accept, &quick, &listener,
                                  &err) == 0);
    quick_ask(&quick);
    uv_run(&loop, UV_RUN_NOWAIT);
    cr_expect(quick.asked > 0 && quick.asked <= 16, "%d in one turn", quick.asked);
    while (quick.asked < 64)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < 64; i++) {
        network_close(quick.connections[i]);
        close(quick.clients[i]);
    }
    network_listener_close(listener);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(rmdir(root) == 0);
}

Test(network, who_connects_to_a_unix_socket_asks_until_he_is_accepted)
{
    struct side asker = {0};
    struct side asked = {0};
    char root[] = "/tmp/daybook-network-XXXXXX";
    char path[64];
    struct listener *listener;
    struct connection *connection;
    struct error err;

    cr_assert(mkdtemp(root) != NULL);
    (void)snprintf(path, sizeof path, "%s/socket", root);
    cr_assert(network_listen_unix(network, path, side_accept, &asked, &listener, &err) == 0, "%s",
              err.text);
    cr_expect(!network_has_question(network));
    cr_assert(network_connect_unix(network, path, &connection, &err) == 0, "%s", err.text);
    cr_expect(network_has_question(network));
    side_start(&asker, connection);
    while (asked.connection == NULL)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(!network_has_question(network));
    network_close(connection);
    run_until(&asked.ends);
    network_close(asked.connection);
    network_listener_close(listener);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(!network_has_question(network));
    cr_expect(rmdir(root) == 0);
}

Test(network, a_connection_can_be_handed_over_between_two_reads)
{
    struct side a = {0};
    struct side b = {0};
    struct side heir = {0};
    struct connection *ends[2];
    struct error err;

    cr_assert(network_pair(network, ends, &err) == 0);
    side_start(&a, ends[0]);
    side_start(&b, ends[1]);
    network_write(ends[0], bytes_text("open"));
    while (b.got.size < 4)
        uv_run(&loop, UV_RUN_ONCE);
    network_pause(ends[1]);
    network_write(ends[0], bytes_text("sesame"));
    side_start(&heir, ends[1]);
    while (heir.got.size < 6)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(b.got.size == 4);
    network_close(ends[1]);
    network_close(ends[0]);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(b.closes == 0 && heir.closes == 1);
    buffer_release(&b.got);
}

Test(network, a_peer_that_dies_with_bytes_unread_ends_the_connection_once)
{
    static uint8_t megabytes[8 << 20];
    struct side a = {0};
    struct side b = {0};
    struct connection *ends[2];
    struct error err;

    cr_assert(network_pair(network, ends, &err) == 0);
    side_start(&a, ends[0]);
    side_start(&b, ends[1]);
    network_pause(ends[1]);
    network_write(ends[0], bytes_of(megabytes, sizeof megabytes));
    cr_expect(network_queued(ends[0]) > 0);
    network_pause(ends[0]);
    network_close(ends[1]);
    run_until(&a.ends);
    cr_expect(a.end_status < 0);
    network_write(ends[0], bytes_text("into the void"));
    cr_expect(network_queued(ends[0]) == 0);
    network_finish(ends[0]);
    network_close(ends[0]);
    network_close(ends[0]);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(a.ends == 1 && a.closes == 1);
}

/* Listen, connect, echo and close at `path`. */
static void expect_unix_echo(const char *path)
{
    struct side client = {0};
    struct side server = {.echoes = true};
    struct listener *listener;
    struct connection *connection;
    struct stat status;
    struct error err;

    cr_assert(network_listen_unix(network, path, side_accept, &server, &listener, &err) == 0, "%s",
              err.text);
    cr_expect(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600);
    cr_assert(network_connect_unix(network, path, &connection, &err) == 0, "%s", err.text);
    side_start(&client, connection);
    network_write(connection, bytes_text("ping"));
    network_finish(connection);
    run_until(&client.ends);
    cr_expect(client.got.size == 4);
    network_close(client.connection);
    network_close(server.connection);
    network_listener_close(listener);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(stat(path, &status) != 0, "the file goes with the listener");
}

Test(network, a_unix_socket_has_mode_0600_and_may_have_a_long_path)
{
    char root[] = "/tmp/daybook-network-XXXXXX";
    char path[600];
    char name[101];
    size_t size;

    cr_assert(mkdtemp(root) != NULL);
    size = (size_t)snprintf(path, sizeof path, "%s/daybook.sock", root);
    expect_unix_echo(path);
    memset(name, 'd', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    size = (size_t)snprintf(path, sizeof path, "%s", root);
    for (int depth = 0; depth < 3; depth++) {
        size += (size_t)snprintf(path + size, sizeof path - size, "/%s", name);
        cr_assert(mkdir(path, 0700) == 0);
    }
    snprintf(path + size, sizeof path - size, "/daybook.sock");
    expect_unix_echo(path);
    while (size > strlen(root)) {
        path[size] = '\0';
        cr_expect(rmdir(path) == 0);
        size -= sizeof name;
    }
    cr_expect(rmdir(root) == 0);
}

Test(network, a_dead_unix_socket_is_replaced_and_a_live_one_is_not)
{
    char root[] = "/tmp/daybook-network-XXXXXX";
    char path[100];
    char dead[100];
    struct side server = {0};
    struct listener *listener;
    struct listener *second;
    struct error err;
    FILE *file;

    cr_assert(mkdtemp(root) != NULL);
    snprintf(path, sizeof path, "%s/daybook.sock", root);
    snprintf(dead, sizeof dead, "%s/dead.sock", root);
    cr_assert(network_listen_unix(network, path, side_accept, &server, &listener, &err) == 0);
    cr_expect(network_listen_unix(network, path, side_accept, &server, &second, &err) ==
              ERROR_BUSY);
    cr_assert(rename(path, dead) == 0);
    network_listener_close(listener);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert(network_listen_unix(network, dead, side_accept, &server, &listener, &err) == 0, "%s",
              err.text);
    network_listener_close(listener);
    file = fopen(path, "w");
    fclose(file);
    cr_expect(network_listen_unix(network, path, side_accept, &server, &second, &err) ==
                  -EADDRINUSE,
              "a file that is no socket is left alone");
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(unlink(path) == 0 && rmdir(root) == 0);
}

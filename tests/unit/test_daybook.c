/* The client library against a server that does what a test says: what breaks is sent again, what
 * is acknowledged is not, and what is refused for ever stays so. */
#include "client/daybook.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "base/buffer.h"
#include "client/wire.h"
#include "base/bytes.h"
#include "base/crc32c.h"

/* ---- a server of a script ---- */

/* One connection: read so many batches, answer, hang up once the client has nothing more to say or
 * at once. */
struct act {
    int batches;
    const char *answer;
    bool is_damaged; /* the answer's checksum is wrong */
    bool hangs_up;
};

struct server {
    int listener;
    char address[32];
    const struct act *acts;
    size_t act_count;
    struct buffer said[8]; /* by act: the control lines, and the batches without their numbers */
    pthread_t thread;
};

static bool read_whole(int descriptor, void *to, size_t size)
{
    while (size > 0) {
        ssize_t got = read(descriptor, to, size);

        if (got <= 0)
            return false;
        to = (uint8_t *)to + got;
        size -= (size_t)got;
    }
    return true;
}

/* Keep what a frame says; false at the end. */
static bool frame_read(int descriptor, struct buffer *said, int *batches)
{
    uint8_t header[WIRE_HEADER_SIZE];
    size_t size;

    if (!read_whole(descriptor, header, sizeof header))
        return false;
    size = load_u32(header);
    buffer_reserve(said, size);
    if (!read_whole(descriptor, said->data + said->size, size))
        return false;
    if (header[4] == WIRE_CONTROL || header[4] == WIRE_BATCH)
        said->size += size;
    *batches += header[4] == WIRE_BATCH;
    return true;
}

static void answer_write(int descriptor, const struct act *act)
{
    uint8_t header[WIRE_HEADER_SIZE] = {[4] = WIRE_ANSWER};
    size_t size = strlen(act->answer);

    store_u32(header, (uint32_t)size);
    store_u32(header + 8, crc32c(crc32c(0, header, 8), act->answer, size) + act->is_damaged);
    (void)!write(descriptor, header, sizeof header);
    (void)!write(descriptor, act->answer, size);
}

static void *server_run(void *context)
{
    struct server *server = context;
    uint8_t magic[WIRE_MAGIC_SIZE];

    for (size_t i = 0; i < server->act_count; i++) {
        const struct act *act = &server->acts[i];
        int descriptor = accept(server->listener, NULL, NULL);
        int batches = 0;

        if (!read_whole(descriptor, magic, sizeof magic) ||
            memcmp(magic, WIRE_MAGIC, sizeof magic) != 0)
            buffer_append_text(&server->said[i], "no magic");
        while (batches < act->batches && frame_read(descriptor, &server->said[i], &batches))
            ;
        if (act->answer != NULL)
            answer_write(descriptor, act);
        while (!act->hangs_up && frame_read(descriptor, &server->said[i], &batches))
            ;
        close(descriptor);
    }
    return NULL;
}

static void server_start(struct server *server, const struct act *acts, size_t count)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;

    *server = (struct server){.acts = acts, .act_count = count};
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(bind(server->listener, (struct sockaddr *)&address, size) == 0);
    cr_assert(listen(server->listener, 4) == 0);
    cr_assert(getsockname(server->listener, (struct sockaddr *)&address, &size) == 0);
    (void)snprintf(server->address, sizeof server->address, "127.0.0.1:%u",
                   (unsigned)ntohs(address.sin_port));
    cr_assert(pthread_create(&server->thread, NULL, server_run, server) == 0);
}

/* All acts were played. */
static void server_stop(struct server *server)
{
    cr_assert(pthread_join(server->thread, NULL) == 0);
    close(server->listener);
}

static void server_release(struct server *server)
{
    for (size_t i = 0; i < server->act_count; i++)
        buffer_release(&server->said[i]);
}

static bool said(const struct server *server, size_t act, const char *text)
{
    return memmem(server->said[act].data, server->said[act].size, text, strlen(text)) != NULL;
}

/* ---- a client ---- */

static const uint8_t producer[16] = "0123456789abcdef";

static struct daybook *client_open(const struct server *server)
{
    struct daybook_options options = {
        .address = server->address, .producer = producer, .patience_ms = 5000};
    struct daybook *daybook;

    cr_assert(daybook_open(&options, &daybook) == 0);
    return daybook;
}

static void client_add(struct daybook *daybook, const char *ad)
{
    struct daybook_click click = {
        .reseller = "r", .ad = ad, .day = 16037, .time_ms = INT64_C(1385654400123), .amount = 5};

    cr_assert(daybook_add(daybook, &click) == 0, "%s", daybook_error(daybook));
}

static void expect_totals(const struct daybook *daybook, uint64_t acknowledged, uint64_t accepted,
                          uint64_t rejected, uint64_t duplicates, uint64_t connects)
{
    struct daybook_totals totals;

    daybook_totals(daybook, &totals);
    cr_expect(totals.acknowledged == acknowledged && totals.accepted == accepted &&
                  totals.rejected == rejected && totals.duplicates == duplicates &&
                  totals.connects == connects,
              "%llu acknowledged, %llu accepted, %llu rejected, %llu duplicates, %llu connects",
              (unsigned long long)totals.acknowledged, (unsigned long long)totals.accepted,
              (unsigned long long)totals.rejected, (unsigned long long)totals.duplicates,
              (unsigned long long)totals.connects);
}

Test(daybook, batches_are_numbered_and_what_is_acknowledged_is_counted, .timeout = 30)
{
    static const struct act acts[] = {
        {2, "binary 1\nok 1 accepted 1 rejected 0\nok 2 accepted 1 rejected 1\n", false, false}};
    struct server server;
    struct daybook *daybook;

    server_start(&server, acts, 1);
    daybook = client_open(&server);
    client_add(daybook, "a");
    cr_expect(daybook_flush(daybook) == 0);
    client_add(daybook, "b");
    client_add(daybook, "c");
    cr_expect(daybook_sync(daybook) == 0, "%s", daybook_error(daybook));
    cr_expect(daybook_sync(daybook) == 0, "nothing is left to send");
    expect_totals(daybook, 2, 2, 1, 0, 1);
    cr_expect_str_eq(daybook_error(daybook), "");
    daybook_close(daybook);
    server_stop(&server);
    cr_expect(said(&server, 0, "#producer 30313233-3435-3637-3839-616263646566 1 new"));
    server_release(&server);
}

Test(daybook, what_was_not_acknowledged_is_sent_again_and_nothing_else, .timeout = 30)
{
    static const struct act acts[] = {
        {1, NULL, false, true},
        {2, "binary 1\nok 1 accepted 1 rejected 0\n", false, true},
        {1, "binary 1\nok 2 accepted 1 rejected 0", true, false},
        {1, "error - store_failed \"disk\"\n", false, false},
        {1, "error - too_many_strings of all connections\n", false, false},
        {1, "binary 1\nok 2 accepted 1 rejected 0 duplicate\n", false, false},
    };
    struct server server;
    struct daybook *daybook;

    server_start(&server, acts, 6);
    daybook = client_open(&server);
    client_add(daybook, "first");
    cr_expect(daybook_flush(daybook) == 0);
    client_add(daybook, "second");
    cr_expect(daybook_sync(daybook) == 0, "%s", daybook_error(daybook));
    expect_totals(daybook, 2, 2, 0, 1, 6);
    daybook_close(daybook);
    server_stop(&server);
    cr_expect(said(&server, 0, " 1 new") && said(&server, 1, " 1 new"));
    for (size_t i = 2; i < 6; i++)
        cr_expect(!said(&server, i, " new"), "one that was acknowledged is known");
    server_release(&server);
}

static void keep_rejected(void *context, const struct daybook_rejected *rejected)
{
    struct buffer *text = context;

    buffer_printf(text, "%d %d %d %s %s|", (int)rejected->batch, (int)rejected->row,
                  (int)rejected->count, rejected->code, rejected->text);
}

Test(daybook, refused_rows_are_told, .timeout = 30)
{
    static const struct act acts[] = {
        {1,
         "binary 1\nreject 1 2 bad_amount \"-5 x\"\nrejects 1 bad_day 31\n"
         "ok 1 accepted 1 rejected 32\n",
         false, false}};
    struct server server;
    struct buffer text = {0};
    struct daybook_options options = {
        .producer = producer, .rejected = keep_rejected, .context = &text};
    struct daybook *daybook;

    server_start(&server, acts, 1);
    options.address = server.address;
    cr_assert(daybook_open(&options, &daybook) == 0);
    client_add(daybook, "a");
    cr_expect(daybook_sync(daybook) == 0);
    cr_expect(
        bytes_equal(buffer_view(&text), bytes_text("1 2 1 bad_amount \"-5 x\"|1 0 31 bad_day |")),
        "%.*s", (int)text.size, (const char *)text.data);
    expect_totals(daybook, 1, 1, 32, 0, 1);
    daybook_close(daybook);
    server_stop(&server);
    server_release(&server);
    buffer_release(&text);
}

/* An answer after which there is nothing to be done; and its words stay. */
Test(daybook, an_end_is_an_end, .timeout = 60)
{
    static const char *const answers[] = {
        "error - wrong_epoch current 7\n",
        "error 1 batch_differs\n",
        "binary 1\nok 2 accepted 1 rejected 0\n",
        "binary 1\nok 1 accepted x rejected 0\n",
        "binary 1\nok 1 accepted 1 rejected 0\nerror 2 sequence_gap expected 3\n",
        "binary 3\n",
        "hello\n",
    };

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct act act = {1, answers[i], false, false};
        struct server server;
        struct daybook *daybook;
        struct daybook_click click = {.reseller = "r", .ad = "a"};

        server_start(&server, &act, 1);
        daybook = client_open(&server);
        client_add(daybook, "a");
        cr_expect(daybook_sync(daybook) == DAYBOOK_REFUSED, "%s", answers[i]);
        cr_expect(strstr(daybook_error(daybook), server.address) != NULL);
        cr_expect(daybook_add(daybook, &click) == DAYBOOK_REFUSED);
        cr_expect(daybook_sync(daybook) == DAYBOOK_REFUSED);
        cr_expect(strlen(daybook_error(daybook)) > 0);
        daybook_close(daybook);
        server_stop(&server);
        server_release(&server);
    }
}

Test(daybook, a_server_that_is_away_is_said_after_patience_and_waited_for, .timeout = 30)
{
    static const struct act acts[] = {{1, "binary 1\nok 1 accepted 1 rejected 0\n", false, false}};
    struct server server;
    struct daybook_options options = {.patience_ms = 50};
    struct daybook *daybook;

    server_start(&server, acts, 1);
    options.address = "127.0.0.1:1";
    cr_assert(daybook_open(&options, &daybook) == 0);
    client_add(daybook, "a");
    cr_expect(daybook_sync(daybook) == DAYBOOK_UNREACHABLE);
    cr_expect(strstr(daybook_error(daybook), "127.0.0.1:1: Connection refused") != NULL, "%s",
              daybook_error(daybook));
    cr_expect(daybook_sync(daybook) == DAYBOOK_UNREACHABLE);
    daybook_close(daybook);
    daybook = client_open(&server);
    client_add(daybook, "a");
    cr_expect(daybook_sync(daybook) == 0);
    daybook_close(daybook);
    server_stop(&server);
    server_release(&server);
}

/* The library's calls come here: host two.hosts has two addresses, of which the scripted server
 * listens on the second. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **found_out)
{
    int (*resolve)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    bool is_two = strcmp(host, "two.hosts") == 0;

    *(void **)&resolve = dlsym(RTLD_NEXT, "getaddrinfo");
    int rc = resolve(is_two ? "127.0.0.2" : host, port, hints, found_out);
    return rc == 0 && is_two ? resolve("127.0.0.1", port, hints, &(*found_out)->ai_next) : rc;
}

Test(daybook, each_address_of_a_host_is_tried, .timeout = 30)
{
    static const struct act acts[] = {{1, "binary 1\nok 1 accepted 1 rejected 0\n", false, false}};
    struct server server;
    struct daybook *daybook;

    server_start(&server, acts, 1);
    memcpy(server.address, "two.hosts", strlen("127.0.0.1"));
    daybook = client_open(&server);
    client_add(daybook, "a");
    cr_expect(daybook_sync(daybook) == 0, "%s", daybook_error(daybook));
    daybook_close(daybook);
    server_stop(&server);
    server_release(&server);
}

Test(daybook, what_a_server_waits_for_is_told, .timeout = 30)
{
    static const struct act acts[] = {
        {1,
         "binary 2\nnote waiting no_memory 0\nnote goes_on\nnote nonsense\n"
         "note waiting disk_full 67108864 more\n",
         false, false}};
    struct server server;
    struct daybook_options options = {.patience_ms = 200};
    struct daybook *daybook;

    server_start(&server, acts, 1);
    options.address = server.address;
    cr_assert(daybook_open(&options, &daybook) == 0);
    cr_expect_str_eq(daybook_waiting(daybook), "");
    client_add(daybook, "a");
    cr_expect(daybook_sync(daybook) == DAYBOOK_UNREACHABLE);
    cr_expect(strstr(daybook_error(daybook), "the server waits: disk_full") != NULL, "%s",
              daybook_error(daybook));
    cr_expect_str_eq(daybook_waiting(daybook), "", "it hung up");
    daybook_close(daybook);
    server_stop(&server);
    server_release(&server);
}

Test(daybook, a_later_life_goes_on_behind_what_was_acknowledged, .timeout = 30)
{
    static const struct act acts[] = {{1, "binary 1\nok 8 accepted 1 rejected 0\n", false, false}};
    struct server server;
    struct daybook_options options = {.producer = producer, .epoch = 3, .acknowledged = 7};
    struct daybook *daybook;

    server_start(&server, acts, 1);
    options.address = server.address;
    cr_assert(daybook_open(&options, &daybook) == 0);
    client_add(daybook, "a");
    cr_expect(daybook_sync(daybook) == 0, "%s", daybook_error(daybook));
    expect_totals(daybook, 8, 1, 0, 0, 1);
    cr_expect(memcmp(daybook_producer(daybook), producer, sizeof producer) == 0);
    daybook_close(daybook);
    server_stop(&server);
    cr_expect(said(&server, 0, "616263646566 3") && !said(&server, 0, " new"));
    server_release(&server);
}

Test(daybook, what_cannot_be_is_refused_at_once)
{
    struct daybook_options options = {0};
    struct daybook *daybook;
    struct daybook_click click = {.reseller = "r", .ad = "a"};

    cr_assert(daybook_open(&options, &daybook) == 0);
    click.scale = 19;
    cr_expect(daybook_add(daybook, &click) == DAYBOOK_INVALID);
    click.scale = 0;
    click.ad = NULL;
    cr_expect(daybook_add(daybook, &click) == DAYBOOK_INVALID);
    click.ad = "a";
    click.ad_size = DAYBOOK_ID_MAX + 1;
    cr_expect(daybook_add(daybook, &click) == DAYBOOK_INVALID);
    cr_expect(strlen(daybook_error(daybook)) > 0);
    daybook_close(daybook);
    options.address = "nowhere";
    cr_expect(daybook_open(&options, &daybook) == DAYBOOK_INVALID && daybook == NULL);
    options = (struct daybook_options){.batch_rows = 65537};
    cr_expect(daybook_open(&options, &daybook) == DAYBOOK_INVALID);
    options = (struct daybook_options){.window = 65};
    cr_expect(daybook_open(&options, &daybook) == DAYBOOK_INVALID);
    daybook_close(NULL);
}

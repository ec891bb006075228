/* send_clicks: sends generated clicks to a running daybook and measures how fast it accepts them.
 *
 *     send_clicks --clicks 10000000 --connections 8 --window 16 127.0.0.1:7600
 *
 * Every connection is a producer of its own.  It sends numbered batches, of which up to `window`
 * are unanswered, until each has its `ok`.  Batch b of all batches is sent on connection
 * b mod connections, so all connections together send exactly the clicks that generate_clicks
 * prints.  Answers must arrive in order, and each must say that the whole batch was accepted and is
 * no duplicate; anything else ends the program.
 *
 * All bytes are made in memory before the clock starts (about 56 per click of text), so that the
 * figures do not include the making of test data.  The first line of output is printed after that,
 * before anything is sent.
 *
 * The sender is one thread with one poll, and shares the cores with the server.  The latency of a
 * batch counts from the moment when the kernel has its last byte to its `ok`. */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/click_arguments.h"
#include "client/frame_reader.h"
#include "client/frame_writer.h"
#include "base/memory.h"
#include "base/uuid.h"

enum {
    CONNECTIONS_MAX = 512,
    WINDOW_MAX = 4096, /* batches; equals the server's limit on waiting answers */
    REPLY_SIZE_MAX = 4096,
    PACE_MS = 1,              /* between checks whether --rate allows more batches */
    SILENCE_LIMIT_MS = 120000 /* after this long without any byte, the server counts as stuck */
};

struct arguments {
    struct click_options clicks;
    uint64_t connections;
    uint64_t window;
    uint64_t batch_lines;
    bool is_binary;
    uint64_t rate; /* clicks per second over all connections; 0: no limit */
    const char *address;
};

struct sender {
    int descriptor;
    uint64_t first_batch; /* number among all batches; the next ones are `connections` apart */
    uint64_t batches;     /* how many batches this sender sends */
    uint64_t sent;        /* batches whose last byte the kernel has */
    uint64_t answered;
    struct buffer out; /* the bytes of all batches */
    size_t *ends;      /* offset of each batch's end in `out` */
    size_t out_sent;
    double *times; /* by batch mod window: when the kernel got its last byte */
    char reply[REPLY_SIZE_MAX];
    size_t reply_size;
    struct frame_writer writer; /* only of a binary sender, like the next */
    struct frame_reader reader;
    bool was_greeted;
};

struct cli_run {
    struct arguments arguments;
    struct click_generator *generator;
    struct click_batch batch; /* the batch that a binary sender is writing */
    struct sender *senders;
    double *latencies; /* of all batches, in seconds */
    double start;
    uint64_t answered;
    uint64_t batches;
    uint64_t bytes;
};

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "send_clicks: %s: %s\n", what, errno != 0 ? strerror(errno) : "failed");
    exit(EXIT_FAILURE);
}

static _Noreturn void die_of_reply(const char *reply)
{
    (void)fprintf(stderr, "send_clicks: unexpected answer: %s\n", reply);
    exit(EXIT_FAILURE);
}

/* ---- connections ---- */

static int connect_to(const char *address)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char *host = memory_string(address);
    char *colon = strrchr(host, ':');
    int one = 1;
    int descriptor;

    errno = EINVAL;
    if (colon == NULL)
        die("the address is HOST:PORT");
    *colon = '\0';
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        die(address);
    descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || connect(descriptor, found->ai_addr, found->ai_addrlen) != 0)
        die(address);
    if (setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0)
        die("TCP_NODELAY");
    freeaddrinfo(found);
    memory_free(host);
    return descriptor;
}

static void producer_make(char text[UUID_TEXT_SIZE + 1])
{
    uint8_t id[UUID_SIZE];

    if (getentropy(id, sizeof id) != 0)
        die("random bytes");
    id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
    id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
    uuid_format(id, text);
}

/* Move the frames of the writer to `out`. */
static void sender_take_frames(struct sender *sender)
{
    buffer_append(&sender->out, sender->writer.out, sender->writer.out_size);
    sender->writer.out_size = 0;
}

static void sender_make_frames(struct cli_run *run, struct sender *sender, uint64_t sequence,
                               uint64_t first, uint64_t count)
{
    struct click_columns columns;

    click_batch_clear(&run->batch);
    click_generator_add(run->generator, first, count, &run->batch);
    columns = click_batch_columns(&run->batch);
    check(frame_writer_batch(&sender->writer, &columns, sequence) == 0);
    sender_take_frames(sender);
}

static void sender_make(struct cli_run *run, struct sender *sender)
{
    const struct arguments *arguments = &run->arguments;

    for (uint64_t i = 0; i < sender->batches; i++) {
        uint64_t batch = sender->first_batch + i * arguments->connections;
        uint64_t first = batch * arguments->batch_lines;
        uint64_t left = arguments->clicks.clicks - first;
        uint64_t count = left < arguments->batch_lines ? left : arguments->batch_lines;

        if (arguments->is_binary) {
            sender_make_frames(run, sender, i + 1, first, count);
        } else {
            buffer_printf(&sender->out, "#batch %" PRIu64 " %" PRIu64 "\n", i + 1, count);
            click_generator_append(run->generator, first, count, &sender->out);
        }
        sender->ends[i] = sender->out.size;
    }
}

static void sender_open(struct cli_run *run, uint64_t index)
{
    const struct arguments *arguments = &run->arguments;
    struct sender *sender = &run->senders[index];
    char producer[UUID_TEXT_SIZE + 1];

    producer_make(producer);
    sender->descriptor = connect_to(arguments->address);
    sender->first_batch = index;
    sender->batches =
        run->batches / arguments->connections + (index < run->batches % arguments->connections);
    sender->ends = memory_zeroed(sender->batches + 1, sizeof *sender->ends);
    sender->times = memory_zeroed(arguments->window, sizeof *sender->times);
    if (arguments->is_binary) {
        char line[64];

        (void)snprintf(line, sizeof line, "#producer %s 1 new", producer);
        check(frame_writer_hello(&sender->writer) == 0 &&
              frame_writer_control(&sender->writer, line) == 0);
        sender_take_frames(sender);
    } else {
        buffer_printf(&sender->out, "#producer %s 1 new\n", producer);
    }
    sender_make(run, sender);
}

static void sender_close(struct sender *sender)
{
    (void)close(sender->descriptor);
    buffer_release(&sender->out);
    frame_reader_release(&sender->reader);
    frame_writer_release(&sender->writer);
    memory_free(sender->ends);
    memory_free(sender->times);
}

/* ---- sending ---- */

/* How many of the sender's batches are due by now. */
static uint64_t sender_due(const struct cli_run *run, const struct sender *sender)
{
    const struct arguments *arguments = &run->arguments;
    double whole;

    if (arguments->rate == 0)
        return sender->batches;
    whole = (seconds_now() - run->start) * (double)arguments->rate / (double)arguments->batch_lines;
    return (uint64_t)(whole / (double)arguments->connections) + 1;
}

/* How many batches may be sent in all: those that are due, if the window allows them. */
static uint64_t sender_allowed(const struct cli_run *run, const struct sender *sender)
{
    uint64_t window = sender->answered + run->arguments.window;
    uint64_t due = sender_due(run, sender);
    uint64_t allowed = window < due ? window : due;

    return allowed < sender->batches ? allowed : sender->batches;
}

/* Give the kernel as many bytes of the first `allowed` batches as it accepts. */
static void sender_write(struct cli_run *run, struct sender *sender, uint64_t allowed)
{
    ssize_t written =
        send(sender->descriptor, sender->out.data + sender->out_sent,
             sender->ends[allowed - 1] - sender->out_sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    double now;

    if (written < 0 && errno != EAGAIN && errno != EINTR)
        die("send");
    if (written <= 0)
        return;
    now = seconds_now();
    sender->out_sent += (size_t)written;
    run->bytes += (uint64_t)written;
    while (sender->sent < allowed && sender->ends[sender->sent] <= sender->out_sent)
        sender->times[sender->sent++ % run->arguments.window] = now;
}

/* ---- answers ---- */

/* Check an answer such as "ok 17 accepted 1000 rejected 0", for a batch of 1000 lines. */
static void sender_answer(struct cli_run *run, struct sender *sender, const char *line, double now)
{
    const struct arguments *arguments = &run->arguments;
    uint64_t batch = sender->first_batch + sender->answered * arguments->connections;
    uint64_t left = arguments->clicks.clicks - batch * arguments->batch_lines;
    uint64_t count = left < arguments->batch_lines ? left : arguments->batch_lines;
    char expected[96];

    (void)snprintf(expected, sizeof expected, "ok %" PRIu64 " accepted %" PRIu64 " rejected 0",
                   sender->answered + 1, count);
    if (strcmp(line, expected) != 0)
        die_of_reply(line);
    run->latencies[run->answered++] = now - sender->times[sender->answered % arguments->window];
    sender->answered++;
}

/* Take all whole lines, after `size` bytes were appended to `reply`. */
static void sender_take_lines(struct cli_run *run, struct sender *sender, size_t size, double now)
{
    char *line = sender->reply;
    char *end;

    sender->reply_size += size;
    sender->reply[sender->reply_size] = '\0';
    while ((end = strchr(line, '\n')) != NULL) {
        *end = '\0';
        if (run->arguments.is_binary && !sender->was_greeted)
            sender->was_greeted = strncmp(line, "binary ", 7) == 0;
        else
            sender_answer(run, sender, line, now);
        line = end + 1;
    }
    sender->reply_size -= (size_t)(line - sender->reply);
    memmove(sender->reply, line, sender->reply_size);
    if (sender->reply_size == sizeof sender->reply - 1)
        die_of_reply(sender->reply);
}

/* Take the lines of all whole frames that were received, as much at a time as `reply` can hold. */
static void sender_unwrap(struct cli_run *run, struct sender *sender, double now)
{
    enum frame_reader_result result;
    const char *lines;
    size_t left;

    while ((result = frame_reader_next(&sender->reader, &lines, &left)) == FRAME_READER_TEXT) {
        while (left > 0) {
            size_t room = sizeof sender->reply - 1 - sender->reply_size;
            size_t size = left < room ? left : room;

            memcpy(sender->reply + sender->reply_size, lines, size);
            sender_take_lines(run, sender, size, now);
            lines += size;
            left -= size;
        }
    }
    if (result != FRAME_READER_NONE)
        die("an answer is no frame");
}

static void sender_read(struct cli_run *run, struct sender *sender)
{
    bool is_binary = run->arguments.is_binary;
    char *to = sender->reply + sender->reply_size;
    size_t room = sizeof sender->reply - 1 - sender->reply_size;
    char frames[REPLY_SIZE_MAX];
    ssize_t got = is_binary ? recv(sender->descriptor, frames, sizeof frames, MSG_DONTWAIT)
                            : recv(sender->descriptor, to, room, MSG_DONTWAIT);
    double now = seconds_now();

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0)
        die("the server hung up");
    if (!is_binary) {
        sender_take_lines(run, sender, (size_t)got, now);
        return;
    }
    check(frame_reader_add(&sender->reader, frames, (size_t)got) == 0);
    sender_unwrap(run, sender, now);
}

/* ---- the whole ---- */

static void run_all(struct cli_run *run)
{
    uint64_t count = run->arguments.connections;
    struct pollfd *polls = memory_zeroed(count, sizeof *polls);

    while (run->answered < run->batches) {
        for (uint64_t i = 0; i < count; i++) {
            struct sender *sender = &run->senders[i];

            polls[i].fd = sender->descriptor;
            polls[i].events = POLLIN;
            if (sender->sent < sender_allowed(run, sender))
                polls[i].events = POLLIN | POLLOUT;
        }
        errno = 0;
        bool is_paced = run->arguments.rate > 0;
        int ready = poll(polls, count, is_paced ? PACE_MS : SILENCE_LIMIT_MS);
        if (ready < 0 ? errno != EINTR : ready == 0 && !is_paced)
            die("waiting for the server");
        for (uint64_t i = 0; i < count; i++) {
            if (polls[i].revents & (POLLIN | POLLERR | POLLHUP))
                sender_read(run, &run->senders[i]);
            if (polls[i].revents & POLLOUT)
                sender_write(run, &run->senders[i], sender_allowed(run, &run->senders[i]));
        }
    }
    memory_free(polls);
}

static int compare_doubles(const void *a, const void *b)
{
    double first = *(const double *)a;
    double second = *(const double *)b;

    return (first > second) - (first < second);
}

static double cpu_seconds(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* Each line of output is a name and a figure, for people and for awk. */
static void run_print(struct cli_run *run, double seconds)
{
    uint64_t last = run->batches - 1;

    qsort(run->latencies, run->batches, sizeof *run->latencies, compare_doubles);
    (void)printf("seconds          %.3f\n", seconds);
    (void)printf("clicks/s         %.0f\n", (double)run->arguments.clicks.clicks / seconds);
    (void)printf("MB/s             %.1f\n", (double)run->bytes / seconds / 1e6);
    (void)printf("ack_p50_ms       %.3f\n", run->latencies[last / 2] * 1e3);
    (void)printf("ack_p99_ms       %.3f\n", run->latencies[last * 99 / 100] * 1e3);
    (void)printf("ack_max_ms       %.3f\n", run->latencies[last] * 1e3);
    (void)printf("sender_cpu       %.3f\n", cpu_seconds());
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    bool is_good = true;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->clicks;
        break;
    case 'c':
        is_good = click_number_parse(argument, 1, CONNECTIONS_MAX, &arguments->connections);
        break;
    case 'w':
        is_good = click_number_parse(argument, 1, WINDOW_MAX, &arguments->window);
        break;
    case 'b':
        is_good = click_number_parse(argument, 1, 65536, &arguments->batch_lines);
        break;
    case 'B':
        arguments->is_binary = true;
        break;
    case 'R':
        is_good = click_number_parse(argument, 1, 1000000000, &arguments->rate);
        break;
    case ARGP_KEY_ARG:
        if (arguments->address != NULL)
            argp_usage(state);
        arguments->address = argument;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (!is_good)
        argp_error(state, "no such value: %s", argument);
    return 0;
}

static const struct argp_option options[] = {
    {"connections", 'c', "N", 0, "at once (1)", 0},
    {"window", 'w', "BATCHES", 0, "unanswered on a connection (64)", 0},
    {"batch", 'b', "LINES", 0, "in a batch (1000)", 0},
    {"binary", 'B', NULL, 0, "frames of columns, not lines", 0},
    {"rate", 'R', "CLICKS", 0, "a second at most, over all connections", 0},
    {0},
};

static const struct argp_child children[] = {{&click_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .children = children,
    .args_doc = "[HOST:PORT]",
    .doc = "Send generated clicks to daybook's ingest door and measure it.",
};

int main(int argc, char **argv)
{
    struct cli_run run = {
        .arguments = {.clicks = click_options_default(),
                      .connections = 1,
                      .window = 64,
                      .batch_lines = 1000},
    };
    struct arguments *arguments = &run.arguments;

    argp_err_exit_status = 2;
    (void)argp_parse(&argp, argc, argv, 0, NULL, arguments);
    if (arguments->address == NULL)
        arguments->address = "127.0.0.1:7600";
    run.batches = (arguments->clicks.clicks + arguments->batch_lines - 1) / arguments->batch_lines;
    run.generator = click_generator_new(&arguments->clicks);
    run.latencies = memory_alloc(run.batches * sizeof *run.latencies);
    run.senders = memory_zeroed(arguments->connections, sizeof *run.senders);
    for (uint64_t i = 0; i < arguments->connections; i++)
        sender_open(&run, i);
    /* Print the first figure at once, because a program that makes requests meanwhile waits for
     * it. */
    (void)printf("clicks           %" PRIu64 "\n", arguments->clicks.clicks);
    (void)fflush(stdout);
    run.start = seconds_now();
    run_all(&run);
    run_print(&run, seconds_now() - run.start);
    for (uint64_t i = 0; i < arguments->connections; i++)
        sender_close(&run.senders[i]);
    click_batch_release(&run.batch);
    memory_free(run.senders);
    memory_free(run.latencies);
    click_generator_free(run.generator);
    return EXIT_SUCCESS;
}

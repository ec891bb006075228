/* viewers: reads /api/live of a running daybook over many connections, and measures how late states
 * arrive.
 *
 *     viewers --viewers 1000 --slow 100 --idle 5000 HTTP:PORT INGEST:PORT
 *
 * A viewer reads all bytes at once.  A slow viewer reads SLOW_READ bytes every SLOW_MS, and has a
 * small receive buffer.  An idle connection sends half of a request, or nothing.  A connection that
 * the server closes is opened again after AGAIN_MS.
 *
 * One sender sends a click of today about every MARK_MS, and notes when it was acknowledged.  No
 * other program may send clicks of today, so that the count of today's clicks in a state says which
 * of the sender's clicks the state includes.
 *
 *     lag    from the time in a state to its last byte at a viewer
 *     page   from the acknowledgement of a click to the state that includes it, at each viewer
 *
 * The program prints `ready` when all are connected, and begins to measure at SIGUSR1.  At SIGTERM
 * it prints the results; each line is a name and a figure. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bench/click_arguments.h"
#include "base/buffer.h"
#include "base/calendar.h"
#include "base/memory.h"

enum {
    EVENTS = 256,
    WAIT_MS = 5,
    READ_SIZE = 64 << 10,
    EVENT_MAX = 64 << 10,
    SLOW_WINDOW = 4096,
    SLOW_READ = 512,
    SLOW_MS = 500,
    MARK_MS = 37, /* no divisor of the 500 ms between the server's states */
    AGAIN_MS = 5000,
    MARKS_MAX = 1 << 20,
    BINS = 10000 /* of one millisecond each */
};

enum kind { VIEWER, SLOW, IDLE, SENDER };

struct arguments {
    uint64_t viewers, slow, idle;
    const char *http, *ingest;
};

struct watcher {
    enum kind kind;
    int descriptor; /* -1: the connection must be opened again */
    int64_t due_ms; /* when a slow viewer reads next, or a closed connection is opened again */
    uint64_t seen;  /* clicks of today in the last state */
    struct buffer input;
};

struct histogram {
    uint64_t bins[BINS];
    uint64_t count;
};

struct cli_run {
    struct arguments arguments;
    struct addrinfo *http, *ingest;
    int epoll;
    struct watcher *watchers;
    size_t watcher_count;
    struct watcher sender;
    double *marks; /* when each click of today was acknowledged; monotonic seconds */
    uint64_t marks_sent, marks_answered;
    int64_t mark_due_ms, look_due_ms;
    bool is_measuring, is_over;
    double cpu_before;
    struct histogram lag, page;
    uint64_t states, closed, again;
    uint8_t read[READ_SIZE];
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "viewers: %s: %s\n", what, errno != 0 ? strerror(errno) : "failed");
    exit(EXIT_FAILURE);
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int64_t now_ms(void)
{
    return (int64_t)(seconds_of(CLOCK_MONOTONIC) * 1e3);
}

static double cpu_seconds(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* ---- histograms ---- */

static void histogram_add(struct histogram *histogram, double seconds)
{
    double ms = seconds > 0 ? seconds * 1e3 : 0;

    histogram->bins[ms < BINS - 1 ? (size_t)ms : BINS - 1]++;
    histogram->count++;
}

/* Returns the end of the bin, in ms; 0 if the histogram is empty. */
static uint64_t histogram_at(const struct histogram *histogram, double part)
{
    uint64_t sum = 0;

    for (size_t bin = 0; bin < BINS; bin++) {
        sum += histogram->bins[bin];
        if (sum > 0 && (double)sum >= part * (double)histogram->count)
            return bin + 1;
    }
    return 0;
}

static void histogram_print(const struct histogram *histogram, const char *name)
{
    static const struct {
        const char *name;
        double part;
    } parts[] = {{"p50", 0.5}, {"p99", 0.99}, {"max", 1}};

    (void)printf("%s_count %" PRIu64 "\n", name, histogram->count);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        (void)printf("%s_%s_ms %" PRIu64 "\n", name, parts[i].name,
                     histogram_at(histogram, parts[i].part));
}

/* ---- connections ---- */

static struct addrinfo *resolve(const char *address)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const char *colon = strrchr(address, ':');
    struct addrinfo *found;
    char host[256];

    if (colon == NULL || (size_t)(colon - address) >= sizeof host)
        die("an address is HOST:PORT");
    memcpy(host, address, (size_t)(colon - address));
    host[colon - address] = '\0';
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        die(address);
    return found;
}

static void watch(struct cli_run *run, struct watcher *watcher, int how, uint32_t for_what)
{
    struct epoll_event event = {.events = for_what, .data.ptr = watcher};

    if (epoll_ctl(run->epoll, how, watcher->descriptor, &event) != 0)
        die("epoll_ctl");
}

static void say(const struct watcher *watcher, const char *text)
{
    size_t size = strlen(text);

    if (send(watcher->descriptor, text, size, MSG_NOSIGNAL) != (ssize_t)size &&
        watcher->kind != IDLE)
        die("send");
}

static void watcher_open(struct cli_run *run, struct watcher *watcher)
{
    const struct addrinfo *to = watcher->kind == SENDER ? run->ingest : run->http;
    const int window = SLOW_WINDOW;

    bool waits = watcher->kind != IDLE;
    watcher->descriptor = socket(to->ai_family, SOCK_STREAM | (waits ? 0 : SOCK_NONBLOCK), 0);
    if (watcher->descriptor < 0)
        die("socket");
    if (watcher->kind == SLOW)
        (void)setsockopt(watcher->descriptor, SOL_SOCKET, SO_RCVBUF, &window, sizeof window);
    if (connect(watcher->descriptor, to->ai_addr, to->ai_addrlen) != 0 && errno != EINPROGRESS)
        die("connect");
    if (watcher->kind == VIEWER || watcher->kind == SLOW)
        say(watcher, "GET /api/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    if (fcntl(watcher->descriptor, F_SETFL, O_NONBLOCK) != 0)
        die("fcntl");
    if (watcher->kind != SLOW)
        watch(run, watcher, EPOLL_CTL_ADD, EPOLLIN | (waits ? 0 : EPOLLOUT));
}

/* Called when an idle connection is established.  Every second one sends half of a request. */
static void watcher_opened(struct cli_run *run, struct watcher *watcher)
{
    watch(run, watcher, EPOLL_CTL_MOD, EPOLLIN);
    if ((watcher - run->watchers) % 2 == 0)
        say(watcher, "GET /api/live HTTP/1.1\r\nHost: ");
}

static void watcher_lost(struct cli_run *run, struct watcher *watcher)
{
    errno = 0;
    if (watcher->kind == SENDER)
        die("the ingest door hung up");
    (void)close(watcher->descriptor);
    watcher->descriptor = -1;
    watcher->due_ms = now_ms() + AGAIN_MS;
    buffer_clear(&watcher->input);
    if (watcher->kind != IDLE)
        run->closed++;
}

/* ---- states ---- */

static struct bytes behind(struct bytes text, const char *mark)
{
    const uint8_t *at = memmem(text.data, text.size, mark, strlen(mark));

    if (at == NULL)
        return bytes_of(NULL, 0);
    at += strlen(mark);
    return bytes_of(at, text.size - (size_t)(at - text.data));
}

static void take_state(struct cli_run *run, struct watcher *watcher, struct bytes event)
{
    struct bytes at = behind(event, "\"at\": \"");
    struct bytes clicks = behind(behind(event, "\"today\": {"), "\"clicks\": ");
    double now = seconds_of(CLOCK_MONOTONIC);
    int64_t made_ms;

    if (at.size < 24 || clicks.size == 0)
        return;
    if (!calendar_time_parse(bytes_of(at.data, 24), &made_ms))
        die("the time in a state");
    uint64_t count = strtoull((const char *)clicks.data, NULL, 10);
    if (run->is_measuring) {
        run->states++;
        histogram_add(&run->lag, seconds_of(CLOCK_REALTIME) - (double)made_ms / 1e3);
    }
    for (; watcher->seen < count && watcher->seen < run->marks_sent; watcher->seen++)
        if (run->is_measuring && watcher->seen < run->marks_answered)
            histogram_add(&run->page, now - run->marks[watcher->seen]);
}

static void take_events(struct cli_run *run, struct watcher *watcher)
{
    struct buffer *input = &watcher->input;
    size_t done = 0;

    for (;;) {
        struct bytes left = bytes_of(input->data + done, input->size - done);
        struct bytes rest = behind(left, "\n\n");

        if (rest.data == NULL)
            break;
        take_state(run, watcher, bytes_of(left.data, left.size - rest.size));
        done = input->size - rest.size;
    }
    memmove(input->data, input->data + done, input->size - done);
    input->size -= done;
    if (input->size > EVENT_MAX)
        die("an event is too long");
}

/* ---- the sender ---- */

static void send_mark(struct cli_run *run)
{
    char line[128];
    char day[DAY_TEXT_SIZE + 1];
    int64_t ms = (int64_t)(seconds_of(CLOCK_REALTIME) * 1e3);

    calendar_day_format(calendar_day_of_time(ms), day);
    (void)snprintf(line, sizeof line, "viewer,%s,%" PRId64 ",ad,0.01\n#sync\n", day, ms);
    say(&run->sender, line);
    run->marks_sent++;
    run->mark_due_ms = now_ms() + MARK_MS;
}

static void take_answer(struct cli_run *run, const char *answer)
{
    if (strncmp(answer, "ok - accepted ", 14) != 0 || run->marks_answered == MARKS_MAX)
        die(answer);
    run->marks[run->marks_answered++] = seconds_of(CLOCK_MONOTONIC);
}

/* ---- what happens ---- */

static void watcher_read(struct cli_run *run, struct watcher *watcher)
{
    size_t size = watcher->kind == SLOW ? SLOW_READ : READ_SIZE - 1;
    ssize_t got = recv(watcher->descriptor, run->read, size, 0);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        watcher_lost(run, watcher);
        return;
    }
    if (watcher->kind == SENDER) {
        run->read[got] = '\0';
        take_answer(run, (const char *)run->read);
    } else if (watcher->kind == VIEWER) {
        buffer_append(&watcher->input, run->read, (size_t)got);
        take_events(run, watcher);
    }
}

static void do_what_is_due(struct cli_run *run)
{
    int64_t now = now_ms();

    if (now < run->look_due_ms)
        return;
    run->look_due_ms = now + WAIT_MS;
    if (run->marks_sent == run->marks_answered && now >= run->mark_due_ms)
        send_mark(run);
    for (size_t i = 0; i < run->watcher_count; i++) {
        struct watcher *watcher = &run->watchers[i];

        if (now < watcher->due_ms || (watcher->descriptor >= 0 && watcher->kind != SLOW))
            continue;
        if (watcher->descriptor < 0) {
            run->again++;
            watcher_open(run, watcher);
        } else {
            watcher_read(run, watcher);
            watcher->due_ms = now + SLOW_MS;
        }
    }
}

static void take_signal(struct cli_run *run, int signals)
{
    struct signalfd_siginfo info;

    if (read(signals, &info, sizeof info) != sizeof info)
        return;
    run->is_over = info.ssi_signo != SIGUSR1;
    run->is_measuring = !run->is_over;
    if (run->is_measuring)
        run->cpu_before = cpu_seconds();
}

static int open_signals(struct cli_run *run)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR1);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_NONBLOCK);
    if (signals < 0 || epoll_ctl(run->epoll, EPOLL_CTL_ADD, signals, &event) != 0)
        die("signalfd");
    return signals;
}

static void run_all(struct cli_run *run, int signals)
{
    struct epoll_event events[EVENTS];

    while (!run->is_over) {
        int count = epoll_wait(run->epoll, events, EVENTS, WAIT_MS);

        for (int i = 0; i < count; i++) {
            struct watcher *watcher = events[i].data.ptr;

            if (watcher == NULL)
                take_signal(run, signals);
            else if (watcher->descriptor >= 0 && (events[i].events & EPOLLOUT) != 0)
                watcher_opened(run, watcher);
            else if (watcher->descriptor >= 0)
                watcher_read(run, watcher);
        }
        do_what_is_due(run);
    }
}

/* ---- the whole ---- */

static void open_all(struct cli_run *run)
{
    const struct arguments *arguments = &run->arguments;
    uint64_t watching = arguments->viewers + arguments->slow;

    run->watcher_count = watching + arguments->idle;
    run->watchers = memory_zeroed(run->watcher_count, sizeof *run->watchers);
    run->sender.kind = SENDER;
    watcher_open(run, &run->sender);
    for (uint64_t i = 0; i < run->watcher_count; i++) {
        run->watchers[i].kind = i < arguments->viewers ? VIEWER : i < watching ? SLOW : IDLE;
        watcher_open(run, &run->watchers[i]);
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    bool is_good = true;

    switch (key) {
    case 'v':
        is_good = click_number_parse(argument, 1, 100000, &arguments->viewers);
        break;
    case 's':
        is_good = click_number_parse(argument, 0, 100000, &arguments->slow);
        break;
    case 'i':
        is_good = click_number_parse(argument, 0, 100000, &arguments->idle);
        break;
    case ARGP_KEY_ARG:
        if (arguments->http == NULL)
            arguments->http = argument;
        else if (arguments->ingest == NULL)
            arguments->ingest = argument;
        else
            argp_usage(state);
        break;
    case ARGP_KEY_END:
        if (arguments->ingest == NULL)
            argp_usage(state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (!is_good)
        argp_error(state, "no such value: %s", argument);
    return 0;
}

static const struct argp_option options[] = {
    {"viewers", 'v', "N", 0, "that read at once (900)", 0},
    {"slow", 's', "N", 0, "that read slowly, beside these (100)", 0},
    {"idle", 'i', "N", 0, "connections without a whole request (0)", 0},
    {0},
};

static const struct argp argp = {.options = options,
                                 .parser = parse,
                                 .args_doc = "HTTP:PORT INGEST:PORT",
                                 .doc = "Watch /api/live by many connections, and measure it."};

int main(int argc, char **argv)
{
    static struct cli_run run = {.arguments = {.viewers = 900, .slow = 100}};

    argp_err_exit_status = 2;
    (void)argp_parse(&argp, argc, argv, 0, NULL, &run.arguments);
    run.http = resolve(run.arguments.http);
    run.ingest = resolve(run.arguments.ingest);
    run.epoll = epoll_create1(0);
    run.marks = memory_alloc(MARKS_MAX * sizeof *run.marks);
    int signals = open_signals(&run);
    open_all(&run);
    (void)printf("ready\n");
    (void)fflush(stdout);
    run_all(&run, signals);
    (void)printf("viewers_cpu %.3f\n", cpu_seconds() - run.cpu_before);
    (void)printf("states %" PRIu64 "\n", run.states);
    (void)printf("viewers_lost %" PRIu64 "\n", run.closed);
    (void)printf("opened_again %" PRIu64 "\n", run.again);
    histogram_print(&run.lag, "lag");
    histogram_print(&run.page, "page");
    for (size_t i = 0; i < run.watcher_count; i++)
        buffer_release(&run.watchers[i].input);
    memory_free(run.watchers);
    memory_free(run.marks);
    freeaddrinfo(run.http);
    freeaddrinfo(run.ingest);
    return EXIT_SUCCESS;
}

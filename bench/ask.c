/* ask: measures the latency of a command over the control socket of a running daybook, or of a
 * statement over its CQL door.
 *
 *     ask --rate 1000 --count 10000 DIRECTORY report --reseller %R --from 2026-08-01 ...
 *     ask --rate 1000 --count 10000 --cql 9042 DIRECTORY 'SELECT ... WHERE reseller_id = ?' %R
 *
 * Requests are made in an open loop: request i is due at i / rate seconds, even if the previous
 * request is not answered yet, and its latency counts from the time at which it was due.  So if the
 * server pauses for a second, all requests of that second are late (no coordinated omission).  With
 * --rate 0 a request is sent as soon as the previous one is answered.
 *
 * Each command has a connection of its own, like a command of a user.  A statement is prepared once
 * and executed over one connection, as by an application.  The program shares the cores with the
 * server, and runs as a latency thread (base/world/thread.h), because otherwise its own waiting for
 * a core would count as latency.  In the words of the command or statement, %R stands for a random
 * reseller, and %P for a percentage that differs in each request, also from those of other runs.
 *
 * An exit status other than 0 ends the program.  Each line of output is a name and a figure. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench_store.h"
#include "bench/click_arguments.h"
#include "bench/cql_asker.h"
#include "base/memory.h"
#include "base/world/thread.h"
#include "program/control/control.h"
#include "program/control/control_client.h"

enum { WORDS_MAX = 32, ANSWER_PIECE = 65536 };

struct arguments {
    uint64_t rate; /* requests per second; 0: closed loop */
    uint64_t count;
    uint64_t resellers;
    uint64_t seed;     /* of the choice of resellers */
    uint64_t cql_port; /* 0: run commands */
    const char *directory;
    char **words;
    uint32_t word_count;
};

struct cli_run {
    struct arguments arguments;
    struct sockaddr_un address;
    struct buffer request;
    struct buffer answer;
    struct cql_asker *cql; /* NULL: run commands */
    char *value;           /* bound in the next execution */
    double *latencies;     /* seconds */
    uint64_t random;
    uint64_t percent_first; /* of the first request, in hundredths of a percent */
    uint64_t asked;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "ask: %s: %s\n", what, errno != 0 ? strerror(errno) : "failed");
    exit(EXIT_FAILURE);
}

/* ---- a question ---- */

static uint64_t random_next(struct cli_run *run)
{
    run->random ^= run->random >> 12;
    run->random ^= run->random << 25;
    run->random ^= run->random >> 27;
    return run->random * UINT64_C(2685821657736338717);
}

/* Returns the word with %R and %P replaced; the caller frees it. */
static char *word_fill(struct cli_run *run, const char *word)
{
    struct buffer filled = {0};
    for (; *word != '\0'; word++) {
        if (word[0] == '%' && word[1] == 'R') {
            buffer_printf(&filled,
                          run->arguments.resellers > 10000 ? "reseller-%06u" : "reseller-%04u",
                          (unsigned)((random_next(run) >> 32) % run->arguments.resellers));
            word++;
        } else if (word[0] == '%' && word[1] == 'P') {
            uint64_t percent = run->percent_first + run->asked;
            buffer_printf(&filled, "%u.%02u%%", (unsigned)(percent / 100 % 100),
                          (unsigned)(percent % 100));
            word++;
        } else {
            buffer_append(&filled, word, 1);
        }
    }
    buffer_put_u8(&filled, 0);
    return (char *)filled.data;
}

static void command_make(struct cli_run *run)
{
    char *words[WORDS_MAX];
    int count = (int)run->arguments.word_count;
    struct buffer body = {0};
    struct control_request request = {
        .actor = "ask", .text = run->arguments.words[0], .word_count = count, .words = words};
    for (int i = 0; i < count; i++)
        words[i] = word_fill(run, run->arguments.words[i]);
    control_message_put_request(&request, &body);
    for (int i = 0; i < count; i++)
        memory_free(words[i]);
    buffer_clear(&run->request);
    buffer_put_u32(&run->request, (uint32_t)body.size + 1);
    buffer_put_u8(&run->request, CONTROL_RUN);
    buffer_append_bytes(&run->request, buffer_view(&body));
    buffer_release(&body);
}

/* Whether the last message, EXIT, was received.  Its status must be 0. */
static bool answer_is_whole(const struct buffer *answer)
{
    size_t at = 0;
    while (answer->size - at >= 5) {
        uint32_t size = load_u32(answer->data + at);
        if (answer->size - at - 4 < size)
            return false;
        if (answer->data[at + 4] == CONTROL_EXIT) {
            if (size != 2 || answer->data[at + 5] != 0) {
                fprintf(stderr, "ask: the command failed:\n");
                (void)fwrite(answer->data, 1, answer->size, stderr);
                exit(EXIT_FAILURE);
            }
            return true;
        }
        at += 4 + size;
    }
    return false;
}

/* A blocking recv would also wake when the server has read the request, because the socket can then
 * send again.  The thread would run for nothing, and might wait for a core when the answer
 * arrives. */
static void answer_wait(int descriptor)
{
    struct pollfd polled = {.fd = descriptor, .events = POLLIN};
    while (poll(&polled, 1, -1) < 0 && errno == EINTR)
        ;
}

static void command_ask(struct cli_run *run)
{
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct buffer *answer = &run->answer;
    if (descriptor < 0 ||
        connect(descriptor, (struct sockaddr *)&run->address, sizeof run->address) != 0) {
        die(run->address.sun_path);
    }
    if (send(descriptor, run->request.data, run->request.size, MSG_NOSIGNAL) !=
        (ssize_t)run->request.size) {
        die("send");
    }
    buffer_clear(answer);
    do {
        buffer_reserve(answer, ANSWER_PIECE);
        answer_wait(descriptor);
        ssize_t got = recv(descriptor, answer->data + answer->size, ANSWER_PIECE, 0);
        if (got <= 0)
            die("the answer");
        answer->size += (size_t)got;
    } while (!answer_is_whole(answer));
    (void)close(descriptor);
}

static void question_make(struct cli_run *run)
{
    if (run->cql == NULL) {
        command_make(run);
        return;
    }
    memory_free(run->value);
    run->value = word_fill(run, run->arguments.words[1]);
}

static void question_ask(struct cli_run *run)
{
    if (run->cql == NULL)
        command_ask(run);
    else
        cql_asker_ask(run->cql, run->value);
}

/* ---- all of them ---- */

/* Sleep until `due`.  Returns the time from which the latency counts: `due` if it is past already,
 * because the previous request was late; else the time at which the system woke the thread.  The
 * thread does not spin before `due`, because a thread that has used a core for nothing may wait for
 * one when its answer arrives. */
static double wait_until(double due)
{
    struct timespec time = {.tv_sec = (time_t)due,
                            .tv_nsec = (long)((due - (double)(time_t)due) * 1e9)};
    if (now_s() >= due)
        return due;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
    return now_s();
}

static void ask_all(struct cli_run *run)
{
    double started = now_s();
    for (run->asked = 0; run->asked < run->arguments.count; run->asked++) {
        question_make(run);
        double due = now_s();
        if (run->arguments.rate > 0)
            due = wait_until(started + (double)run->asked / (double)run->arguments.rate);
        question_ask(run);
        run->latencies[run->asked] = now_s() - due;
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double first = *(const double *)a;
    double second = *(const double *)b;
    return (first > second) - (first < second);
}

static void print(struct cli_run *run)
{
    uint64_t last = run->asked - 1;
    double *sorted = run->latencies;
    qsort(sorted, run->asked, sizeof *sorted, compare_doubles);
    printf("asked            %" PRIu64 "\n", run->asked);
    printf("answer_bytes     %zu\n",
           run->cql == NULL ? run->answer.size : cql_asker_answer_bytes(run->cql));
    printf("p50_us           %.1f\n", sorted[last / 2] * 1e6);
    printf("p99_us           %.1f\n", sorted[last * 99 / 100] * 1e6);
    printf("p99.9_us         %.1f\n", sorted[last * 999 / 1000] * 1e6);
    printf("max_us           %.1f\n", sorted[last] * 1e6);
}

/* ---- options ---- */

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    bool is_good = true;
    switch (key) {
    case 'r':
        is_good = click_number_parse(argument, 0, 1000000, &arguments->rate);
        break;
    case 'n':
        is_good = click_number_parse(argument, 1, 100000000, &arguments->count);
        break;
    case 'R':
        is_good = click_number_parse(argument, 1, CLICK_RESELLERS_MAX, &arguments->resellers);
        break;
    case 's':
        is_good = click_number_parse(argument, 1, UINT32_MAX, &arguments->seed);
        break;
    case 'c':
        is_good = click_number_parse(argument, 1, UINT16_MAX, &arguments->cql_port);
        break;
    case ARGP_KEY_ARG:
        arguments->directory = argument;
        arguments->words = state->argv + state->next;
        arguments->word_count = (uint32_t)(state->argc - state->next);
        state->next = state->argc; /* all further words belong to the command, also options */
        break;
    case ARGP_KEY_END:
        if (arguments->word_count == 0 || arguments->word_count > WORDS_MAX ||
            (arguments->cql_port != 0 && arguments->word_count != 2))
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
    {"rate", 'r', "N", 0, "questions a second; 0: each as the one before is answered (1000)", 0},
    {"count", 'n', "N", 0, "how many (10000)", 0},
    {"cql", 'c', "PORT", 0, "the words are a statement, asked there, and the value of its ?", 0},
    {"resellers", 'R', "N", 0, "that %R chooses from (1000)", 0},
    {"seed", 's', "N", 0, "another one, other resellers (1)", 0},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "DIRECTORY WORD...",
    .doc = "Ask a running daybook a command again and again, and measure how long it takes.",
};

int main(int argc, char **argv)
{
    struct cli_run run = {.arguments = {.rate = 1000, .count = 10000, .resellers = 1000, .seed = 1},
                          .address = {.sun_family = AF_UNIX}};
    argp_err_exit_status = 2;
    (void)argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &run.arguments);
    if (snprintf(run.address.sun_path, sizeof run.address.sun_path, "%s/daybook.sock",
                 run.arguments.directory) >= (int)sizeof run.address.sun_path) {
        errno = ENAMETOOLONG;
        die(run.arguments.directory);
    }
    run.random = run.arguments.seed * UINT64_C(0x9E3779B97F4A7C15); /* spreads small seeds */
    thread_set(THREAD_LATENCY);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    run.percent_first = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    run.latencies = memory_alloc(run.arguments.count * sizeof *run.latencies);
    if (run.arguments.cql_port != 0)
        run.cql = cql_asker_new((uint16_t)run.arguments.cql_port, run.arguments.words[0]);
    ask_all(&run);
    print(&run);
    cql_asker_free(run.cql);
    memory_free(run.value);
    buffer_release(&run.request);
    buffer_release(&run.answer);
    memory_free(run.latencies);
    return EXIT_SUCCESS;
}

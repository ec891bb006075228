/* test_control: a command's words reach the server and its answer comes back, whatever clients do.
 *
 * Server and clients are on one loop; the commands are the test's own. */
#include "program/control/control_client.h"
#include "base/cli/command_parse.h"
#include "program/control/control_server.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/control/control_message.h"
#include "base/world/loop.h"
#include "base/memory.h"

struct bench {
    char directory[64];
    char path[80];
    struct loop *loop;
    struct world *world;
    struct network *network;
    struct control_server *server;
    struct command_output *hanging; /* of the command that does not end when it returns */
    struct timer late;              /* that ends it */
    struct connection *handed_over;
    uint32_t runs;
    uint32_t connections_max; /* 0: the default */
    size_t bytes_max;         /* of memory for commands; 0: the default */
    int64_t long_us;          /* 0: the default */
    int64_t held;             /* of it, as the server tells */
    int64_t held_most;
    bool is_closed;
};

/* ---- commands ---- */

struct say_options {
    const char *word;
    int exit_status;
};

static error_t say_parse(int key, char *argument, struct argp_state *state)
{
    struct say_options *options = state->input;
    switch (key) {
    case 'x':
        options->exit_status = argument[0] - '0';
        return 0;
    case ARGP_KEY_ARG:
        options->word = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option say_argp_options[] = {{"exit", 'x', "N", 0, "", 0}, {0}};
static const struct argp say_argp = {.options = say_argp_options, .parser = say_parse};

static void say_run(void *room, const struct command_request *request,
                    struct command_output *output)
{
    const struct say_options *options = request->options;
    ((struct bench *)room)->runs++;
    command_printf(output, COMMAND_OUT, "%s by %s: %s, %zu", options->word, request->actor,
                   request->text, request->input.size);
    command_printf(output, COMMAND_ERR, "%s", request->is_terminal ? "a person" : "a pipe");
    output->finish(output, options->exit_status);
}

static void hang_run(void *room, const struct command_request *request,
                     struct command_output *output)
{
    (void)request;
    ((struct bench *)room)->hanging = output;
    command_printf(output, COMMAND_OUT, "begun");
}

/* Writes now, in a later turn of the loop, and then ends. */
static void late_turn(struct timer *timer)
{
    struct bench *bench = timer->context;
    command_printf(bench->hanging, COMMAND_OUT, "late");
    command_printf(bench->hanging, COMMAND_ERR, "later");
    bench->hanging->finish(bench->hanging, EXIT_DONE);
}

static void late_run(void *room, const struct command_request *request,
                     struct command_output *output)
{
    struct bench *bench = room;
    (void)request;
    bench->hanging = output;
    command_printf(output, COMMAND_OUT, "early");
    bench->late = (struct timer){.fire = late_turn, .context = bench};
    bench->world->executor->timer_start(bench->world->executor, &bench->late, 30);
}

enum { FLOOD = 8 << 20 };

static void flood_run(void *room, const struct command_request *request,
                      struct command_output *output)
{
    uint8_t *bytes = memory_zeroed(1, FLOOD);
    (void)room;
    (void)request;
    output->write(output, COMMAND_OUT, bytes_of(bytes, FLOOD));
    output->finish(output, EXIT_DONE);
    memory_free(bytes);
}

enum { FILL_PIECE = 64 << 10, FILL_PIECES = 64 };

struct filling {
    struct command_output *output;
    uint32_t left;
    bool is_told_to_wait;
};

/* Fills what may wait and ends when all of that was read. */
static void fill_turn(void *context)
{
    struct filling *filling = context;
    static const uint8_t piece[FILL_PIECE];
    if (filling->is_told_to_wait)
        filling->output->drained = NULL;
    for (; filling->left > 0; filling->left--) {
        if (command_must_wait(filling->output, fill_turn, filling)) {
            filling->is_told_to_wait = true;
            return;
        }
        filling->output->write(filling->output, COMMAND_OUT, bytes_of(piece, FILL_PIECE));
    }
    struct command_output *output = filling->output;
    memory_free(filling);
    output->finish(output, EXIT_DONE);
}

static void fill_run(void *room, const struct command_request *request,
                     struct command_output *output)
{
    struct filling *filling = memory_zeroed(1, sizeof(*filling));
    (void)request;
    ((struct bench *)room)->runs++;
    filling->output = output;
    filling->left = FILL_PIECES;
    fill_turn(filling);
}

static const struct command say_command = {
    .name = "say", .argp = &say_argp, .options_size = sizeof(struct say_options), .run = say_run};

static const struct command commands[] = {
    {.name = "fill",
     .argp = &say_argp,
     .options_size = sizeof(struct say_options),
     .run = fill_run},
    {.name = "brief",
     .argp = &say_argp,
     .options_size = sizeof(struct say_options),
     .is_brief = true,
     .run = say_run},
    {.name = "say", .argp = &say_argp, .options_size = sizeof(struct say_options), .run = say_run},
    {.name = "hang",
     .argp = &say_argp,
     .options_size = sizeof(struct say_options),
     .run = hang_run},
    {.name = "flood",
     .argp = &say_argp,
     .options_size = sizeof(struct say_options),
     .run = flood_run},
    {.name = "late",
     .argp = &say_argp,
     .options_size = sizeof(struct say_options),
     .run = late_run},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* ---- the bench ---- */

static void take_over(void *context, struct connection *connection)
{
    ((struct bench *)context)->handed_over = connection;
}

static void write_lock(void *context, int64_t change_bytes)
{
    struct bench *bench = context;
    bench->held += change_bytes;
    bench->held_most = bench->held > bench->held_most ? bench->held : bench->held_most;
}

static void bench_start(struct bench *bench, struct command_entry entries[COMMANDS])
{
    struct error err = {0};
    snprintf(bench->directory, sizeof(bench->directory), "/tmp/daybook-control-XXXXXX");
    cr_assert_not_null(mkdtemp(bench->directory));
    snprintf(bench->path, sizeof(bench->path), "%s/s", bench->directory);
    bench->loop = loop_new();
    bench->network = network_uv_new(loop_uv(bench->loop));
    for (int i = 0; i < COMMANDS; i++)
        entries[i] = (struct command_entry){&commands[i], bench};
    cr_assert_eq(world_uv_open(bench->directory, false, loop_uv(bench->loop), &bench->world, &err),
                 0, "%s", err.text);
    const struct control_server_options options = {.network = bench->network,
                                                   .world = bench->world,
                                                   .path = bench->path,
                                                   .entries = entries,
                                                   .entry_count = COMMANDS,
                                                   .connections_max = bench->connections_max,
                                                   .bytes_max = bench->bytes_max,
                                                   .long_us = bench->long_us,
                                                   .held = write_lock,
                                                   .ingest = take_over,
                                                   .context = bench};
    cr_assert_eq(control_server_open(&options, &bench->server, &err), 0, "%s", err.text);
}

static void server_closed(void *context)
{
    ((struct bench *)context)->is_closed = true;
}

static void step_until(struct bench *bench, const bool *done)
{
    while (!*done)
        cr_assert(loop_step(bench->loop) || *done, "nothing left to wait for");
}

static void bench_stop(struct bench *bench)
{
    if (!bench->is_closed) {
        control_server_close(bench->server, server_closed, bench);
        step_until(bench, &bench->is_closed);
    }
    cr_expect_eq(bench->held, 0);
    world_uv_close(bench->world);
    network_uv_free(bench->network);
    while (loop_step(bench->loop))
        ;
    loop_free(bench->loop);
    cr_expect_eq(access(bench->path, F_OK), -1, "the socket's file is left behind");
    cr_expect_eq(rmdir(bench->directory), 0);
}

/* ---- clients ---- */

struct answer {
    struct command_output output; /* first: answer_write casts it to the answer */
    struct buffer out;
    struct buffer err;
    int exit_status;
    bool is_finished;
};

static void answer_write(struct command_output *output, enum command_stream stream,
                         struct bytes bytes)
{
    struct answer *answer = (struct answer *)output;
    buffer_append_bytes(stream == COMMAND_OUT ? &answer->out : &answer->err, bytes);
}

static void answer_finish(struct command_output *output, int exit_status)
{
    struct answer *answer = (struct answer *)output;
    answer->exit_status = exit_status;
    answer->is_finished = true;
}

static struct command_output *answer_begin(struct answer *answer)
{
    *answer = (struct answer){.output = {.write = answer_write, .finish = answer_finish}};
    return &answer->output;
}

static struct connection *bench_connect(struct bench *bench)
{
    struct connection *connection;
    struct error err = {0};
    cr_assert_eq(network_connect_unix(bench->network, bench->path, &connection, &err), 0, "%s",
                 err.text);
    return connection;
}

static void ask(struct bench *bench, struct answer *answer, char *const *words, int count,
                const char *input)
{
    const struct control_request request = {.is_terminal = true,
                                            .actor = "ann",
                                            .text = "as given",
                                            .words = words,
                                            .word_count = count,
                                            .input = bytes_text(input)};
    control_client_run(bench_connect(bench), &request, answer_begin(answer));
}

static void answer_release(struct answer *answer)
{
    buffer_release(&answer->out);
    buffer_release(&answer->err);
}

static void expect_say(struct bench *bench)
{
    char *words[] = {(char[]){"say"}, (char[]){"-x1"}, (char[]){"hello"}, NULL};
    struct answer answer;
    ask(bench, &answer, words, 3, "file");
    step_until(bench, &answer.is_finished);
    buffer_put_u8(&answer.out, 0);
    buffer_put_u8(&answer.err, 0);
    cr_expect_str_eq((char *)answer.out.data, "hello by ann: as given, 4");
    cr_expect_str_eq((char *)answer.err.data, "a person");
    cr_expect_eq(answer.exit_status, 1);
    answer_release(&answer);
}

static void expect_exit(struct bench *bench, char *const *words, int count, int exit_status)
{
    struct answer answer;
    ask(bench, &answer, words, count, "");
    step_until(bench, &answer.is_finished);
    cr_expect_eq(answer.exit_status, exit_status);
    cr_expect_gt(answer.err.size, 0);
    answer_release(&answer);
}

Test(control, command_answers_on_both_streams_and_with_its_status)
{
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    bench_start(&bench, entries);
    expect_say(&bench);
    bench_stop(&bench);
}

Test(control, unknown_commands_and_options_are_wrong_usage)
{
    char *unknown[] = {(char[]){"nothing"}, NULL};
    char *wrong[] = {(char[]){"say"}, (char[]){"--nothing"}, NULL};
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    bench_start(&bench, entries);
    expect_exit(&bench, unknown, 1, EXIT_WRONG_USAGE);
    expect_exit(&bench, wrong, 2, EXIT_WRONG_USAGE);
    bench_stop(&bench);
}

static void door_opened(void *context, struct connection *connection)
{
    *(struct connection **)context = connection;
}

Test(control, ingest_door_is_the_same_connection_handed_over)
{
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    struct connection *door = NULL;
    bench_start(&bench, entries);
    control_client_ingest(bench_connect(&bench), door_opened, &door);
    while (door == NULL || bench.handed_over == NULL)
        cr_assert(loop_step(bench.loop));
    network_close(door);
    network_close(bench.handed_over);
    bench_stop(&bench);
}

/* ---- clients that lie ---- */

struct raw {
    uint8_t all[4096]; /* that came, */
    size_t size;
    uint32_t reads; /* in so many pieces */
    bool is_ended;
    bool is_closed;
};

static void raw_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct raw *raw = context;
    *to_out = raw->all + raw->size;
    *size_out = sizeof(raw->all) - raw->size;
}

static void raw_data(void *context, size_t size)
{
    struct raw *raw = context;
    raw->reads++;
    raw->size += size;
}

static void raw_end(void *context, int status)
{
    (void)status;
    ((struct raw *)context)->is_ended = true;
}

static void raw_drained(void *context)
{
    (void)context;
}

static void raw_closed(void *context)
{
    ((struct raw *)context)->is_closed = true;
}

static const struct connection_handler raw_handler = {raw_space, raw_data, raw_end, raw_drained,
                                                      raw_closed};

/* A RUN message of `say hello`. */
static void good_request(struct buffer *message)
{
    struct buffer body = {0};
    buffer_put_u8(&body, 1);
    buffer_put_sized(&body, bytes_text("ann"));
    buffer_put_sized(&body, bytes_text("as given"));
    buffer_put_sized(&body, bytes_text("/home/ann"));
    buffer_put_varint(&body, 2);
    buffer_put_sized(&body, bytes_text("say"));
    buffer_put_sized(&body, bytes_text("hello"));
    buffer_put_u8(&body, 0);
    buffer_put_u32(message, (uint32_t)body.size + 1);
    buffer_put_u8(message, CONTROL_RUN);
    buffer_append_bytes(message, buffer_view(&body));
    buffer_release(&body);
}

/* ---- an answer's pieces ---- */

/* What asking for `word` brings, message by message as `kinds`, in how many pieces. */
static uint32_t answer_pieces(struct bench *bench, const char *word, const char *kinds)
{
    struct raw raw = {0};
    struct buffer body = {0};
    struct connection *connection = bench_connect(bench);
    char *words[] = {(char *)(uintptr_t)word};
    const struct control_request request = {
        .actor = "", .text = "", .words = words, .word_count = 1};
    control_message_put_request(&request, &body);
    network_start(connection, &raw_handler, &raw);
    control_message_send(connection, CONTROL_RUN, buffer_view(&body));
    buffer_release(&body);
    step_until(bench, &raw.is_ended);
    network_close(connection);
    step_until(bench, &raw.is_closed);
    size_t at = 0;
    for (; *kinds != '\0'; kinds++) {
        cr_assert_leq(at + 5, raw.size, "a message is missing");
        cr_expect_eq(raw.all[at + 4], *kinds - '0');
        at += 4 + load_u32(raw.all + at);
    }
    cr_expect_eq(at, raw.size);
    return raw.reads;
}

Test(control, short_answer_comes_in_one_piece)
{
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    bench_start(&bench, entries);
    cr_expect_eq(answer_pieces(&bench, "say", "345"), 1);
    bench_stop(&bench);
}

Test(control, what_a_command_writes_does_not_wait_for_its_end)
{
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    bench_start(&bench, entries);
    cr_expect_eq(answer_pieces(&bench, "late", "3345"), 2);
    bench_stop(&bench);
}

/* Send bytes, hang up, and see that the server is still there. */
static void send_and_hang_up(struct bench *bench, struct bytes bytes)
{
    struct raw raw = {0};
    struct connection *connection = bench_connect(bench);
    network_start(connection, &raw_handler, &raw);
    network_write(connection, bytes);
    network_close(connection);
    step_until(bench, &raw.is_closed);
}

Test(control, cut_and_damaged_requests_end_their_connection_only)
{
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    struct buffer message = {0};
    bench_start(&bench, entries);
    good_request(&message);
    for (size_t size = 0; size < message.size; size++)
        send_and_hang_up(&bench, bytes_of(message.data, size));
    expect_say(&bench);
    cr_expect_eq(bench.runs, 1, "a cut request was run");
    for (size_t bit = 0; bit < message.size * 8; bit++) {
        message.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        send_and_hang_up(&bench, buffer_view(&message));
        message.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    expect_say(&bench);
    bench_stop(&bench);
    buffer_release(&message);
}

/* ---- memory ---- */

enum {
    SLOW_READERS = 12,
    BYTES_MAX = (SLOW_READERS + 1) * CONTROL_COMMAND_BYTES /* and as much for answers */
};

/* Long answers that nobody reads yet. */
struct slow {
    struct connection *connections[SLOW_READERS];
    struct answer answers[SLOW_READERS];
};

static void slow_ask(struct bench *bench, struct slow *slow, uint32_t count)
{
    char *words[] = {(char[]){"fill"}, NULL};
    const struct control_request request = {
        .actor = "", .text = "", .words = words, .word_count = 1};
    for (uint32_t i = 0; i < count; i++) {
        slow->connections[i] = bench_connect(bench);
        control_client_run(slow->connections[i], &request, answer_begin(&slow->answers[i]));
        network_pause(slow->connections[i]);
    }
}

/* All at once, and to the end. */
static void slow_read(struct bench *bench, struct slow *slow, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        network_resume(slow->connections[i]);
    for (uint32_t i = 0; i < count; i++) {
        struct answer *answer = &slow->answers[i];
        step_until(bench, &answer->is_finished);
        cr_expect_eq(answer->exit_status, EXIT_DONE);
        cr_expect_eq(answer->out.size, (size_t)FILL_PIECE * FILL_PIECES);
        answer_release(answer);
    }
}

static void step_until_runs(struct bench *bench, uint32_t runs)
{
    while (bench->runs < runs)
        cr_assert(loop_step(bench->loop));
}

Test(control, answers_that_nobody_reads_stay_within_the_memory_and_come_whole_when_they_are_read)
{
    struct command_entry entries[COMMANDS];
    struct bench bench = {.bytes_max = BYTES_MAX};
    struct slow slow;
    bench_start(&bench, entries);
    slow_ask(&bench, &slow, SLOW_READERS);
    step_until_runs(&bench, SLOW_READERS);
    expect_say(&bench);
    cr_expect_leq(bench.held_most, 2 * BYTES_MAX);
    cr_expect_gt(bench.held, BYTES_MAX + BYTES_MAX / 2);
    slow_read(&bench, &slow, SLOW_READERS);
    cr_expect_leq(bench.held_most, 2 * BYTES_MAX);
    bench_stop(&bench);
}

/* Room for two: whoever ends makes room for the next; how things are can be asked meanwhile. */
Test(control, commands_without_room_wait_for_it_and_brief_ones_do_not)
{
    char *words[] = {(char[]){"brief"}, (char[]){"word"}, NULL};
    struct command_entry entries[COMMANDS];
    struct bench bench = {.bytes_max = 2 * CONTROL_COMMAND_BYTES};
    struct slow slow;
    struct answer brief;
    bench_start(&bench, entries);
    slow_ask(&bench, &slow, SLOW_READERS);
    step_until_runs(&bench, 2);
    ask(&bench, &brief, words, 2, "");
    step_until(&bench, &brief.is_finished);
    cr_expect_eq(brief.exit_status, EXIT_DONE);
    cr_expect_lt(bench.runs, SLOW_READERS);
    answer_release(&brief);
    slow_read(&bench, &slow, SLOW_READERS);
    cr_expect_eq(bench.runs, SLOW_READERS + 1);
    bench_stop(&bench);
}

Test(control, a_command_that_waits_too_long_for_room_is_refused_and_told_why, .timeout = 60)
{
    char *words[] = {(char[]){"say"}, (char[]){"word"}, NULL};
    struct command_entry entries[COMMANDS];
    struct bench bench = {.bytes_max = CONTROL_COMMAND_BYTES + 4096};
    struct answer answer;
    struct slow slow;
    bench_start(&bench, entries);
    slow_ask(&bench, &slow, 1);
    step_until_runs(&bench, 1);
    ask(&bench, &answer, words, 2, "");
    step_until(&bench, &answer.is_finished);
    buffer_put_u8(&answer.err, 0);
    cr_expect_eq(answer.exit_status, EXIT_SYSTEM_FAILED);
    cr_expect_not_null(strstr((char *)answer.err.data, "--memory"));
    cr_expect_eq(bench.runs, 1);
    answer_release(&answer);
    slow_read(&bench, &slow, 1);
    expect_say(&bench);
    bench_stop(&bench);
}

/* With `size` bytes along. */
static void ask_with(struct bench *bench, struct answer *answer, size_t size)
{
    char *words[] = {(char[]){"say"}, (char[]){"word"}, NULL};
    uint8_t *input = memory_zeroed(1, size);
    const struct control_request request = {
        .actor = "", .text = "", .words = words, .word_count = 2, .input = bytes_of(input, size)};
    control_client_run(bench_connect(bench), &request, answer_begin(answer));
    memory_free(input);
}

Test(control, what_goes_along_waits_for_room_before_it_is_read_and_is_refused_if_there_never_is)
{
    enum { ALONG = 3 << 20, ASKED = 6 };
    struct command_entry entries[COMMANDS];
    struct bench bench = {.bytes_max = BYTES_MAX};
    struct answer answers[ASKED];
    struct answer large;
    bench_start(&bench, entries);
    for (int i = 0; i < ASKED; i++)
        ask_with(&bench, &answers[i], ALONG);
    ask_with(&bench, &large, BYTES_MAX);
    for (int i = 0; i < ASKED; i++) {
        step_until(&bench, &answers[i].is_finished);
        cr_expect_eq(answers[i].exit_status, EXIT_DONE);
        answer_release(&answers[i]);
    }
    step_until(&bench, &large.is_finished);
    buffer_put_u8(&large.err, 0);
    cr_expect_eq(large.exit_status, EXIT_SYSTEM_FAILED);
    cr_expect_not_null(strstr((char *)large.err.data, "--memory"), "%s", (char *)large.err.data);
    answer_release(&large);
    cr_expect_leq(bench.held_most, BYTES_MAX);
    cr_expect_geq(bench.held_most, 2 * ALONG);
    bench_stop(&bench);
}

Test(control, idle_connections_give_their_place_to_one_that_asks)
{
    char *words[] = {(char[]){"say"}, (char[]){"word"}, NULL};
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    struct raw idle[CONTROL_CONNECTIONS_MAX] = {0};
    struct connection *connections[CONTROL_CONNECTIONS_MAX];
    struct answer answer;
    bench_start(&bench, entries);
    for (int i = 0; i < CONTROL_CONNECTIONS_MAX; i++) {
        connections[i] = bench_connect(&bench);
        network_start(connections[i], &raw_handler, &idle[i]);
    }
    ask(&bench, &answer, words, 2, "");
    step_until(&bench, &answer.is_finished);
    cr_expect_eq(answer.exit_status, EXIT_DONE);
    answer_release(&answer);
    for (int i = 0; i < CONTROL_CONNECTIONS_MAX; i++)
        network_close(connections[i]);
    for (int i = 0; i < CONTROL_CONNECTIONS_MAX; i++)
        step_until(&bench, &idle[i].is_closed);
    for (int i = 0; i < 10; i++)
        send_and_hang_up(&bench, bytes_text("x"));
    expect_say(&bench);
    bench_stop(&bench);
}

Test(control, one_more_than_can_run_is_told_so_unless_it_is_brief)
{
    char *brief[] = {(char[]){"brief"}, (char[]){"word"}, NULL};
    char *hang[] = {(char[]){"hang"}, NULL};
    char *say[] = {(char[]){"say"}, (char[]){"word"}, NULL};
    struct command_entry entries[COMMANDS];
    struct bench bench = {.connections_max = 1};
    struct answer hanging;
    struct answer answer;
    bench_start(&bench, entries);
    ask(&bench, &hanging, hang, 1, "");
    while (hanging.out.size == 0)
        cr_assert(loop_step(bench.loop));
    ask(&bench, &answer, say, 2, "");
    step_until(&bench, &answer.is_finished);
    buffer_put_u8(&answer.err, 0);
    cr_expect_eq(answer.exit_status, EXIT_SYSTEM_FAILED);
    cr_expect_not_null(strstr((char *)answer.err.data, "too many"));
    answer_release(&answer);
    ask(&bench, &answer, brief, 2, "");
    step_until(&bench, &answer.is_finished);
    cr_expect_eq(answer.exit_status, EXIT_DONE);
    answer_release(&answer);
    bench.hanging->finish(bench.hanging, EXIT_DONE);
    step_until(&bench, &hanging.is_finished);
    cr_expect_eq(hanging.exit_status, EXIT_DONE);
    answer_release(&hanging);
    bench_stop(&bench);
}

/* ---- the end ---- */

Test(control, closing_waits_for_running_commands_and_tells_their_clients)
{
    char *words[] = {(char[]){"hang"}, NULL};
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    struct answer answer;
    bench_start(&bench, entries);
    ask(&bench, &answer, words, 1, "");
    while (answer.out.size == 0)
        cr_assert(loop_step(bench.loop));
    control_server_close(bench.server, server_closed, &bench);
    cr_expect_not(bench.is_closed);
    bench.hanging->finish(bench.hanging, EXIT_DONE);
    step_until(&bench, &answer.is_finished);
    cr_expect_eq(answer.exit_status, EXIT_DONE);
    step_until(&bench, &bench.is_closed);
    answer_release(&answer);
    bench_stop(&bench);
}

/* One that sent nothing and one that reads nothing of a long answer. */
Test(control, closing_does_not_wait_for_clients_that_do_nothing)
{
    char *words[] = {(char[]){"flood"}, NULL};
    const struct control_request request = {
        .actor = "", .text = "", .words = words, .word_count = 1};
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    struct answer answer = {0};
    struct raw idle = {0};
    bench_start(&bench, entries);
    struct connection *silent = bench_connect(&bench);
    struct connection *slow = bench_connect(&bench);
    network_start(silent, &raw_handler, &idle);
    control_client_run(slow, &request, answer_begin(&answer));
    network_pause(slow);
    for (int i = 0; i < 10; i++)
        send_and_hang_up(&bench, bytes_text("x"));
    control_server_close(bench.server, server_closed, &bench);
    step_until(&bench, &bench.is_closed);
    network_resume(slow);
    step_until(&bench, &answer.is_finished);
    cr_expect_eq(answer.exit_status, EXIT_SYSTEM_FAILED);
    network_close(silent);
    step_until(&bench, &idle.is_closed);
    answer_release(&answer);
    bench_stop(&bench);
}

Test(control, a_command_that_took_long_is_logged_with_its_words_escaped)
{
    struct command_entry entries[COMMANDS];
    struct bench bench = {.long_us = 10000};
    char *words[] = {(char[]){"late"}, NULL};
    struct answer answer;
    char said[4096] = "";
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    bench_start(&bench, entries);
    expect_say(&bench);
    ask(&bench, &answer, words, 1, "");
    step_until(&bench, &answer.is_finished);
    answer_release(&answer);
    cr_assert_gt(read(ends[0], said, sizeof said - 1), 0);
    cr_expect_not_null(strstr(said, " level=notice event=long_command command=late "
                                    "words=\"as given\" actor=ann took_ms="),
                       "%s", said);
    cr_expect_eq(strchr(said, '\n')[1], '\0', "%s", said);
    bench_stop(&bench);
}

Test(control, command_runs_to_its_end_when_its_client_is_gone)
{
    struct command_entry entries[COMMANDS];
    struct bench bench = {0};
    struct buffer message = {0};
    bench_start(&bench, entries);
    good_request(&message);
    send_and_hang_up(&bench, buffer_view(&message));
    while (bench.runs == 0)
        cr_assert(loop_step(bench.loop));
    bench_stop(&bench);
    buffer_release(&message);
}

/* ---- words ---- */

Test(control, common_options_may_stand_anywhere)
{
    char *words[] = {(char[]){"say"},       (char[]){"-d"},
                     (char[]){"/x"},        (char[]){"word"},
                     (char[]){"-x"},        (char[]){"2"},
                     (char[]){"--wait=2m"}, (char[]){"--stream"},
                     (char[]){"nights"},    NULL};
    struct command_common common;
    void *options;
    cr_assert_eq(command_parse(&say_command, 9, words, false, &common, &options, NULL), 0);
    cr_expect_str_eq(common.directory, "/x");
    cr_expect_str_eq(common.stream, "nights");
    cr_expect_eq(common.wait_ms, 120000);
    cr_expect_str_eq(((struct say_options *)options)->word, "word");
    cr_expect_eq(((struct say_options *)options)->exit_status, 2);
    memory_free(options);
}

Test(control, waiting_time_has_a_unit_or_is_in_seconds)
{
    static const struct {
        const char *text;
        int64_t ms; /* below 0: refused */
    } cases[] = {{"10s", 10000}, {"500ms", 500}, {"2m", 120000}, {"0", 0},   {"3", 3000},
                 {"", -1},       {"s", -1},      {"-1s", -1},    {"1h", -1}, {"1 s", -1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[32];
        char *words[] = {(char[]){"say"}, (char[]){"--wait"}, text, NULL};
        struct command_common common;
        void *options;
        snprintf(text, sizeof(text), "%s", cases[i].text);
        int rc = command_parse(&say_command, 3, words, false, &common, &options, NULL);
        cr_expect_eq(rc == 0, cases[i].ms >= 0, "%s", cases[i].text);
        if (rc == 0)
            cr_expect_eq(common.wait_ms, cases[i].ms, "%s", cases[i].text);
        memory_free(options);
    }
}

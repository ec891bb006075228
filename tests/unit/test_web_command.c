/* test_web_command: what commands print reaches whoever had them run, within bounds of memory and
 * time, and they run to their end. */
#include "query/web/web_command.h"

#include <stdio.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/sim/sim_world.h"

enum { BYTES_MAX = 8 << 20 };

/* ---- commands ---- */

struct say_options {
    const char *word;
    const char *option;
};

static struct command_output *hanging; /* of the command that does not end by itself */
static char said[256];

static error_t say_parse(int key, char *argument, struct argp_state *state)
{
    struct say_options *options = state->input;

    switch (key) {
    case 'o':
        options->option = argument;
        return strcmp(argument, "bad") == 0
                   ? command_refuse(state, "--option takes no '%s': a\nb", argument)
                   : 0;
    case ARGP_KEY_ARG:
        options->word = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option say_argp_options[] = {{"option", 'o', "O", 0, "", 0}, {0}};
static const struct argp say_argp = {.options = say_argp_options, .parser = say_parse};

static void say_run(void *room, const struct command_request *request,
                    struct command_output *output)
{
    const struct say_options *options = request->options;

    (void)room;
    (void)snprintf(said, sizeof said, "%s; %s; %s", request->door, request->actor, request->text);
    command_printf(output, COMMAND_OUT, "%s %s", options->word, options->option);
    command_printf(output, COMMAND_ERR, "daybook: note: a note\n");
    output->finish(output, EXIT_DATA_SAYS_NO);
}

static void hang_run(void *room, const struct command_request *request,
                     struct command_output *output)
{
    (void)room;
    (void)request;
    hanging = output;
    command_printf(output, COMMAND_OUT, "begun");
}

static const struct command commands_of_test[] = {
    {.name = "say", .argp = &say_argp, .options_size = sizeof(struct say_options), .run = say_run},
    {.name = "hang",
     .argp = &say_argp,
     .options_size = sizeof(struct say_options),
     .run = hang_run}};
static const struct command_entry entries[] = {{&commands_of_test[0], NULL},
                                               {&commands_of_test[1], NULL}};

/* ---- the bench ---- */

static struct sim_world *sim;
static struct web_commands *commands;
static int64_t held;
static bool is_closed;
static uint32_t answers;
static enum web_outcome outcome;
static int exit_status;
static char out[64], notes[256];
static uint64_t total;

static void charge(void *context, int64_t change_bytes)
{
    (void)context;
    held += change_bytes;
}

static void open_commands(size_t bytes_max)
{
    commands = web_command_open(&(struct web_commands_options){.world = sim_world_interface(sim),
                                                               .entries = entries,
                                                               .entry_count = 2,
                                                               .bytes_max = bytes_max,
                                                               .held = charge});
}

static void setup(void)
{
    sim = sim_world_new(1);
    open_commands(BYTES_MAX);
}

static void closed(void *context)
{
    (void)context;
    is_closed = true;
}

static void teardown(void)
{
    web_command_close(commands, closed, NULL);
    cr_expect(is_closed && held == 0);
    sim_world_free(sim);
}

TestSuite(web_command, .init = setup, .fini = teardown);

static void copy(char *to, size_t size, struct bytes text)
{
    (void)snprintf(to, size, "%.*s", (int)text.size, (const char *)text.data);
}

static void take(void *context, const struct web_printed *printed)
{
    (void)context;
    answers++;
    outcome = printed->outcome;
    exit_status = printed->exit_status;
    copy(out, sizeof out, printed->out);
    copy(notes, sizeof notes, printed->notes);
    total = printed->window != NULL ? row_window_total(printed->window) : 0;
}

static struct web_run *run_window(const struct row_window *window, const char *name,
                                  const char *option, const char *word)
{
    const char *const words[] = {name, option, "--", word};

    const struct web_command command = {
        .words = words, .word_count = 4, .actor = "somebody", .window = window};

    return web_command_run(commands, &command, take, NULL);
}

static struct web_run *run(const char *name, const char *option, const char *word)
{
    return run_window(NULL, name, option, word);
}

static void expect(enum web_outcome wanted, const char *wanted_out, const char *wanted_notes)
{
    cr_expect(answers == 1 && outcome == wanted);
    cr_expect_str_eq(out, wanted_out);
    cr_expect_str_eq(notes, wanted_notes);
}

/* ---- tests ---- */

Test(web_command, gives_what_was_printed)
{
    cr_expect(run("say", "--option=x y", "--z") == NULL);
    expect(WEB_ENDED, "--z x y", "daybook: note: a note\n");
    cr_expect(exit_status == EXIT_DATA_SAYS_NO);
    cr_expect_str_eq(said, "http; somebody; daybook say '--option=x y' -- --z");
}

Test(web_command, wrong_usage_says_what_is_wrong)
{
    const char *const words[] = {"say", "--option=bad"};
    struct web_command command = {.words = words, .word_count = 2};
    struct error err = {0};

    cr_expect(run("say", "--option=bad", "x") == NULL);
    expect(WEB_REFUSED, "", "--option takes no 'bad': a");
    cr_expect(web_command_check(commands, &command, &err) == ERROR_USAGE);
    cr_expect_str_eq(err.text, "--option takes no 'bad': a");
    command.word_count = 1;
    cr_expect(web_command_check(commands, &command, &err) == 0);
}

Test(web_command, an_answer_may_come_later)
{
    cr_expect(run("hang", "--option=a", "b") != NULL && answers == 0);
    command_printf(hanging, COMMAND_OUT, " ended");
    hanging->finish(hanging, EXIT_DONE);
    expect(WEB_ENDED, "begun ended", "");
}

Test(web_command, a_window_takes_rows)
{
    const struct row_window window = {.skipped = 1, .rows_max = 1, .bytes_max = 100};

    (void)run_window(&window, "hang", "--option=a", "b");
    command_printf(hanging, COMMAND_OUT, "\n  {1},\n  {2}");
    command_printf(hanging, COMMAND_OUT, ",\n  {3}\n]\n");
    hanging->finish(hanging, EXIT_DONE);
    expect(WEB_ENDED, "{2}", "");
    cr_expect(total == 3);
}

/* The command goes on, and what it prints goes nowhere. */
Test(web_command, late_commands_are_answered)
{
    (void)run("hang", "--option=a", "b");
    sim_world_run_us(sim, (int64_t)WEB_MS * 1000 + 1000);
    expect(WEB_LATE, "begun", "");
    command_printf(hanging, COMMAND_OUT, "more");
    cr_expect(held >= WEB_RUN_BYTES);
    hanging->finish(hanging, EXIT_DONE);
    cr_expect(answers == 1 && held == 0);
}

Test(web_command, a_command_that_took_long_is_logged)
{
    char lines[2048] = "";
    int ends[2];

    cr_assert(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
    (void)run("say", "--option=a", "b");
    (void)run("hang", "--option=a", "b c");
    sim_world_run_us(sim, 20000000);
    hanging->finish(hanging, EXIT_DONE);
    cr_assert(read(ends[0], lines, sizeof lines - 1) > 0);
    cr_expect(strstr(lines, " event=long_command command=hang words=\"daybook hang --option=a -- "
                            "'b c'\" actor=somebody took_ms=20000 exit_status=0 ") != NULL,
              "%s", lines);
    cr_expect(strstr(lines, "say") == NULL);
}

Test(web_command, a_run_is_forgotten)
{
    struct web_run *run_to_forget = run("hang", "--option=a", "b");

    cr_expect(!command_has_enough(hanging));
    web_command_forget(run_to_forget);
    cr_expect(command_has_enough(hanging), "a listing may end");
    command_printf(hanging, COMMAND_OUT, "more");
    hanging->finish(hanging, EXIT_DONE);
    cr_expect(answers == 0 && held == 0);
}

/* ---- readers who take their time ---- */

static bool is_full;
static uint32_t drained_count;

static void sink_write(void *context, struct bytes bytes)
{
    (void)context;
    cr_assert(strlen(out) + bytes.size < sizeof out);
    (void)strncat(out, (const char *)bytes.data, bytes.size);
}

static bool sink_is_full(void *context)
{
    (void)context;
    return is_full;
}

static const struct web_sink sink = {sink_write, sink_is_full};

static void count_drained(void *context)
{
    (void)context;
    drained_count++;
    hanging->drained = NULL;
}

static struct web_run *run_sink(void)
{
    const char *const words[] = {"hang"};
    const struct web_command command = {
        .words = words, .word_count = 1, .actor = "", .sink = &sink};

    return web_command_run(commands, &command, take, NULL);
}

Test(web_command, a_sink_takes_what_is_printed)
{
    struct web_run *run = run_sink();

    cr_expect_str_eq(out, "begun");
    cr_expect(!command_must_wait(hanging, count_drained, NULL));
    is_full = true;
    cr_expect(command_must_wait(hanging, count_drained, NULL));
    sim_world_run_us(sim, 2 * (int64_t)WEB_MS * 1000);
    cr_expect(answers == 0 && drained_count == 0, "a reader may take its time");
    web_command_drained(run);
    cr_expect(drained_count == 1);
    command_printf(hanging, COMMAND_OUT, "more");
    cr_expect_str_eq(out, "begunmore");
    hanging->finish(hanging, EXIT_DONE);
    expect(WEB_ENDED, "", "");
}

/* The command that waits for its reader goes on when there is none any more. */
Test(web_command, a_sink_is_forgotten)
{
    struct web_run *run = run_sink();

    is_full = true;
    cr_expect(command_must_wait(hanging, count_drained, NULL));
    web_command_forget(run);
    cr_expect(drained_count == 1 && !command_is_full(hanging));
    command_printf(hanging, COMMAND_OUT, "more");
    cr_expect_str_eq(out, "begun");
    hanging->finish(hanging, EXIT_DONE);
    cr_expect(answers == 0 && held == 0);
}

static void print_large(void)
{
    struct buffer piece = {0};

    answers = 0;
    buffer_put_repeated(&piece, 'x', 1 << 20);
    (void)run("hang", "--option=a", "b");
    for (uint32_t i = 0; i < 2 * (WEB_OUT_MAX >> 20); i++)
        hanging->write(hanging, COMMAND_OUT, buffer_view(&piece));
    buffer_release(&piece);
}

static void reopen_commands(size_t bytes_max)
{
    web_command_close(commands, closed, NULL);
    open_commands(bytes_max);
}

Test(web_command, large_answers_are_refused)
{
    print_large();
    cr_expect(held <= BYTES_MAX);
    hanging->finish(hanging, EXIT_DONE);
    cr_expect(answers == 1 && outcome == WEB_BUSY && held == 0, "the quota allows less");
    reopen_commands(8 * (size_t)WEB_OUT_MAX);
    print_large();
    cr_expect(held <= 3 * (int64_t)WEB_OUT_MAX);
    hanging->finish(hanging, EXIT_DONE);
    cr_expect(answers == 1 && outcome == WEB_LARGE && held == 0);
}

/* What a command may not keep, it is told, and so is whoever asked. */
Test(web_command, memory_of_commands_is_bounded)
{
    (void)run("hang", "--option=a", "b");
    int64_t before = held;
    cr_expect(command_keep(hanging, 1 << 20) && held == before + (1 << 20));
    cr_expect(command_keep(hanging, -(1 << 19)) && held == before + (1 << 19));
    cr_expect(!command_keep(hanging, BYTES_MAX));
    hanging->finish(hanging, EXIT_SYSTEM_FAILED);
    cr_expect(answers == 1 && outcome == WEB_BUSY && held == 0);
}

static struct command_output *all[WEB_RUNS_MAX];

static void fill(void)
{
    reopen_commands(2 * (size_t)WEB_RUNS_MAX * WEB_RUN_BYTES);
    for (uint32_t i = 0; i < WEB_RUNS_MAX; i++) {
        cr_assert(run("hang", "--option=a", "b") != NULL);
        all[i] = hanging;
    }
}

static void finish_all(uint32_t from)
{
    for (uint32_t i = from; i < WEB_RUNS_MAX; i++)
        all[i]->finish(all[i], EXIT_DONE);
}

/* Further commands wait for those that run. */
Test(web_command, runs_are_bounded)
{
    fill();
    cr_expect(run("say", "--option=a", "b") != NULL && answers == 0);
    cr_expect(run("hang", "--option=bad", "b") == NULL && answers == 1,
              "wrong usage does not wait");
    all[0]->finish(all[0], EXIT_DONE);
    cr_expect(answers == 2);
    sim_world_run_us(sim, 1000);
    cr_expect(answers == 3);
    cr_expect_str_eq(out, "b a");
    finish_all(1);
    cr_expect(held == 0);
}

/* Clients that do not read have half of the room. */
Test(web_command, sinks_are_bounded)
{
    struct command_output *streams[WEB_RUNS_MAX / 2];

    reopen_commands(2 * (size_t)WEB_RUNS_MAX * WEB_RUN_BYTES);
    for (uint32_t i = 0; i < WEB_RUNS_MAX / 2; i++) {
        out[0] = '\0';
        cr_assert(run_sink() != NULL);
        streams[i] = hanging;
    }
    cr_expect(run_sink() == NULL && answers == 1 && outcome == WEB_BUSY);
    cr_expect(run("say", "--option=a", "b") == NULL && outcome == WEB_ENDED);
    streams[0]->finish(streams[0], EXIT_DONE);
    cr_assert(run_sink() != NULL);
    streams[0] = hanging;
    for (uint32_t i = 0; i < WEB_RUNS_MAX / 2; i++)
        streams[i]->finish(streams[i], EXIT_DONE);
    cr_expect(held == 0);
    reopen_commands(4 * WEB_RUN_BYTES);
    struct web_run *first = run_sink();
    struct command_output *first_output = hanging;
    cr_assert(first != NULL && run_sink() != NULL);
    cr_expect(run_sink() == NULL && outcome == WEB_BUSY, "little memory has room for fewer");
    first_output->finish(first_output, EXIT_DONE);
    hanging->finish(hanging, EXIT_DONE);
}

Test(web_command, runs_that_wait_are_bounded)
{
    fill();
    for (uint32_t i = 0; i < WEB_WAITING_MAX; i++)
        cr_assert(run("say", "--option=a", "b") != NULL);
    cr_expect(run("say", "--option=a", "b") == NULL && answers == 1 && outcome == WEB_BUSY);
    sim_world_run_us(sim, (int64_t)WEB_WAIT_MS * 1000 + 1000);
    cr_expect(answers == 1 + WEB_WAITING_MAX && outcome == WEB_BUSY);
    finish_all(0);
    cr_expect(answers == 1 + WEB_WAITING_MAX + WEB_RUNS_MAX && held == 0);
}

/* Clients that leave, and a server that stops. */
Test(web_command, runs_that_wait_end)
{
    fill();
    web_command_forget(run("say", "--option=a", "b"));
    cr_assert(run("say", "--option=a", "b") != NULL);
    is_closed = false;
    web_command_close(commands, closed, NULL);
    cr_expect(answers == 1 && outcome == WEB_BUSY && !is_closed);
    finish_all(0);
    cr_expect(is_closed && held == 0);
    open_commands(BYTES_MAX);
}

Test(web_command, closing_waits_for_commands)
{
    (void)run("hang", "--option=a", "b");
    web_command_close(commands, closed, NULL);
    cr_expect(!is_closed);
    hanging->finish(hanging, EXIT_DONE);
    cr_expect(is_closed && answers == 1);
    open_commands(BYTES_MAX);
}

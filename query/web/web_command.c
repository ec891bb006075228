/* web_command: see the header.
 *
 *     waiting ── room ─▶ running ── finish ─▶ ended ─▶ done, freed
 *        │                  │
 *        │                  └─ late, or forgotten ─▶ done if late; then it runs on, and its output
 *        │                                           is dropped ─▶ freed
 *        └─ none in time, or forgotten ─▶ done if none in time, freed
 *
 * A run must not be freed before its command has finished.  The command may finish within its
 * function `run`. */
#include "query/web/web_command.h"

#include <sys/queue.h>

#include "base/arena.h"
#include "base/cli/command_parse.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/quota.h"

enum { TEXTS_CHUNK = 1 << 10, LONG_US = 10000000, LONG_LOG_PERIOD_US = 1000000 };

struct web_run {
    struct command_output output; /* must be first: run_of casts it */
    struct web_commands *commands;
    const struct command_entry *entry;
    TAILQ_ENTRY(web_run) link; /* in `waiting`, if is_waiting */
    bool is_waiting;
    bool is_running;
    struct arena *texts;
    void *options;
    struct command_request request;
    struct row_window window;
    bool has_window;
    struct buffer out;
    struct buffer notes;
    size_t taken_bytes; /* charged to the quota */
    size_t out_bytes;   /* part of taken_bytes: for `out` */
    bool lacked_room;
    bool is_large;
    bool is_starting; /* the command's `run` has not returned */
    bool has_finished;
    struct timer late;
    int64_t began_us;
    const struct web_sink *sink;                                    /* NULL: none */
    void (*done)(void *context, const struct web_printed *printed); /* NULL: was called */
    void *context;
};

struct web_commands {
    struct web_commands_options options;
    struct quota quota;
    uint32_t count;   /* all runs, also those that wait */
    uint32_t running; /* runs of commands that are not brief */
    uint32_t streams; /* runs with a sink */
    uint32_t waiting_count;
    TAILQ_HEAD(, web_run) waiting;
    struct timer turn; /* starts runs that wait */
    struct log_group long_log;
    bool is_closing;
    void (*closed)(void *context);
    void *closed_context;
};

static struct web_run *run_of(struct command_output *output)
{
    return (struct web_run *)output;
}

/* ---- memory ---- */

static void report_held(struct web_commands *commands)
{
    int64_t change = quota_unreported(&commands->quota);

    if (change != 0 && commands->options.held != NULL)
        commands->options.held(commands->options.held_context, change);
}

/* False: the quota has too little left. */
static bool take_bytes(struct web_run *run, size_t bytes)
{
    if (!quota_take(&run->commands->quota, bytes)) {
        run->lacked_room = true;
        return false;
    }
    run->taken_bytes += bytes;
    report_held(run->commands);
    return true;
}

/* ---- the end ---- */

static void free_if_idle(struct web_commands *commands)
{
    if (!commands->is_closing || commands->count > 0)
        return;
    void (*closed)(void *context) = commands->closed;
    void *context = commands->closed_context;
    world_timer_stop(commands->options.world, &commands->turn);
    memory_free(commands);
    closed(context);
}

static void stop_waiting(struct web_run *run)
{
    if (!run->is_waiting)
        return;
    run->is_waiting = false;
    run->commands->waiting_count--;
    TAILQ_REMOVE(&run->commands->waiting, run, link);
}

static void start_some(struct timer *timer);

static void run_free(struct web_run *run)
{
    struct web_commands *commands = run->commands;

    stop_waiting(run);
    world_timer_stop(commands->options.world, &run->late);
    quota_charge(&commands->quota, &run->taken_bytes, 0);
    report_held(commands);
    memory_free(run->options);
    arena_free(run->texts);
    buffer_release(&run->out);
    buffer_release(&run->notes);
    commands->count--;
    commands->streams -= run->sink != NULL;
    commands->running -= run->is_running;
    memory_free(run);
    if (commands->waiting_count > 0)
        world_timer_start(commands->options.world, &commands->turn, start_some, commands, 0);
    free_if_idle(commands);
}

static void run_answer(struct web_run *run, enum web_outcome outcome, int exit_status)
{
    void (*done)(void *context, const struct web_printed *printed) = run->done;

    run->done = NULL;
    if (done != NULL)
        done(run->context, &(struct web_printed){.outcome = outcome,
                                                 .exit_status = exit_status,
                                                 .out = buffer_view(&run->out),
                                                 .notes = buffer_view(&run->notes),
                                                 .window = run->has_window ? &run->window : NULL});
    buffer_release(&run->out);
    buffer_release(&run->notes);
}

void web_command_drained(struct web_run *run)
{
    if (run->output.drained != NULL)
        run->output.drained(run->output.drained_context);
}

void web_command_forget(struct web_run *run)
{
    run->done = NULL;
    buffer_release(&run->out);
    buffer_release(&run->notes);
    if (run->is_waiting)
        run_free(run);
    else
        web_command_drained(run);
}

static void run_late(struct timer *timer)
{
    struct web_run *run = timer->context;

    world_timer_stop(run->commands->options.world, timer);
    run_answer(run, WEB_LATE, 0);
}

/* ---- what commands call ---- */

static void take_out(struct web_run *run, struct bytes bytes)
{
    if (run->is_large || run->lacked_room)
        return;
    if (run->sink != NULL)
        run->sink->write(run->context, bytes);
    else if (run->has_window)
        row_window_take(&run->window, bytes, &run->out);
    else if (run->out.size + bytes.size > WEB_OUT_MAX)
        run->is_large = true;
    else
        buffer_append_bytes(&run->out, bytes);
    if (run->out.capacity > run->out_bytes && take_bytes(run, run->out.capacity - run->out_bytes))
        run->out_bytes = run->out.capacity;
}

static void output_write(struct command_output *output, enum command_stream stream,
                         struct bytes bytes)
{
    struct web_run *run = run_of(output);

    if (run->done == NULL)
        return;
    if (stream == COMMAND_OUT)
        take_out(run, bytes);
    else if (stream == COMMAND_ERR && run->notes.size + bytes.size <= WEB_NOTES_MAX)
        buffer_append_bytes(&run->notes, bytes);
}

static bool output_is_full(struct command_output *output)
{
    const struct web_run *run = run_of(output);

    return run->sink != NULL && run->done != NULL && run->sink->is_full(run->context);
}

/* A run that was forgotten needs no further rows. */
static bool output_has_enough(struct command_output *output)
{
    const struct web_run *run = run_of(output);

    return run->done == NULL || (run->has_window && row_window_has_enough(&run->window));
}

static bool output_keep(struct command_output *output, int64_t change_bytes)
{
    struct web_run *run = run_of(output);

    if (change_bytes > 0 && !take_bytes(run, (size_t)change_bytes))
        return false;
    if (change_bytes < 0)
        quota_charge(&run->commands->quota, &run->taken_bytes,
                     run->taken_bytes - (size_t)-change_bytes);
    report_held(run->commands);
    return true;
}

static enum web_outcome outcome_of(const struct web_run *run)
{
    return run->lacked_room ? WEB_BUSY : run->is_large ? WEB_LARGE : WEB_ENDED;
}

/* Runs with a sink are not logged, because a slow reader makes any command long. */
static void log_if_long(struct web_run *run, int exit_status)
{
    struct web_commands *commands = run->commands;
    int64_t now_us = world_monotonic_us(commands->options.world);
    uint64_t count;

    if (run->sink != NULL || now_us - run->began_us < LONG_US ||
        !log_group_admit(&commands->long_log, now_us, &count))
        return;
    log_event(LOG_NOTICE, "long_command", log_text("command", run->entry->command->name),
              log_text("words", run->request.text), log_text("actor", run->request.actor),
              log_number("took_ms", (now_us - run->began_us) / 1000),
              log_number("exit_status", exit_status), log_number("times_count", (int64_t)count));
}

static void output_finish(struct command_output *output, int exit_status)
{
    struct web_run *run = run_of(output);

    run->has_finished = true;
    log_if_long(run, exit_status);
    output->drained = NULL;
    run_answer(run, outcome_of(run), exit_status);
    if (!run->is_starting)
        run_free(run);
}

/* ---- the beginning ---- */

static char *copy_text(struct arena *arena, const char *text)
{
    return (char *)(uintptr_t)arena_copy(arena, bytes_of(text, strlen(text) + 1)).data;
}

/* Returns the command line as the table `change` has it. */
static const char *join_words(const struct web_command *command, struct arena *arena)
{
    struct buffer text = {0};

    buffer_append_text(&text, "daybook");
    for (uint32_t i = 0; i < command->word_count; i++) {
        const char *word = command->words[i];
        bool is_plain = word[0] != '\0' && strpbrk(word, " '\"\n\t") == NULL;

        buffer_put_u8(&text, ' ');
        if (is_plain)
            buffer_append_text(&text, word);
        else
            buffer_append_quoted(&text, bytes_text(word), '\'');
    }
    buffer_put_u8(&text, 0);
    const char *copy = (const char *)arena_copy(arena, buffer_view(&text)).data;
    buffer_release(&text);
    return copy;
}

/* The options point into `texts`. */
static int parse(const struct command *command, const struct web_command *wanted,
                 struct arena *texts, void **options_out, struct error *err)
{
    char **words = arena_array(texts, wanted->word_count + 1, sizeof *words);

    for (uint32_t i = 0; i < wanted->word_count; i++)
        words[i] = copy_text(texts, wanted->words[i]);
    words[wanted->word_count] = NULL;
    return command_parse(command, (int)wanted->word_count, words, false, NULL, options_out, err);
}

static const struct command_entry *find_entry(const struct web_commands *commands,
                                              const struct web_command *wanted)
{
    const struct web_commands_options *options = &commands->options;
    const struct command_entry *entry =
        command_find(options->entries, options->entry_count, wanted->words[0]);

    check(entry != NULL);
    return entry;
}

int web_command_check(const struct web_commands *commands, const struct web_command *command,
                      struct error *err)
{
    struct arena *texts = arena_new(TEXTS_CHUNK);
    void *options;
    int rc = parse(find_entry(commands, command)->command, command, texts, &options, err);

    memory_free(options);
    arena_free(texts);
    return rc;
}

/* ---- waiting and starting ---- */

static bool has_room(const struct web_commands *commands)
{
    return commands->running < WEB_RUNS_MAX && quota_left(&commands->quota) >= WEB_RUN_BYTES;
}

/* A run with a sink lasts as long as its reader wants.  So at most half of the runs may have a
 * sink. */
static bool is_stream_too_many(const struct web_run *run)
{
    const struct web_commands *commands = run->commands;
    size_t room = commands->quota.limit / WEB_RUN_BYTES;
    size_t streams_max = room < WEB_RUNS_MAX ? room / 2 : WEB_RUNS_MAX / 2;

    return run->sink != NULL && commands->streams > streams_max;
}

/* The command may finish within this call; `is_starting` keeps the run from being freed. */
static void start(struct web_run *run)
{
    struct web_commands *commands = run->commands;
    const struct command_entry *entry = run->entry;

    stop_waiting(run);
    world_timer_stop(commands->options.world, &run->late);
    if (!entry->command->is_brief) {
        bool is_taken = take_bytes(run, WEB_RUN_BYTES);
        check(is_taken);
        run->is_running = true;
        commands->running++;
    }
    if (run->sink == NULL)
        world_timer_start(commands->options.world, &run->late, run_late, run, WEB_MS);
    run->began_us = world_monotonic_us(commands->options.world);
    run->is_starting = true;
    entry->command->run(entry->context, &run->request, &run->output);
    run->is_starting = false;
}

static void start_some(struct timer *timer)
{
    struct web_commands *commands = timer->context;
    struct web_run *run;

    world_timer_stop(commands->options.world, timer);
    while ((run = TAILQ_FIRST(&commands->waiting)) != NULL && has_room(commands)) {
        start(run);
        if (run->has_finished)
            run_free(run);
    }
}

static void waited_long(struct timer *timer)
{
    struct web_run *run = timer->context;

    run_answer(run, WEB_BUSY, EXIT_SYSTEM_FAILED);
    run_free(run);
}

static void wait(struct web_run *run)
{
    struct web_commands *commands = run->commands;

    run->is_waiting = true;
    commands->waiting_count++;
    TAILQ_INSERT_TAIL(&commands->waiting, run, link);
    world_timer_start(commands->options.world, &run->late, waited_long, run, WEB_WAIT_MS);
}

static void begin(struct web_run *run, const struct web_command *wanted)
{
    struct web_commands *commands = run->commands;
    const struct command *command = run->entry->command;
    struct error err = {0};

    if (parse(command, wanted, run->texts, &run->options, &err) != 0) {
        buffer_append_text(&run->notes, err.text);
        run->has_finished = true;
        run_answer(run, WEB_REFUSED, EXIT_WRONG_USAGE);
        return;
    }
    run->request = (struct command_request){.options = run->options,
                                            .door = "http",
                                            .actor = copy_text(run->texts, wanted->actor),
                                            .text = join_words(wanted, run->texts)};
    bool is_refused = commands->is_closing || is_stream_too_many(run);
    if (!is_refused &&
        (command->is_brief || (commands->waiting_count == 0 && has_room(commands)))) {
        start(run);
    } else if (!is_refused && commands->waiting_count < WEB_WAITING_MAX) {
        wait(run);
    } else {
        run->has_finished = true;
        run_answer(run, WEB_BUSY, EXIT_SYSTEM_FAILED);
    }
}

struct web_run *web_command_run(struct web_commands *commands, const struct web_command *command,
                                void (*done)(void *context, const struct web_printed *printed),
                                void *context)
{
    struct web_run *run = memory_zeroed(1, sizeof *run);

    run->output = (struct command_output){.write = output_write,
                                          .is_full = output_is_full,
                                          .has_enough = output_has_enough,
                                          .keep = output_keep,
                                          .finish = output_finish};
    run->commands = commands;
    run->entry = find_entry(commands, command);
    run->texts = arena_new(TEXTS_CHUNK);
    run->has_window = command->window != NULL;
    if (run->has_window)
        run->window = *command->window;
    run->sink = command->sink;
    run->done = done;
    run->context = context;
    commands->count++;
    commands->streams += run->sink != NULL;
    begin(run, command);
    if (!run->has_finished)
        return run;
    run_free(run);
    return NULL;
}

/* ---- all runs ---- */

struct web_commands *web_command_open(const struct web_commands_options *options)
{
    struct web_commands *commands = memory_zeroed(1, sizeof *commands);

    commands->options = *options;
    commands->quota.limit = options->bytes_max;
    commands->long_log.period_us = LONG_LOG_PERIOD_US;
    TAILQ_INIT(&commands->waiting);
    return commands;
}

void web_command_close(struct web_commands *commands, void (*closed)(void *context), void *context)
{
    struct web_run *run;

    commands->closed = closed;
    commands->closed_context = context;
    while ((run = TAILQ_FIRST(&commands->waiting)) != NULL)
        waited_long(&run->late);
    commands->is_closing = true;
    free_if_idle(commands);
}

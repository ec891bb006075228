/* daybook: has `main` and the table of subcommands. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/checking.h"
#include "program/directory.h"
#include "ingest/connection/ingest.h"
#include "program/limit_table.h"
#include "program/loading.h"
#include "program/mending.h"
#include "query/model/model.h"
#include "query/commands/query_commands.h"
#include "program/restoring.h"
#include "rollup/days/rollup.h"
#include "program/cli_run.h"
#include "program/serve.h"
#include "base/memory.h"
#include "program/suggestion.h"
#include "program/version.h"
#include "rollup/commands/rollup_commands.h"

const char *argp_program_version = "daybook " DAYBOOK_VERSION;

/* ---- init ---- */

enum { KEY_CLICK_ID = 0x20001, KEY_ZONE, KEY_CURRENCY, KEY_KEEP_DAYS };

static int take_setting(const char *argument, char *to, size_t size, struct argp_state *state)
{
    if (strlen(argument) >= size)
        return command_refuse(state, "'%s' is too long", argument);
    snprintf(to, size, "%s", argument);
    return 0;
}

static int take_days(const char *argument, struct directory_settings *settings,
                     struct argp_state *state)
{
    char *end;
    unsigned long days = strtoul(argument, &end, 10);
    if (argument[0] < '0' || argument[0] > '9' || *end != '\0' || days == 0 || days > KEEP_DAYS_MAX)
        return command_refuse(state, "'%s' is no number of days from 1 to %d", argument,
                              KEEP_DAYS_MAX);
    return take_setting(argument, settings->keep_days, sizeof(settings->keep_days), state);
}

static error_t init_parse(int key, char *argument, struct argp_state *state)
{
    struct directory_settings *settings = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        *settings = (struct directory_settings){.zone = "UTC", .click_id = "serial"};
        return 0;
    case KEY_CLICK_ID:
        return take_setting(argument, settings->click_id, sizeof(settings->click_id), state);
    case KEY_ZONE:
        return take_setting(argument, settings->zone, sizeof(settings->zone), state);
    case KEY_CURRENCY:
        return take_setting(argument, settings->currency, sizeof(settings->currency), state);
    case KEY_KEEP_DAYS:
        return take_days(argument, settings, state);
    case ARGP_KEY_ARG:
        return command_refuse(state, "'%s' is one word too many; the directory is given by -d DIR",
                              argument);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option init_options[] = {
    {"click-id", KEY_CLICK_ID, "KIND", 0,
     "How equal clicks are told apart: by their order (serial, unless given), or by an id that "
     "every click has: uuid, text or bigint",
     0},
    {"zone", KEY_ZONE, "ZONE", 0,
     "The time zone whose days clicks without a day fall on, such as Europe/Berlin; UTC unless "
     "given",
     0},
    {"currency", KEY_CURRENCY, "CODE", 0, "What amounts are counted in, such as EUR; for people",
     0},
    {"keep-days", KEY_KEEP_DAYS, "N", 0,
     "Keep clicks for N days, then seal their days; for ever unless given; `daybook retention` can "
     "change it later",
     0},
    {0},
};

static const struct argp init_argp = {
    .options = init_options,
    .parser = init_parse,
    .doc =
        "Make an empty or missing directory a daybook directory.\vserve, load and rate do the "
        "same by themselves when no options are needed.\n\n"
        "Examples:\n"
        "  daybook init -d /var/lib/daybook\n"
        "  daybook init --zone America/New_York --currency USD\n"
        "  daybook init --keep-days 400   # clicks go after 400 days, figures and counters stay\n"
        "  daybook init --click-id uuid   # clicks have a sixth field, click_id",
};

static const struct command init_command = {.name = "init",
                                            .summary = "make a data directory",
                                            .argp = &init_argp,
                                            .options_size = sizeof(struct directory_settings)};

static int init_run(const struct cli_call *call)
{
    const struct directory_settings *settings = call->options;
    const char *path = directory_path(call->common->directory);
    struct error err = {0};
    int rc = directory_settings_check(settings, &err);
    rc = rc == 0 ? directory_init(path, settings, &err) : rc;
    if (rc != 0) {
        fprintf(stderr, "daybook: %s\n", err.text);
        return command_exit_of(rc);
    }
    printf("made %s (days in %s)\n", path, settings->zone);
    return EXIT_DONE;
}

/* ---- the table ---- */

typedef int (*subcommand_run)(const struct cli_call *call);

struct subcommand {
    const struct command *command;
    subcommand_run run;
};

enum { SUBCOMMANDS_MAX = 32 };
struct subcommands {
    struct subcommand items[SUBCOMMANDS_MAX];
    uint32_t count;
};

static void add(struct subcommands *all, const struct command *command, subcommand_run run)
{
    check(all->count < SUBCOMMANDS_MAX);
    all->items[all->count++] = (struct subcommand){command, run};
}

static struct subcommand *subcommands_find(struct subcommands *all, const char *name)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].command->name, name) == 0)
            return &all->items[i];
    return NULL;
}

static void subcommands_list(struct subcommands *all)
{
    static const struct subcommand own[] = {{&init_command, init_run},
                                            {&serve_command, serve_run},
                                            {&loading_command, loading_run},
                                            {&restoring_command, restoring_run},
                                            {&limit_table_command, limit_table_run}};
    static const struct command *(*const listed[])(uint32_t index) = {
        rollup_commands_at, query_commands_at, model_commands_at, ingest_command};
    *all = (struct subcommands){0};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        add(all, own[i].command, own[i].run);
    for (size_t i = 0; i < sizeof(listed) / sizeof(listed[0]); i++)
        for (uint32_t at = 0; listed[i](at) != NULL; at++)
            add(all, listed[i](at), cli_run_command);
    subcommands_find(all, "status")->run = checking_run;
    subcommands_find(all, "clock")->run = mending_run;
}

static void print_usage(const struct subcommands *all, FILE *to)
{
    fprintf(to, "Usage: daybook COMMAND [OPTION...]\n"
                "Counts ad clicks exactly, and what each reseller has earned by them.\n\n");
    for (uint32_t i = 0; i < all->count; i++)
        fprintf(to, "  %-13s %s\n", all->items[i].command->name, all->items[i].command->summary);
    fprintf(to, "\n"
                "daybook help COMMAND, or daybook COMMAND --help, says more about one.\n"
                "Every command takes -d DIR (else $DAYBOOK_DIR, else ./daybook-data) and works "
                "with and\nwithout a running server.\n"
                "Exit status: 0 done, 1 the data says no, 2 wrong usage, 3 the system failed.\n");
}

/* ---- main ---- */

/* Only the built-in stream can be named on a command line. */
static bool stream_is_known(const struct command_common *common)
{
    if (common->stream == NULL || strcmp(common->stream, "clicks") == 0)
        return true;
    fprintf(stderr, "daybook: there is no stream '%s'; this directory has: clicks\n",
            common->stream);
    return false;
}

/* command_parse ends the process for --help and for wrong usage.  It gets a copy of the words,
 * because it reorders them. */
static int run(const struct subcommand *subcommand, int word_count, char **words)
{
    char **parsed = memory_copy(words, ((size_t)word_count + 1) * sizeof(char *));
    struct command_common common;
    void *options;
    int status = EXIT_WRONG_USAGE;
    struct error err = {0};
    int rc = command_parse(subcommand->command, word_count, parsed, true, &common, &options, &err);
    if (rc != 0) {
        fprintf(stderr, "daybook: %s\n", err.text);
    } else if (stream_is_known(&common)) {
        const struct cli_call call = {subcommand->command, options, &common, word_count, words};
        status = subcommand->run(&call);
    }
    memory_free(options);
    memory_free(parsed);
    return status;
}

static const char *subcommand_name(const void *context, uint32_t index)
{
    const struct subcommands *all = context;
    return index < all->count ? all->items[index].command->name : NULL;
}

static int refuse_name(const struct subcommands *all, int word_count, char **words)
{
    const struct suggestion_names names = {subcommand_name, all};
    struct buffer text = {0};
    if (suggestion_make(&names, word_count, words, &text))
        fprintf(stderr, "daybook: %s '%s'; did you mean: daybook %.*s\n",
                words[0][0] == '-' ? "the command comes first, not" : "there is no command",
                words[0], (int)text.size, (const char *)text.data);
    else
        fprintf(stderr, "daybook: there is no command '%s'; daybook --help lists them\n", words[0]);
    buffer_release(&text);
    return EXIT_WRONG_USAGE;
}

/* Output that could not be written is a failure, unless the reader has closed the pipe. */
static int finish_output(int status)
{
    errno = 0;
    bool is_written = fflush(stdout) == 0 && ferror(stdout) == 0;
    if (is_written || errno == EPIPE)
        return status;
    fprintf(stderr, "daybook: cannot write the output%s%s\n", errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return EXIT_SYSTEM_FAILED;
}

static int run_named(struct subcommands *all, int word_count, char **words)
{
    const struct subcommand *subcommand = subcommands_find(all, words[0]);
    return subcommand != NULL ? finish_output(run(subcommand, word_count, words))
                              : refuse_name(all, word_count, words);
}

static int run_help(struct subcommands *all, char *name)
{
    char option[] = "--help";
    char *words[] = {name, option, NULL};
    return run_named(all, 2, words);
}

/* If a standard stream is closed, a file of the data directory must not get its descriptor, because
 * lines for the stream would be written into the file.  So /dev/null gets it, with a mode in which
 * use of the stream fails as before. */
static void keep_standard_numbers(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) < 0)
            (void)open("/dev/null", modes[i]);
}

int main(int argc, char **argv)
{
    struct subcommands all;
    keep_standard_numbers();
    argp_err_exit_status = EXIT_WRONG_USAGE;
    /* A wide margin keeps each example in a help text on one line. */
    (void)setenv("ARGP_HELP_FMT", "rmargin=100", 0);
    subcommands_list(&all);
    const char *name = argc > 1 ? argv[1] : "";
    bool is_help = strcmp(name, "--help") == 0 || strcmp(name, "-?") == 0 ||
                   strcmp(name, "-h") == 0 || strcmp(name, "help") == 0;
    if (argc < 2) {
        print_usage(&all, stderr);
        return EXIT_WRONG_USAGE;
    }
    if (is_help && argc > 2)
        return run_help(&all, argv[2]);
    if (is_help) {
        print_usage(&all, stdout);
        return finish_output(EXIT_DONE);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("%s\n", argp_program_version);
        return finish_output(EXIT_DONE);
    }
    return run_named(&all, argc - 1, argv + 1);
}

/* daybook: the table of subcommands.
 *
 * A command of a room runs where the data is (program/cli_run.h).  Five are the program's own: init
 * makes a directory, serve holds one, load brings files to whoever holds it, restore makes one from
 * a backup, limits prints a table. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (strlen(argument) >= size) {
        argp_error(state, "'%s' is too long", argument);
        return EINVAL;
    }
    snprintf(to, size, "%s", argument);
    return 0;
}

static int take_days(const char *argument, struct directory_settings *settings,
                     struct argp_state *state)
{
    char *end;
    unsigned long days = strtoul(argument, &end, 10);
    if (argument[0] < '0' || argument[0] > '9' || *end != '\0' || days == 0 ||
        days > KEEP_DAYS_MAX) {
        argp_error(state, "'%s' is no number of days from 1 to %d", argument, KEEP_DAYS_MAX);
        return EINVAL;
    }
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
        argp_error(state, "'%s' is one word too many; the directory is given by -d DIR", argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option init_options[] = {
    {"click-id", KEY_CLICK_ID, "KIND", 0,
     "What tells equal clicks apart: serial, their order, unless given; or an id that every click "
     "brings along: uuid, text or bigint",
     0},
    {"zone", KEY_ZONE, "ZONE", 0,
     "The time zone whose days clicks without a day fall on, such as Europe/Berlin; UTC unless "
     "given",
     0},
    {"currency", KEY_CURRENCY, "CODE", 0, "What amounts are counted in, such as EUR; for people",
     0},
    {"keep-days", KEY_KEEP_DAYS, "N", 0,
     "Keep clicks for N days, then seal their days; for ever unless given, or `daybook retention` "
     "says other later",
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

static int init_run(const void *options, const struct control_common *common, int word_count,
                    char **words)
{
    const struct directory_settings *settings = options;
    const char *path = directory_path(common->directory);
    struct error err = {0};
    (void)word_count;
    (void)words;
    int rc = directory_settings_check(settings, &err);
    rc = rc == 0 ? directory_init(path, settings, &err) : rc;
    if (rc != 0) {
        fprintf(stderr, "daybook: %s\n", err.text);
        return command_exit_of(rc);
    }
    printf("made %s (days in %s)\n", path, settings->zone);
    return EXIT_DONE;
}

static int serve_with_words(const void *options, const struct control_common *common,
                            int word_count, char **words)
{
    (void)word_count;
    (void)words;
    return serve_run(options, common);
}

/* ---- the table ---- */

struct subcommand {
    const struct command *command;
    /* The program's own commands; NULL: cli_run_command. */
    int (*run)(const void *options, const struct control_common *common, int word_count,
               char **words);
};

enum { SUBCOMMANDS_MAX = 32 };
struct subcommands {
    struct subcommand items[SUBCOMMANDS_MAX];
    uint32_t count;
};

static void add_own(struct subcommands *all, const struct command *command,
                    int (*run)(const void *options, const struct control_common *common,
                               int word_count, char **words))
{
    check(all->count < SUBCOMMANDS_MAX);
    all->items[all->count++] = (struct subcommand){command, run};
}

static void add_room(struct subcommands *all, const struct command *commands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        add_own(all, &commands[i], NULL);
}

/* A command of a room's that the program runs in its own way. */
static void run_by(struct subcommands *all, const char *name,
                   int (*run)(const void *options, const struct control_common *common,
                              int word_count, char **words))
{
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].command->name, name) == 0)
            all->items[i].run = run;
}

static void subcommands_list(struct subcommands *all)
{
    uint32_t count;
    const struct command *commands;
    *all = (struct subcommands){0};
    add_own(all, &init_command, init_run);
    add_own(all, &serve_command, serve_with_words);
    add_own(all, &loading_command, loading_run);
    add_own(all, &restoring_command, restoring_run);
    add_own(all, &limit_table_command, limit_table_run);
    for (uint32_t i = 0; rollup_commands_at(i) != NULL; i++)
        add_own(all, rollup_commands_at(i), NULL);
    commands = query_commands(&count);
    add_room(all, commands, count);
    run_by(all, "status", checking_run);
    run_by(all, "clock", mending_run);
    commands = model_commands(&count);
    add_room(all, commands, count);
    for (uint32_t i = 0; ingest_command(i) != NULL; i++)
        add_room(all, ingest_command(i), 1);
}

static const struct subcommand *subcommands_find(const struct subcommands *all, const char *name)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->items[i].command->name, name) == 0)
            return &all->items[i];
    return NULL;
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

static int run_own(const struct subcommand *subcommand, int word_count, char **words)
{
    char **parsed = memory_copy(words, ((size_t)word_count + 1) * sizeof(char *));
    struct control_common common;
    void *options;
    int status = EXIT_WRONG_USAGE;
    struct error err = {0};
    int rc = control_parse(subcommand->command, word_count, parsed, true, &common, &options, &err);
    if (rc != 0)
        fprintf(stderr, "daybook: %s\n", err.text);
    else if (cli_run_stream_is_known(&common))
        status = subcommand->run(options, &common, word_count, words);
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

static int run_named(const struct subcommands *all, int word_count, char **words)
{
    const struct subcommand *subcommand = subcommands_find(all, words[0]);
    if (subcommand == NULL)
        return refuse_name(all, word_count, words);
    return subcommand->run != NULL ? run_own(subcommand, word_count, words)
                                   : cli_run_command(subcommand->command, word_count, words);
}

static int run_help(const struct subcommands *all, char *name)
{
    char option[] = "--help";
    char *words[] = {name, option, NULL};
    return run_named(all, 2, words);
}

int main(int argc, char **argv)
{
    struct subcommands all;
    argp_err_exit_status = EXIT_WRONG_USAGE;
    /* So that examples in a help stay whole lines, which can be copied. */
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
        return fflush(stdout) == 0 ? EXIT_DONE : EXIT_SYSTEM_FAILED;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("%s\n", argp_program_version);
        return fflush(stdout) == 0 ? EXIT_DONE : EXIT_SYSTEM_FAILED;
    }
    return run_named(&all, argc - 1, argv + 1);
}

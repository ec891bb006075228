/* command_parse: see the header. */
#include "base/cli/command_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct parse {
    void *options;
    struct command_common *common;
    FILE *refusals; /* NULL: standard error */
};

enum { KEY_STREAM = 0x10001, KEY_WAIT };

static const struct argp_option common_options[] = {
    {"directory", 'd', "DIR", 0, "The data directory; else $DAYBOOK_DIR, else ./daybook-data", 0},
    /* Hidden, because commands that use it list it among their own options. */
    {"stream", KEY_STREAM, "NAME", OPTION_HIDDEN, NULL, 0},
    {"wait", KEY_WAIT, "TIME", 0,
     "How long to wait for a directory that another process holds, such as 500ms, 10s or 2m; "
     "10s unless given",
     0},
    {0},
};

/* Parse a whole number with the unit ms, s or m; a number without a unit means seconds. */
static bool parse_wait(const char *text, int64_t *wait_ms_out)
{
    static const struct {
        const char *name;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"", 1000}};
    char *end;
    long count = strtol(text, &end, 10);
    if (end == text || count < 0 || count > 1000000)
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].name) == 0) {
            *wait_ms_out = count * units[i].ms;
            return true;
        }
    }
    return false;
}

static error_t common_parse(int key, char *argument, struct argp_state *state)
{
    struct command_common *common = state->input;
    switch (key) {
    case 'd':
        common->directory = argument;
        return 0;
    case KEY_STREAM:
        common->stream = argument;
        return 0;
    case KEY_WAIT:
        if (!parse_wait(argument, &common->wait_ms))
            return command_refuse(state, "--wait takes a time such as 500ms, 10s or 2m, not '%s'",
                                  argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp common_argp = {.options = common_options, .parser = common_parse};

static error_t parent_parse(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    const struct parse *parse = state->input;
    state->child_inputs[0] = parse->options;
    state->child_inputs[1] = parse->common;
    if (parse->refusals != NULL)
        state->err_stream = parse->refusals;
    return 0;
}

/* `said` is argp's text "daybook report: what is wrong\nTry ...". */
static int parse_refused(const struct command *command, const char *said, int rc, struct error *err)
{
    const char *text = strstr(said, ": ");
    if (text == NULL)
        return error_set(err, ERROR_USAGE, "%s: wrong usage (%s); see daybook %s --help",
                         command->name, strerror(rc), command->name);
    text += 2;
    return error_set(err, ERROR_USAGE, "%.*s", (int)strcspn(text, "\n"), text);
}

int command_parse(const struct command *command, int word_count, char **words, bool prints,
                  struct command_common *common_out, void **options_out, struct error *err)
{
    struct command_common common = {.wait_ms = COMMAND_WAIT_MS_DEFAULT};
    char said[sizeof(err->text)] = "";
    struct parse parse = {.options = memory_zeroed(1, command->options_size),
                          .common = &common,
                          .refusals = prints ? NULL : fmemopen(said, sizeof(said), "w")};
    const struct argp_child children[] = {
        {command->argp, 0, NULL, 0},
        {&common_argp, 0, "Options of every command:", -2},
        {0},
    };
    const struct argp argp = {.parser = parent_parse, .children = children};
    unsigned flags = prints ? 0 : ARGP_NO_EXIT | ARGP_NO_HELP;
    char *word = words[0];
    char name[64];
    /* argp prints the first word as the program's name. */
    snprintf(name, sizeof(name), "daybook %s", command->name);
    words[0] = name;
    error_t rc = argp_parse(&argp, word_count, words, flags, NULL, &parse);
    words[0] = word;
    if (parse.refusals != NULL)
        (void)fclose(parse.refusals);
    if (common_out != NULL)
        *common_out = common;
    *options_out = parse.options;
    if (rc != 0) {
        memory_free(parse.options);
        *options_out = NULL;
        return parse_refused(command, said, rc, err);
    }
    return 0;
}

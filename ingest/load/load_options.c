/* load_options: parses the command line of `daybook load`. */
#include <errno.h>

#include "ingest/load/load.h"

enum { OPTION_AS = 1, OPTION_PRODUCER, OPTION_BINARY, OPTION_STRICT };

static const struct argp_option options_list[] = {
    {"as", OPTION_AS, "NAME", 0, "load once under this name, even if the file was loaded before",
     0},
    {"producer", OPTION_PRODUCER, "NAME", 0, "what standard input is known by; needed for -", 0},
    {"binary", OPTION_BINARY, NULL, 0,
     "parse the lines in this process and send columns, which takes work off a running server", 0},
    {"strict", OPTION_STRICT, NULL, 0, "exit status 1 when a line was refused", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static error_t options_check(const struct load_options *options, struct argp_state *state)
{
    uint32_t stdins = 0;

    for (uint32_t i = 0; i < options->path_count; i++)
        stdins += strcmp(options->paths[i], "-") == 0;
    if (options->path_count == 0)
        return command_refuse(state, "a FILE is needed, or -");
    if (stdins > 1)
        return command_refuse(state, "- can be given once only");
    if (stdins == 1 && options->producer == NULL)
        return command_refuse(
            state, "- needs --producer NAME, by which this input is recognised next time");
    if (stdins == 0 && options->producer != NULL)
        return command_refuse(state,
                              "--producer is for -; a file is known by its content (or --as NAME)");
    return 0;
}

static error_t options_parse(int key, char *argument, struct argp_state *state)
{
    struct load_options *options = state->input;

    switch (key) {
    case OPTION_AS:
        options->as = argument;
        return 0;
    case OPTION_PRODUCER:
        options->producer = argument;
        return 0;
    case OPTION_BINARY:
        options->is_binary = true;
        return 0;
    case OPTION_STRICT:
        options->is_strict = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->path_count == LOAD_FILES_MAX)
            return command_refuse(state, "more than %d files", LOAD_FILES_MAX);
        options->paths[options->path_count++] = argument;
        return 0;
    case ARGP_KEY_END:
        return options_check(options, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp load_argp = {
    .options = options_list,
    .parser = options_parse,
    .args_doc = "FILE...",
    .doc = "Load clicks from CSV or NDJSON files, plain or packed by gzip or zstd.\v"
           "A file is known by its content: loaded twice it counts once, grown it adds its tail, "
           "interrupted it goes on.  Refused lines go to FILE.rejects.csv.\n\n"
           "Examples:\n"
           "  daybook load clicks-2013-11.csv.gz\n"
           "  zcat old/*.gz | daybook load - --producer old-clicks",
};

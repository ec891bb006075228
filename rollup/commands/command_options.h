/* command_options: the options that several subcommands of this folder have: which days and
 * reseller, which stream, how the answer is printed, and the note of a change.
 *
 * A subcommand lists those that it takes among its own, which begin at OPTION_OWN, and its parser
 * ends with command_options_parse. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_OPTIONS_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_OPTIONS_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"

enum {
    OPTION_DAY = 0x100, OPTION_FROM, OPTION_TO, OPTION_RESELLER, OPTION_STREAM, OPTION_FORMAT,
    OPTION_NOTE, OPTION_DRY_RUN,
    OPTION_OWN                         /* the first number of a subcommand's own */
};

/* The line of --stream in a command's options. */
#define OPTION_STREAM_LINE                                                                         \
    {                                                                                              \
        "stream", OPTION_STREAM, "NAME", 0, "of this stream; clicks unless given", 0               \
    }

/* All-zero before the options are parsed.  Texts are the command line's own words. */
struct command_options {
    int32_t from;                      /* DAY_MIN: no option limits the days */
    int32_t to;                        /* included; DAY_MAX likewise */
    const char *reseller;              /* NULL: all, and so in the next two */
    const char *stream;                /* NULL: clicks */
    const char *note;                  /* NULL: none */
    bool is_dry_run;
    enum table_format format;
};

/* For an argp parser: 0, ARGP_ERR_UNKNOWN for a key that is none of these, or EINVAL after
 * argp_error.  Takes ARGP_KEY_INIT; at ARGP_KEY_END days that end before they begin are an error,
 * and so is any argument. */
int command_options_parse(struct command_options *options, int key, const char *argument,
                          struct argp_state *state);

/* The row of `change` for what the command does. */
struct change_row command_options_change(const struct command_options *options,
                                         const struct command_request *request);
#endif

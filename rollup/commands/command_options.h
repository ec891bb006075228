/* command_options: the options that several subcommands of this folder have.
 *
 * A subcommand lists the shared options that it takes; keys of its own are letters or numbers from
 * OPTION_OWN on.  Its parser passes all other keys to command_options_parse. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_OPTIONS_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_OPTIONS_H

#include "base/cli/command.h"
#include "rollup/days/rollup.h"

enum {
    OPTION_DAY = 0x100, OPTION_FROM, OPTION_TO, OPTION_RESELLER, OPTION_STREAM, OPTION_FORMAT,
    OPTION_NOTE, OPTION_DRY_RUN,
    OPTION_OWN                         /* the first number of a subcommand's own options */
};

#define OPTION_STREAM_LINE                                                                         \
    {                                                                                              \
        "stream", OPTION_STREAM, "NAME", 0, "of this stream; clicks unless given", 0               \
    }

/* Made all-zero by the caller; the parser's first key, ARGP_KEY_INIT, sets `from` and `to`.  Texts
 * point into the words of the command line. */
struct command_options {
    int32_t from;                      /* the first day; DAY_MIN: not given */
    int32_t to;                        /* the last day; DAY_MAX: not given */
    const char *reseller;              /* NULL: all */
    const char *stream;                /* NULL: clicks */
    const char *note;                  /* NULL: none */
    bool is_dry_run;
    enum table_format format;
};

/* Returns 0, ARGP_ERR_UNKNOWN for an unknown key, or EINVAL after argp_error. */
int command_options_parse(struct command_options *options, int key, const char *argument,
                          struct argp_state *state);

struct change_row command_options_change(const struct command_options *options,
                                         const struct command_request *request);
#endif

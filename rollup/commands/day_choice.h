/* day_choice: the days that --day, --from and --to of a subcommand choose, and the numbers of the
 * options that several subcommands have. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_DAY_CHOICE_H
#define DAYBOOK_ROLLUP_COMMANDS_DAY_CHOICE_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/* OPTION_OWN: the first number of a subcommand's own. */
enum { OPTION_DAY = 0x100, OPTION_FROM, OPTION_TO, OPTION_FORMAT, OPTION_STREAM, OPTION_OWN };

/* The line of --stream in a command's options. */
#define OPTION_STREAM_LINE                                                                         \
    {                                                                                              \
        "stream", OPTION_STREAM, "NAME", 0, "of this stream; clicks unless given", 0               \
    }

/* Both ends belong to the days.  All-zero before the options are parsed. */
struct day_choice {
    bool is_limited;
    int32_t from;
    int32_t to;
};

/* For an argp parser: 0, ARGP_ERR_UNKNOWN for another key, or EINVAL after argp_error. */
int day_choice_parse(struct day_choice *choice, int key, const char *argument,
                     struct argp_state *state);
/* After the options: an empty range is an error; no option is all days. */
int day_choice_finish(struct day_choice *choice, struct argp_state *state);
#endif

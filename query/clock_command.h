/* clock_command: `daybook clock`: prints whether the clock is trusted, or declares the clock
 * right. */
#ifndef DAYBOOK_QUERY_CLOCK_COMMAND_H
#define DAYBOOK_QUERY_CLOCK_COMMAND_H

#include "base/cli/command.h"

struct clock_command_options {
    bool accepts;
    bool mends;
    bool is_dry_run;
};

/* `run` takes a struct query (query/query.h) as `room`. */
extern const struct command clock_command;
#endif

/* clock_command: `daybook clock`: whether the clock is believed, and that it is right. */
#ifndef DAYBOOK_QUERY_CLOCK_COMMAND_H
#define DAYBOOK_QUERY_CLOCK_COMMAND_H

#include "base/cli/command.h"

struct clock_command_options {
    bool accepts;
    bool mends;                        /* where no server holds the directory (program/mending.h) */
    bool is_dry_run;
};

extern const struct argp clock_command_argp;
bool clock_command_writes(const void *options);
/* `room` is a struct query (query/query.h). */
void clock_command_run(void *room, const struct command_request *request,
                       struct command_output *output);
#endif

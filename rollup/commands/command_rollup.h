/* command_rollup: `daybook rollup`: bring figures up to date and publish days. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_ROLLUP_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_ROLLUP_H

#include "base/cli/command.h"
#include "rollup/commands/day_choice.h"

struct command_rollup_options {
    struct day_choice days;
    bool is_dry_run;
    bool is_strict;
    const char *stream;
};

extern const struct argp command_rollup_argp;
bool command_rollup_writes(const void *options);
/* `room` is the struct streams. */
void command_rollup_run(void *room, const struct command_request *request,
                        struct command_output *output);
#endif

/* command_verify: `daybook verify`: prove that all that follows from clicks and rates does. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_VERIFY_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_VERIFY_H

#include "base/cli/command.h"

struct command_verify_options {
    bool is_quiet;                     /* no progress */
    bool repairs;
    const char *stream;
};

extern const struct argp command_verify_argp;
bool command_verify_writes(const void *options);
/* `room` is the struct streams. */
void command_verify_run(void *room, const struct command_request *request,
                        struct command_output *output);
#endif

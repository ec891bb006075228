/* command_retention: `daybook retention`: for how many days clicks are kept. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_RETENTION_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_RETENTION_H

#include "base/cli/command.h"

enum retention_action { RETENTION_NONE, RETENTION_SET, RETENTION_OFF, RETENTION_SHOW };

struct command_retention_options {
    enum retention_action action;
    bool has_days;
    uint32_t days;
    const char *note;
};

extern const struct argp command_retention_argp;
bool command_retention_writes(const void *options);
/* `room` is the struct streams. */
void command_retention_run(void *room, const struct command_request *request,
                   struct command_output *output);
#endif

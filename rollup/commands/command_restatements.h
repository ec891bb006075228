/* command_restatements: `daybook restatements`: what changed in published figures. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_RESTATEMENTS_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_RESTATEMENTS_H

#include "base/cli/command.h"
#include "base/uuid.h"
#include "rollup/commands/day_choice.h"

struct command_restatements_options {
    struct day_choice days;
    const char *reseller;              /* NULL: all */
    bool has_change;
    uint8_t change[UUID_SIZE];
    bool with_publications;
    const char *stream;
    enum table_format format;
};

extern const struct argp command_restatements_argp;
/* `room` is the struct streams. */
void command_restatements_run(void *room, const struct command_request *request,
                      struct command_output *output);
#endif

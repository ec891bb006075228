/* query_commands: the subcommands of query/.  Their `room` is a struct query (query/query.h). */
#ifndef DAYBOOK_QUERY_COMMANDS_QUERY_COMMANDS_H
#define DAYBOOK_QUERY_COMMANDS_QUERY_COMMANDS_H

#include "base/cli/command.h"

/* Returns the command at `index`, from 0 on; NULL after the last. */
const struct command *query_commands_at(uint32_t index);
#endif

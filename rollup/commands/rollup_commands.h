/* rollup_commands: the table of the rollup's subcommands.  The context of their `run` is a struct
 * streams. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_ROLLUP_COMMANDS_H
#define DAYBOOK_ROLLUP_COMMANDS_ROLLUP_COMMANDS_H

#include "base/cli/command.h"

/* The subcommand `number`, from 0 on; NULL after the last. */
const struct command *rollup_commands_at(uint32_t number);
#endif

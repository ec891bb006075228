/* rollup_commands: the subcommands that keep figures right: rate, rollup, clicks, retention,
 * restatements, verify.  Each one runs on the struct streams. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_ROLLUP_COMMANDS_H
#define DAYBOOK_ROLLUP_COMMANDS_ROLLUP_COMMANDS_H

#include "base/cli/command.h"

/* By number, from 0; NULL past the last. */
const struct command *rollup_commands_at(uint32_t number);
#endif

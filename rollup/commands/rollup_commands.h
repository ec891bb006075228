/* rollup_commands: the table of the subcommands that keep figures right: rate, rollup, clicks,
 * retention, restatements, verify.  Each one's `room` is the struct streams. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_ROLLUP_COMMANDS_H
#define DAYBOOK_ROLLUP_COMMANDS_ROLLUP_COMMANDS_H

#include "base/cli/command.h"

const struct command *rollup_commands(uint32_t *count_out);
#endif

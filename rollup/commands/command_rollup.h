/* command_rollup: `daybook rollup`: brings figures up to date and publishes days. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_ROLLUP_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_ROLLUP_H

#include "base/cli/command.h"

extern const struct command command_rollup;
#endif

/* command_verify: `daybook verify`: checks everything that follows from clicks and rates. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_VERIFY_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_VERIFY_H

#include "base/cli/command.h"

extern const struct command command_verify;
#endif

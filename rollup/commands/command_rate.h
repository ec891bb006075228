/* command_rate: `daybook rate`: sets, deletes, lists or loads the rates of resellers. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_RATE_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_RATE_H

#include "base/cli/command.h"

extern const struct command command_rate;
#endif

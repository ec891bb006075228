/* command_restatements: `daybook restatements`: shows the changes of published figures. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_RESTATEMENTS_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_RESTATEMENTS_H

#include "base/cli/command.h"

extern const struct command command_restatements;
#endif

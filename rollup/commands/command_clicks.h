/* command_clicks: `daybook clicks`: lists clicks, voids clicks, and restores voided ones. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_CLICKS_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_CLICKS_H

#include "base/cli/command.h"

extern const struct command command_clicks;
#endif

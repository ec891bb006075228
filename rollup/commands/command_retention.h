/* command_retention: `daybook retention`: sets or shows how many days clicks are kept. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_COMMAND_RETENTION_H
#define DAYBOOK_ROLLUP_COMMANDS_COMMAND_RETENTION_H

#include "base/cli/command.h"

extern const struct command command_retention;
#endif

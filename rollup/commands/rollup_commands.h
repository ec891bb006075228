/* rollup_commands: the table of the rollup's subcommands.  The context of their `run` is a struct
 * streams. */
#ifndef DAYBOOK_ROLLUP_COMMANDS_ROLLUP_COMMANDS_H
#define DAYBOOK_ROLLUP_COMMANDS_ROLLUP_COMMANDS_H

#include "base/cli/command.h"

extern const struct command command_rate;              /* command_rate.c */
extern const struct command command_rollup;            /* command_rollup.c */
extern const struct command command_clicks;            /* command_clicks.c */
extern const struct command command_retention;         /* command_retention.c */
extern const struct command command_restatements;      /* command_restatements.c */
extern const struct command command_verify;            /* command_verify.c */

/* The subcommand `number`, from 0 on; NULL after the last. */
const struct command *rollup_commands_at(uint32_t number);
#endif

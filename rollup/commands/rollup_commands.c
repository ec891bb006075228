/* rollup_commands: see the header. */
#include "rollup/commands/rollup_commands.h"

#include "rollup/commands/command_clicks.h"
#include "rollup/commands/command_rate.h"
#include "rollup/commands/command_restatements.h"
#include "rollup/commands/command_retention.h"
#include "rollup/commands/command_rollup.h"
#include "rollup/commands/command_verify.h"

static bool never_writes(const void *options)
{
    (void)options;
    return false;
}

static const struct command commands[] = {
    {.name = "rate",
     .summary = "set, delete, list or load the rates of resellers",
     .argp = &command_rate_argp,
     .options_size = sizeof(struct command_rate_options),
     .writes = command_rate_writes,
     .input_file = command_rate_input_file,
     .run = command_rate_run},
    {.name = "rollup",
     .summary = "bring amount_by_day up to date and publish days",
     .argp = &command_rollup_argp,
     .options_size = sizeof(struct command_rollup_options),
     .writes = command_rollup_writes,
     .run = command_rollup_run},
    {.name = "clicks",
     .summary = "list clicks, void them, restore what was voided",
     .argp = &command_clicks_argp,
     .options_size = sizeof(struct command_clicks_options),
     .writes = command_clicks_writes,
     .run = command_clicks_run},
    {.name = "retention",
     .summary = "set or show for how many days clicks are kept",
     .argp = &command_retention_argp,
     .options_size = sizeof(struct command_retention_options),
     .writes = command_retention_writes,
     .run = command_retention_run},
    {.name = "restatements",
     .summary = "show what changed in published figures, why, and by whom",
     .argp = &command_restatements_argp,
     .options_size = sizeof(struct command_restatements_options),
     .writes = never_writes,
     .run = command_restatements_run},
    {.name = "verify",
     .summary = "prove that files, stats, counters, figures and ledger agree",
     .argp = &command_verify_argp,
     .options_size = sizeof(struct command_verify_options),
     .writes = command_verify_writes,
     .run = command_verify_run},
};

const struct command *rollup_commands(uint32_t *count_out)
{
    *count_out = sizeof(commands) / sizeof(commands[0]);
    return commands;
}

/* query_commands: see the header. */
#include "query/commands/query_commands.h"

#include "query/backup_command.h"
#include "query/clock_command.h"
#include "query/compact.h"
#include "query/inspect.h"
#include "query/report/counters.h"
#include "query/report/report.h"
#include "query/status.h"

static bool always_writes(const void *options)
{
    (void)options;
    return true;
}

static const struct command commands[] = {
    {.name = "report",
     .summary = "print clicks, gross and amount by day, month, reseller or ad",
     .argp = &report_argp,
     .options_size = sizeof(struct report_options),
     .run = report_run},
    {.name = "counters",
     .summary = "print clicks per ad, per reseller, per reseller and day",
     .argp = &counters_argp,
     .options_size = sizeof(struct counters_options),
     .run = counters_run},
    {.name = "status",
     .summary = "say who holds the directory, and whether all is well",
     .argp = &status_argp,
     .options_size = sizeof(struct status_options),
     .is_brief = true,
     .run = status_run},
    {.name = "inspect",
     .summary = "print tables, segments and their sizes",
     .argp = &inspect_argp,
     .options_size = sizeof(struct inspect_options),
     .run = inspect_run},
    {.name = "compact",
     .summary = "merge segments now, until done",
     .argp = &compact_argp,
     .writes = always_writes,
     .run = compact_run},
    {.name = "clock",
     .summary = "say whether the machine's clock is believed, or that it is right",
     .argp = &clock_command_argp,
     .options_size = sizeof(struct clock_command_options),
     .writes = clock_command_writes,
     .run = clock_command_run},
    {.name = "backup",
     .summary = "copy the directory as of now to another place, or keep doing so",
     .argp = &backup_command_argp,
     .options_size = sizeof(struct backup_command_options),
     .run = backup_command_run},
};

const struct command *query_commands_at(uint32_t index)
{
    return index < sizeof(commands) / sizeof(commands[0]) ? &commands[index] : NULL;
}

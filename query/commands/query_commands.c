/* query_commands: see the header. */
#include "query/commands/query_commands.h"

#include "query/backup_command.h"
#include "query/clock_command.h"
#include "query/compact.h"
#include "query/inspect.h"
#include "query/report/counters.h"
#include "query/report/report.h"
#include "query/status.h"

const struct command *query_commands_at(uint32_t index)
{
    static const struct command *const commands[] = {
        &report_command,  &counters_command, &status_command, &inspect_command,
        &compact_command, &clock_command,    &backup_command, NULL};
    return commands[index];
}

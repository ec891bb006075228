/* query_commands: the table of the subcommands report, counters, status, inspect, compact, clock
 * and backup.  The `room` with which each of them runs is a struct query (query/query.h). */
#ifndef DAYBOOK_QUERY_COMMANDS_QUERY_COMMANDS_H
#define DAYBOOK_QUERY_COMMANDS_QUERY_COMMANDS_H

#include "base/cli/command.h"

/* The command at an index from 0; NULL after the last one. */
const struct command *query_commands_at(uint32_t index);
#endif

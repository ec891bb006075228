/* backup_command: `daybook backup`: makes a backup point, or copies the log continuously until
 * --stop. */
#ifndef DAYBOOK_QUERY_BACKUP_COMMAND_H
#define DAYBOOK_QUERY_BACKUP_COMMAND_H

#include "base/cli/command.h"

/* `run` takes a struct query (query/query.h) as `room`. */
extern const struct command backup_command;
#endif

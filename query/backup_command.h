/* backup_command: `daybook backup`: makes a backup point, or copies the log continuously until
 * --stop. */
#ifndef DAYBOOK_QUERY_BACKUP_COMMAND_H
#define DAYBOOK_QUERY_BACKUP_COMMAND_H

#include "base/cli/command.h"

/* Runs on a struct query (query/query.h). */
extern const struct command backup_command;
#endif

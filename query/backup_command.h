/* backup_command: `daybook backup`: copies the directory, once or continuously. */
#ifndef DAYBOOK_QUERY_BACKUP_COMMAND_H
#define DAYBOOK_QUERY_BACKUP_COMMAND_H

#include "base/cli/command.h"

/* Runs on a struct query (query/query.h). */
extern const struct command backup_command;
#endif

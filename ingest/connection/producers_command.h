/* producers_command: `daybook producers`: lists the producers that are known, and drops one. */
#ifndef DAYBOOK_INGEST_CONNECTION_PRODUCERS_COMMAND_H
#define DAYBOOK_INGEST_CONNECTION_PRODUCERS_COMMAND_H

#include "base/cli/command.h"

/* It is run with the struct ingest. */
extern const struct command producers_command;
#endif

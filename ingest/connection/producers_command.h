/* producers_command: the command `daybook producers`, which lists known producers, or drops one. */
#ifndef DAYBOOK_INGEST_CONNECTION_PRODUCERS_COMMAND_H
#define DAYBOOK_INGEST_CONNECTION_PRODUCERS_COMMAND_H

#include "base/cli/command.h"

/* The command's context is the struct ingest. */
extern const struct command producers_command;
#endif

/* producers_command: `daybook producers`: who numbers its batches here, and forgetting one. */
#ifndef DAYBOOK_INGEST_CONNECTION_PRODUCERS_COMMAND_H
#define DAYBOOK_INGEST_CONNECTION_PRODUCERS_COMMAND_H

#include "base/cli/command.h"

/* Its room is the struct ingest. */
extern const struct command producers_command;
#endif

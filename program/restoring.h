/* restoring: runs `daybook restore`, which makes a new data directory from a backup. */
#ifndef DAYBOOK_PROGRAM_RESTORING_H
#define DAYBOOK_PROGRAM_RESTORING_H

#include "program/cli_run.h"

extern const struct command restoring_command;

/* Returns the exit status. */
int restoring_run(const struct cli_call *call);
#endif

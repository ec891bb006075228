/* serve: runs the server until a signal or a failed disk. */
#ifndef DAYBOOK_PROGRAM_SERVE_H
#define DAYBOOK_PROGRAM_SERVE_H

#include "program/cli_run.h"

/* Member `run` is NULL, because no server runs this command. */
extern const struct command serve_command;

/* Returns the exit status. */
int serve_run(const struct cli_call *call);
#endif

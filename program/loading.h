/* loading: runs `daybook load`: loads files, then refreshes the dirty days. */
#ifndef DAYBOOK_PROGRAM_LOADING_H
#define DAYBOOK_PROGRAM_LOADING_H

#include "program/cli_run.h"

/* Member `run` is NULL, because no server runs this command. */
extern const struct command loading_command;

/* Returns the exit status. */
int loading_run(const struct cli_call *call);
#endif

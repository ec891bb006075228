/* loading: runs `daybook load`: the load client, then a refresh of the dirty days. */
#ifndef DAYBOOK_PROGRAM_LOADING_H
#define DAYBOOK_PROGRAM_LOADING_H

#include "program/cli_run.h"

/* For the table of subcommands; member `run` is NULL, since no server runs this command. */
extern const struct command loading_command;

/* Returns the exit status. */
int loading_run(const struct cli_call *call);
#endif

/* limit_table: runs `daybook limits`, which prints all limits. */
#ifndef DAYBOOK_PROGRAM_LIMIT_TABLE_H
#define DAYBOOK_PROGRAM_LIMIT_TABLE_H

#include "program/cli_run.h"

extern const struct command limit_table_command;

int limit_table_run(const struct cli_call *call);
#endif

/* limit_table: `daybook limits`: what is bounded, by how much, and what is seen when it is met. */
#ifndef DAYBOOK_PROGRAM_LIMIT_TABLE_H
#define DAYBOOK_PROGRAM_LIMIT_TABLE_H

#include "program/control/control_parse.h"

extern const struct command limit_table_command;

int limit_table_run(const void *options, const struct control_common *common, int word_count,
               char **words);
#endif

/* loading: `daybook load`: ingest's client, the store it loads into, and the rollup at its end. */
#ifndef DAYBOOK_PROGRAM_LOADING_H
#define DAYBOOK_PROGRAM_LOADING_H

#include "program/control/control_parse.h"

/* For the table of subcommands; its `run` is NULL, since no server runs it. */
extern const struct command loading_command;

/* `words` are the command line, for the record.  Returns the exit status. */
int loading_run(const void *options, const struct control_common *common, int word_count,
                char **words);
#endif

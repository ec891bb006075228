/* inspect: `daybook inspect`: prints the space of each table on disk, and its rows. */
#ifndef DAYBOOK_QUERY_INSPECT_H
#define DAYBOOK_QUERY_INSPECT_H

#include "base/cli/command.h"

/* Runs on a struct query (query/query.h). */
extern const struct command inspect_command;
#endif

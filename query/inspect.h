/* inspect: `daybook inspect`: prints each table's space on disk and its number of rows. */
#ifndef DAYBOOK_QUERY_INSPECT_H
#define DAYBOOK_QUERY_INSPECT_H

#include "base/cli/command.h"

/* `run` takes a struct query (query/query.h) as `room`. */
extern const struct command inspect_command;
#endif

/* compact: `daybook compact`: writes memtables to segments and merges the segments. */
#ifndef DAYBOOK_QUERY_COMPACT_H
#define DAYBOOK_QUERY_COMPACT_H

#include "base/cli/command.h"

/* `run` takes a struct query (query/query.h) as `room`. */
extern const struct command compact_command;
#endif

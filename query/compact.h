/* compact: `daybook compact`: writes memtables to segments and merges the segments. */
#ifndef DAYBOOK_QUERY_COMPACT_H
#define DAYBOOK_QUERY_COMPACT_H

#include "base/cli/command.h"

/* Runs on a struct query (query/query.h). */
extern const struct command compact_command;
#endif

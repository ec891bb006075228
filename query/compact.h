/* compact: `daybook compact`: write memtables out and merge what may be merged, until done. */
#ifndef DAYBOOK_QUERY_COMPACT_H
#define DAYBOOK_QUERY_COMPACT_H

#include "base/cli/command.h"

/* Runs on a struct query (query/query.h). */
extern const struct command compact_command;
#endif

/* compact: `daybook compact`: write memtables out and merge what may be merged, until done. */
#ifndef DAYBOOK_QUERY_COMPACT_H
#define DAYBOOK_QUERY_COMPACT_H

#include "base/cli/command.h"

extern const struct argp compact_argp;             /* without options */
/* `room` is a struct query (query/query.h). */
void compact_run(void *room, const struct command_request *request, struct command_output *output);
#endif

/* inspect: `daybook inspect`: the tables, and what each takes on disk and in memory. */
#ifndef DAYBOOK_QUERY_INSPECT_H
#define DAYBOOK_QUERY_INSPECT_H

#include "base/cli/command.h"

struct inspect_options {
    enum table_format format;
};

extern const struct argp inspect_argp;
/* `room` is a struct query (query/query.h). */
void inspect_run(void *room, const struct command_request *request, struct command_output *output);
#endif

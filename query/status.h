/* status: `daybook status`: prints the state of the directory and of the process that holds it. */
#ifndef DAYBOOK_QUERY_STATUS_H
#define DAYBOOK_QUERY_STATUS_H

#include "base/cli/command.h"

struct status_options {
    bool is_check;                     /* --check (program/checking.h) */
    bool is_metrics;
    bool is_dump;
    enum table_format format;          /* TABLE_ALIGNED or TABLE_JSON */
};

/* `run` takes a struct query (query/query.h) as `room`. */
extern const struct command status_command;
#endif

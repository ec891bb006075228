/* counters: `daybook counters`: prints clicks per ad, per reseller, or per reseller and day. */
#ifndef DAYBOOK_QUERY_REPORT_COUNTERS_H
#define DAYBOOK_QUERY_REPORT_COUNTERS_H

#include "base/cli/command.h"

enum { COUNTERS_TOP_MAX = 1000000 };

/* `run` takes a struct query (query/query.h) as `room`. */
extern const struct command counters_command;
#endif

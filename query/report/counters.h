/* counters: `daybook counters`: clicks per ad, per reseller, per reseller and day. */
#ifndef DAYBOOK_QUERY_REPORT_COUNTERS_H
#define DAYBOOK_QUERY_REPORT_COUNTERS_H

#include "base/cli/command.h"

enum { COUNTER_KEYS_MAX = 2, COUNTERS_TOP_MAX = 1000000 };
struct counter_table;
struct counters_options {
    const struct counter_table *table; /* NULL: all, summed */
    const char *keys[COUNTER_KEYS_MAX];
    uint32_t key_count;
    uint32_t top;                      /* 0: all */
    enum table_format format;
};

extern const struct argp counters_argp;
/* `room` is a struct query (query/query.h). */
void counters_run(void *room, const struct command_request *request,
                  struct command_output *output);
#endif

/* report: `daybook report`: prints clicks, gross and amount by reseller and day, or grouped, or by
 * hour or minute of each day. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_H
#define DAYBOOK_QUERY_REPORT_REPORT_H

#include "base/cli/command.h"

enum { REPORT_RESELLERS_MAX = 1000 };
enum report_by {
    BY_DAY,                            /* the default */
    BY_MINUTE,
    BY_HOUR,
    BY_WEEK,
    BY_MONTH,
    BY_RESELLER,
    BY_AD,
    BY_TOTAL,
    REPORT_BYS
};
extern const char *const report_by_names[];    /* as --by takes them */
static inline bool report_by_is_time(enum report_by by)
{
    return by == BY_MINUTE || by == BY_HOUR;
}
struct report_options {
    const char *resellers[REPORT_RESELLERS_MAX];
    uint32_t reseller_count;           /* 0: all */
    int32_t day_from;                  /* inclusive at both ends */
    int32_t day_to;
    const char *ad;                    /* only clicks of this ad, not with as_of or by minute or
                                        * hour; NULL: all ads */
    enum report_by by;
    bool is_total;                     /* resellers are added up; `by` is a period */
    const char *as_of;                 /* the text of --as-of; NULL: the figures as they are now */
    const char *stream;                /* NULL: clicks */
    bool is_rounded;
    uint32_t round;                    /* digits after the point */
    enum table_format format;
    bool is_chart;                     /* print an SVG chart; `format` is not used */
};

/* `run` takes a struct query (query/query.h) as `room`. */
extern const struct command report_command;
#endif

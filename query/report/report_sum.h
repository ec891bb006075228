/* report_sum: adds up the days, ads or resellers of a report. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_SUM_H
#define DAYBOOK_QUERY_REPORT_REPORT_SUM_H

#include "rollup/days/rollup.h"

struct report_sum {
    uint64_t clicks;
    struct decimal gross;
    struct decimal amount;             /* of the days that have a rate */
    uint64_t unpriced_days;            /* days with clicks and without a rate; of a day's hours or
                                        * minutes, only the first has 1 */
    struct decimal unpriced_gross;
};

struct report_sum report_sum_of_day(const struct day_figure *figure);

/* Returns 0, or an error of decimal_add if a sum has too many digits. */
must_check int report_sum_add(struct report_sum *sum, const struct report_sum *term);
#endif

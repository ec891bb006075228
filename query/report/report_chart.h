/* report_chart: a report as a picture (SVG): what each reseller earned, day by day or in all.
 *
 *     by day, month           a panel for each reseller, with a bar for each period;
 *                             all panels have one axis of time, and one scale
 *     by reseller, ad, total  a bar each, the largest amount first; what comes after CHART_BARS is
 *                             summed up in a line of digits
 *
 * The length of a bar is the amount; days without a rate have no amount yet, and are marked.  Every
 * figure is in the picture as digits too, exact, or rounded as --round says; a browser shows those
 * of a bar when the pointer is on it. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_CHART_H
#define DAYBOOK_QUERY_REPORT_REPORT_CHART_H

#include "query/report/report.h"
#include "query/report/report_sum.h"

enum {
    CHART_PANELS = 50,                 /* resellers of a report by day or month */
    CHART_PERIODS = 1000,              /* from the first day or month to the last */
    CHART_BARS = 40                    /* of other reports */
};

/* One row of a report. */
struct report_row {
    struct bytes reseller;             /* empty: of all */
    struct bytes ad;                   /* by ad */
    int32_t period;                    /* by day: the day; by month: as calendar_month_of_day has
                                        * it */
    const struct decimal *rate;        /* of a day; NULL: it has none */
    struct report_sum sum;
};

struct report_chart;

/* `options` outlives it; `currency` may be "". */
struct report_chart *report_chart_new(const struct report_options *options, const char *currency);
void report_chart_free(struct report_chart *chart);            /* NULL is fine */

/* The next row, in the report's order; copied.  ERROR_INVALID: more than can be shown, with a text
 * that says what to ask for instead, or digits. */
must_check int report_chart_add(struct report_chart *chart, const struct report_row *row,
                                struct error *err);

/* Once, when all rows have come. */
void report_chart_draw(struct report_chart *chart, struct buffer *svg);
#endif

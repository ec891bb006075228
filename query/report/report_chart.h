/* report_chart: draws the amounts of a report as a picture (SVG).
 *
 *     by minute, hour, day,   a panel for each reseller, with a bar for each period;
 *     week, month             all panels have one axis of time, and one scale
 *     by reseller, ad, total  a bar for each row, the largest amount first; the rows after the
 *                             first CHART_BARS are summed up in one line of digits
 *
 * The length of a bar is the amount.  Days without a rate have no amount yet, and are marked.  The
 * picture also has every figure as digits, rounded as --round says. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_CHART_H
#define DAYBOOK_QUERY_REPORT_REPORT_CHART_H

#include "query/report/report.h"
#include "query/report/report_sum.h"

enum {
    CHART_PANELS = 50,                 /* resellers of a report over time */
    CHART_PERIODS = 1000,              /* from the first hour, day, week or month to the last */
    CHART_MINUTES = 3000,              /* two days have 2,880, and 60 more when the clock is set
                                        * back */
    CHART_ROWS = 50000,                /* of all panels */
    CHART_BARS = 40                    /* bars of a report by reseller, ad or total */
};

struct report_row {
    struct bytes reseller;             /* empty: the row is for all resellers */
    struct bytes ad;                   /* empty unless the report is by ad */
    int64_t period;                    /* by minute, hour and day: the day; by week and month: the
                                        * result of calendar_week_of_day, calendar_month_of_day */
    int64_t at_ms;                     /* by minute and hour: the period's start */
    const struct decimal *rate;        /* the day's rate, by minute, hour or day; NULL: none */
    struct report_sum sum;
};

struct report_chart;

/* The arguments must outlive the chart; `currency` may be "". */
struct report_chart *report_chart_new(const struct report_options *options, const char *currency,
                                      const struct zone *zone);
void report_chart_free(struct report_chart *chart);            /* NULL is fine */

/* Add the next row, in the report's order; it is copied.  ERROR_INVALID: a chart cannot show so
 * many rows; the error names other options to use.  A code of decimal_add: a sum has too many
 * digits. */
must_check int report_chart_add(struct report_chart *chart, const struct report_row *row,
                                struct error *err);

/* Call this once, after the last row was added. */
void report_chart_draw(struct report_chart *chart, struct buffer *svg);
#endif

/* report_figures: a reading of figures that continues no faster than its output is read.
 *
 * A command that gets figures from rollup_figures prints them into a query_answer.  When enough
 * output waits there, the reading is paused; it continues when that output has been read. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_FIGURES_H
#define DAYBOOK_QUERY_REPORT_REPORT_FIGURES_H

#include "query/query_answer.h"
#include "rollup/days/rollup.h"

/* The struct is the command's memory, and must exist as long as the reading. */
struct report_figures {
    struct query_answer *answer;
    const int *status;                 /* the command's: a failure stops the reading */
    struct figure_reading *reading;    /* paused; NULL: it is not */
};

/* Continue the paused reading, or stop it where *status is an error.  It may come to its end before
 * this returns. */
void report_figures_resume(struct report_figures *figures);
/* The same when the output that waits has been read, possibly before this returns. */
void report_figures_wait(struct report_figures *figures);
#endif

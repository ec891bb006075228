/* report_figures: a reading of figures that goes on no faster than its answer is read.
 *
 * A command that gets figures from rollup_figures prints them into a query_answer.  When enough
 * waits there, the reading is paused; it goes on when that has left. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_FIGURES_H
#define DAYBOOK_QUERY_REPORT_REPORT_FIGURES_H

#include "query/query_answer.h"
#include "rollup/days/rollup.h"

/* The command's memory, as long as its reading. */
struct report_figures {
    struct query_answer *answer;
    const int *status;                 /* the command's: a failure stops the reading */
    struct figure_reading *reading;    /* paused; NULL: it is not */
};

/* The paused reading goes on, or is stopped: perhaps to its end before this returns. */
void report_figures_go_on(struct report_figures *figures);
/* The same once what waits in the answer has left, which may be at once. */
void report_figures_wait(struct report_figures *figures);
#endif

/* report_figures: pauses a reading of figures while the client is slow to read the answer.
 *
 * A command that gets figures from rollup_figures prints them into a query_answer.  When enough
 * output waits in the answer, the reading is paused; it continues when the client has read that
 * output. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_FIGURES_H
#define DAYBOOK_QUERY_REPORT_REPORT_FIGURES_H

#include "query/query_answer.h"
#include "rollup/days/rollup.h"

/* A command keeps this struct in its own memory until the reading has ended. */
struct report_figures {
    struct query_answer *answer;
    const int *status;                 /* the command's status: an error stops the reading */
    struct figure_reading *reading;    /* the paused reading; NULL: none is paused */
};

/* Continue the paused reading, or stop it where *status is an error.  The reading may end before
 * this function returns. */
void report_figures_resume(struct report_figures *figures);
/* Have report_figures_resume called: when the output has been sent, or, if it is not full, before
 * this function returns. */
void report_figures_wait(struct report_figures *figures);
#endif

/* report_figures: pauses a reading of figures while the client is slow to read the answer. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_FIGURES_H
#define DAYBOOK_QUERY_REPORT_REPORT_FIGURES_H

#include "query/query_answer.h"
#include "rollup/days/rollup.h"

/* The command keeps this struct in memory until the reading has ended. */
struct report_figures {
    struct query_answer *answer;
    const int *status;                 /* the command's status: an error stops the reading */
    struct figure_reading *reading;    /* NULL: none is paused */
};

/* Continue the paused reading, or stop it where *status is an error.  The reading may end before
 * this function returns. */
void report_figures_resume(struct report_figures *figures);
/* Have report_figures_resume called when the output is not full, possibly before this function
 * returns. */
void report_figures_wait(struct report_figures *figures);
#endif

/* report_figures: see the header. */
#include "query/report/report_figures.h"

void report_figures_resume(struct report_figures *figures)
{
    struct figure_reading *reading = figures->reading;
    check(reading != NULL);
    figures->reading = NULL;
    if (*figures->status == 0)
        rollup_figures_go_on(reading);
    else
        rollup_figures_stop(reading);
}

static void figures_drained(void *context)
{
    struct report_figures *figures = context;
    figures->answer->output->drained = NULL;
    report_figures_resume(figures);
}

void report_figures_wait(struct report_figures *figures)
{
    query_answer_wait(figures->answer, figures_drained, figures);
}

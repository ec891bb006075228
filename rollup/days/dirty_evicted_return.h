/* dirty_evicted_return: reads evicted days (dirty_evicted.h) back into the set of dirty days, and
 * processes them.
 *
 * When the days that were read fill the set, they are processed before the next page is read. */
#ifndef DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_RETURN_H
#define DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_RETURN_H

#include "rollup/days/rollup.h"

enum dirty_evicted_which {
    DIRTY_EVICTED_DUE,                 /* those that a server publishes now */
    DIRTY_EVICTED_ENDED,               /* those that a command may publish */
    DIRTY_EVICTED_ALL                  /* all, when a rollup is opened: any may be out of date */
};
/* Read the table of marks from the token on, and process the days.  `done` (may be NULL) is called
 * when their figures are durable.  Days may be evicted during the reading.  The rollup must not
 * have failed. */
void dirty_evicted_return(struct rollup *rollup, enum dirty_evicted_which which,
                          int64_t token_first, store_done done, void *context);
/* The same of the days that are due, unless a reading is under way or the clock is in doubt. */
void dirty_evicted_return_due(struct rollup *rollup, int64_t now_us);
#endif

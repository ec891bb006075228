/* dirty_evicted_return: days that are away (dirty_evicted.h) come back into the set, and are worked
 * off.
 *
 * The table of marks is read a page at a time; what fills the set is worked off before the next
 * page is read. */
#ifndef DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_RETURN_H
#define DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_RETURN_H

#include "rollup/days/rollup.h"

/* Which days come back. */
enum dirty_evicted_which {
    DIRTY_EVICTED_DUE,                 /* whose publication is due by itself */
    DIRTY_EVICTED_ENDED,               /* that may be published, and are: for a command */
    DIRTY_EVICTED_ALL                  /* at opening: what is known of none of them is right */
};
/* Read the table of marks from the token on and work off the days; `done` (NULL: nothing waits)
 * when that is durable.  Others may come or go away meanwhile.  The rollup has not failed. */
void dirty_evicted_return(struct rollup *rollup, enum dirty_evicted_which which,
                          int64_t token_first, store_done done, void *context);
/* The same of those that are due, if any may be; it looks after itself. */
void dirty_evicted_return_due(struct rollup *rollup, int64_t now_us);
#endif

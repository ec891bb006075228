/* away_return: days that are away (away.h) come back into the set, and are worked off.
 *
 * The table of marks is read a page at a time; what fills the set is worked off before the next
 * page is read. */
#ifndef DAYBOOK_ROLLUP_DAYS_AWAY_RETURN_H
#define DAYBOOK_ROLLUP_DAYS_AWAY_RETURN_H

#include "rollup/days/rollup.h"

/* Which days come back. */
enum away_which {
    AWAY_DUE,                          /* whose publication is due by itself */
    AWAY_ENDED,                        /* that may be published, and are: for a command */
    AWAY_ALL                           /* at opening: what is known of none of them is right */
};
/* Read the table of marks from the token on and work off the days; `done` when that is durable.
 * Others may come or go away meanwhile. */
must_check int away_return(struct rollup *rollup, enum away_which which, int64_t token_first,
                           store_done done, void *context, struct error *err);
/* The same of those that are due, if any may be; it looks after itself. */
void away_return_due(struct rollup *rollup, int64_t now_us);
#endif

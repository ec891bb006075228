/* newest_day: the newest day that has figures, for a view for which no day was chosen.
 *
 * It is mostly one of the last days by the clock, which are few to read.  Only if these have no
 * figures are all days read. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_NEWEST_DAY_H
#define DAYBOOK_QUERY_WEB_PAGE_NEWEST_DAY_H

#include "query/web/page/view.h"

enum { NEWEST_DAY_RECENT = 31 };       /* days */

/* Part of a view's state; begins as zeros. */
struct newest_day {
    struct bytes reseller;             /* whose day; empty: of any */
    struct bytes as_of;                /* as `report` takes it, or empty */
    struct view_run *run;              /* NULL: nobody asked */
    void (*known)(struct view_call *call);     /* private */
};

/* Look for it, and then call `known`. */
void newest_day_ask(struct view_call *call, struct newest_day *newest,
                    void (*known)(struct view_call *call));
/* Empty: there is none, or the run has failed. */
struct bytes newest_day_of(const struct newest_day *newest);
/* So many days, of which the newest is the last one, with the whole of the first one's week if
 * `by_week`.  Nothing is written if there is no newest day. */
void newest_day_last(struct view_call *call, const struct newest_day *newest, int32_t days,
                     bool by_week, struct bytes *from_out, struct bytes *to_out);
#endif

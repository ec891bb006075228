/* newest_day: the newest day that has figures, for a view for which no day was chosen.
 *
 * It is mostly one of the last days by the clock, which are few to read.  Only if these have no
 * figures are all days read:
 *
 *     newest_day_ask(call, &state->newest, reseller);            in `begin`
 *     view_then(call, recent_known);
 *
 *     static void recent_known(struct view_call *call)
 *     {
 *         newest_day_ask_more(call, &state->newest, reseller);
 *         view_then(call, newest_known);
 *     } */
#ifndef DAYBOOK_QUERY_WEB_PAGE_NEWEST_DAY_H
#define DAYBOOK_QUERY_WEB_PAGE_NEWEST_DAY_H

#include "query/web/page/view.h"

enum { NEWEST_DAY_RECENT = 31 };       /* days */

struct newest_day {
    struct view_run *run;              /* NULL: nobody asked */
    struct bytes as_of;                /* as `report` takes it; set by the owner, or empty */
};

/* `reseller`: the day has figures of this one; empty: of any. */
void newest_day_ask(struct view_call *call, struct newest_day *newest, struct bytes reseller);
void newest_day_ask_more(struct view_call *call, struct newest_day *newest, struct bytes reseller);
/* Empty: there is none, or the run has failed. */
struct bytes newest_day_of(const struct newest_day *newest);
/* So many days, of which the newest is the last one, with the whole of the first one's week if
 * `by_week`.  Nothing is written if there is no newest day. */
void newest_day_last(struct view_call *call, const struct newest_day *newest, int32_t days,
                     bool by_week, struct bytes *from_out, struct bytes *to_out);
#endif

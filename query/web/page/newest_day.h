/* newest_day: finds the newest day that has figures, for a view for which no day was chosen.
 *
 * First, only days from NEWEST_DAY_RECENT days before today on are read, because the newest day is
 * mostly one of them.  If they have no figures, all days are read. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_NEWEST_DAY_H
#define DAYBOOK_QUERY_WEB_PAGE_NEWEST_DAY_H

#include "query/web/page/view.h"

enum { NEWEST_DAY_RECENT = 31 };       /* days */

/* Part of a view's state; begins as zeros. */
struct newest_day {
    struct bytes reseller;             /* the reseller who has the day; empty: any reseller */
    struct bytes as_of;                /* as `report --as-of` takes it, or empty */
    struct view_run *run;              /* NULL: newest_day_ask was not called */
    void (*known)(struct view_call *call);     /* private */
};

/* Find the day, then call `known`. */
void newest_day_ask(struct view_call *call, struct newest_day *newest,
                    void (*known)(struct view_call *call));
/* Returns the day; empty: there is none, or the run has failed. */
struct bytes newest_day_of(const struct newest_day *newest);
/* Set `*from_out` and `*to_out` to the first and the last of the `days` days up to the newest.  If
 * `by_week`, the first is moved back to a Monday.  If there is no newest day, or it is too early,
 * both stay unchanged. */
void newest_day_last(struct view_call *call, const struct newest_day *newest, int32_t days,
                     bool by_week, struct bytes *from_out, struct bytes *to_out);
#endif

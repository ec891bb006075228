/* live_today: reads the figures of today, for all resellers together and for those with most
 * clicks.
 *
 * A turn (live.h) reads today's figure of every reseller, as `daybook report` does, with all clicks
 * that were acknowledged before the turn.  A figure takes about 3 us.  After a reading, turns do
 * nothing for LIVE_TODAY_PAUSE_US per known reseller, unless a new day begins, so that readings use
 * a fiftieth of a processor.  The pause does not depend on the time that the reading took, because
 * other work makes a reading last longer without more use of the processor.  All functions are
 * called on the engine thread. */
#ifndef DAYBOOK_QUERY_LIVE_LIVE_TODAY_H
#define DAYBOOK_QUERY_LIVE_LIVE_TODAY_H

#include "base/world/world.h"
#include "rollup/days/rollup.h"

enum { LIVE_TODAY_TOP = 10, LIVE_TODAY_PAUSE_US = 150 };

struct live_today_row {
    struct buffer reseller;
    struct day_figure figure;          /* its member `reseller` is empty */
};

/* The result of one reading. */
struct live_today_sums {
    bool is_read;
    int32_t day;
    int64_t read_us;                   /* monotonic: when the reading began */
    uint64_t resellers;                /* with clicks today */
    uint64_t clicks;
    struct decimal gross, amount, unpriced_gross;
    struct live_today_row rows[LIVE_TODAY_TOP];        /* the most clicks first */
    uint32_t row_count;
};

struct live_today {
    struct rollup *rollup;
    struct world *world;
    struct live_today_sums shown;
    struct live_today_sums next;       /* filled while figures are read */
    int64_t due_us;
    struct error err;
    store_done done;
    void *context;
};

void live_today_begin(struct live_today *today, struct rollup *rollup, struct world *world);
/* No turn may be under way. */
void live_today_end(struct live_today *today);
/* `done` is called once, perhaps before this function returns.  After an error, `shown` still has
 * the reading before. */
void live_today_turn(struct live_today *today, store_done done, void *context);
#endif

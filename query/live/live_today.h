/* live_today: the figures of today: of all resellers together, and of those with the most clicks.
 *
 * A turn reads today's figure of every reseller, as `daybook report` does: what was acknowledged
 * before is in it.  A reseller takes some 3 us; so after a reading turns do nothing for
 * LIVE_TODAY_PAUSE_US for each, which makes it a fiftieth of a processor.  (How long the reading
 * took would not do: beside other work it takes longer, and costs no more.)  Engine thread. */
#ifndef DAYBOOK_QUERY_LIVE_LIVE_TODAY_H
#define DAYBOOK_QUERY_LIVE_LIVE_TODAY_H

#include "base/world/world.h"
#include "rollup/days/rollup.h"

enum { LIVE_TODAY_TOP = 10, LIVE_TODAY_PAUSE_US = 150 };

struct live_today_row {
    struct buffer reseller;
    struct day_figure figure;          /* its own `reseller` is not set */
};

/* Of one reading. */
struct live_today_sums {
    bool is_read;
    int32_t day;
    int64_t read_us;                   /* monotonic: when it began */
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
    struct live_today_sums next;       /* while figures are read */
    int64_t due_us;
    struct error err;
    store_done done;
    void *context;
};

void live_today_begin(struct live_today *today, struct rollup *rollup, struct world *world);
/* No turn may be under way. */
void live_today_end(struct live_today *today);
/* `done` is called once, perhaps before the call returns; after an error the figures are those of
 * the reading before. */
void live_today_turn(struct live_today *today, store_done done, void *context);
#endif

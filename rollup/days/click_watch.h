/* click_watch: how many clicks come, and of whom, while somebody watches.
 *
 * The commit hook shows every batch to the watch.  It adds up the clicks, and looks at some of
 * them, at most SAMPLES_MAX between two calls of click_watch_turn: enough to know which resellers
 * and ads come most often.  How many clicks these have is in their counters. */
#ifndef DAYBOOK_ROLLUP_DAYS_CLICK_WATCH_H
#define DAYBOOK_ROLLUP_DAYS_CLICK_WATCH_H

#include "base/frequent.h"
#include "rollup/click_stream.h"
#include "storage/cell/write_batch.h"

/* Begins as zeros. */
struct click_watch {
    bool is_on;
    uint64_t clicks;                   /* applied since it is on; not all need be durable yet */
    bool has_missed;                   /* since the last turn it did not look at every click */
    struct frequent resellers, ads;
    uint64_t step;                     /* private, as the rest: of so many clicks one is
                                        * looked at */
    uint64_t skipped;                  /* clicks until that one */
    uint64_t random;
    uint64_t turn_clicks;              /* `clicks` at the last turn */
    uint32_t samples;                  /* since then */
};

void click_watch_begin(struct click_watch *watch);
void click_watch_end(struct click_watch *watch);           /* gives the memory back */
/* Look at a batch whose hooks have run. */
void click_watch_take(struct click_watch *watch, const struct click_stream *stream,
                      const struct write_batch *batch);
/* Called every now and then: earlier clicks count less, and the next ones are looked at as often
 * as is right for the clicks that came since the last turn. */
void click_watch_turn(struct click_watch *watch);
#endif

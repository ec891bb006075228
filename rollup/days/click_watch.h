/* click_watch: counts applied clicks, and finds their most frequent resellers and ads, while a
 * viewer watches.
 *
 * The commit hook passes it every batch but those of voids and restores.  The watch counts all
 * clicks, but samples at most SAMPLES_MAX of them between two calls of click_watch_turn.  The
 * samples show which resellers and ads are frequent; the exact numbers are in the counters. */
#ifndef DAYBOOK_ROLLUP_DAYS_CLICK_WATCH_H
#define DAYBOOK_ROLLUP_DAYS_CLICK_WATCH_H

#include "base/frequent.h"
#include "rollup/click_stream.h"
#include "storage/cell/write_batch.h"

/* A struct of zeros is a watch that is off. */
struct click_watch {
    bool is_on;
    uint64_t clicks;                   /* clicks applied since click_watch_begin; some may not be
                                        * durable yet */
    bool has_missed;                   /* some clicks since the last turn were not sampled */
    struct frequent resellers, ads;
    uint64_t step;                     /* private, as are the rest: one of so many clicks is
                                        * sampled */
    uint64_t skipped;                  /* clicks before the next sample */
    uint64_t random;
    uint64_t turn_clicks;              /* `clicks` at the last turn */
    uint32_t samples;                  /* samples since the last turn */
};

void click_watch_begin(struct click_watch *watch);
void click_watch_end(struct click_watch *watch);           /* frees the memory */
/* Count and sample the clicks of a batch whose hooks have run. */
void click_watch_take(struct click_watch *watch, const struct click_stream *stream,
                      const struct write_batch *batch);
/* To be called regularly.  Earlier samples then count less, and the number of clicks since the last
 * turn decides how often later clicks are sampled. */
void click_watch_turn(struct click_watch *watch);
#endif

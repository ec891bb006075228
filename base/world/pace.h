/* pace: divides long work beside ingest into short pieces, each followed by a rest of equal length.
 *
 * A thread that computes without a pause keeps the engine thread from its core until the next tick
 * of the system's clock, for some milliseconds in which all requests wait.  So while frames are
 * sealed, flushes and merges work for a tenth of a millisecond at a time and then sleep or, where
 * there is no time for that, yield (base/world/thread.h). */
#ifndef DAYBOOK_BASE_WORLD_PACE_H
#define DAYBOOK_BASE_WORLD_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/world/world.h"

/* In its owner's memory; used by one thread at a time. */
struct pace {
    struct clock *clock;
    const atomic_uint_fast64_t *frames_sealed; /* they grow while there is ingest */
    bool hurries;      /* set by the owner: there is no time to rest */
    uint64_t frames_seen;
    int64_t sealed_us; /* when frames_sealed was last seen to grow, monotonic */
    int64_t rested_us; /* when the last rest ended, monotonic */
    int64_t owed_us;   /* time to rest; negative: the last rests were longer than they had to be */
};

/* Begin to measure now; `hurries` stays as it is. */
void pace_begin(struct pace *pace, struct clock *clock, const atomic_uint_fast64_t *frames_sealed);
/* Rest or yield if it is time to.  To be called about every ten microseconds during the work. */
void pace_keep(struct pace *pace);
#endif

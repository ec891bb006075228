/* pace: divides long work during ingest into short pieces, each followed by a rest of equal length.
 *
 * A thread that computes without a pause may keep the engine thread from its core until the next
 * tick of the system's clock, for some milliseconds in which all requests wait.  So while frames
 * are sealed, flushes and merges work for a tenth of a millisecond and then sleep as long, unless
 * there is no time to sleep. */
#ifndef DAYBOOK_BASE_WORLD_PACE_H
#define DAYBOOK_BASE_WORLD_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/world/world.h"

/* Allocated by its owner; used by one thread at a time. */
struct pace {
    struct clock *clock;
    const atomic_uint_fast64_t *frames_sealed; /* a count, which grows during ingest */
    bool hurries;      /* set by the owner: there is no time to rest */
    uint64_t frames_seen;
    int64_t sealed_us; /* when frames_sealed was last seen to grow, monotonic */
    int64_t rested_us; /* when the present piece of work began, monotonic */
    int64_t owed_us;   /* the time to rest; negative: what was rested too much */
};

/* Begin to measure now.  `hurries` does not change. */
void pace_begin(struct pace *pace, struct clock *clock, const atomic_uint_fast64_t *frames_sealed);
/* Sleep if a piece of work has ended during ingest; without ingest, return at once.  To be called
 * about every 10 us during the work. */
void pace_keep(struct pace *pace);
#endif

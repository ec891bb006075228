/* pace: long work beside ingest, done in short pieces with as long a rest after each.
 *
 * A thread that works without end keeps the engine's thread from its core until the system's clock
 * ticks, some milliseconds, and so do all who wait for an answer.  So flushes and merges work for a
 * tenth of a millisecond at a time, while frames are sealed, and then rest, or, where there is no
 * time for that, give way (base/world/thread.h). */
#ifndef DAYBOOK_BASE_WORLD_PACE_H
#define DAYBOOK_BASE_WORLD_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/world/world.h"

/* Its owner's memory; one thread's at a time. */
struct pace {
    struct clock *clock;
    const atomic_uint_fast64_t *frames_sealed; /* they grow while there is ingest */
    bool hurries;                              /* the owner's to set: there is no time to rest */
    uint64_t frames_seen;
    int64_t sealed_us; /* when it was last seen that they grew, */
    int64_t rested_us; /* and when the last rest ended: monotonic */
    int64_t owed_us;   /* of rest; negative: the last ones were longer, as others had the core */
};

/* From now on; `hurries` stays as it is. */
void pace_begin(struct pace *pace, struct clock *clock, const atomic_uint_fast64_t *frames_sealed);
/* To be called every some ten microseconds of work; rests, or gives way, if it is time to. */
void pace_keep(struct pace *pace);
#endif

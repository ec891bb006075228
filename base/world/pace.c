/* pace: see the header. */
#include "base/world/pace.h"

enum {
    PIECE_US = 100,
    REST_MAX_US = 100000,    /* the longest rest; owed_us is at least -REST_MAX_US */
    INGEST_LASTS_US = 100000 /* ingest is taken to last so long after a frame was sealed; some ten
                              * large frames are sealed in a second */
};

void pace_begin(struct pace *pace, struct clock *clock, const atomic_uint_fast64_t *frames_sealed)
{
    pace->clock = clock;
    pace->frames_sealed = frames_sealed;
    pace->frames_seen = atomic_load_explicit(frames_sealed, memory_order_relaxed);
    pace->rested_us = clock->monotonic_us(clock);
    pace->owed_us = 0;
    pace->sealed_us = pace->rested_us - INGEST_LASTS_US;
}

static bool is_ingest(struct pace *pace, int64_t now_us)
{
    uint64_t frames = atomic_load_explicit(pace->frames_sealed, memory_order_relaxed);
    if (frames != pace->frames_seen)
        pace->sealed_us = now_us;
    pace->frames_seen = frames;
    return now_us - pace->sealed_us < INGEST_LASTS_US;
}

/* Sleep for the time that is owed. */
static void rest(struct pace *pace)
{
    struct clock *clock = pace->clock;
    int64_t began_us = pace->rested_us;
    clock->sleep_us(clock, pace->owed_us < REST_MAX_US ? pace->owed_us : REST_MAX_US);
    pace->rested_us = clock->monotonic_us(clock);
    pace->owed_us -= pace->rested_us - began_us;
    if (pace->owed_us < -REST_MAX_US)
        pace->owed_us = -REST_MAX_US;
}

void pace_keep(struct pace *pace)
{
    struct clock *clock = pace->clock;
    int64_t now_us = clock->monotonic_us(clock);
    int64_t worked_us = now_us - pace->rested_us;
    if (worked_us < PIECE_US)
        return;
    pace->rested_us = now_us;
    if (!is_ingest(pace, now_us) || pace->hurries)
        pace->owed_us = 0;
    else
        pace->owed_us += worked_us;
    if (pace->owed_us >= PIECE_US)
        rest(pace);
}

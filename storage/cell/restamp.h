/* restamp: maps write timestamps that are in the future to the present, in the same order.
 *
 *     before      a   b   now        c d     e       last    f
 *     after       a   b     now c d e                                  f
 *
 * Times after `after_us` (now) and up to `until_us` (last) are moved directly behind `after_us`;
 * others stay.  The mapping is strictly ascending, so every comparison of two times has the same
 * result as before.
 *
 * All times are noted first, as spans.  If there are too many spans, spans that are close together
 * are joined; times within a span keep their distances. */
#ifndef DAYBOOK_STORAGE_CELL_RESTAMP_H
#define DAYBOOK_STORAGE_CELL_RESTAMP_H

#include "storage/cell/stream.h"

enum { RESTAMP_SPANS_MAX = 4 << 20 };

struct restamp_span {
    int64_t first_us;
    int64_t last_us;
    int64_t to_us;                     /* the new value of `first_us` */
};

struct restamp {
    int64_t after_us;
    int64_t until_us;
    int64_t end_us;                    /* the latest mapped time, after restamp_settle */
    uint64_t noted;                    /* calls of restamp_note with a time that moves */
    struct restamp_span *spans;
    uint32_t count;
    uint32_t capacity;
    uint32_t spans_max;
    int64_t gap_us;                    /* spans at most this far apart are joined */
};

/* Map times after `after_us` and up to `until_us`; 0 < after_us <= until_us.  `spans_max` is 2 or
 * more. */
void restamp_init(struct restamp *restamp, int64_t after_us, int64_t until_us, uint32_t spans_max);
void restamp_release(struct restamp *restamp);
/* Note a time, if it moves.  Returns the time itself, for use with restamp_of_stream. */
int64_t restamp_note(struct restamp *restamp, int64_t timestamp_us);
/* Call this after all times are noted, before restamp_of. */
void restamp_settle(struct restamp *restamp);
/* The time must have been noted, unless it is one that stays. */
int64_t restamp_of(const struct restamp *restamp, int64_t timestamp_us);

/* The items of `inner` (owned) with `each` applied to every write timestamp, within counters,
 * too. */
struct restamp_each {
    int64_t (*call)(void *context, int64_t timestamp_us);
    void *context;
};
struct stream *restamp_of_stream(struct stream *inner, struct restamp_each each);
#endif

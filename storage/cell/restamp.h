/* restamp: maps write timestamps that are in the future to the present, in the same order.
 *
 *     before      a   b   now        c d     e       last    f
 *     after       a   b     now c d e                                  f
 *
 * Times after `after_us` and up to `until_us` are moved directly behind `after_us`, close together;
 * earlier and later times stay.  The mapping is strictly ascending over all times, so every
 * comparison of two times has the same result as before: which value wins, what a deletion hides,
 * which shards of a counter are older than its reset.
 *
 * All times are noted first, as spans.  When there are too many spans, those that are closest to
 * each other are joined; the times within a span keep their distances. */
#ifndef DAYBOOK_STORAGE_CELL_RESTAMP_H
#define DAYBOOK_STORAGE_CELL_RESTAMP_H

#include "storage/cell/stream.h"

enum { RESTAMP_SPANS_MAX = 4 << 20 };  /* so many spans take 96 MiB */

struct restamp_span {
    int64_t first_us;
    int64_t last_us;
    int64_t to_us;                     /* what `first_us` becomes; set by restamp_settle */
};

struct restamp {
    int64_t after_us;
    int64_t until_us;
    int64_t end_us;                    /* the latest time to which any is mapped; set by
                                        * restamp_settle */
    uint64_t noted;                    /* calls of restamp_note with a time that is mapped */
    struct restamp_span *spans;
    uint32_t count;
    uint32_t capacity;
    uint32_t spans_max;
    int64_t gap_us;                    /* spans that are at most this far apart are joined */
};

/* Map times after `after_us` and up to `until_us`; 0 < after_us <= until_us.  At most `spans_max`
 * spans are kept; `spans_max` is 2 or more. */
void restamp_init(struct restamp *restamp, int64_t after_us, int64_t until_us, uint32_t spans_max);
void restamp_release(struct restamp *restamp);
/* Note a time; a time that stays is ignored.  Returns the same time, so that a stream of
 * restamp_of_stream can note all times of its items and leave them unchanged. */
int64_t restamp_note(struct restamp *restamp, int64_t timestamp_us);
/* Work out the mapping: after all times were noted, and before restamp_of is called. */
void restamp_settle(struct restamp *restamp);
/* The time to which `timestamp_us` is mapped.  It must have been noted, unless it is one that
 * stays. */
int64_t restamp_of(const struct restamp *restamp, int64_t timestamp_us);

/* A stream of the items of `inner` (owned), in which each write timestamp, also one within a
 * counter, is replaced by what `each` returns for it. */
struct restamp_each {
    int64_t (*call)(void *context, int64_t timestamp_us);
    void *context;
};
struct stream *restamp_of_stream(struct stream *inner, struct restamp_each each);
#endif

/* restamp: write timestamps that are ahead of now, as ones that are not, in the same order.
 *
 *     before      a   b   now        c d     e       last    f
 *     after       a   b     now c d e                                  f
 *
 * What lies between `after_us` and `until_us` comes directly behind `after_us`, close together;
 * what was written up to `after_us`, or is later than `until_us`, keeps its time.  That is one
 * strictly ascending function of all times, so no comparison of two of them comes out otherwise:
 * which value stands, what a deletion hides, which shards of a counter are from before it was set.
 *
 * Times are noted first, all of them.  They are kept as spans; where there are too many, spans with
 * the least between them become one, whose times then keep their distances. */
#ifndef DAYBOOK_STORAGE_CELL_RESTAMP_H
#define DAYBOOK_STORAGE_CELL_RESTAMP_H

#include "storage/cell/stream.h"

enum { RESTAMP_SPANS_MAX = 4 << 20 };  /* 96 MiB */

struct restamp_span {
    int64_t first_us;
    int64_t last_us;
    int64_t to_us;                     /* what `first_us` becomes; once it is settled */
};

struct restamp {
    int64_t after_us;
    int64_t until_us;
    int64_t end_us;                    /* the newest time that any becomes; once it is settled */
    uint64_t noted;                    /* times between the two, one that came twice twice */
    struct restamp_span *spans;
    uint32_t count;
    uint32_t capacity;
    uint32_t spans_max;
    int64_t gap_us;                    /* spans so close to each other are one */
};

/* Times between the two, of which `after_us` is the earlier one, and at least 1. */
void restamp_init(struct restamp *restamp, int64_t after_us, int64_t until_us, uint32_t spans_max);
void restamp_release(struct restamp *restamp);
/* Note a time, of any kind: the same time is given back, so that what notes can also map. */
int64_t restamp_note(struct restamp *restamp, int64_t timestamp_us);
/* All were noted. */
void restamp_settle(struct restamp *restamp);
/* What a time becomes that was noted, or lies outside. */
int64_t restamp_of(const struct restamp *restamp, int64_t timestamp_us);

/* `inner` (owned) with all its times, those in counters too, as `each` gives them. */
struct restamp_each {
    int64_t (*call)(void *context, int64_t timestamp_us);
    void *context;
};
struct stream *restamp_of_stream(struct stream *inner, struct restamp_each each);
#endif

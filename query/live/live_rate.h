/* live_rate: how many a second there are, from readings of a count: over the second before the last
 * reading, or since the first one if that is later. */
#ifndef DAYBOOK_QUERY_LIVE_LIVE_RATE_H
#define DAYBOOK_QUERY_LIVE_LIVE_RATE_H

#include <stdbool.h>
#include <stdint.h>

enum { LIVE_RATE_READINGS = 8 };

/* Begins as zeros. */
struct live_rate {
    uint64_t counts[LIVE_RATE_READINGS];       /* newest first */
    int64_t at_us[LIVE_RATE_READINGS];         /* monotonic */
    uint32_t readings;
};

/* `at_us` is later than that of the reading before. */
void live_rate_read(struct live_rate *rate, uint64_t count, int64_t at_us);
/* False: there was no second reading yet.  A count that became smaller has a rate of 0. */
bool live_rate_per_second(const struct live_rate *rate, double *per_second_out);
#endif

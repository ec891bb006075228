/* live_rate: computes a rate per second from readings of a count.  The rate is the mean over about
 * a second before the last reading, or since the oldest kept reading if none is a second old. */
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

/* Add a reading at `at_us` (monotonic), which is later than the reading before. */
void live_rate_read(struct live_rate *rate, uint64_t count, int64_t at_us);
/* False: there are fewer than two readings.  If the count has become smaller, the rate is 0. */
bool live_rate_per_second(const struct live_rate *rate, double *per_second_out);
#endif

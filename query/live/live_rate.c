/* live_rate: see the header. */
#include "query/live/live_rate.h"

#include <string.h>

#define SECOND_US INT64_C(1000000)
#define SLACK_US  INT64_C(100000)

void live_rate_read(struct live_rate *rate, uint64_t count, int64_t at_us)
{
    memmove(&rate->counts[1], &rate->counts[0], sizeof rate->counts - sizeof rate->counts[0]);
    memmove(&rate->at_us[1], &rate->at_us[0], sizeof rate->at_us - sizeof rate->at_us[0]);
    rate->counts[0] = count;
    rate->at_us[0] = at_us;
    if (rate->readings < LIVE_RATE_READINGS)
        rate->readings++;
}

bool live_rate_per_second(const struct live_rate *rate, double *per_second_out)
{
    uint32_t first = 1;

    if (rate->readings < 2)
        return false;
    while (first + 1 < rate->readings && rate->at_us[0] - rate->at_us[first] < SECOND_US - SLACK_US)
        first++;
    double seconds = (double)(rate->at_us[0] - rate->at_us[first]) / (double)SECOND_US;
    uint64_t more =
        rate->counts[0] > rate->counts[first] ? rate->counts[0] - rate->counts[first] : 0;
    *per_second_out = seconds > 0 ? (double)more / seconds : 0;
    return true;
}

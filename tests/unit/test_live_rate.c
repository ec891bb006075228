/* test_live_rate: how many a second, of counts that are read more or less often. */
#include "query/live/live_rate.h"

#include <criterion/criterion.h>

#define MS INT64_C(1000)

static double per_second(const struct live_rate *rate)
{
    double value = -1;

    cr_expect_eq(live_rate_per_second(rate, &value), value >= 0);
    return value;
}

Test(live_rate, is_that_of_the_last_second)
{
    struct live_rate rate = {0};

    cr_expect_eq(per_second(&rate), -1);
    live_rate_read(&rate, 1000, 500 * MS);
    cr_expect_eq(per_second(&rate), -1);
    live_rate_read(&rate, 1100, 1000 * MS);
    cr_expect_eq(per_second(&rate), 200, "100 in half a second");
    live_rate_read(&rate, 1100, 1500 * MS);
    cr_expect_eq(per_second(&rate), 100, "100 in a second");
    live_rate_read(&rate, 1100, 2000 * MS);
    cr_expect_eq(per_second(&rate), 0);
    live_rate_read(&rate, 1900, 6000 * MS);
    cr_expect_eq(per_second(&rate), 200, "800 in four seconds");
    live_rate_read(&rate, 1500, 7000 * MS);
    cr_expect_eq(per_second(&rate), 0, "clicks were voided");
}

/* Readings that come very often: as far back as they are kept. */
Test(live_rate, has_few_readings)
{
    struct live_rate rate = {0};

    for (int i = 0; i < 100; i++)
        live_rate_read(&rate, (uint64_t)i, i * MS);
    cr_expect_eq(per_second(&rate), 1000);
}

/* sealed_clicks: what the seals of a store hold, added up: rows of sealed_day by reseller and day,
 * rows of sealed_ad by ad. */
#ifndef DAYBOOK_TESTS_SIM_SEALED_CLICKS_H
#define DAYBOOK_TESTS_SIM_SEALED_CLICKS_H

#include "tests/lib/rollup_fixture.h"

enum { SEALED_SUMS_MAX = 64 };

struct sealed_sum {
    char name[32];                 /* "r1 2013-11-28", or an ad */
    uint64_t clicks;
    struct decimal gross;
};

struct sealed_sums {
    struct sealed_sum items[SEALED_SUMS_MAX];
    uint32_t count;
};

struct sealed_clicks {
    struct sealed_sums days;       /* as sealed_day has them */
    struct sealed_sums ads_by_day; /* the same, as sealed_ad has them */
    struct sealed_sums ads;
};

/* Of all seals that are durable; fails the test when a row does not check. */
struct sealed_clicks sealed_clicks_read(struct rollup_fixture *fixture);
/* NULL: nothing of that name is sealed. */
const struct sealed_sum *sealed_sums_find(const struct sealed_sums *sums, const char *name);
#endif

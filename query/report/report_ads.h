/* report_ads: sums up the clicks of one reseller by ad, for `report --by ad` and `report --ad`.
 *
 * It reads the clicks of each day; of days whose clicks have expired, it reads the seals
 * (rollup/days/seal.h).  An ad's amount is the sum, over the days, of the ad's gross times the
 * day's rate. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_ADS_H
#define DAYBOOK_QUERY_REPORT_REPORT_ADS_H

#include "base/cli/command.h"
#include "query/report/report_sum.h"

struct report_ads;

struct report_ad {
    struct bytes ad;
    struct report_sum sum;
};

/* All arguments must outlive the result.  `only`: the one ad that is summed up; empty: all ads.
 * Memory is reserved by command_keep on `output`. */
struct report_ads *report_ads_new(struct store *store, struct rollup *rollup, struct bytes only,
                                  struct command_output *output);
void report_ads_free(struct report_ads *ads);                  /* NULL is fine */
void report_ads_clear(struct report_ads *ads);                 /* for the next reseller */

/* Add the clicks of the figure's day; `figure` is copied.  `done` is called once, possibly before
 * this function returns.  ERROR_LIMIT: command_keep grants no memory for so many ads. */
void report_ads_add(struct report_ads *ads, const struct day_figure *figure, store_done done,
                    void *context);

/* Once the days of a reseller were added: the next ad in the order of bytes, valid until the next
 * report_ads_clear.  NULL: all were returned. */
const struct report_ad *report_ads_next(struct report_ads *ads);
#endif

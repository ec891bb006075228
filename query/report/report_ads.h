/* report_ads: the clicks of one reseller by ad, for `report --by ad`.
 *
 * Figures are kept by day, not by ad.  So the clicks of the days are read, one partition after the
 * other and page by page, and the seals of days whose clicks have expired (rollup/days/seal.h).  In
 * memory is one entry for each ad of the reseller.  An ad's amount is the sum over the days of its
 * gross times the day's rate, so that the ads of a reseller add up to the reseller's amount digit
 * for digit. */
#ifndef DAYBOOK_QUERY_REPORT_REPORT_ADS_H
#define DAYBOOK_QUERY_REPORT_REPORT_ADS_H

#include "base/cli/command.h"
#include "query/report/report_sum.h"

struct report_ads;

struct report_ad {
    struct bytes ad;
    struct report_sum sum;
};

/* All arguments outlive it.  Its memory is reserved by command_keep for the command of `output`. */
struct report_ads *report_ads_new(struct store *store, struct rollup *rollup,
                                  struct command_output *output);
void report_ads_free(struct report_ads *ads);                  /* NULL is fine */
void report_ads_clear(struct report_ads *ads);                 /* for the next reseller */

/* Add the day's clicks; `figure` is copied.  `done` comes once, perhaps before the call returns;
 * ERROR_LIMIT: there is no room for so many ads. */
void report_ads_add(struct report_ads *ads, const struct day_figure *figure, store_done done,
                    void *context);

/* In the order of the ads' bytes; valid until something is added. */
const struct report_ad *report_ads_sorted(struct report_ads *ads, uint32_t *count_out);
#endif

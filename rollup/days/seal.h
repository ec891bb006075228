/* seal: what is kept of a day whose clicks have expired.
 *
 * When the clicks of a day have been kept for their number of days, the day is *sealed*, if it is
 * published and not dirty.  One frame then has all of
 *
 *     sealed_day     one row: count and exact sums, per scale, of the expired clicks
 *     sealed_ad      one row for each ad: clicks, gross
 *     ad_click       the deletion of the (reseller, day) partition
 *     amount_by_day  state 'sealed'; the figure does not change
 *     change         the command, or the server, that sealed the day
 *     dirty_day      a mark with cause `expiry`, which the commit hook adds, so that the refresh
 *                    computes the figure again from the seal
 *
 * So after a crash the day either has its clicks or is sealed.  Counters are not changed: they
 * equal the clicks that are left plus those of the seals.  The figure is computed from both:
 *
 *     figure of a day = (stats of its clicks + stats of its seals) x rate in effect
 *
 * What happens to a sealed day later:
 *
 *   a changed rate     prices the day again, from the gross that the seals keep
 *   a late click       gets a rank (from 0 again once the expired clicks have left the disk), is
 *                      counted, and restates the day, as any late click does; the next pass makes
 *                      one more seal of the day for it, and readers add up all seals of a day
 *   a void, a restore  of clicks of a sealed day is refused, as the single clicks are not known
 *
 * The id of a seal is the id of its row in `change`.  Each row of a seal has a checksum.  The sums
 * of the ads' clicks and gross must equal the day's.  No code deletes or changes a seal.
 *
 * A reader of a day's clicks and seals must hold a pin (rollup_pin_seals).  Otherwise it may find a
 * click in both or in neither. */
#ifndef DAYBOOK_ROLLUP_DAYS_SEAL_H
#define DAYBOOK_ROLLUP_DAYS_SEAL_H

#include "base/uuid.h"
#include "rollup/days/rollup.h"

/* A row of sealed_day. */
struct seal {
    struct bytes key;                  /* the day's partition key in ad_click */
    uint8_t id[UUID_SIZE];
    struct partition_stats stats;      /* owned */
    uint64_t ads;                      /* how many rows of sealed_ad the seal has */
};

/* A row of sealed_ad; the bytes are views of the row. */
struct sealed_ad {
    struct bytes key;
    uint8_t id[UUID_SIZE];
    struct bytes ad;
    uint64_t clicks;
    struct decimal gross;              /* with the largest scale of its amounts */
};

/* ERROR_CORRUPT, with a text that names the day and the ad: the row is no seal or its checksum is
 * wrong.  The caller releases the stats of a seal that was read. */
must_check int seal_read(const struct table *table, const struct page_row *row,
                         struct seal *seal_out, struct error *err);
must_check int seal_read_ad(const struct table *table, const struct page_row *row,
                              struct sealed_ad *ad_out, struct error *err);

void seal_write(struct write_batch *batch, const struct table *table, const struct seal *seal);
void seal_write_ad(struct write_batch *batch, const struct table *table,
                     const struct sealed_ad *ad);

/* Before the read all members but `done` and `context` are zero. */
struct seal_sum {
    struct partition_stats stats;      /* the sum of clicks and seals; the caller releases it */
    uint64_t clicks;                   /* how many of stats.rows are in the clicks' table */
    uint32_t seals;
    store_done done;
    void *context;
    uint32_t parts;                    /* private: reads under way */
    struct error *err;                 /* private: the first failure; NULL: none */
};
/* Add up the clicks of the day with partition key `key` and, if `may_have_seals`, its seals.  `sum`
 * must not be moved until sum->done, which is called once, perhaps before the call returns. */
void seal_sum_read(struct store *store, const struct click_stream *stream, struct bytes key,
                   bool may_have_seals, enum read_view view, struct seal_sum *sum);
#endif

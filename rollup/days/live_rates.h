/* live_rates: the rates of a stream as they are applied, and how many of their changes are durable.
 *
 * The commit hook changes the table in the call that applies a batch, so the table may be ahead of
 * the disk.  Readers may return a figure at these rates only when all changes of the rates are
 * durable.  Changes are counted; a batch that changes any rates counts as one change:
 *
 *     changed   3   4   5   6        the rollup applies a batch after change 5:
 *     durable   3   3   3   5  ◀──── when this batch is durable, so are all changes up to 5
 */
#ifndef DAYBOOK_ROLLUP_DAYS_LIVE_RATES_H
#define DAYBOOK_ROLLUP_DAYS_LIVE_RATES_H

#include "rollup/days/rate.h"

struct live_rates {
    struct rate_table *table;          /* owned */
    uint64_t changed;                  /* the number of changes; live_rates_forget is one, too */
    uint64_t durable;                  /* how many of these changes are known to be durable */
    uint64_t sent;                     /* `durable` gets this value when sent_batch is durable */
    uint64_t sent_batch;               /* the number of a batch of the rollup that is not durable
                                        * yet; 0: none is waited for */
};

void live_rates_init(struct live_rates *rates);
void live_rates_release(struct live_rates *rates);

/* Remove all rates: the stream's table of rates was replaced by an empty one. */
void live_rates_forget(struct live_rates *rates);

void live_rates_note_changed(struct live_rates *rates);
/* Note that changes up to number `changed` are durable. */
void live_rates_note_durable(struct live_rates *rates, uint64_t changed);
bool live_rates_are_durable(const struct live_rates *rates);

/* Note that the rollup's batch number `batch` (from 1 on, ascending) is about to be applied. */
void live_rates_send(struct live_rates *rates, uint64_t batch);
/* Note that the store refused the batch. */
void live_rates_take_back(struct live_rates *rates, uint64_t batch);
/* Note that the batch is durable, and so are all earlier batches. */
void live_rates_batch_durable(struct live_rates *rates, uint64_t batch);
#endif

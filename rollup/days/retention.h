/* retention: for how many days a stream's clicks are kept, and up to which day they are sealed.
 * Both are in the stream's row of the table `retention`. */
#ifndef DAYBOOK_ROLLUP_DAYS_RETENTION_H
#define DAYBOOK_ROLLUP_DAYS_RETENTION_H

#include "rollup/click_stream.h"
#include "storage/cell/write_batch.h"
#include "storage/engine/store.h"

enum { KEEP_DAYS_MAX = 100000 };

#define SEALED_NONE INT32_MIN          /* no day has a seal */

struct retention {
    struct store *store;
    const struct click_stream *stream;
    uint32_t keep_days;                /* 0: clicks are kept for ever */
    int32_t sealed_to;                 /* no later day has a seal */
    int32_t seal_from;                 /* a seal pass begins with this day, because no earlier day
                                        * can be due */
    int failure;                       /* error code of the last pass; 0: it did not fail */
    int32_t pause_ms;                  /* a server's pause if the last pass made no progress;
                                        * otherwise 0 */
    store_done loaded;                 /* private, as is `context` */
    void *context;
};

/* `keep_days` is used if the row has no number of days. */
void retention_init(struct retention *retention, struct store *store,
                    const struct click_stream *stream, uint32_t keep_days);
void retention_load(struct retention *retention, store_done done, void *context);

/* Note a day that may be due for a seal: it is no longer dirty, and no restatement is pending. */
void retention_expect(struct retention *retention, int32_t day);

/* Add to a batch the row with one of its columns: keep_days (for how many days clicks are kept), or
 * sealed_to (no later day has a seal). */
void retention_write_keep(const struct retention *retention, struct write_batch *batch,
                          uint32_t keep_days);
void retention_write_sealed_to(const struct retention *retention, struct write_batch *batch,
                               int32_t day);
#endif

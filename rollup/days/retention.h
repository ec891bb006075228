/* retention: for how many days a stream's clicks are kept, and up to which day they are sealed: the
 * stream's row of the table `retention`, and what a seal pass needs besides. */
#ifndef DAYBOOK_ROLLUP_DAYS_RETENTION_H
#define DAYBOOK_ROLLUP_DAYS_RETENTION_H

#include "rollup/click_stream.h"
#include "storage/cell/write_batch.h"
#include "storage/engine/store.h"

enum { KEEP_DAYS_MAX = 100000 };       /* of clicks, before their days are sealed */

#define SEALED_NONE INT32_MIN          /* no day has a seal */

struct retention {
    struct store *store;
    const struct click_stream *stream;
    uint32_t keep_days;                /* of clicks; 0: for ever */
    int32_t sealed_to;                 /* no later day has a seal */
    int32_t seal_from;                 /* no earlier day may have become due for one */
    store_done loaded;                 /* private, as the next */
    void *context;
};

/* `keep_days` holds unless the row has another number. */
void retention_init(struct retention *retention, struct store *store,
                    const struct click_stream *stream, uint32_t keep_days);
/* Read the row. */
void retention_load(struct retention *retention, store_done done, void *context);

/* Nothing is owed of the day's clicks any more: a seal may be due, if they have expired. */
void retention_expect(struct retention *retention, int32_t day);

/* Add the row to a batch with one of its columns: for how many days clicks are kept; up to which
 * day there are seals. */
void retention_write_keep(const struct retention *retention, struct write_batch *batch,
                          uint32_t keep_days);
void retention_write_sealed_to(const struct retention *retention, struct write_batch *batch,
                               int32_t day);
#endif

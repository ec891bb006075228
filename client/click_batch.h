/* click_batch: a batch of clicks as columns, with tables of its resellers, ads and partitions.
 *
 * frame_writer also takes click_columns that were made without a click_batch. */
#ifndef DAYBOOK_CLIENT_CLICK_BATCH_H
#define DAYBOOK_CLIENT_CLICK_BATCH_H

#include "client/daybook.h"
#include "client/string_map.h"

struct click_partition {
    uint32_t reseller;                 /* index into the batch's resellers */
    int32_t day;                       /* days since 1970-01-01, or DAYBOOK_DAY_NONE */
};

/* No table contains an entry twice.  The server refuses a batch if one of its tables has more
 * entries than the batch has rows. */
struct click_columns {
    uint32_t rows;
    uint32_t partition_count;
    const struct click_partition *partitions;
    const struct string_map *resellers, *ads;
    const uint32_t *partition_codes, *ad_codes;
    const int64_t *times, *amounts;
    const uint8_t *scales;
};

/* All-zero is an empty batch. */
struct click_batch {
    uint32_t rows;
    size_t text_size;                  /* approximate size as lines of text */
    /* private */
    uint32_t row_capacity;
    uint32_t memo_capacity;
    struct string_map resellers, ads;
    struct string_map partitions;      /* each a struct click_partition */
    uint32_t *memos;                   /* the last partition of each reseller */
    uint32_t *partition_codes, *ad_codes;
    int64_t *times, *amounts;
    uint8_t *scales;
};

void click_batch_release(struct click_batch *batch);
void click_batch_clear(struct click_batch *batch);             /* keeps the memory */

/* After an error no row was added. */
int click_batch_add(struct click_batch *batch, const struct daybook_click *click);

/* Valid until the batch changes. */
struct click_columns click_batch_columns(const struct click_batch *batch);
#endif

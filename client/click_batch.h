/* click_batch: clicks as columns, with tables of their own for what repeats.
 *
 * It does not depend on a connection: the same batch can be written to several connections, and
 * code that has such columns can write them with frame_writer without a batch. */
#ifndef DAYBOOK_CLIENT_CLICK_BATCH_H
#define DAYBOOK_CLIENT_CLICK_BATCH_H

#include "client/daybook.h"
#include "client/string_map.h"

struct click_partition {
    uint32_t reseller;                 /* into the batch's resellers */
    int32_t day;                       /* or DAYBOOK_DAY_NONE */
};

/* Views.  Every entry of a table belongs to a row, and the entries of a table differ. */
struct click_columns {
    uint32_t rows;
    uint32_t partition_count;
    const struct click_partition *partitions;
    const struct string_map *resellers, *ads;
    const uint32_t *partition_codes, *ad_codes;    /* by row */
    const int64_t *times, *amounts;
    const uint8_t *scales;
};

/* All-zero is an empty one. */
struct click_batch {
    uint32_t rows;
    size_t text_size;                  /* bytes of the clicks as lines of text, about */
    /* private */
    uint32_t row_capacity;
    uint32_t memo_capacity;
    struct string_map resellers, ads;
    struct string_map partitions;      /* each is a struct click_partition */
    uint32_t *memos;                   /* by reseller: the partition of its last click */
    uint32_t *partition_codes, *ad_codes;
    int64_t *times, *amounts;
    uint8_t *scales;
};

void click_batch_release(struct click_batch *batch);
void click_batch_clear(struct click_batch *batch);             /* keeps the memory */

/* 0, DAYBOOK_INVALID or DAYBOOK_NO_MEMORY; then no row was added. */
int click_batch_add(struct click_batch *batch, const struct daybook_click *click);

/* Valid until the batch changes. */
struct click_columns click_batch_columns(const struct click_batch *batch);
#endif

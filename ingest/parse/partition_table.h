/* partition_table: finds the partitions of a block by (reseller, day).
 *
 * Each partition has a code in the block, and a mark, which is a number that the owner chooses.  A
 * slot whose mark is below `first` is free, so clearing need not touch the slots.  The table uses
 * open addressing with linear probing, and is at most half full. */
#ifndef DAYBOOK_INGEST_PARSE_PARTITION_TABLE_H
#define DAYBOOK_INGEST_PARSE_PARTITION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct partition_slot {
    uint32_t reseller;
    int32_t day;
    uint32_t code;                     /* set by the owner */
    uint32_t mark;
};

/* The owner may read `slots` and `first`; the rest is private. */
struct partition_table {
    struct partition_slot *slots;
    uint32_t mask;
    uint32_t count;
    uint32_t first;                    /* the least mark of a used slot; never 0 */
};

void partition_table_init(struct partition_table *table);
void partition_table_release(struct partition_table *table);
size_t partition_table_bytes(const struct partition_table *table);
/* Free all slots.  Later marks must be at least `first`, which is above all earlier marks; or it is
 * 1, so that marks count from 1 again, and the slots are allocated anew. */
void partition_table_clear(struct partition_table *table, uint32_t first);
/* Make space for `more` partitions.  Slots may move. */
void partition_table_reserve(struct partition_table *table, uint32_t more);

static inline struct partition_slot *partition_table_find(const struct partition_table *table,
                                                          uint32_t reseller, int32_t day)
{
    uint64_t product = ((uint64_t)reseller << 32 | (uint32_t)day) * UINT64_C(0x9E3779B97F4A7C15);

    for (uint32_t at = (uint32_t)(product >> 32) & table->mask;; at = (at + 1) & table->mask) {
        struct partition_slot *slot = &table->slots[at];

        if (slot->mark < table->first || (slot->reseller == reseller && slot->day == day))
            return slot;
    }
}

static inline bool partition_table_is_free(const struct partition_table *table,
                                           const struct partition_slot *slot)
{
    return slot->mark < table->first;
}

/* `slot` is the free slot that partition_table_find returned.  The table must have space
 * (partition_table_reserve). */
static inline void partition_table_put(struct partition_table *table, struct partition_slot *slot,
                                       struct partition_slot content)
{
    *slot = content;
    table->count++;
}
#endif

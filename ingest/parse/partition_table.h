/* partition_table: the partitions of a block, found by (reseller, day).
 *
 * Each has a code in the block, and the mark of what named it last: a batch, or all that was built
 * since the table was cleared.  Clearing is a step of the least mark that counts, so that a small
 * batch does not pay for the table that a large one has made.  Open addressing with linear probing,
 * at most half full. */
#ifndef DAYBOOK_INGEST_PARSE_PARTITION_TABLE_H
#define DAYBOOK_INGEST_PARSE_PARTITION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct partition_slot {
    uint32_t reseller;                 /* its code in the owner's dictionary */
    int32_t day;
    uint32_t code;                     /* the owner's */
    uint32_t mark;                     /* below the table's `first`: the slot is free */
};

/* In its owner's memory; private but for `slots` and `first`. */
struct partition_table {
    struct partition_slot *slots;
    uint32_t mask;                     /* slots - 1 */
    uint32_t count;
    uint32_t first;                    /* the least mark that counts; never 0 */
};

void partition_table_init(struct partition_table *table);
void partition_table_release(struct partition_table *table);
size_t partition_table_bytes(const struct partition_table *table);     /* of memory */
/* Free all slots.  Marks are at least `first` from here on, which is above all that were used, or 1
 * where they begin anew. */
void partition_table_clear(struct partition_table *table, uint32_t first);
/* Have room for `more` partitions; slots may move. */
void partition_table_reserve(struct partition_table *table, uint32_t more);

/* The slot of the partition, or the free one in which it belongs. */
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

/* Put a partition into the free slot that was found for it; room was reserved. */
static inline void partition_table_put(struct partition_table *table, struct partition_slot *slot,
                                       struct partition_slot content)
{
    *slot = content;
    table->count++;
}
#endif

/* partition_table: finds the partitions of a block by (reseller, day).
 *
 * Each partition has a code in the block, and a mark.  A mark is a number that the owner chooses:
 * binary_decoder marks a partition with the number of the batch that used it last.  A slot whose
 * mark is below `first` is free.  Clearing usually only raises `first`, so the cost of clearing
 * does not depend on the table's size.  The table uses open addressing with linear probing, and is
 * at most half full. */
#ifndef DAYBOOK_INGEST_PARSE_PARTITION_TABLE_H
#define DAYBOOK_INGEST_PARSE_PARTITION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct partition_slot {
    uint32_t reseller;                 /* the reseller's code in the owner's dictionary */
    int32_t day;
    uint32_t code;                     /* the partition's code, which the owner sets */
    uint32_t mark;                     /* below the table's `first`: the slot is free */
};

/* `slots` and `first` may be read by the owner; the rest is private. */
struct partition_table {
    struct partition_slot *slots;
    uint32_t mask;                     /* number of slots - 1 */
    uint32_t count;
    uint32_t first;                    /* the least mark of a used slot; never 0 */
};

void partition_table_init(struct partition_table *table);
void partition_table_release(struct partition_table *table);
size_t partition_table_bytes(const struct partition_table *table);     /* of memory */
/* Free all slots.  Later marks must be at least `first`.  `first` is above all marks used so far,
 * or it is 1 and marks count from 1 again. */
void partition_table_clear(struct partition_table *table, uint32_t first);
/* Make room for `more` partitions; slots may move. */
void partition_table_reserve(struct partition_table *table, uint32_t more);

/* The slot of the partition, or the free slot for it. */
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

/* Put a partition into the free slot that partition_table_find returned for it.  The table must
 * have room. */
static inline void partition_table_put(struct partition_table *table, struct partition_slot *slot,
                                       struct partition_slot content)
{
    *slot = content;
    table->count++;
}
#endif

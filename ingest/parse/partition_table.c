/* partition_table: see the header. */
#include "ingest/parse/partition_table.h"

#include "base/error.h"
#include "base/memory.h"

enum { SLOTS_MIN = 64, SLOTS_KEPT_MAX = 1 << 17 /* partition_table_clear frees a larger table */ };

static void table_allocate(struct partition_table *table, uint32_t slots)
{
    table->slots = memory_zeroed(slots, sizeof *table->slots);
    table->mask = slots - 1;
}

void partition_table_init(struct partition_table *table)
{
    *table = (struct partition_table){.first = 1};
    table_allocate(table, SLOTS_MIN);
}

void partition_table_release(struct partition_table *table)
{
    memory_free(table->slots);
    *table = (struct partition_table){0};
}

size_t partition_table_bytes(const struct partition_table *table)
{
    return ((size_t)table->mask + 1) * sizeof *table->slots;
}

void partition_table_clear(struct partition_table *table, uint32_t first)
{
    check(first > 0);
    /* When marks count from 1 again, marks left in the slots would seem valid. */
    if (first <= table->first || table->mask >= SLOTS_KEPT_MAX) {
        memory_free(table->slots);
        table_allocate(table, SLOTS_MIN);
    }
    table->first = first;
    table->count = 0;
}

void partition_table_reserve(struct partition_table *table, uint32_t more)
{
    struct partition_slot *old = table->slots;
    uint32_t old_slots = table->mask + 1;
    uint32_t slots = old_slots;

    while (slots / 2 < table->count + more)
        slots *= 2;
    if (slots == old_slots)
        return;
    table_allocate(table, slots);
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i].mark >= table->first)
            *partition_table_find(table, old[i].reseller, old[i].day) = old[i];
    memory_free(old);
}

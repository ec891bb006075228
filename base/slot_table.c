/* slot_table: how the table grows, and how an item is removed.
 *
 * What must hold: no slot is free between the slot where the search for an item begins and the slot
 * of the item. */
#include "base/slot_table.h"

#include "base/error.h"
#include "base/memory.h"

enum { SLOTS_MIN = 64 };

void slot_table_init(struct slot_table *table, uint64_t (*hash)(const void *item))
{
    *table = (struct slot_table){.mask = SLOTS_MIN - 1, .hash = hash};
    table->slots = memory_zeroed(SLOTS_MIN, sizeof(*table->slots));
}

void slot_table_release(struct slot_table *table)
{
    memory_free(table->slots);
    table->slots = NULL;
}

size_t slot_table_bytes(const struct slot_table *table)
{
    return ((size_t)table->mask + 1) * sizeof(*table->slots);
}

static void put(struct slot_table *table, void *item)
{
    uint32_t at = (uint32_t)table->hash(item) & table->mask;
    while (table->slots[at] != NULL)
        at = (at + 1) & table->mask;
    table->slots[at] = item;
}

static void grow(struct slot_table *table)
{
    void **old = table->slots;
    uint32_t old_count = table->mask + 1;
    check(old_count <= UINT32_MAX / 2);
    table->mask = old_count * 2 - 1;
    table->slots = memory_zeroed((size_t)old_count * 2, sizeof(*table->slots));
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i] != NULL)
            put(table, old[i]);
    memory_free(old);
}

void slot_table_add(struct slot_table *table, void *item)
{
    if (++table->count > table->mask / 2)
        grow(table);
    put(table, item);
}

void slot_table_remove(struct slot_table *table, uint32_t gap)
{
    uint32_t mask = table->mask;
    check(table->slots[gap] != NULL);
    for (uint32_t at = (gap + 1) & mask; table->slots[at] != NULL; at = (at + 1) & mask) {
        uint32_t home = (uint32_t)table->hash(table->slots[at]) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            table->slots[gap] = table->slots[at];
            gap = at;
        }
    }
    table->slots[gap] = NULL;
    table->count--;
}

void *slot_table_each(const struct slot_table *table, uint32_t *at)
{
    while (*at <= table->mask && table->slots[*at] == NULL)
        ++*at;
    return *at > table->mask ? NULL : table->slots[(*at)++];
}

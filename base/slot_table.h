/* slot_table: a hash table of items, on the heap; items may be removed.
 *
 *     uint32_t at;
 *     struct item *item = slot_table_first(&table, hash, &at);
 *     while (item != NULL && !(item is the one that is looked for))
 *         item = slot_table_next(&table, &at);
 *
 * The caller owns the items.  The table has open addressing with linear probing, is at most half
 * full, and grows in one step (base/key_places.h grows in many). */
#ifndef DAYBOOK_BASE_SLOT_TABLE_H
#define DAYBOOK_BASE_SLOT_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Private, except that `count` may be read. */
struct slot_table {
    void **slots;
    uint32_t mask;
    uint32_t count;
    uint64_t (*hash)(const void *item);
};

void slot_table_init(struct slot_table *table, uint64_t (*hash)(const void *item));
void slot_table_release(struct slot_table *table);           /* does not free the items */
size_t slot_table_bytes(const struct slot_table *table);

/* Returns the first candidate for `hash`, or NULL.  The candidate's hash may differ from `hash`.
 * `*at` is its slot. */
static inline void *slot_table_first(const struct slot_table *table, uint64_t hash, uint32_t *at)
{
    *at = (uint32_t)hash & table->mask;
    return table->slots[*at];
}

/* NULL: there are no more candidates. */
static inline void *slot_table_next(const struct slot_table *table, uint32_t *at)
{
    *at = (*at + 1) & table->mask;
    return table->slots[*at];
}

/* The item must not be in the table. */
void slot_table_add(struct slot_table *table, void *item);
/* The new item must have the same hash as the old one. */
static inline void slot_table_replace(struct slot_table *table, uint32_t at, void *item)
{
    table->slots[at] = item;
}
void slot_table_remove(struct slot_table *table, uint32_t at);

/* Returns another item at each call, and NULL after the last.  `*at` begins as 0.  No item may be
 * added or removed between the calls. */
void *slot_table_each(const struct slot_table *table, uint32_t *at);

static inline void slot_table_prefetch(const struct slot_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->slots[(uint32_t)hash & table->mask]);
}
#endif

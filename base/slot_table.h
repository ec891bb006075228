/* slot_table: a hash table of items, on the heap; items may be removed.
 *
 *     uint32_t at;
 *     struct item *item = slot_table_first(&table, hash, &at);
 *     while (item != NULL && !(item is the one that is looked for))
 *         item = slot_table_next(&table, &at);
 *
 * The caller owns the items and gives the function `hash` that computes an item's hash.  The table
 * has open addressing with linear probing, is at most half full, and grows in one step.
 * (base/key_places.h is a table of numbers in an arena; it grows in many steps, and removes
 * nothing.) */
#ifndef DAYBOOK_BASE_SLOT_TABLE_H
#define DAYBOOK_BASE_SLOT_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Allocated by its owner; private, except that `count` may be read. */
struct slot_table {
    void **slots;                      /* NULL: free */
    uint32_t mask;                     /* slots - 1 */
    uint32_t count;
    uint64_t (*hash)(const void *item);
};

void slot_table_init(struct slot_table *table, uint64_t (*hash)(const void *item));
void slot_table_release(struct slot_table *table);           /* does not free the items */
size_t slot_table_bytes(const struct slot_table *table);     /* of memory, beside the struct */

/* The first item that a search for `hash` finds, with its slot in `*at`; NULL: there is none.  The
 * hashes of items that are found may differ from `hash`. */
static inline void *slot_table_first(const struct slot_table *table, uint64_t hash, uint32_t *at)
{
    *at = (uint32_t)hash & table->mask;
    return table->slots[*at];
}

/* The item in the next slot; NULL: the search has found all. */
static inline void *slot_table_next(const struct slot_table *table, uint32_t *at)
{
    *at = (*at + 1) & table->mask;
    return table->slots[*at];
}

/* Add an item that is not in the table. */
void slot_table_add(struct slot_table *table, void *item);
/* Replace the item that was found at `at` by one that has the same hash. */
static inline void slot_table_replace(struct slot_table *table, uint32_t at, void *item)
{
    table->slots[at] = item;
}
/* Remove the item that was found at `at`. */
void slot_table_remove(struct slot_table *table, uint32_t at);

/* Each call returns another item, in no order, and NULL after the last; `*at` is 0 before the first
 * call.  No item may be added or removed between the calls. */
void *slot_table_each(const struct slot_table *table, uint32_t *at);

/* Fetch into the cache the slot where a search for the hash begins. */
static inline void slot_table_prefetch(const struct slot_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->slots[(uint32_t)hash & table->mask]);
}
#endif

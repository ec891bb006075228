/* slot_table: items found by a hash, on the heap, where they may also be taken out.
 *
 *     uint32_t at;
 *     struct item *item = slot_table_first(&table, hash, &at);
 *     while (item != NULL && !(item is the one))
 *         item = slot_table_next(&table, &at);
 *
 * Items are the caller's and say their hash themselves.  Open addressing with linear probing, at
 * most half full; it grows at once.  (base/key_places.h finds numbers, in an arena, and grows in
 * steps, but keeps all.) */
#ifndef DAYBOOK_BASE_SLOT_TABLE_H
#define DAYBOOK_BASE_SLOT_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* In its owner's memory; private but for `count`. */
struct slot_table {
    void **slots;                      /* NULL: free */
    uint32_t mask;                     /* slots - 1 */
    uint32_t count;
    uint64_t (*hash)(const void *item);
};

void slot_table_init(struct slot_table *table, uint64_t (*hash)(const void *item));
void slot_table_release(struct slot_table *table);           /* the items stay the caller's */
size_t slot_table_bytes(const struct slot_table *table);     /* of memory, beside the struct */

/* The next item from `*at` on whose place is probed for the hash; NULL: there are no more. */
static inline void *slot_table_first(const struct slot_table *table, uint64_t hash, uint32_t *at)
{
    *at = (uint32_t)hash & table->mask;
    return table->slots[*at];
}

static inline void *slot_table_next(const struct slot_table *table, uint32_t *at)
{
    *at = (*at + 1) & table->mask;
    return table->slots[*at];
}

/* An item that is not there. */
void slot_table_add(struct slot_table *table, void *item);
/* An item in the place of one with the same key, found at `at`. */
static inline void slot_table_replace(struct slot_table *table, uint32_t at, void *item)
{
    table->slots[at] = item;
}
/* The item found at `at`. */
void slot_table_remove(struct slot_table *table, uint32_t at);

/* All items, in no order: begins at 0, NULL is the end.  Nothing is added or removed meanwhile. */
void *slot_table_each(const struct slot_table *table, uint32_t *at);

/* Fetch into the cache what a search of the hash will touch, */
static inline void slot_table_prefetch(const struct slot_table *table, uint64_t hash)
{
    __builtin_prefetch(&table->slots[(uint32_t)hash & table->mask]);
}

/* and when it is there, the item that is probably found; NULL: there is none. */
static inline void *slot_table_guess(const struct slot_table *table, uint64_t hash)
{
    return table->slots[(uint32_t)hash & table->mask];
}
#endif

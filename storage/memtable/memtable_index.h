/* memtable_index: an ordered set that only grows: a memtable's partitions, or a partition's rows.
 *
 * It is a B+ tree of pointers.  Beside each pointer stands the item's prefix, a number that orders
 * items as far as 64 bits can: a <= b must give prefix(a) <= prefix(b).  A search compares
 * prefixes, which lie side by side in memory, and reads an item only where prefixes are equal.  A
 * set of one item takes no memory beside the struct, because most partitions have one row.
 *
 * Memory comes from an arena and is never given back; items stay where they are. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_INDEX_H
#define DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_INDEX_H

#include <stdint.h>

struct arena;
struct memtable_index_node;

/* A struct of zeros is an empty set. */
struct memtable_index {
    void *root;                    /* one item: the item itself; more: the tree's root */
    uint32_t count;                /* items; at most UINT32_MAX */
    uint32_t height;               /* levels of nodes; 0 with one item */
};

/* A key to search for.  `compare` gives the order of `key` against an item of the same prefix: <0,
 * 0, >0.  For a key that lies between items, such as a bound, it never gives 0.  `prefix_of` gives
 * an item's prefix.  Both get `context`. */
struct memtable_index_search {
    uint64_t prefix;
    const void *key;
    int (*compare)(const void *context, const void *key, const void *item);
    const void *context;
    uint64_t (*prefix_of)(const void *context, const void *item);
};

/* A place between items.  An insertion makes all cursors invalid but the one that it is given. */
struct memtable_index_cursor {
    const struct memtable_index *index;
    const struct memtable_index_node *leaf;      /* NULL in a set of one */
    uint32_t position;             /* index, in the leaf or in the set of one, of the item behind
                                    * the place */
};

/* Returns the item that compares equal, or NULL.  *place_out is the place at which
 * memtable_index_insert puts a new item with this key. */
void *memtable_index_find_place(const struct memtable_index *index,
                                const struct memtable_index_search *search,
                                struct memtable_index_cursor *place_out);

/* The same for keys that ascend.  `place` comes in as the place behind the item of the previous
 * key: all items before this place are less than the key.  If the place is all-zero, the whole set
 * is searched. */
void *memtable_index_find_onward(const struct memtable_index *index,
                                 const struct memtable_index_search *search,
                                 struct memtable_index_cursor *place);

/* Add an item that is not in the set yet, at the place that a search for its key gave.  No item was
 * added since that search.  The place is moved behind the item, or becomes all-zero. */
void memtable_index_insert(struct memtable_index *index, struct arena *arena,
                           const struct memtable_index_search *search,
                           struct memtable_index_cursor *place, void *item);

/* The place before the first item that is not less than the key. */
struct memtable_index_cursor memtable_index_seek(const struct memtable_index *index,
                                                 const struct memtable_index_search *search);

/* Step over the next item, or back over the previous one, and return that item; NULL: there is
 * none. */
void *memtable_index_next(struct memtable_index_cursor *cursor);
void *memtable_index_previous(struct memtable_index_cursor *cursor);
#endif

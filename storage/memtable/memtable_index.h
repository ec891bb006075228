/* memtable_index: an ordered set that only grows: a memtable's partitions, or a partition's rows.
 *
 * It is a B+ tree of pointers, each beside its item's prefix, a number that is compared before the
 * items: a <= b must give prefix(a) <= prefix(b).  A set of one item needs only the struct.
 *
 * Memory comes from an arena and is never given back; items never move. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_INDEX_H
#define DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_INDEX_H

#include <stdint.h>

struct arena;
struct memtable_index_node;

/* A struct of zeros is an empty set. */
struct memtable_index {
    void *root;                    /* the only item, or the tree's root */
    uint32_t count;
    uint32_t height;               /* levels of nodes; 0 with one item */
};

/* `compare` gives the order of `key` against an item of the same prefix: <0, 0, >0.  It never gives
 * 0 for a key that lies between items, such as a bound. */
struct memtable_index_search {
    uint64_t prefix;
    const void *key;
    int (*compare)(const void *context, const void *key, const void *item);
    const void *context;
    uint64_t (*prefix_of)(const void *context, const void *item);
};

/* A place between items.  An insertion makes every cursor invalid, except the one that it gets as
 * `place`. */
struct memtable_index_cursor {
    const struct memtable_index *index;
    const struct memtable_index_node *leaf;      /* NULL in a set of one */
    uint32_t position;             /* index of the item behind the place, in the leaf or in the set
                                    * of one */
};

/* Returns the item that compares equal, or NULL.  *place_out is the place at which
 * memtable_index_insert puts a new item with this key. */
void *memtable_index_find_place(const struct memtable_index *index,
                                const struct memtable_index_search *search,
                                struct memtable_index_cursor *place_out);

/* As memtable_index_find_place, for keys that ascend.  All items before `place` must be less than
 * the key.  With an all-zero `place` the whole set is searched. */
void *memtable_index_find_onward(const struct memtable_index *index,
                                 const struct memtable_index_search *search,
                                 struct memtable_index_cursor *place);

/* Add an item that is not in the set, at the place that a search for its key gave.  No item may be
 * added between that search and this call.  The place is moved behind the item, or becomes
 * all-zero. */
void memtable_index_insert(struct memtable_index *index, struct arena *arena,
                           const struct memtable_index_search *search,
                           struct memtable_index_cursor *place, void *item);

/* The place before the first item that is not less than the key. */
struct memtable_index_cursor memtable_index_seek(const struct memtable_index *index,
                                                 const struct memtable_index_search *search);

/* Step over the next or the previous item, and return it; NULL: there is none. */
void *memtable_index_next(struct memtable_index_cursor *cursor);
void *memtable_index_previous(struct memtable_index_cursor *cursor);
#endif

/* memtable_index: an ordered set that only grows: a memtable's partitions, a partition's rows.
 *
 * A B+ tree of pointers.  Beside each pointer stands the item's prefix, a number that orders items
 * as far as a number can: a <= b must give prefix(a) <= prefix(b).  A search compares prefixes,
 * which lie together, and looks at an item only where they are equal.  A set of one costs nothing
 * but the struct, for most partitions have one row.
 *
 * Memory comes from an arena and is never given back: what was handed out stays where it is. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_INDEX_H
#define DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct memtable_index_node;

/* All-zero is an empty one. */
struct memtable_index {
    void *root;                    /* one item: the item itself; more: the tree's root */
    uint32_t count;                /* items; at most UINT32_MAX */
    uint32_t height;               /* levels of nodes; 0 with one item */
};

/* What is searched for: the order of `key` against an item of the same prefix: <0, 0, >0.  A key
 * that is no item may never give 0 (a bound between items). */
struct memtable_index_search {
    uint64_t prefix;
    const void *key;
    int (*compare)(const void *context, const void *key, const void *item);
    const void *context;
    uint64_t (*prefix_of)(const void *context, const void *item);
};

/* A place between items.  Any insertion makes it invalid. */
struct memtable_index_cursor {
    const struct memtable_index *index;
    const struct memtable_index_node *leaf;      /* NULL in a set of one */
    uint32_t position;             /* of the item behind the place, in the leaf or the set of one */
};

/* NULL when there is none; with the place for memtable_index_insert. */
void *memtable_index_find_place(const struct memtable_index *index,
                                const struct memtable_index_search *search,
                                struct memtable_index_cursor *place_out);

/* The same for keys that ascend: all items before `place` are less than the key, as they are where
 * the place was moved behind the item of the key before.  All-zero, it may be anywhere. */
void *memtable_index_find_onward(const struct memtable_index *index,
                                 const struct memtable_index_search *search,
                                 struct memtable_index_cursor *place);

/* Add an item that is not there, at its place, since which was found nothing was added.  The place
 * is moved behind the item, or becomes all-zero. */
void memtable_index_insert(struct memtable_index *index, struct arena *arena,
                           const struct memtable_index_search *search,
                           struct memtable_index_cursor *place, void *item);

/* The place before the first item that is not less than the key. */
struct memtable_index_cursor memtable_index_seek(const struct memtable_index *index,
                                                 const struct memtable_index_search *search);

/* Step over the next item, or back over the one before, and return it; NULL: there is none. */
void *memtable_index_next(struct memtable_index_cursor *cursor);
void *memtable_index_previous(struct memtable_index_cursor *cursor);
#endif

/* memtable_index: the B+ tree.
 *
 * In a leaf, items must ascend.  In an inner node, entry i has the item that was first in child i
 * when the child was made.  All items in child i - 1 are less than this item.  Only in the leftmost
 * child of a level can a later item be less than the child's entry.  A search does not compare that
 * entry.
 *
 * An item behind a full last leaf begins a new leaf, so that rows in ascending order fill
 * leaves. */
#include "storage/memtable/memtable_index.h"

#include <string.h>

#include "base/arena.h"
#include "base/error.h"

enum {
    INDEX_FANOUT = 64,
    INDEX_LEAF_FIRST = 4,
    INDEX_LEAF_GROWTH = 4,
    INDEX_STEPS_MAX = 4,
    INDEX_HEIGHT_MAX = 12 /* half-full nodes of 7 levels hold 32 ^ 7 items */
};

struct memtable_index_node {
    uint32_t count;
    uint32_t capacity;
    struct memtable_index_node *previous; /* leaves only */
    struct memtable_index_node *next;
    uint64_t *prefixes;
    void **items;
    struct memtable_index_node **children; /* NULL in a leaf */
};

static struct memtable_index_node *node_new(struct arena *arena, uint32_t capacity, bool is_leaf)
{
    struct memtable_index_node *node =
        arena_alloc(arena, sizeof *node, _Alignof(struct memtable_index_node));

    *node = (struct memtable_index_node){.capacity = capacity};
    node->prefixes = arena_alloc(arena, capacity * sizeof(uint64_t), _Alignof(uint64_t));
    node->items = arena_alloc(arena, capacity * sizeof(void *), _Alignof(void *));
    if (!is_leaf)
        node->children = arena_alloc(arena, capacity * sizeof(void *), _Alignof(void *));
    return node;
}

static inline int item_order(const struct memtable_index_search *search, uint64_t prefix,
                             const void *item)
{
    if (prefix != search->prefix)
        return search->prefix < prefix ? -1 : 1;
    return search->compare(search->context, search->key, item);
}

static inline int entry_order(const struct memtable_index_node *node, uint32_t at,
                              const struct memtable_index_search *search)
{
    return item_order(search, node->prefixes[at], node->items[at]);
}

/* The first entry in [low, count) that is not less than the key. */
static uint32_t node_lower(const struct memtable_index_node *node, uint32_t low,
                           const struct memtable_index_search *search)
{
    uint32_t high = node->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entry_order(node, middle, search) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool entry_matches(const struct memtable_index_node *node, uint32_t at,
                          const struct memtable_index_search *search)
{
    return at < node->count && entry_order(node, at, search) == 0;
}

/* The last child whose first item is not greater than the key. */
static uint32_t node_child(const struct memtable_index_node *node,
                           const struct memtable_index_search *search)
{
    uint32_t at = node_lower(node, 1, search);

    return entry_matches(node, at, search) ? at : at - 1;
}

/* ---- finding ---- */

static const struct memtable_index_node *leaf_for(const struct memtable_index *index,
                                                  const struct memtable_index_search *search)
{
    const struct memtable_index_node *node = index->root;

    for (uint32_t level = index->height; level > 1; level--)
        node = node->children[node_child(node, search)];
    return node;
}

static int compare_single(const struct memtable_index *index,
                          const struct memtable_index_search *search)
{
    return item_order(search, search->prefix_of(search->context, index->root), index->root);
}

void *memtable_index_find_place(const struct memtable_index *index,
                                const struct memtable_index_search *search,
                                struct memtable_index_cursor *place_out)
{
    *place_out = (struct memtable_index_cursor){.index = index};
    if (index->count == 0)
        return NULL;
    if (index->height == 0)
        return compare_single(index, search) == 0 ? index->root : NULL;
    const struct memtable_index_node *leaf = leaf_for(index, search);
    uint32_t at = node_lower(leaf, 0, search);
    place_out->leaf = leaf;
    place_out->position = at;
    return entry_matches(leaf, at, search) ? leaf->items[at] : NULL;
}

void *memtable_index_find_onward(const struct memtable_index *index,
                                 const struct memtable_index_search *search,
                                 struct memtable_index_cursor *place)
{
    const struct memtable_index_node *leaf = place->leaf;
    uint32_t steps = 0;

    for (; leaf != NULL && place->position < leaf->count && steps < INDEX_STEPS_MAX; steps++) {
        int order = entry_order(leaf, place->position, search);
        if (order == 0)
            return leaf->items[place->position];
        if (order < 0)
            return NULL;
        place->position++;
    }
    if (leaf != NULL && place->position == leaf->count && leaf->next == NULL)
        return NULL;
    return memtable_index_find_place(index, search, place);
}

struct memtable_index_cursor memtable_index_seek(const struct memtable_index *index,
                                                 const struct memtable_index_search *search)
{
    struct memtable_index_cursor cursor = {.index = index};

    if (index->count == 0)
        return cursor;
    if (index->height == 0) {
        cursor.position = compare_single(index, search) > 0;
        return cursor;
    }
    cursor.leaf = leaf_for(index, search);
    cursor.position = node_lower(cursor.leaf, 0, search);
    return cursor;
}

void *memtable_index_next(struct memtable_index_cursor *cursor)
{
    if (cursor->leaf == NULL) {
        bool has_item = cursor->index->count == 1 && cursor->position == 0;
        cursor->position += has_item;
        return has_item ? cursor->index->root : NULL;
    }
    if (cursor->position == cursor->leaf->count) {
        if (cursor->leaf->next == NULL)
            return NULL;
        cursor->leaf = cursor->leaf->next;
        cursor->position = 0;
    }
    return cursor->leaf->items[cursor->position++];
}

void *memtable_index_previous(struct memtable_index_cursor *cursor)
{
    if (cursor->leaf == NULL) {
        bool has_item = cursor->position == 1;
        cursor->position = 0;
        return has_item ? cursor->index->root : NULL;
    }
    if (cursor->position == 0) {
        if (cursor->leaf->previous == NULL)
            return NULL;
        cursor->leaf = cursor->leaf->previous;
        cursor->position = cursor->leaf->count;
    }
    return cursor->leaf->items[--cursor->position];
}

/* ---- inserting ---- */

static void node_put(struct memtable_index_node *node, uint32_t at, uint64_t prefix, void *item,
                     struct memtable_index_node *child)
{
    uint32_t behind = node->count - at;

    memmove(&node->prefixes[at + 1], &node->prefixes[at], behind * sizeof(uint64_t));
    memmove(&node->items[at + 1], &node->items[at], behind * sizeof(void *));
    node->prefixes[at] = prefix;
    node->items[at] = item;
    if (node->children != NULL) {
        memmove(&node->children[at + 1], &node->children[at], behind * sizeof(void *));
        node->children[at] = child;
    }
    node->count++;
}

static void node_move(struct memtable_index_node *node, uint32_t from,
                      struct memtable_index_node *target)
{
    uint32_t moved = node->count - from;

    memcpy(target->prefixes, &node->prefixes[from], moved * sizeof(uint64_t));
    memcpy(target->items, &node->items[from], moved * sizeof(void *));
    if (node->children != NULL)
        memcpy(target->children, &node->children[from], moved * sizeof(void *));
    target->count = moved;
    node->count = from;
}

/* Nothing is moved if `at` is the end of an inner node or of the last leaf. */
static struct memtable_index_node *node_split(struct memtable_index_node *node, uint32_t at,
                                              struct arena *arena)
{
    struct memtable_index_node *right = node_new(arena, INDEX_FANOUT, node->children == NULL);

    node_move(node, at == node->count && node->next == NULL ? at : node->count / 2, right);
    if (node->children == NULL) {
        right->previous = node;
        right->next = node->next;
        if (node->next != NULL)
            node->next->previous = right;
        node->next = right;
    }
    return right;
}

/* Returns the new right neighbour if the node was split, else NULL. */
static struct memtable_index_node *node_insert(struct memtable_index_node *node, uint32_t at,
                                               uint64_t prefix, void *item,
                                               struct memtable_index_node *child,
                                               struct arena *arena)
{
    if (node->count < node->capacity) {
        node_put(node, at, prefix, item, child);
        return NULL;
    }
    struct memtable_index_node *right = node_split(node, at, arena);
    if (at > node->count || right->count == 0)
        node_put(right, at - node->count, prefix, item, child);
    else
        node_put(node, at, prefix, item, child);
    return right;
}

static void index_raise(struct memtable_index *index, struct memtable_index_node *right,
                        struct arena *arena)
{
    struct memtable_index_node *left = index->root;
    struct memtable_index_node *root = node_new(arena, INDEX_FANOUT, false);

    node_put(root, 0, left->prefixes[0], left->items[0], left);
    node_put(root, 1, right->prefixes[0], right->items[0], right);
    index->root = root;
    index->height++;
}

static void index_grow_leaf(struct memtable_index *index, struct arena *arena)
{
    struct memtable_index_node *leaf = index->root;

    if (index->height != 1 || leaf->count < leaf->capacity || leaf->capacity == INDEX_FANOUT)
        return;
    struct memtable_index_node *grown = node_new(arena, leaf->capacity * INDEX_LEAF_GROWTH, true);
    node_move(leaf, 0, grown);
    index->root = grown;
}

static void index_insert_tree(struct memtable_index *index, struct arena *arena,
                              const struct memtable_index_search *search, void *item)
{
    struct memtable_index_node *path[INDEX_HEIGHT_MAX];
    uint32_t positions[INDEX_HEIGHT_MAX];

    index_grow_leaf(index, arena);
    check(index->height < INDEX_HEIGHT_MAX);
    struct memtable_index_node *node = index->root;
    for (uint32_t level = index->height; level > 1; level--) {
        path[level] = node;
        positions[level] = node_child(node, search);
        node = node->children[positions[level]];
    }
    struct memtable_index_node *right =
        node_insert(node, node_lower(node, 0, search), search->prefix, item, NULL, arena);
    for (uint32_t level = 2; right != NULL && level <= index->height; level++)
        right = node_insert(path[level], positions[level] + 1, right->prefixes[0], right->items[0],
                            right, arena);
    if (right != NULL)
        index_raise(index, right, arena);
}

void memtable_index_insert(struct memtable_index *index, struct arena *arena,
                           const struct memtable_index_search *search,
                           struct memtable_index_cursor *place, void *item)
{
    struct memtable_index_node *leaf = (struct memtable_index_node *)(uintptr_t)place->leaf;

    check(place->index == index && index->count < UINT32_MAX);
    if (leaf != NULL && leaf->count < leaf->capacity) {
        node_put(leaf, place->position++, search->prefix, item, NULL);
        index->count++;
        return;
    }
    *place = (struct memtable_index_cursor){0};
    if (index->count == 0) {
        index->root = item;
        index->count = 1;
        return;
    }
    if (index->height == 0) {
        void *single = index->root;
        leaf = node_new(arena, INDEX_LEAF_FIRST, true);
        node_put(leaf, 0, search->prefix_of(search->context, single), single, NULL);
        index->root = leaf;
        index->height = 1;
    }
    index_insert_tree(index, arena, search, item);
    index->count++;
}

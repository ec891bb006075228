/* partition_index: open addressing by token, entries in an arena-backed array, sorted on demand. */
#include "storage/partition_index.h"

#include <stdlib.h>

#include "storage/base/arena.h"
#include "storage/base/memory.h"

enum { ARENA_CHUNK = 256 * 1024, SLOT_EMPTY = UINT32_MAX };

struct partition_index {
    uint32_t table_id;
    struct arena *keys;
    struct partition_index_entry *entries;
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots;                   /* entry numbers by token; capacity a power of two */
    uint32_t slot_capacity;
    uint32_t *order;                   /* entry numbers by (token, key) */
    uint32_t order_count;              /* count when it was sorted; differs: stale */
};

struct partition_index *partition_index_new(uint32_t table_id)
{
    struct partition_index *index = memory_zeroed(1, sizeof(*index));
    index->table_id = table_id;
    index->keys = arena_new(ARENA_CHUNK);
    return index;
}

void partition_index_free(struct partition_index *index)
{
    if (index == NULL) {
        return;
    }
    for (uint32_t i = 0; i < index->count; i++) {
        stats_release(&index->entries[i].stats);
    }
    memory_free(index->entries);
    memory_free(index->slots);
    memory_free(index->order);
    arena_free(index->keys);
    memory_free(index);
}

uint32_t partition_index_table(const struct partition_index *index)
{
    return index->table_id;
}

uint32_t partition_index_count(const struct partition_index *index)
{
    return index->count;
}

int partition_order(int64_t token_a, struct bytes key_a, int64_t token_b, struct bytes key_b)
{
    if (token_a != token_b) {
        return token_a < token_b ? -1 : 1;
    }
    return bytes_compare(key_a, key_b);
}

/* The slot that holds the partition, or the empty one where it belongs. */
static uint32_t *index_slot(const struct partition_index *index, int64_t token, struct bytes key)
{
    uint32_t mask = index->slot_capacity - 1;
    for (uint32_t i = (uint32_t)token & mask;; i = (i + 1) & mask) {
        uint32_t number = index->slots[i];
        if (number == SLOT_EMPTY || (index->entries[number].token == token &&
                                     bytes_equal(index->entries[number].key, key))) {
            return &index->slots[i];
        }
    }
}

static void index_grow(struct partition_index *index)
{
    index->capacity = index->capacity == 0 ? 64 : index->capacity * 2;
    index->entries = memory_resize(index->entries, index->capacity * sizeof(*index->entries));
    index->slot_capacity = index->capacity * 2;
    memory_free(index->slots);
    index->slots = memory_alloc(index->slot_capacity * sizeof(uint32_t));
    for (uint32_t i = 0; i < index->slot_capacity; i++) {
        index->slots[i] = SLOT_EMPTY;
    }
    for (uint32_t i = 0; i < index->count; i++) {
        *index_slot(index, index->entries[i].token, index->entries[i].key) = i;
    }
}

void partition_index_add(struct partition_index *index, int64_t token, struct bytes key,
                         const struct partition_stats *stats)
{
    if (index->count == index->capacity) {
        index_grow(index);
    }
    uint32_t *slot = index_slot(index, token, key);
    if (*slot == SLOT_EMPTY) {
        *slot = index->count;
        struct partition_index_entry *entry = &index->entries[index->count++];
        *entry = (struct partition_index_entry){.token = token,
                                                .key = arena_copy(index->keys, key)};
    }
    stats_add(&index->entries[*slot].stats, stats);
}

void partition_index_clear(struct partition_index *index, int64_t token, struct bytes key)
{
    if (index->count == 0) {
        return;
    }
    uint32_t number = *index_slot(index, token, key);
    if (number != SLOT_EMPTY) {
        stats_release(&index->entries[number].stats);
        stats_clear(&index->entries[number].stats);
    }
}

const struct partition_index_entry *partition_index_find(const struct partition_index *index,
                                                         int64_t token, struct bytes key)
{
    if (index->count == 0) {
        return NULL;
    }
    uint32_t number = *index_slot(index, token, key);
    return number == SLOT_EMPTY ? NULL : &index->entries[number];
}

static int compare_entries(const void *a, const void *b, void *context)
{
    const struct partition_index *index = context;
    const struct partition_index_entry *first = &index->entries[*(const uint32_t *)a];
    const struct partition_index_entry *second = &index->entries[*(const uint32_t *)b];
    return partition_order(first->token, first->key, second->token, second->key);
}

static void index_sort(struct partition_index *index)
{
    index->order = memory_resize(index->order, index->count * sizeof(uint32_t));
    for (uint32_t i = 0; i < index->count; i++) {
        index->order[i] = i;
    }
    qsort_r(index->order, index->count, sizeof(uint32_t), compare_entries, index);
    index->order_count = index->count;
}

const struct partition_index_entry *partition_index_seek(struct partition_index *index,
                                                         int64_t token, struct bytes key,
                                                         bool after)
{
    if (index->order_count != index->count) {
        index_sort(index);
    }
    uint32_t low = 0;
    uint32_t high = index->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct partition_index_entry *entry = &index->entries[index->order[middle]];
        int order = partition_order(entry->token, entry->key, token, key);
        if (order < 0 || (order == 0 && after)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == index->count ? NULL : &index->entries[index->order[low]];
}

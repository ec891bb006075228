/* partition_index: open addressing by token; entries back to back in chunks that never move.
 *
 *     chunk     | token first sum … key | token first sum … key | …      256 KiB
 *     places    an entry's place is its chunk times 2^15 plus its offset there, in units of 8 bytes
 *     slots     places plus one, by the token's low bits; 0: empty
 *     buckets   by the token's high bits, the place plus one of a list's first entry; 0: no entry
 *     order     places of one bucket by (token, key), made by partition_index_seek
 *
 * When three quarters of the slots are used, the index is rebuilt: without the cleared entries if
 * they are at least half of all, else with twice as many slots.
 *
 * A walk in order sorts one bucket at a time; tokens are hashes, so a bucket is small. */
#include "storage/cell/partition_index.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "storage/cell/packed_stats.h"
#include "base/radix_sort.h"

enum {
    CHUNK_UNITS = 1 << 15, /* of 8 bytes; four times the longest key */
    SLOTS_FIRST = 64,
    BUCKET_SLOTS = 64 /* slots for each bucket */
};

#define ORDER_NONE UINT32_MAX

struct index_entry {
    int64_t token;
    struct packed_stats stats; /* the tag is the key's size */
    uint32_t next;             /* place plus one of the next entry in the same bucket; 0: the end */
    uint8_t key[];
};

_Static_assert(offsetof(struct index_entry, key) == 44, "an entry takes what the comment says");

struct partition_index {
    uint32_t table_id;
    uint64_t **chunks;
    uint32_t chunk_count;
    uint32_t chunk_used;
    uint32_t count;
    uint32_t cleared_count; /* entries with zero rows since they were cleared */
    size_t large_bytes;     /* of the stats that do not fit an entry */
    uint32_t *slots;        /* capacity a power of two, at most three quarters used */
    uint32_t slot_capacity;
    uint32_t *buckets;
    uint32_t *order;
    uint32_t order_capacity;
    uint32_t order_count;
    uint32_t order_bucket;
    uint32_t order_of; /* `count` when `order` was made; ORDER_NONE: not valid */
};

struct partition_index *partition_index_new(uint32_t table_id)
{
    struct partition_index *index = memory_zeroed(1, sizeof(*index));
    index->table_id = table_id;
    index->chunk_used = CHUNK_UNITS;
    index->slot_capacity = SLOTS_FIRST;
    index->slots = memory_zeroed(SLOTS_FIRST, sizeof(uint32_t));
    index->buckets = memory_zeroed(SLOTS_FIRST / BUCKET_SLOTS, sizeof(uint32_t));
    return index;
}

/* ---- entries ---- */

static struct index_entry *entry_at(const struct partition_index *index, uint32_t place)
{
    return (struct index_entry *)(void *)&index->chunks[place / CHUNK_UNITS][place % CHUNK_UNITS];
}

static struct bytes entry_key(const struct index_entry *entry)
{
    return bytes_of(entry->key, entry->stats.tag);
}

static uint32_t entry_units(size_t key_size)
{
    return (uint32_t)((offsetof(struct index_entry, key) + key_size + 7) / 8);
}

static uint32_t place_new(struct partition_index *index, size_t key_size)
{
    uint32_t units = entry_units(key_size);
    if (CHUNK_UNITS - index->chunk_used < units) {
        check(index->chunk_count < UINT32_MAX / CHUNK_UNITS);
        index->chunks = memory_resize(index->chunks, (index->chunk_count + 1) * sizeof(uint64_t *));
        index->chunks[index->chunk_count++] = memory_alloc(CHUNK_UNITS * sizeof(uint64_t));
        index->chunk_used = 0;
    }
    uint32_t place = (index->chunk_count - 1) * CHUNK_UNITS + index->chunk_used;
    index->chunk_used += units;
    return place;
}

static struct partition_index_entry entry_view(const struct index_entry *entry)
{
    return (struct partition_index_entry){entry->token, entry_key(entry),
                                          packed_stats_view(&entry->stats)};
}

void partition_index_free(struct partition_index *index)
{
    if (index == NULL)
        return;
    for (uint32_t i = 0; i < index->slot_capacity; i++)
        if (index->slots[i] != 0)
            packed_stats_clear(&entry_at(index, index->slots[i] - 1)->stats);
    for (uint32_t i = 0; i < index->chunk_count; i++)
        memory_free(index->chunks[i]);
    memory_free(index->chunks);
    memory_free(index->slots);
    memory_free(index->buckets);
    memory_free(index->order);
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

size_t partition_index_bytes(const struct partition_index *index)
{
    size_t chunk = CHUNK_UNITS * sizeof(uint64_t) + sizeof(uint64_t *);
    return sizeof *index + index->large_bytes + index->chunk_count * chunk +
           ((size_t)index->slot_capacity + index->slot_capacity / BUCKET_SLOTS +
            index->order_capacity) *
               sizeof(uint32_t);
}

int partition_index_order(int64_t token_a, struct bytes key_a, int64_t token_b, struct bytes key_b)
{
    if (token_a != token_b)
        return token_a < token_b ? -1 : 1;
    return bytes_compare(key_a, key_b);
}

/* Sort by the upper halves of the tokens, then those with equal halves by `compare`. */
void partition_index_sort_numbers(const struct partition_sort *sort, uint32_t *numbers,
                                  uint32_t count)
{
    uint64_t *items = memory_alloc(2 * (size_t)count * sizeof *items);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t token = (uint64_t)sort->token_of(sort->context, numbers[i]) ^ UINT64_C(1) << 63;
        items[i] = (token >> 32) << 32 | numbers[i];
    }
    const uint64_t *sorted = radix_sort(items, items + count, count, 32, 32);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)sorted[i];
    uint32_t end;
    for (uint32_t start = 0; start < count; start = end) {
        for (end = start + 1; end < count && sorted[end] >> 32 == sorted[start] >> 32; end++) {
        }
        if (end - start > 1)
            qsort_r(numbers + start, end - start, sizeof *numbers, sort->compare, sort->context);
    }
    memory_free(items);
}

/* ---- finding ---- */

static uint32_t *index_slot(const struct partition_index *index, int64_t token, struct bytes key)
{
    uint32_t mask = index->slot_capacity - 1;
    for (uint32_t i = (uint32_t)token & mask;; i = (i + 1) & mask) {
        uint32_t slot = index->slots[i];
        if (slot == 0)
            return &index->slots[i];
        const struct index_entry *entry = entry_at(index, slot - 1);
        if (entry->token == token && bytes_equal(entry_key(entry), key))
            return &index->slots[i];
    }
}

static uint32_t bucket_count(const struct partition_index *index)
{
    return index->slot_capacity / BUCKET_SLOTS;
}

/* Buckets are in the order of tokens. */
static uint32_t bucket_of(const struct partition_index *index, int64_t token)
{
    uint64_t upper = ((uint64_t)token ^ UINT64_C(1) << 63) >> 32;
    return (uint32_t)(upper * bucket_count(index) >> 32);
}

static void bucket_add(struct partition_index *index, uint32_t place)
{
    struct index_entry *entry = entry_at(index, place);
    uint32_t *bucket = &index->buckets[bucket_of(index, entry->token)];
    entry->next = *bucket;
    *bucket = place + 1;
}

static void slots_new(struct partition_index *index, uint32_t capacity)
{
    index->slot_capacity = capacity;
    index->slots = memory_zeroed(capacity, sizeof(uint32_t));
    memory_free(index->buckets);
    index->buckets = memory_zeroed(bucket_count(index), sizeof(uint32_t));
    index->order_of = ORDER_NONE;
}

static void entry_put(struct partition_index *index, uint32_t place)
{
    uint32_t mask = index->slot_capacity - 1;
    uint32_t at = (uint32_t)entry_at(index, place)->token & mask;
    while (index->slots[at] != 0)
        at = (at + 1) & mask;
    index->slots[at] = place + 1;
    bucket_add(index, place);
}

static void index_grow(struct partition_index *index)
{
    uint32_t *old = index->slots;
    uint32_t old_capacity = index->slot_capacity;
    check(old_capacity <= UINT32_MAX / 4);
    slots_new(index, old_capacity * 2);
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i] != 0)
            entry_put(index, old[i] - 1);
    memory_free(old);
}

static void index_drop_cleared(struct partition_index *index)
{
    const struct partition_index old = *index;
    index->chunks = NULL;
    index->chunk_count = 0;
    index->chunk_used = CHUNK_UNITS;
    index->cleared_count = 0;
    slots_new(index, old.slot_capacity);
    for (uint32_t i = 0; i < old.slot_capacity; i++) {
        struct index_entry *entry = old.slots[i] == 0 ? NULL : entry_at(&old, old.slots[i] - 1);
        if (entry == NULL)
            continue;
        if (packed_stats_rows(&entry->stats) == 0) {
            index->large_bytes -= packed_stats_bytes(&entry->stats);
            packed_stats_clear(&entry->stats);
            index->count--;
            continue;
        }
        uint32_t place = place_new(index, entry->stats.tag);
        memcpy(entry_at(index, place), entry, offsetof(struct index_entry, key) + entry->stats.tag);
        entry_put(index, place);
    }
    for (uint32_t i = 0; i < old.chunk_count; i++)
        memory_free(old.chunks[i]);
    memory_free(old.chunks);
    memory_free(old.slots);
}

static void index_make_room(struct partition_index *index)
{
    if (index->count < index->slot_capacity / 4 * 3)
        return;
    if (index->cleared_count >= index->count / 2)
        index_drop_cleared(index);
    else
        index_grow(index);
}

static struct index_entry *entry_find(const struct partition_index *index, int64_t token,
                                      struct bytes key)
{
    uint32_t slot = *index_slot(index, token, key);
    return slot == 0 ? NULL : entry_at(index, slot - 1);
}

void partition_index_prefetch_place(const struct partition_index *index, int64_t token)
{
    __builtin_prefetch(&index->slots[(uint32_t)token & (index->slot_capacity - 1)]);
}

void partition_index_prefetch(const struct partition_index *index, int64_t token)
{
    uint32_t slot = index->slots[(uint32_t)token & (index->slot_capacity - 1)];
    if (slot != 0)
        __builtin_prefetch(entry_at(index, slot - 1), 1);
}

void partition_index_add(struct partition_index *index, int64_t token, struct bytes key,
                         const struct partition_stats *stats)
{
    index_make_room(index);
    uint32_t *slot = index_slot(index, token, key);
    if (*slot == 0) {
        check(key.size <= UINT16_MAX);
        uint32_t place = place_new(index, key.size);
        struct index_entry *entry = entry_at(index, place);
        *entry = (struct index_entry){.token = token, .stats.tag = (uint16_t)key.size};
        memcpy(entry->key, key.data, key.size);
        *slot = place + 1;
        bucket_add(index, place);
        index->count++;
    } else if (index->cleared_count > 0 &&
               packed_stats_rows(&entry_at(index, *slot - 1)->stats) == 0) {
        index->cleared_count--;
    }
    struct packed_stats *sum = &entry_at(index, *slot - 1)->stats;
    index->large_bytes -= packed_stats_bytes(sum);
    packed_stats_add(sum, stats);
    index->large_bytes += packed_stats_bytes(sum);
}

void partition_index_clear(struct partition_index *index, int64_t token, struct bytes key)
{
    struct index_entry *entry = entry_find(index, token, key);
    if (entry == NULL)
        return;
    index->cleared_count += packed_stats_rows(&entry->stats) > 0;
    index->large_bytes -= packed_stats_bytes(&entry->stats);
    packed_stats_clear(&entry->stats);
}

bool partition_index_find(const struct partition_index *index, int64_t token, struct bytes key,
                          struct partition_index_entry *entry_out)
{
    const struct index_entry *entry = entry_find(index, token, key);
    if (entry != NULL)
        *entry_out = entry_view(entry);
    return entry != NULL;
}

bool partition_index_next(const struct partition_index *index, uint32_t *place,
                          struct partition_index_entry *entry_out)
{
    while (*place < index->slot_capacity) {
        uint32_t slot = index->slots[(*place)++];
        if (slot != 0) {
            *entry_out = entry_view(entry_at(index, slot - 1));
            return true;
        }
    }
    return false;
}

/* ---- in order ---- */

static int compare_places(const void *a, const void *b, void *context)
{
    const struct index_entry *first = entry_at(context, *(const uint32_t *)a);
    const struct index_entry *second = entry_at(context, *(const uint32_t *)b);
    return partition_index_order(first->token, entry_key(first), second->token, entry_key(second));
}

static void bucket_sort(struct partition_index *index, uint32_t bucket)
{
    if (index->order_of == index->count && index->order_bucket == bucket)
        return;
    uint32_t count = 0;
    for (uint32_t at = index->buckets[bucket]; at != 0; at = entry_at(index, at - 1)->next) {
        index->order =
            memory_make_room(index->order, count, &index->order_capacity, sizeof(uint32_t));
        index->order[count++] = at - 1;
    }
    if (count > 1)
        qsort_r(index->order, count, sizeof(uint32_t), compare_places, index);
    index->order_count = count;
    index->order_bucket = bucket;
    index->order_of = index->count;
}

/* The index in `order` of the first entry at or after (token, key), or with `after` the first one
 * after it. */
static uint32_t order_seek(const struct partition_index *index, int64_t token, struct bytes key,
                           bool after)
{
    uint32_t low = 0;
    uint32_t high = index->order_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct index_entry *entry = entry_at(index, index->order[middle]);
        int order = partition_index_order(entry->token, entry_key(entry), token, key);
        if (order < 0 || (order == 0 && after))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool partition_index_seek(struct partition_index *index, int64_t token, struct bytes key,
                          bool after, struct partition_index_entry *entry_out)
{
    uint32_t bucket = bucket_of(index, token);
    bucket_sort(index, bucket);
    uint32_t found = order_seek(index, token, key, after);
    while (found == index->order_count) {
        if (++bucket == bucket_count(index))
            return false;
        bucket_sort(index, bucket);
        found = 0;
    }
    *entry_out = entry_view(entry_at(index, index->order[found]));
    return true;
}

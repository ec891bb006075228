/* memtable_partitions: a sorted array of tables, for each a tree of partitions, and places of all.
 *
 * Tokens are nearly always different, so the tree's prefix decides, and a key is compared once.  A
 * partition's key lies behind it, where the comparison's cache line is. */
#include "storage/memtable/memtable_partitions.h"

#include <string.h>

#include "base/memory.h"

void memtable_partitions_init(struct memtable_partitions *partitions, struct arena *arena,
                              size_t partition_size)
{
    check(partition_size >= sizeof(struct memtable_partition));
    *partitions = (struct memtable_partitions){.arena = arena, .partition_size = partition_size};
    key_places_init(&partitions->places, arena);
}

void memtable_partitions_release(struct memtable_partitions *partitions)
{
    memory_free(partitions->tables);
    memory_free(partitions->items);
}

size_t memtable_partitions_bytes(const struct memtable_partitions *partitions)
{
    return partitions->table_count * sizeof(struct memtable_table) +
           partitions->capacity * sizeof(struct memtable_partition *);
}

/* Where the table is, or would be. */
static uint32_t table_place(const struct memtable_partitions *partitions, uint32_t table_id)
{
    uint32_t low = 0;
    uint32_t high = partitions->table_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (partitions->tables[middle].id < table_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct memtable_table *table_find(const struct memtable_partitions *partitions,
                                         uint32_t table_id)
{
    uint32_t place = table_place(partitions, table_id);

    if (place == partitions->table_count || partitions->tables[place].id != table_id)
        return NULL;
    return &partitions->tables[place];
}

static struct memtable_table *table_add(struct memtable_partitions *partitions, uint32_t table_id)
{
    uint32_t place = table_place(partitions, table_id);

    partitions->tables = memory_resize(partitions->tables, (partitions->table_count + 1) *
                                                               sizeof(struct memtable_table));
    struct memtable_table *table = &partitions->tables[place];
    memmove(table + 1, table, (partitions->table_count - place) * sizeof *table);
    *table = (struct memtable_table){.id = table_id};
    partitions->table_count++;
    return table;
}

struct bytes memtable_partitions_key(const struct memtable_partition *partition)
{
    return bytes_of(partition->key, partition->key_size);
}

static int partition_compare(const void *context, const void *key, const void *item)
{
    (void)context;
    return bytes_compare(*(const struct bytes *)key, memtable_partitions_key(item));
}

/* Tokens are signed: the sign turned, they order as unsigned numbers. */
static uint64_t token_prefix(int64_t token)
{
    return (uint64_t)token ^ (UINT64_C(1) << 63);
}

static uint64_t partition_prefix(const void *context, const void *item)
{
    (void)context;
    return token_prefix(((const struct memtable_partition *)item)->token);
}

static struct memtable_index_search partition_search(int64_t token, const struct bytes *key)
{
    return (struct memtable_index_search){
        .prefix = token_prefix(token),
        .key = key,
        .compare = partition_compare,
        .prefix_of = partition_prefix,
    };
}

/* ---- one of them ---- */

/* Tokens are hashes: half of one, turned so that a partition has another in each table. */
static uint32_t tag_of(uint32_t table_id, int64_t token)
{
    return (uint32_t)((uint64_t)token >> 32) + table_id * UINT32_C(0x9E3779B1);
}

void *memtable_partitions_find(const struct memtable_partitions *partitions, uint32_t table_id,
                               int64_t token, struct bytes key)
{
    struct key_probe probe = key_probe_begin(&partitions->places, tag_of(table_id, token));
    uint32_t number;

    while ((number = key_probe_next(&partitions->places, &probe)) != KEY_PLACES_NONE) {
        struct memtable_partition *partition = partitions->items[number];
        if (partition->token == token && partition->table_id == table_id &&
            bytes_equal(memtable_partitions_key(partition), key))
            return partition;
    }
    return NULL;
}

void memtable_partitions_prefetch_place(const struct memtable_partitions *partitions,
                                        uint32_t table_id, int64_t token)
{
    key_places_prefetch(&partitions->places, tag_of(table_id, token));
}

void memtable_partitions_prefetch(const struct memtable_partitions *partitions, uint32_t table_id,
                                  int64_t token)
{
    uint32_t number = key_places_guess(&partitions->places, tag_of(table_id, token));

    if (number == KEY_PLACES_NONE)
        return;
    const struct memtable_partition *partition = partitions->items[number];
    __builtin_prefetch(partition, 1);
    __builtin_prefetch((const uint8_t *)partition + partitions->partition_size);
}

static struct memtable_partition *partition_new(const struct memtable_partitions *partitions,
                                                uint32_t table_id, int64_t token, struct bytes key)
{
    size_t size = partitions->partition_size;
    uint8_t *memory = arena_alloc(partitions->arena, size + key.size, _Alignof(max_align_t));
    struct memtable_partition *partition = (struct memtable_partition *)(void *)memory;

    check(key.size <= UINT32_MAX);
    memset(memory, 0, size);
    if (key.size > 0)
        memcpy(memory + size, key.data, key.size);
    *partition = (struct memtable_partition){
        .token = token,
        .key = memory + size,
        .key_size = (uint32_t)key.size,
        .table_id = table_id,
    };
    return partition;
}

static void place_add(struct memtable_partitions *partitions, struct memtable_partition *partition)
{
    enum { ITEMS_FIRST = 16 };

    if (partitions->count == partitions->capacity) {
        check(partitions->capacity < UINT32_MAX / 4);
        partitions->capacity = partitions->capacity == 0 ? ITEMS_FIRST : partitions->capacity * 2;
        partitions->items = memory_resize(
            partitions->items, partitions->capacity * sizeof(struct memtable_partition *));
    }
    partitions->items[partitions->count] = partition;
    key_places_add(&partitions->places, tag_of(partition->table_id, partition->token),
                   partitions->count++);
}

void *memtable_partitions_get(struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key)
{
    void *found = memtable_partitions_find(partitions, table_id, token, key);

    if (found != NULL)
        return found;
    struct memtable_table *table = table_find(partitions, table_id);
    if (table == NULL)
        table = table_add(partitions, table_id);
    struct memtable_partition *partition = partition_new(partitions, table_id, token, key);
    struct memtable_index_search search = partition_search(token, &key);
    struct memtable_index_cursor place;
    found = memtable_index_find_place(&table->partitions, &search, &place);
    check(found == NULL);
    memtable_index_insert(&table->partitions, partitions->arena, &search, &place, partition);
    place_add(partitions, partition);
    return partition;
}

/* ---- in order ---- */

bool memtable_partitions_seek(const struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key, bool after, int64_t *token_out,
                              struct bytes *key_out)
{
    const struct memtable_table *table = table_find(partitions, table_id);
    struct memtable_index_search search = partition_search(token, &key);

    if (table == NULL)
        return false;
    struct memtable_index_cursor cursor = memtable_index_seek(&table->partitions, &search);
    const struct memtable_partition *partition = memtable_index_next(&cursor);
    if (partition != NULL && after && partition->token == token &&
        bytes_equal(key, memtable_partitions_key(partition)))
        partition = memtable_index_next(&cursor);
    if (partition == NULL)
        return false;
    *token_out = partition->token;
    *key_out = memtable_partitions_key(partition);
    return true;
}

uint32_t memtable_partitions_next_table(const struct memtable_partitions *partitions,
                                        uint32_t after)
{
    if (after == UINT32_MAX)
        return 0;
    uint32_t place = table_place(partitions, after + 1);
    return place < partitions->table_count ? partitions->tables[place].id : 0;
}

/* memtable_partitions: a tree that orders all partitions, and a hash table that finds one.
 *
 * A partition's key lies directly behind the partition in memory. */
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
    memory_free(partitions->items);
}

size_t memtable_partitions_bytes(const struct memtable_partitions *partitions)
{
    return partitions->capacity * sizeof(struct memtable_partition *);
}

struct bytes memtable_partitions_key(const struct memtable_partition *partition)
{
    return bytes_of(partition->key, partition->key_size);
}

struct partition_name {
    uint32_t table_id;
    int64_t token;
    struct bytes key;
};

/* With the sign bit inverted, signed tokens order as unsigned numbers. */
static uint64_t name_prefix(uint32_t table_id, int64_t token)
{
    uint64_t ordered = (uint64_t)token ^ (UINT64_C(1) << 63);
    return (uint64_t)table_id << 32 | ordered >> 32;
}

static uint64_t partition_prefix(const void *context, const void *item)
{
    const struct memtable_partition *partition = item;
    (void)context;
    return name_prefix(partition->table_id, partition->token);
}

/* Key and item are of the same table, because their prefixes are equal. */
static int partition_compare(const void *context, const void *key, const void *item)
{
    const struct partition_name *name = key;
    const struct memtable_partition *partition = item;
    (void)context;
    if (name->token != partition->token)
        return name->token < partition->token ? -1 : 1;
    return bytes_compare(name->key, memtable_partitions_key(partition));
}

static struct memtable_index_search partition_search(const struct partition_name *name)
{
    return (struct memtable_index_search){
        .prefix = name_prefix(name->table_id, name->token),
        .key = name,
        .compare = partition_compare,
        .prefix_of = partition_prefix,
    };
}

/* ---- finding and making one ---- */

/* Combines half of the token, which is a hash already, with the table's id, because several tables
 * may have the same keys. */
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

void *memtable_partitions_get(struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key)
{
    void *found = memtable_partitions_find(partitions, table_id, token, key);

    if (found != NULL)
        return found;
    struct memtable_partition *partition = partition_new(partitions, table_id, token, key);
    const struct partition_name name = {table_id, token, key};
    struct memtable_index_search search = partition_search(&name);
    struct memtable_index_cursor place;
    found = memtable_index_find_place(&partitions->order, &search, &place);
    check(found == NULL);
    memtable_index_insert(&partitions->order, partitions->arena, &search, &place, partition);
    partitions->items =
        memory_make_room(partitions->items, partitions->count, &partitions->capacity,
                         sizeof(struct memtable_partition *));
    partitions->items[partitions->count] = partition;
    key_places_add(&partitions->places, tag_of(table_id, token), partitions->count++);
    return partition;
}

/* ---- in order ---- */

bool memtable_partitions_seek(const struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key, bool after, int64_t *token_out,
                              struct bytes *key_out)
{
    const struct partition_name name = {table_id, token, key};
    struct memtable_index_search search = partition_search(&name);
    struct memtable_index_cursor cursor = memtable_index_seek(&partitions->order, &search);
    const struct memtable_partition *partition = memtable_index_next(&cursor);
    if (partition != NULL && after && partition->table_id == table_id &&
        partition_compare(NULL, &name, partition) == 0)
        partition = memtable_index_next(&cursor);
    if (partition == NULL || partition->table_id != table_id)
        return false;
    *token_out = partition->token;
    *key_out = memtable_partitions_key(partition);
    return true;
}

uint32_t memtable_partitions_next_table(const struct memtable_partitions *partitions,
                                        uint32_t after)
{
    const struct partition_name name = {.table_id = after + 1, .token = INT64_MIN};
    if (after == UINT32_MAX)
        return 0;
    struct memtable_index_search search = partition_search(&name);
    struct memtable_index_cursor cursor = memtable_index_seek(&partitions->order, &search);
    const struct memtable_partition *partition = memtable_index_next(&cursor);
    return partition != NULL ? partition->table_id : 0;
}

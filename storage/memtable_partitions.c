/* memtable_partitions: a sorted array of tables, and for each a tree of partitions.
 *
 * Tokens are nearly always different, so the tree's prefix decides and a key is compared once. */
#include "storage/memtable_partitions.h"

#include <string.h>

#include "storage/base/memory.h"

void memtable_partitions_init(struct memtable_partitions *partitions, struct arena *arena,
                              size_t partition_size)
{
    check(partition_size >= sizeof(struct memtable_partition));
    *partitions = (struct memtable_partitions){.arena = arena, .partition_size = partition_size};
}

void memtable_partitions_release(struct memtable_partitions *partitions)
{
    memory_free(partitions->tables);
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

struct bytes memtable_partition_key(const struct memtable_partition *partition)
{
    return bytes_of(partition->key, partition->key_size);
}

static int partition_compare(const void *context, const void *key, const void *item)
{
    (void)context;
    return bytes_compare(*(const struct bytes *)key, memtable_partition_key(item));
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

void *memtable_partitions_find(const struct memtable_partitions *partitions, uint32_t table_id,
                               int64_t token, struct bytes key)
{
    const struct memtable_table *table = table_find(partitions, table_id);
    struct memtable_index_search search = partition_search(token, &key);

    return table != NULL ? memtable_index_find(&table->partitions, &search) : NULL;
}

void *memtable_partitions_get(struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key)
{
    struct memtable_table *table = table_find(partitions, table_id);
    struct memtable_index_search search = partition_search(token, &key);

    if (table == NULL)
        table = table_add(partitions, table_id);
    struct memtable_index_cursor place;
    void *found = memtable_index_find_place(&table->partitions, &search, &place);
    if (found != NULL)
        return found;
    check(key.size <= UINT32_MAX);
    struct memtable_partition *partition =
        arena_alloc(partitions->arena, partitions->partition_size, _Alignof(max_align_t));
    memset(partition, 0, partitions->partition_size);
    *partition = (struct memtable_partition){
        .token = token,
        .key = arena_copy(partitions->arena, key).data,
        .key_size = (uint32_t)key.size,
        .table_id = table_id,
    };
    memtable_index_insert(&table->partitions, partitions->arena, &search, &place, partition);
    return partition;
}

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
        bytes_equal(key, memtable_partition_key(partition)))
        partition = memtable_index_next(&cursor);
    if (partition == NULL)
        return false;
    *token_out = partition->token;
    *key_out = memtable_partition_key(partition);
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

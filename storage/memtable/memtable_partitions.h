/* memtable_partitions: the partitions of all tables that one part of a memtable holds, in order.
 *
 * The row memtable and the counters keep different things of a partition, but find it in the same
 * way: by table, token and key.  What they keep begins with a struct memtable_partition.
 *
 * One partition is found by a hash: a batch may write to as many partitions as it has rows, and a
 * search in a tree of a hundred thousand costs several cache misses.  A walk goes by the tree. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_PARTITIONS_H
#define DAYBOOK_STORAGE_MEMTABLE_MEMTABLE_PARTITIONS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/key_places.h"
#include "storage/memtable/memtable_index.h"

struct memtable_partition {
    int64_t token;
    const uint8_t *key;
    uint32_t key_size;
    uint32_t table_id;
};

struct memtable_partitions {
    struct arena *arena;               /* outlives them */
    size_t partition_size;             /* of what begins with a struct memtable_partition */
    struct memtable_index order;       /* of all, by table, token and key */
    struct key_places places;          /* by table and token */
    struct memtable_partition **items; /* in the order in which they were made; owned */
    uint32_t count;
    uint32_t capacity;
};

void memtable_partitions_init(struct memtable_partitions *partitions, struct arena *arena,
                              size_t partition_size);
void memtable_partitions_release(struct memtable_partitions *partitions);
/* Bytes of memory, without the arena's. */
size_t memtable_partitions_bytes(const struct memtable_partitions *partitions);

/* NULL when it is not there. */
void *memtable_partitions_find(const struct memtable_partitions *partitions, uint32_t table_id,
                               int64_t token, struct bytes key);
/* The partition.  A new one is made: its key is copied, and what follows the struct
 * memtable_partition is zero. */
void *memtable_partitions_get(struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key);

/* Fetch into the cache what memtable_partitions_get will read: the place in the hash table; and,
 * some calls later, when that has arrived, the partition, if there is one. */
void memtable_partitions_prefetch_place(const struct memtable_partitions *partitions,
                                        uint32_t table_id, int64_t token);
void memtable_partitions_prefetch(const struct memtable_partitions *partitions, uint32_t table_id,
                                  int64_t token);

struct bytes memtable_partitions_key(const struct memtable_partition *partition);

/* Walk a table's partitions in order: the first at or after (token, key), or after it.  False at
 * the end.  Outputs are views into the memtable. */
bool memtable_partitions_seek(const struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key, bool after, int64_t *token_out,
                              struct bytes *key_out);
/* The tables that have partitions: the least id above `after`; 0 at the end. */
uint32_t memtable_partitions_next_table(const struct memtable_partitions *partitions,
                                        uint32_t after);
#endif

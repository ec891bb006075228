/* memtable_partitions: keeps the partitions of all tables that one part of a memtable holds, in
 * order.
 *
 * The row memtable and the counter memtable each have a struct of their own for a partition, which
 * begins with a struct memtable_partition.  This module finds a partition by table, token and key.
 *
 * A single partition is found by a hash table, because a batch may write to as many partitions as
 * it has rows, and a search in a tree of a hundred thousand partitions costs several cache misses.
 * A walk in order uses the tree. */
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
    struct arena *arena;               /* outlives the partitions */
    size_t partition_size;             /* bytes of the struct that begins with a struct
                                        * memtable_partition */
    struct memtable_index order;       /* all of them, by table, token and key */
    struct key_places places;          /* the hash table, by table and token */
    struct memtable_partition **items; /* in the order in which they were made; owned */
    uint32_t count;
    uint32_t capacity;
};

void memtable_partitions_init(struct memtable_partitions *partitions, struct arena *arena,
                              size_t partition_size);
void memtable_partitions_release(struct memtable_partitions *partitions);
/* Bytes of memory, without the arena's. */
size_t memtable_partitions_bytes(const struct memtable_partitions *partitions);

/* The partition; NULL: there is none. */
void *memtable_partitions_find(const struct memtable_partitions *partitions, uint32_t table_id,
                               int64_t token, struct bytes key);
/* The partition, made if it is new: then its key is copied, and the members behind the struct
 * memtable_partition are zero. */
void *memtable_partitions_get(struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key);

/* Fetch into the cache what memtable_partitions_get will read.  memtable_partitions_prefetch_place
 * fetches the place in the hash table.  memtable_partitions_prefetch fetches the partition, if
 * there is one; it is called some partitions later, when the place is in the cache. */
void memtable_partitions_prefetch_place(const struct memtable_partitions *partitions,
                                        uint32_t table_id, int64_t token);
void memtable_partitions_prefetch(const struct memtable_partitions *partitions, uint32_t table_id,
                                  int64_t token);

struct bytes memtable_partitions_key(const struct memtable_partition *partition);

/* Walk a table's partitions in order: find the first at or after (token, key), or if `after` only
 * after it.  False at the end.  Outputs are views into the memtable. */
bool memtable_partitions_seek(const struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key, bool after, int64_t *token_out,
                              struct bytes *key_out);
/* Walk the tables that have partitions: returns the least table id above `after`; 0 at the end. */
uint32_t memtable_partitions_next_table(const struct memtable_partitions *partitions,
                                        uint32_t after);
#endif

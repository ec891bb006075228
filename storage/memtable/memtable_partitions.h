/* memtable_partitions: the partitions of one part of a memtable (its rows or its counters), of all
 * tables, in order.
 *
 * The row memtable and the counter memtable each have a struct of their own for a partition, which
 * begins with a struct memtable_partition. */
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
    struct arena *arena;               /* must outlive the partitions */
    size_t partition_size;             /* bytes of the struct that begins with a struct
                                        * memtable_partition */
    struct memtable_index order;       /* by table, token and key */
    struct key_places places;          /* hash table, by table and token */
    struct memtable_partition **items; /* in order of creation; owned */
    uint32_t count;
    uint32_t capacity;
};

void memtable_partitions_init(struct memtable_partitions *partitions, struct arena *arena,
                              size_t partition_size);
void memtable_partitions_release(struct memtable_partitions *partitions);
/* Bytes of memory, without the arena's. */
size_t memtable_partitions_bytes(const struct memtable_partitions *partitions);

/* NULL: there is no such partition. */
void *memtable_partitions_find(const struct memtable_partitions *partitions, uint32_t table_id,
                               int64_t token, struct bytes key);
/* A new partition gets a copy of the key, and zeros behind its struct memtable_partition. */
void *memtable_partitions_get(struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key);

/* Prefetch for a later memtable_partitions_get of this partition.  Call the first function some
 * writes ahead, and the second, which reads the place in the hash table, fewer writes ahead. */
void memtable_partitions_prefetch_place(const struct memtable_partitions *partitions,
                                        uint32_t table_id, int64_t token);
void memtable_partitions_prefetch(const struct memtable_partitions *partitions, uint32_t table_id,
                                  int64_t token);

struct bytes memtable_partitions_key(const struct memtable_partition *partition);

/* Find the table's first partition at or after (token, key), or only after it if `after`.  False:
 * there is none.  *key_out is a view into the memtable. */
bool memtable_partitions_seek(const struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key, bool after, int64_t *token_out,
                              struct bytes *key_out);
/* Returns the least id above `after` of a table with partitions; 0: there is none. */
uint32_t memtable_partitions_next_table(const struct memtable_partitions *partitions,
                                        uint32_t after);
#endif

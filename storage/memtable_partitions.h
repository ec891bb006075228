/* memtable_partitions: the partitions of all tables that one part of a memtable holds, in order.
 *
 * The narrow memtable and the counters keep different things of a partition and find it alike: by
 * table, token and key.  Whatever they keep begins with a struct memtable_partition. */
#ifndef DAYBOOK_STORAGE_MEMTABLE_PARTITIONS_H
#define DAYBOOK_STORAGE_MEMTABLE_PARTITIONS_H

#include "storage/base/arena.h"
#include "storage/base/bytes.h"
#include "storage/memtable_index.h"

struct memtable_partition {
    int64_t token;
    const uint8_t *key;
    uint32_t key_size;
    uint32_t table_id;
};

struct memtable_table {
    uint32_t id;
    struct memtable_index partitions;
};

struct memtable_partitions {
    struct arena *arena;               /* outlives them */
    size_t partition_size;             /* of what begins with a struct memtable_partition */
    struct memtable_table *tables;     /* by id; owned */
    uint32_t table_count;
};

void memtable_partitions_init(struct memtable_partitions *partitions, struct arena *arena,
                              size_t partition_size);
void memtable_partitions_release(struct memtable_partitions *partitions);

/* NULL when it is not there. */
void *memtable_partitions_find(const struct memtable_partitions *partitions, uint32_t table_id,
                               int64_t token, struct bytes key);
/* The partition, made with everything else zero if it is new.  Copies the key. */
void *memtable_partitions_get(struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key);

struct bytes memtable_partition_key(const struct memtable_partition *partition);

/* As narrow_memtable_seek and narrow_memtable_next_table. */
bool memtable_partitions_seek(const struct memtable_partitions *partitions, uint32_t table_id,
                              int64_t token, struct bytes key, bool after, int64_t *token_out,
                              struct bytes *key_out);
uint32_t memtable_partitions_next_table(const struct memtable_partitions *partitions,
                                        uint32_t after);
#endif

/* partition_index: the summed stats of an event table's append-only segments, by partition.
 *
 * The index has one entry for each partition, however many segments have rows of it.  A merge of
 * segments does not change the entries, unless it is a purge. */
#ifndef DAYBOOK_STORAGE_CELL_PARTITION_INDEX_H
#define DAYBOOK_STORAGE_CELL_PARTITION_INDEX_H

#include "storage/cell/stats.h"

struct partition_index;

/* A view of an entry, valid until the index changes. */
struct partition_index_entry {
    int64_t token;
    struct bytes key;
    struct partition_stats stats;
};

struct partition_index *partition_index_new(uint32_t table_id);
void partition_index_free(struct partition_index *index);
uint32_t partition_index_table(const struct partition_index *index);

void partition_index_add(struct partition_index *index, int64_t token, struct bytes key,
                         const struct partition_stats *stats);
/* Prefetch for partition_index_add: first the token's slot in the hash table, then, when the slot
 * is in the cache, the entry. */
void partition_index_prefetch_place(const struct partition_index *index, int64_t token);
void partition_index_prefetch(const struct partition_index *index, int64_t token);
/* Set the stats of a partition to zero rows.  The entry stays, until a later partition_index_add
 * drops all entries without rows. */
void partition_index_clear(struct partition_index *index, int64_t token, struct bytes key);
bool partition_index_find(const struct partition_index *index, int64_t token, struct bytes key,
                          struct partition_index_entry *entry_out);
uint32_t partition_index_count(const struct partition_index *index);
size_t partition_index_bytes(const struct partition_index *index);
/* The next entry, in any order; false at the end.  *place is 0 for the first call.  The index may
 * not change between calls. */
bool partition_index_next(const struct partition_index *index, uint32_t *place,
                          struct partition_index_entry *entry_out);
/* The first entry at or after (token, key), or with `after` the first one after it; false: none. */
bool partition_index_seek(struct partition_index *index, int64_t token, struct bytes key,
                          bool after, struct partition_index_entry *entry_out);
/* The order of partitions: by token, then by the bytes of the key. */
int partition_index_order(int64_t token_a, struct bytes key_a, int64_t token_b, struct bytes key_b);
/* Sort numbers of partitions by the order of these partitions.  `compare` gets pointers to two
 * numbers, as qsort_r calls it. */
struct partition_sort {
    int64_t (*token_of)(const void *context, uint32_t number);
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};
void partition_index_sort_numbers(const struct partition_sort *sort, uint32_t *numbers,
                                  uint32_t count);
#endif

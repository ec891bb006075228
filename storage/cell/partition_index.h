/* partition_index: the summed stats of an event table's sealed append-only runs, by partition.
 *
 * Stats of append-only runs may be added (stats.h), so the index has one entry for each partition,
 * however many runs have rows of it.  A compaction changes no entry unless it removes deleted
 * clicks.  The index takes 50 to 60 bytes of memory and the key for each partition, and is rebuilt
 * from the segments' directories when a data directory is opened. */
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
/* Fetch into the processor's cache what partition_index_add will touch.
 * partition_index_prefetch_place fetches the slot of the token; partition_index_prefetch, called
 * when the slot has arrived, fetches the entry. */
void partition_index_prefetch_place(const struct partition_index *index, int64_t token);
void partition_index_prefetch(const struct partition_index *index, int64_t token);
/* Set the stats of a partition to zero rows; its entry stays for now, and a later call of
 * partition_index_add may drop it, with all other entries of no rows.  An index in which nothing
 * was cleared keeps entries that were added with no rows. */
void partition_index_clear(struct partition_index *index, int64_t token, struct bytes key);
/* False when the index has no such partition. */
bool partition_index_find(const struct partition_index *index, int64_t token, struct bytes key,
                          struct partition_index_entry *entry_out);
uint32_t partition_index_count(const struct partition_index *index);
size_t partition_index_bytes(const struct partition_index *index);     /* of memory */
/* The next entry, in any order; false at the end.  `*place` is 0 for the first call; between the
 * calls the index may not change. */
bool partition_index_next(const struct partition_index *index, uint32_t *place,
                          struct partition_index_entry *entry_out);
/* The first entry at or after (token, key), or with `after` the first one after it; false: there is
 * none.  Takes the time of some dozens of entries, as long as tokens are hashes. */
bool partition_index_seek(struct partition_index *index, int64_t token, struct bytes key,
                          bool after, struct partition_index_entry *entry_out);
/* The order of partitions: by token, then by the bytes of the key. */
int partition_index_order(int64_t token_a, struct bytes key_a, int64_t token_b, struct bytes key_b);
/* Sort numbers, each of which stands for a partition, by the order of their partitions.  `compare`
 * gets pointers to two numbers, as qsort_r calls it.  A million numbers take some 20 ms, and 16 MB
 * of memory during the sort. */
struct partition_sort {
    int64_t (*token_of)(const void *context, uint32_t number);
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};
void partition_index_sort_numbers(const struct partition_sort *sort, uint32_t *numbers,
                                  uint32_t count);
#endif

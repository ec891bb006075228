/* partition_index: the summed stats of an event table's sealed append-only runs, by partition.
 *
 * Append-only runs add (stats.h), so one entry per partition is enough however many runs hold it,
 * and compaction changes nothing here unless it purges.  In memory, 50 to 60 bytes and its key a
 * partition; rebuilt from the segments' directories when a directory is opened. */
#ifndef DAYBOOK_STORAGE_CELL_PARTITION_INDEX_H
#define DAYBOOK_STORAGE_CELL_PARTITION_INDEX_H

#include "storage/cell/stats.h"

struct partition_index;

/* As the index has it; a view of it, valid until it changes. */
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
/* Fetch into the cache what partition_index_add will touch: first where the entry's place stands,
 * and some calls later the entry. */
void partition_index_prefetch_place(const struct partition_index *index, int64_t token);
void partition_index_prefetch(const struct partition_index *index, int64_t token);
/* Take back all that was added to a partition; its entry stays, with zero rows. */
void partition_index_clear(struct partition_index *index, int64_t token, struct bytes key);
/* False when it is not there. */
bool partition_index_find(const struct partition_index *index, int64_t token, struct bytes key,
                          struct partition_index_entry *entry_out);
uint32_t partition_index_count(const struct partition_index *index);
size_t partition_index_bytes(const struct partition_index *index);     /* of memory */
/* The next entry in no order that means anything; `*place` is 0 at first, and the index may not
 * change meanwhile.  False at the end. */
bool partition_index_next(const struct partition_index *index, uint32_t *place,
                          struct partition_index_entry *entry_out);
/* The first entry at or after (token, key), or after it; false at the end.  Sorts after adds; a
 * walk from each entry to the one after it costs no search. */
bool partition_index_seek(struct partition_index *index, int64_t token, struct bytes key,
                          bool after, struct partition_index_entry *entry_out);
/* Order of partitions: by token, then key bytes. */
int partition_index_order(int64_t token_a, struct bytes key_a, int64_t token_b, struct bytes key_b);
/* Sort numbers of partitions in that order, which `compare` knows of pointers to two numbers, as
 * qsort_r has it.  A million takes some 20 ms and for the time of the sort 16 MB. */
struct partition_sort {
    int64_t (*token_of)(const void *context, uint32_t number);
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};
void partition_index_sort_numbers(const struct partition_sort *sort, uint32_t *numbers,
                                  uint32_t count);
#endif

/* appended_stats: adds the sums of a partition's append-only runs: the index has the sum of the
 * sealed runs, and each memtable has a sum.
 *
 * The result is right for the partition only if the partition has nothing in an overwrite run (a
 * deletion, an overwrite, a row with a TTL). */
#ifndef DAYBOOK_STORAGE_ENGINE_APPENDED_STATS_H
#define DAYBOOK_STORAGE_ENGINE_APPENDED_STATS_H

#include "storage/engine/memtable_set.h"

/* Add the sums of all append-only runs, as of `frame`, to `stats`. */
void appended_stats_add(const struct run_set *runs, const struct memtable_set *memtables,
                        uint32_t table_id, int64_t token, struct bytes key, uint64_t frame,
                        struct partition_stats *stats);
/* The same without the sealed runs. */
void appended_stats_add_memtables(const struct memtable_set *memtables, uint32_t table_id,
                                  struct bytes key, uint64_t frame, struct partition_stats *stats);
/* How many appended rows the partition has, durable or not, deleted or not; 0 if the table is not
 * an event table. */
uint64_t appended_stats_rows(const struct run_set *runs, const struct memtable_set *memtables,
                             uint32_t table_id, int64_t token, struct bytes key);
#endif

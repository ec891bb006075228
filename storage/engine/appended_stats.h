/* appended_stats: adds up the stats of a partition's appended rows, in segments and in memtables.
 * The result is right only if no overwrite or deletion of the partition is stored. */
#ifndef DAYBOOK_STORAGE_ENGINE_APPENDED_STATS_H
#define DAYBOOK_STORAGE_ENGINE_APPENDED_STATS_H

#include "storage/engine/memtable_set.h"

void appended_stats_add(const struct run_set *runs, const struct memtable_set *memtables,
                        uint32_t table_id, int64_t token, struct bytes key, uint64_t frame,
                        struct partition_stats *stats);
/* As appended_stats_add, but without the segments. */
void appended_stats_add_memtables(const struct memtable_set *memtables, uint32_t table_id,
                                  struct bytes key, uint64_t frame, struct partition_stats *stats);
/* The number of appended rows, including deleted ones and ones that are not durable yet; 0 if the
 * table is not an event table. */
uint64_t appended_stats_rows(const struct run_set *runs, const struct memtable_set *memtables,
                             uint32_t table_id, int64_t token, struct bytes key);
#endif

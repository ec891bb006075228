#include "storage/engine/appended_stats.h"

void appended_stats_add_memtables(const struct memtable_set *memtables, uint32_t table_id,
                                  struct bytes key, uint64_t frame, struct partition_stats *stats)
{
    for (uint32_t i = 0; i <= memtables->frozen_count; i++) {
        struct columnar_memtable *columnar;
        uint32_t partition = memtable_find(memtable_set_at(memtables, i), table_id, key, &columnar);
        if (partition == UINT32_MAX)
            continue;
        const struct partition_stats more = columnar_memtable_stats(columnar, partition, frame);
        stats_add(stats, &more);
    }
}

void appended_stats_add(const struct run_set *runs, const struct memtable_set *memtables,
                        uint32_t table_id, int64_t token, struct bytes key, uint64_t frame,
                        struct partition_stats *stats)
{
    const struct partition_index *index = run_set_index(runs, table_id);
    struct partition_index_entry entry;
    if (index != NULL && partition_index_find(index, token, key, &entry))
        stats_add(stats, &entry.stats);
    appended_stats_add_memtables(memtables, table_id, key, frame, stats);
}

uint64_t appended_stats_rows(const struct run_set *runs, const struct memtable_set *memtables,
                             uint32_t table_id, int64_t token, struct bytes key)
{
    const struct table *table = schema_table(memtables->schema, table_id);
    struct partition_stats stats = {0};
    if (table == NULL || (table->flags & TABLE_OF_EVENTS) == 0)
        return 0;
    appended_stats_add(runs, memtables, table_id, token, key, UINT64_MAX, &stats);
    uint64_t rows = stats.rows;
    stats_release(&stats);
    return rows;
}

/* partition_versions: gives each partition a number that grows with its mutations, packed rows and
 * increments (write_batch.h).
 *
 * Numbers are kept in slots, found by the hash of table and token.  Where two partitions share a
 * slot, a write to one changes the number of both; a conditional write may then need another try.
 *
 * Numbers cannot be compared across a restart. */
#ifndef DAYBOOK_STORAGE_ENGINE_PARTITION_VERSIONS_H
#define DAYBOOK_STORAGE_ENGINE_PARTITION_VERSIONS_H

#include "storage/cell/write_batch.h"

struct partition_versions {
    uint64_t *slots;
    uint64_t last;                     /* the newest number that was given */
};

void partition_versions_init(struct partition_versions *versions);
void partition_versions_release(struct partition_versions *versions);

/* The number of the last write to the partition, or of a later one. */
uint64_t partition_versions_of(const struct partition_versions *versions, uint32_t table_id,
                               int64_t token);
/* A batch was applied: the partitions of its mutations, packed rows and increments get a new
 * number; if the batch changes the schema, all partitions do. */
void partition_versions_advance(struct partition_versions *versions,
                                const struct write_batch *batch);
/* Give all partitions a new number. */
void partition_versions_end(struct partition_versions *versions);
#endif

/* partition_versions: gives each partition a number that grows with its mutations, packed rows and
 * increments (write_batch.h). */
#ifndef DAYBOOK_STORAGE_ENGINE_PARTITION_VERSIONS_H
#define DAYBOOK_STORAGE_ENGINE_PARTITION_VERSIONS_H

#include "storage/cell/write_batch.h"

struct partition_versions {
    uint64_t *slots;
    uint64_t last;
};

void partition_versions_init(struct partition_versions *versions);
void partition_versions_release(struct partition_versions *versions);

/* At least the number of the partition's last write.  The result may be the number of a later write
 * to another partition, because partitions share slots. */
uint64_t partition_versions_of(const struct partition_versions *versions, uint32_t table_id,
                               int64_t token);
/* Give a new number to the partitions to which mutations, packed rows or increments of the batch
 * write; to all partitions, if the batch changes the schema. */
void partition_versions_advance(struct partition_versions *versions,
                                const struct write_batch *batch);
/* Give all partitions a new number. */
void partition_versions_end(struct partition_versions *versions);
#endif

/* partition_versions: when the partitions of a table last had a mutation or increment.
 *
 * A slot is found by the hash of table and token.  Two partitions that share one are only taken for
 * changed more often than they are, which costs a conditional write another try.
 *
 * Numbers ascend, and say nothing across a restart. */
#ifndef DAYBOOK_STORAGE_ENGINE_PARTITION_VERSIONS_H
#define DAYBOOK_STORAGE_ENGINE_PARTITION_VERSIONS_H

#include "storage/cell/write_batch.h"

struct partition_versions {
    uint64_t *slots;
    uint64_t last;                     /* the newest number that was given */
};

void partition_versions_init(struct partition_versions *versions);
void partition_versions_release(struct partition_versions *versions);

/* The number of the last write that the partition had, at least. */
uint64_t partition_versions_of(const struct partition_versions *versions, uint32_t table_id,
                               int64_t token);
/* A batch was applied: all partitions of its mutations and increments get a new number; all there
 * are, if it changes the schema. */
void partition_versions_advance(struct partition_versions *versions,
                                const struct write_batch *batch);
/* Every number that was given is out of date. */
void partition_versions_end(struct partition_versions *versions);
#endif

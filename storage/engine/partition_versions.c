#include "storage/engine/partition_versions.h"

#include "base/memory.h"
#include "base/murmur3.h"

/* 2^64 divided by the golden ratio spreads neighbouring table numbers. */
#define TABLE_SPREAD UINT64_C(0x9E3779B97F4A7C15)

enum { SLOTS = 1 << 14 }; /* a power of two */

void partition_versions_init(struct partition_versions *versions)
{
    *versions = (struct partition_versions){.slots = memory_zeroed(SLOTS, sizeof(uint64_t))};
}

void partition_versions_release(struct partition_versions *versions)
{
    memory_free(versions->slots);
}

static uint64_t *slot_of(const struct partition_versions *versions, uint32_t table_id,
                         int64_t token)
{
    return &versions->slots[((uint64_t)token + table_id * TABLE_SPREAD) % SLOTS];
}

uint64_t partition_versions_of(const struct partition_versions *versions, uint32_t table_id,
                               int64_t token)
{
    return *slot_of(versions, table_id, token);
}

void partition_versions_end(struct partition_versions *versions)
{
    versions->last++;
    for (uint32_t i = 0; i < SLOTS; i++)
        versions->slots[i] = versions->last;
}

void partition_versions_advance(struct partition_versions *versions,
                                const struct write_batch *batch)
{
    if (batch->schema != NULL)
        partition_versions_end(versions);
    versions->last +=
        batch->mutation_count > 0 || batch->rows.span_count > 0 || batch->increment_count > 0;
    for (uint32_t i = 0; i < batch->mutation_count; i++) {
        const struct mutation *mutation = &batch->mutations[i];
        *slot_of(versions, mutation->table_id, mutation->token) = versions->last;
    }
    for (uint32_t i = 0; i < batch->rows.span_count; i++) {
        const struct packed_span *run = &batch->rows.spans[i];
        *slot_of(versions, run->table_id, run->token) = versions->last;
    }
    for (uint32_t i = 0; i < batch->increment_count; i++) {
        const struct counter_increment *increment = &batch->increments[i];
        int64_t token = murmur3_token(increment->key.data, increment->key.size);
        *slot_of(versions, increment->table_id, token) = versions->last;
    }
}

/* packed_stats: see the header. */
#include "storage/cell/packed_stats.h"

#include "base/memory.h"

void packed_stats_clear(struct packed_stats *packed)
{
    uint16_t tag = packed->tag;
    if (packed->is_large) {
        stats_release(packed->stats);
        memory_free(packed->stats);
    }
    *packed = (struct packed_stats){.tag = tag};
}

void packed_stats_copy(struct packed_stats *target, const struct packed_stats *source)
{
    *target = *source;
    if (source->is_large) {
        target->stats = memory_alloc(sizeof *target->stats);
        stats_copy(target->stats, source->stats);
    }
}

struct partition_stats packed_stats_view(const struct packed_stats *packed)
{
    if (packed->is_large)
        return *packed->stats;
    struct partition_stats stats = {.rows = packed->rows,
                                    .first = packed->first,
                                    .last = (int64_t)((uint64_t)packed->first + packed->span)};
    if (packed->values > 0) {
        stats.scale_count = 1;
        stats.inline_sum = (struct scale_sum){packed->scale, packed->values, packed->sum};
    }
    return stats;
}

static bool stats_fit(const struct partition_stats *stats)
{
    const struct scale_sum *sum = &stats->inline_sum;
    return stats->rows <= UINT32_MAX && stats->scale_count <= 1 &&
           (stats->rows == 0 || (uint64_t)stats->last - (uint64_t)stats->first <= UINT32_MAX) &&
           (stats->scale_count == 0 ||
            (sum->count <= UINT32_MAX && sum->sum >= INT64_MIN && sum->sum <= INT64_MAX));
}

/* If `sum` does not fit, `packed` takes over its memory. */
void packed_stats_add(struct packed_stats *packed, const struct partition_stats *more)
{
    if (packed->is_large) {
        stats_add(packed->stats, more);
        return;
    }
    struct partition_stats sum = packed_stats_view(packed);
    stats_add(&sum, more);
    if (!stats_fit(&sum)) {
        packed->stats = memory_copy(&sum, sizeof sum);
        packed->is_large = true;
        return;
    }
    packed->rows = (uint32_t)sum.rows;
    packed->first = sum.rows > 0 ? sum.first : 0;
    packed->span = sum.rows > 0 ? (uint32_t)((uint64_t)sum.last - (uint64_t)sum.first) : 0;
    if (sum.scale_count == 1) {
        packed->scale = sum.inline_sum.scale;
        packed->values = (uint32_t)sum.inline_sum.count;
        packed->sum = (int64_t)sum.inline_sum.sum;
    }
}

size_t packed_stats_bytes(const struct packed_stats *packed)
{
    return packed->is_large ? sizeof *packed->stats + stats_bytes(packed->stats) : 0;
}

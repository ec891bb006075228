/* packed_stats: the stats of a partition in 32 bytes, for an index of millions of partitions.
 *
 * Stats with several scales, or with numbers that do not fit, are on the heap until they are
 * cleared.  Copy the struct with packed_stats_copy, never by assignment. */
#ifndef DAYBOOK_STORAGE_CELL_PACKED_STATS_H
#define DAYBOOK_STORAGE_CELL_PACKED_STATS_H

#include "storage/cell/stats.h"

struct packed_stats {
    int64_t first;
    union {
        int64_t sum;
        struct partition_stats *stats; /* if is_large; owned.  The other members except `tag` and
                                        * is_large then have no meaning */
    };
    uint32_t rows;
    uint32_t span;                     /* last minus first */
    uint32_t values;                   /* 0: there is no scale */
    uint16_t tag;                      /* free for the owner's use */
    uint8_t scale;
    bool is_large;
};

_Static_assert(sizeof(struct packed_stats) == 32, "packed stats take what the comment says");

/* Zeros are stats of no rows.  Clearing keeps the tag. */
void packed_stats_clear(struct packed_stats *packed);
void packed_stats_copy(struct packed_stats *target, const struct packed_stats *source);
/* A view, valid until `packed` changes; do not release it. */
struct partition_stats packed_stats_view(const struct packed_stats *packed);
void packed_stats_add(struct packed_stats *packed, const struct partition_stats *more);
size_t packed_stats_bytes(const struct packed_stats *packed);

static inline uint64_t packed_stats_rows(const struct packed_stats *packed)
{
    return packed->is_large ? packed->stats->rows : packed->rows;
}

/* packed_stats_take_row adds a row without its value; packed_stats_take_value adds a value.  False:
 * nothing was added, and the caller must use packed_stats_add. */
static inline bool packed_stats_take_row(struct packed_stats *packed, int64_t time)
{
    int64_t first = packed->rows > 0 ? packed->first : time;
    uint64_t span = (uint64_t)time - (uint64_t)first;
    if (packed->is_large || packed->rows == UINT32_MAX || time < first || span > UINT32_MAX)
        return false;
    packed->first = first;
    if (span > packed->span)
        packed->span = (uint32_t)span;
    packed->rows++;
    return true;
}

static inline bool packed_stats_take_value(struct packed_stats *packed, int64_t unscaled,
                                           uint8_t scale)
{
    int64_t sum;
    if (packed->is_large || packed->values == UINT32_MAX ||
        (packed->values > 0 && packed->scale != scale) ||
        __builtin_add_overflow(packed->sum, unscaled, &sum))
        return false;
    packed->scale = scale;
    packed->sum = sum;
    packed->values++;
    return true;
}
#endif

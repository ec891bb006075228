/* packed_stats: the stats of one of millions of partitions, in 32 bytes.
 *
 * Nearly every partition has amounts of one scale, fewer than 2^32 rows, times less than 49 days
 * apart and a sum that fits 64 bits.  Any other has a struct partition_stats of its own, and keeps
 * it.  What holds packed stats copies them by packed_stats_copy alone. */
#ifndef DAYBOOK_STORAGE_CELL_PACKED_STATS_H
#define DAYBOOK_STORAGE_CELL_PACKED_STATS_H

#include "storage/cell/stats.h"

struct packed_stats {
    int64_t first;
    union {
        int64_t sum;
        struct partition_stats *stats;         /* owned; is_large: instead of all but `tag` */
    };
    uint32_t rows;
    uint32_t span;                     /* last minus first */
    uint32_t values;                   /* 0: no value was added, and there is no scale */
    uint16_t tag;                      /* the holder's, who has no better place for it */
    uint8_t scale;
    bool is_large;
};

_Static_assert(sizeof(struct packed_stats) == 32, "packed stats take what the comment says");

/* Zeros are stats of no rows.  Clearing gives memory back, and keeps the tag. */
void packed_stats_clear(struct packed_stats *packed);
void packed_stats_copy(struct packed_stats *target, const struct packed_stats *source);
/* The same unpacked: a view of what `packed` owns, valid until that changes, not to be released. */
struct partition_stats packed_stats_view(const struct packed_stats *packed);
void packed_stats_add(struct packed_stats *packed, const struct partition_stats *more);
size_t packed_stats_bytes(const struct packed_stats *packed);  /* of memory beside the struct */

static inline uint64_t packed_stats_rows(const struct packed_stats *packed)
{
    return packed->is_large ? packed->stats->rows : packed->rows;
}

/* The way of nearly every row and value; false: nothing was added, it is packed_stats_add's. */
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

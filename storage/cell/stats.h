/* stats: what a run knows of a partition without reading its rows.
 *
 * Rows, and for the table's declared column (the first regular decimal column of a table)
 * the non-null count and the exact 128-bit sum per decimal scale, so that a subtracted row takes
 * its scale with it and the scale of the result stays right.  Stats of append-only runs add
 * whatever their time ranges are, because no ranked row can replace another; stats of anything else
 * never add (docs/decisions/03-append-only-and-overwrite-runs.md). */
#ifndef DAYBOOK_STORAGE_CELL_STATS_H
#define DAYBOOK_STORAGE_CELL_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/reader.h"

enum { STATS_SCALES_MAX = 19 };        /* scales 0..18 of ranked rows */

struct scale_sum {
    uint8_t scale;
    uint64_t count;                    /* values with this scale; never 0 */
    int128 sum;                        /* of their unscaled values */
};

struct partition_stats {
    uint64_t rows;
    int64_t first;                     /* least and greatest value of the first clustering column */
    int64_t last;                      /* (milliseconds for time); meaningless when rows is 0 */
    uint8_t scale_count;
    struct scale_sum inline_sum;       /* the only entry when scale_count is 1: the common case */
    struct scale_sum *sums;            /* all entries, by scale, when scale_count > 1; owned */
};

void stats_release(struct partition_stats *stats);             /* zero rows are left */
void stats_copy(struct partition_stats *target, const struct partition_stats *source);
void stats_add_value(struct partition_stats *stats, int64_t unscaled, uint8_t scale); /* no row */
void stats_add_row(struct partition_stats *stats, int64_t first_clustering);   /* not the value */
void stats_add(struct partition_stats *stats, const struct partition_stats *more);
size_t stats_bytes(const struct partition_stats *stats);        /* of memory beside the struct */
bool stats_equal(const struct partition_stats *a, const struct partition_stats *b);

const struct scale_sum *stats_sums(const struct partition_stats *stats);   /* scale_count entries */
uint64_t stats_value_count(const struct partition_stats *stats);
/* The exact sum with the largest scale of its terms; 0 with scale 0 when there are none. */
struct decimal stats_sum(const struct partition_stats *stats);

void stats_serialize(const struct partition_stats *stats, struct buffer *buffer);
must_check int stats_deserialize(struct reader *reader, struct partition_stats *stats_out);
#endif

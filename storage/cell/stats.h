/* stats: the statistics of a partition's rows.
 *
 * Stats have the number of rows, the least and the greatest value of the first clustering column if
 * it is an integer, and for the first regular decimal column the number of values and their exact
 * sum.  Each decimal scale has its own number and sum.  Only stats of append-only runs may be added
 * (docs/decisions/03-append-only-and-overwrite-runs.md). */
#ifndef DAYBOOK_STORAGE_CELL_STATS_H
#define DAYBOOK_STORAGE_CELL_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/decimal.h"
#include "base/reader.h"

enum { STATS_SCALES_MAX = 19 };

struct scale_sum {
    uint8_t scale;
    uint64_t count;                    /* values with this scale; never 0 */
    int128 sum;
};

struct partition_stats {
    uint64_t rows;
    int64_t first;                     /* least and greatest value of the first clustering column */
    int64_t last;                      /* (0 if this is not an integer); undefined without rows */
    uint8_t scale_count;
    struct scale_sum inline_sum;       /* the only entry when scale_count is 1 */
    struct scale_sum *sums;            /* all entries, by scale, when scale_count > 1; owned */
};

void stats_release(struct partition_stats *stats);   /* leaves stats of no rows */
void stats_copy(struct partition_stats *target, const struct partition_stats *source);
void stats_add_value(struct partition_stats *stats, int64_t unscaled, uint8_t scale);
void stats_add_row(struct partition_stats *stats, int64_t first_clustering);
void stats_add(struct partition_stats *stats, const struct partition_stats *more);
/* Memory that the stats own, without the struct itself. */
size_t stats_bytes(const struct partition_stats *stats);
bool stats_equal(const struct partition_stats *a, const struct partition_stats *b);

const struct scale_sum *stats_sums(const struct partition_stats *stats);
uint64_t stats_value_count(const struct partition_stats *stats);
/* The exact sum, with the largest scale among its terms; 0 if there are no values. */
struct decimal stats_sum(const struct partition_stats *stats);

void stats_serialize(const struct partition_stats *stats, struct buffer *buffer);
must_check int stats_deserialize(struct reader *reader, struct partition_stats *stats_out);
#endif

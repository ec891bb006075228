/* columnar_sums: counts the rows of append-only runs, and sums their amounts, from the rows
 * themselves.
 *
 * Of a page only the column that is summed is decoded, and the one that is grouped by, if any.
 * Groups are kept by the number that a string has in its dictionary, so that a string is looked up
 * once per dictionary, not once per row:
 *
 *     page: places 0 2 0 1 0 ...  ─▶ by place: 3 rows, 1.50 ...   (an array of the entry's strings)
 *     the entry's list: place ─▶ number  ─▶ by number: rows, sums (an array of the dictionary's)
 *     end of the dictionary: number ─▶ string, given to the caller
 *
 * Used by one thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_COLUMNAR_SUMS_H
#define DAYBOOK_STORAGE_ENGINE_COLUMNAR_SUMS_H

#include "storage/memtable/columnar_memtable.h"
#include "storage/segment/segment.h"

struct columnar_sums;

/* Called with the sums of one string; empty: of the rows without one.  `sums` has rows and values,
 * no times. */
typedef void (*columnar_sums_group)(void *context, struct bytes string,
                                    const struct partition_stats *sums);

/* `by_column` is the id of a column that has codes; 0: rows are summed by partition. */
struct columnar_sums *columnar_sums_new(const struct table *table, uint32_t by_column);
void columnar_sums_free(struct columnar_sums *sums);           /* NULL is fine */

/* Begin a segment, of which a reference is kept until the next one. */
void columnar_sums_segment(struct columnar_sums *sums, struct segment *segment);
/* Sum a partition of it, in the directory's order: into `sum_out` (released by the caller), or by
 * string with `group` called for those that a dictionary ended with.  ERROR_CORRUPT. */
must_check int columnar_sums_partition(struct columnar_sums *sums,
                                       const struct segment_partition *partition,
                                       struct partition_stats *sum_out, columnar_sums_group group,
                                       void *context, struct error *err);
/* The same of a frozen memtable's partition, as of `frame`. */
void columnar_sums_rows(struct columnar_sums *sums, const struct columnar_memtable *memtable,
                        uint32_t partition, uint64_t frame, struct partition_stats *sum_out);
/* At the end of a segment or memtable: call `group` with the sums of all strings that are left. */
must_check int columnar_sums_end(struct columnar_sums *sums, columnar_sums_group group,
                                 void *context, struct error *err);
#endif

/* columnar_sums: counts and sums the rows of append-only runs from the rows themselves.
 *
 * An entry is a partition's part of a page, with a list of the strings that its rows have
 * (columnar_page.h).  A string's index in that list is its place; its index in the dictionary of
 * the segment is its number.  Sums are kept by number:
 *
 *     rows of an entry: places 0 2 0 1 0 ...  ─▶ sums by place: 3 rows, 1.50 ...
 *     list of the entry: place ─▶ number      ─▶ sums by number
 *     end of the dictionary: number ─▶ string, given to the caller
 *
 * Used by one thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_COLUMNAR_SUMS_H
#define DAYBOOK_STORAGE_ENGINE_COLUMNAR_SUMS_H

#include "storage/memtable/columnar_memtable.h"
#include "storage/segment/segment.h"

struct columnar_sums;

/* Called with the sums of one string; an empty string stands for the rows without a string.  The
 * members first and last of `sums` are not set. */
typedef void (*columnar_sums_group)(void *context, struct bytes string,
                                    const struct partition_stats *sums);

/* `by_column`: id of a column with codes; 0: sums are by partition. */
struct columnar_sums *columnar_sums_new(const struct table *table, uint32_t by_column);
void columnar_sums_free(struct columnar_sums *sums);           /* NULL is fine */

/* Begin a segment, and keep a reference to it until the next segment begins. */
void columnar_sums_segment(struct columnar_sums *sums, struct segment *segment);
/* Call this for partitions in the order of the directory.  Without groups the sum is in `sum_out`,
 * which the caller releases.  With groups, `group` is called when another dictionary begins.
 * ERROR_CORRUPT: the segment is damaged. */
must_check int columnar_sums_partition(struct columnar_sums *sums,
                                       const struct segment_partition *partition,
                                       struct partition_stats *sum_out, columnar_sums_group group,
                                       void *context, struct error *err);
/* As columnar_sums_partition, for a frozen memtable's partition as of `frame`; calls no `group`. */
void columnar_sums_rows(struct columnar_sums *sums, const struct columnar_memtable *memtable,
                        uint32_t partition, uint64_t frame, struct partition_stats *sum_out);
/* Call this at the end of a segment or memtable: `group` gets the remaining sums. */
must_check int columnar_sums_end(struct columnar_sums *sums, columnar_sums_group group,
                                 void *context, struct error *err);
#endif

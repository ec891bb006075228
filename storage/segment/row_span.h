/* row_span: the least and the greatest row of a row segment, in clustering order.
 *
 * Nearly every table with days or times in its clustering grows at its end, so that older segments
 * have the partition of a new row, but no row near it.  A read of the new row skips such a segment
 * by its span, without reading from the disk.  The rollup makes such a read for every day, when the
 * day's first clicks come.  Layout: FORMATS.md "Narrow span". */
#ifndef DAYBOOK_STORAGE_SEGMENT_ROW_SPAN_H
#define DAYBOOK_STORAGE_SEGMENT_ROW_SPAN_H

#include "storage/cell/stream.h"

enum { ROW_SPAN_MAX = 1024 };          /* bytes of a span, which stays in memory with its segment */

/* The span of a segment that is being written; all-zero at first. */
struct row_span {
    struct buffer least;               /* packed clusterings; empty: there was no row */
    struct buffer greatest;
    bool is_open;                      /* the segment gets no span: it has something other than
                                        * rows (row_span.c), or the table has no clustering
                                        * columns.  row_segment.c sets it for the deletion of a
                                        * partition */
};

/* Add an item of a partition's stream to the span; `is_first`: it is the partition's first item. */
void row_span_add(struct row_span *span, const struct table *table, const struct unfiltered *item,
                  bool is_first);
/* Append the span to `target`.  Nothing is appended when the segment gets no span, because
 * `is_open` is set, there was no row, or the span has more than ROW_SPAN_MAX bytes. */
void row_span_put(const struct row_span *span, struct buffer *target);
void row_span_release(struct row_span *span);

/* False: a segment with the span `bytes` has nothing in the slice, whatever the partition.  True
 * also when the bytes are empty, or have an unknown format. */
bool row_span_may_meet(struct bytes bytes, const struct table *table, const struct slice *slice);
#endif

/* row_span: the least and the greatest row of a row segment, in clustering order.
 *
 * Tables with days or times in the clustering grow at the end, so older segments may have the
 * partition of a new row, but no row near the new one.  A read of the new row skips such a segment
 * without reading from the disk.  docs/FORMATS.md "Narrow span" has the layout. */
#ifndef DAYBOOK_STORAGE_SEGMENT_ROW_SPAN_H
#define DAYBOOK_STORAGE_SEGMENT_ROW_SPAN_H

#include "storage/cell/stream.h"

enum { ROW_SPAN_MAX = 1024 };          /* bytes of a span, which stays in memory with its segment */

/* All-zero at first. */
struct row_span {
    struct buffer least;               /* packed clusterings; empty: there was no row */
    struct buffer greatest;
    bool is_open;                      /* the segment gets no span: it has other items than rows, or
                                        * the table has no clustering columns.  row_segment.c sets
                                        * is_open for the deletion of a partition */
};

/* `is_first`: the item is the first one of its partition. */
void row_span_add(struct row_span *span, const struct table *table, const struct unfiltered *item,
                  bool is_first);
/* Appends nothing if `is_open` is set, there was no row, or the span has over ROW_SPAN_MAX
 * bytes. */
void row_span_put(const struct row_span *span, struct buffer *target);
void row_span_release(struct row_span *span);

/* False: a segment with the span `bytes` has nothing in the slice, whatever the partition.  True
 * also if the bytes are empty, damaged or of an unknown format. */
bool row_span_may_meet(struct bytes bytes, const struct table *table, const struct slice *slice);
#endif

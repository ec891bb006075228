/* row_span: between which two rows all of a row segment lie, in clustering order.
 *
 * Nearly every table with days or times in its clustering grows at its end, so a row of a new day
 * can be in none of the older segments, though its partition is in all of them.  The span says so
 * without a look at the disk: the rollup asks for the figure of every day once, when its first
 * clicks come.  Layout: FORMATS.md "Narrow span". */
#ifndef DAYBOOK_STORAGE_SEGMENT_ROW_SPAN_H
#define DAYBOOK_STORAGE_SEGMENT_ROW_SPAN_H

#include "storage/cell/stream.h"

enum { ROW_SPAN_MAX = 1024 };          /* bytes of a span, which stays in memory with its segment */

/* Of a segment that is being written.  Starts as zeros. */
struct row_span {
    struct buffer least;               /* packed clusterings; empty: there was no row */
    struct buffer greatest;
    bool is_open;                      /* something in the segment lies in no span of rows; set by
                                        * whoever writes what hides whole partitions, too */
};

/* Take in an item of the stream, `is_first` when it is its partition's first. */
void row_span_add(struct row_span *span, const struct table *table, const struct unfiltered *item,
                  bool is_first);
/* Append the span; nothing when none can be said. */
void row_span_put(const struct row_span *span, struct buffer *target);
void row_span_release(struct row_span *span);

/* False: a segment with the span `bytes` has nothing in the slice, of whichever partition.  True
 * also when the bytes are empty, or no span that this version knows. */
bool row_span_may_meet(struct bytes bytes, const struct table *table, const struct slice *slice);
#endif

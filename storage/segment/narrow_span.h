/* narrow_span: between which two rows all of a narrow segment lie, in clustering order.
 *
 * Nearly every table with days or times in its clustering grows at its end, so a row of a new day
 * can be in none of the older segments, though its partition is in all of them.  The span says so
 * without a look at the disk: the rollup asks for the figure of every day once, when its first
 * clicks come.  Layout: FORMATS.md "Narrow span". */
#ifndef DAYBOOK_STORAGE_SEGMENT_NARROW_SPAN_H
#define DAYBOOK_STORAGE_SEGMENT_NARROW_SPAN_H

#include "storage/cell/stream.h"

enum { NARROW_SPAN_MAX = 1024 };       /* bytes of a span, which stays in memory with its segment */

/* Of a segment that is being written.  Starts as zeros. */
struct narrow_span {
    struct buffer least;               /* packed clusterings; empty: there was no row */
    struct buffer greatest;
    bool is_open;                      /* something in the segment lies in no span of rows */
};

/* Take in an item of the stream, `is_first` when it is its partition's first. */
void narrow_span_add(struct narrow_span *span, const struct table *table,
                     const struct unfiltered *item, bool is_first);
/* There is something that hides whole partitions. */
void narrow_span_add_deletion(struct narrow_span *span);
/* Append the span; nothing when none can be said. */
void narrow_span_put(const struct narrow_span *span, struct buffer *target);
void narrow_span_release(struct narrow_span *span);

/* False: a segment with the span `bytes` has nothing in the slice, of whichever partition.  True
 * also when the bytes are empty, or no span that this version knows. */
bool narrow_span_may_meet(struct bytes bytes, const struct table *table, const struct slice *slice);
#endif

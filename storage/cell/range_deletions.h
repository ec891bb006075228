/* range_deletions: the range deletions of one partition in memory, and the bounds of a stream that
 * they give.
 *
 * Ranges are in lists that never change (struct range_run), so that a reader at a frame sees the
 * ranges added up to that frame.  All memory is the arena's, except that of a sweep. */
#ifndef DAYBOOK_STORAGE_CELL_RANGE_DELETIONS_H
#define DAYBOOK_STORAGE_CELL_RANGE_DELETIONS_H

#include "storage/cell/stream.h"

struct arena;
struct range_run;
struct range_sweep;

/* Add a range that `frame` deletes; an empty range is left out.  *newest is NULL before the first
 * range.  `frame` must not be less than in the call before.  `scratch` is overwritten. */
void range_deletions_add(const struct range_run **newest, const struct table *table,
                         const struct bound *start, const struct bound *end,
                         struct deletion deletion, uint64_t frame, struct arena *arena,
                         struct buffer *scratch);

/* Begin a sweep over ranges of frames up to `frame`, within `slice` and in its order.  Ranges that
 * `partition_deletion` hides are left out.  NULL: no such frame added a range. */
struct range_sweep *range_deletions_sweep(const struct range_run *newest, const struct table *table,
                                    const struct slice *slice, uint64_t frame,
                                    struct deletion partition_deletion);
/* The next place where a range begins or ends; false: the end.  The place is a bound of the stream
 * only if the deletion in force changes there.  There may be millions of other places, so the
 * caller must limit them.  `place_out` points to bytes of the arena or the slice. */
bool range_deletions_next(struct range_sweep *sweep, struct unfiltered *place_out);
bool range_deletions_changes(const struct unfiltered *place);
/* NULL is fine. */
void range_deletions_end(struct range_sweep *sweep);
#endif

/* range_deletions: the range deletions of one partition in memory, and the bounds of a stream that
 * they give.
 *
 * Nothing in it is ever changed: a range that is added is seen by readers at its frame and later.
 * All memory is the arena's, except that of a sweep. */
#ifndef DAYBOOK_STORAGE_CELL_RANGE_DELETIONS_H
#define DAYBOOK_STORAGE_CELL_RANGE_DELETIONS_H

#include "storage/cell/stream.h"

struct arena;
struct range_run;
struct range_sweep;

/* Add the range from `start` to `end`, deleted by `frame`; an empty range is left out.  `*newest`
 * is NULL before the first one.  Frames do not descend.  `scratch` is overwritten. */
void range_deletions_add(const struct range_run **newest, const struct table *table,
                         const struct bound *start, const struct bound *end,
                         struct deletion deletion, uint64_t frame, struct arena *arena,
                         struct buffer *scratch);

/* Begin a sweep over what the frames up to `frame` added, within `slice` and in its order.  Ranges
 * that `partition_deletion` hides count as none.  Returns NULL if no such frame added a range. */
struct range_sweep *range_deletions_sweep(const struct range_run *newest, const struct table *table,
                                    const struct slice *slice, uint64_t frame,
                                    struct deletion partition_deletion);
/* The next place where a range begins or ends, as a bound, which points to bytes of the arena or
 * the slice.  It is a bound of the stream if the deletion in force changes there.  There may be
 * millions of others, of ranges within a stronger one, so the caller counts them.  False: the sweep
 * is at its end. */
bool range_deletions_next(struct range_sweep *sweep, struct unfiltered *place_out);
bool range_deletions_changes(const struct unfiltered *place);
/* NULL is fine. */
void range_deletions_end(struct range_sweep *sweep);
#endif

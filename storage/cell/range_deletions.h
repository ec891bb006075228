/* range_deletions: overlapping range deletions of one partition as the bounds of a stream. */
#ifndef DAYBOOK_STORAGE_CELL_RANGE_DELETIONS_H
#define DAYBOOK_STORAGE_CELL_RANGE_DELETIONS_H

#include "storage/cell/stream.h"

struct range_deletion {
    struct bound start;
    struct bound end;
    struct deletion deletion;
};

/* Give as bounds, in stream order, which of `ranges` are in force where within `slice`, without
 * ranges that `partition_deletion` hides.  `bounds_out` has space for 2 * count bounds, whose bytes
 * are those of the ranges and the slice.  Returns the number of bounds.  The ranges themselves are
 * cut to the slice. */
size_t range_deletions_bounds(const struct table *table, struct range_deletion *ranges,
                              size_t count, struct deletion partition_deletion,
                              const struct slice *slice, struct unfiltered *bounds_out);
#endif

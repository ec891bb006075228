/* range_deletions: turns overlapping range deletions of one partition into bounds for a stream. */
#ifndef DAYBOOK_STORAGE_CELL_RANGE_DELETIONS_H
#define DAYBOOK_STORAGE_CELL_RANGE_DELETIONS_H

#include "storage/cell/stream.h"

struct range_deletion {
    struct bound start;
    struct bound end;
    struct deletion deletion;
};

/* Write a bound, in stream order, for each place within `slice` where the deletion in force begins,
 * ends or changes.  Ranges that `partition_deletion` hides are left out.  `bounds_out` has space
 * for 2 * count bounds; the bounds point to the bytes of the ranges and the slice.  Returns the
 * number of bounds.  The items of `ranges` are cut to the slice. */
size_t range_deletions_bounds(const struct table *table, struct range_deletion *ranges,
                              size_t count, struct deletion partition_deletion,
                              const struct slice *slice, struct unfiltered *bounds_out);
#endif

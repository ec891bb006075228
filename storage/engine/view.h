/* view: what a job reads: sealed runs that no longer change, and the frame up to which they are
 * seen.
 *
 * A view holds references, so its memtables and segments live until it is released, whatever is
 * flushed or merged meanwhile.  It is taken and released on the engine thread, and read on any. */
#ifndef DAYBOOK_STORAGE_ENGINE_VIEW_H
#define DAYBOOK_STORAGE_ENGINE_VIEW_H

#include "storage/engine/memtable_set.h"

struct view {
    struct schema *schema;
    struct memtable **frozen;          /* oldest first */
    uint32_t frozen_count;
    struct segment **segments;         /* of one table, or all: by (kind, frame_first) */
    uint32_t segment_count;
    uint64_t frame;
    struct segment_read_budget *read_budget; /* of a reader on the engine thread; NULL: it may wait.
                                              * Only for tables without appended rows */
};

/* Runs of `table_id`, or of all tables when it is 0. */
void view_take(const struct memtable_set *memtables, const struct run_set *runs, uint32_t table_id,
               uint64_t frame, struct view *view_out);
/* Give up the sealed append-only runs: for a reader that has the index of their sums. */
void view_leave_columnar(struct view *view);
void view_release(struct view *view);
#endif

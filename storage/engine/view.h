/* view: holds the sealed runs that a job reads, and the frame up to which the job sees rows.
 *
 * Sealed runs are frozen memtables and segments, which do not change.  A view has references to
 * them, so they stay until the view is released, whatever is flushed or merged meanwhile.  A view
 * is taken and released on the engine thread, and may be read on any thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_VIEW_H
#define DAYBOOK_STORAGE_ENGINE_VIEW_H

#include "storage/engine/memtable_set.h"

/* Rows and ends of range deletions that a read on the engine thread may look at in memtables. */
enum { READ_LOOKED_MAX = 20000 };

struct view {
    struct schema *schema;
    struct memtable **frozen;          /* oldest first */
    uint32_t frozen_count;
    struct segment **segments;         /* of one table, or all; in the order of the run_set */
    uint32_t segment_count;
    uint64_t frame;
    struct segment_read_budget *read_budget; /* bounds a read on the engine thread; NULL: the reader
                                              * may wait.  Only for tables without appended rows */
    uint32_t *looked;                  /* counts what such a read looks at in frozen memtables.
                                        * At READ_LOOKED_MAX + 1 the memtables' streams end, and
                                        * the read has to be begun again.  NULL: no limit */
};

/* Take the segments of `table_id` (0: of all tables), and all frozen memtables.  `with_columnar`
 * false: leave out columnar segments, because the reader uses the index of their sums instead. */
void view_take(const struct memtable_set *memtables, const struct run_set *runs, uint32_t table_id,
               bool with_columnar, uint64_t frame, struct view *view_out);
void view_release(struct view *view);
#endif

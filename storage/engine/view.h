/* view: the sealed runs (frozen memtables and segments) that a job reads, and the frame up to which
 * it sees rows.  The view references the runs.  The view is taken and released on the engine
 * thread, and may be read on any thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_VIEW_H
#define DAYBOOK_STORAGE_ENGINE_VIEW_H

#include "storage/engine/memtable_set.h"

/* The most rows and ends of range deletions that a read on the engine thread reads of memtables. */
enum { READ_LOOKED_MAX = 20000 };

struct view {
    struct schema *schema;
    struct memtable **frozen;          /* oldest first */
    uint32_t frozen_count;
    struct segment **segments;         /* of one table, or all; in the order of the run_set */
    uint32_t segment_count;
    uint64_t frame;
    struct segment_read_budget *read_budget; /* for a read on the engine thread; NULL: the reader
                                              * may wait for the disk.  Only for tables without
                                              * appended rows */
    uint32_t *looked;                  /* counts rows and bounds that are read of frozen memtables.
                                        * Above READ_LOOKED_MAX, the streams of these memtables end.
                                        * NULL: no limit */
};

/* `table_id` 0: of all tables.  `with_columnar` false: leave out columnar segments. */
void view_take(const struct memtable_set *memtables, const struct run_set *runs, uint32_t table_id,
               bool with_columnar, uint64_t frame, struct view *view_out);
void view_release(struct view *view);
#endif

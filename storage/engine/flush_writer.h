/* flush_writer: writes the contents of a frozen memtable as segments.
 *
 *     memtable ──▶ per event table: one segment per large day, one for all other days
 *              └─▶ per table: one segment of everything else
 *
 * A day with many rows gets a separate segment, so that days can be merged and removed one by one
 * (compact_plan.h); small days and late clicks share a segment.  The same memtable always gives the
 * same bytes, except for the numbers of the segments.
 *
 * The segments are open, and no manifest names them.  Any thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_FLUSH_WRITER_H
#define DAYBOOK_STORAGE_ENGINE_FLUSH_WRITER_H

#include "storage/engine/run_change.h"
#include "storage/memtable/memtable.h"

struct flush_writer {
    struct memtable *memtable;         /* frozen */
    struct run_change change;          /* adds what was written */
    struct error err;
};

/* The flush_writer is the caller's memory; the caller releases `change`.  The pointers outlive
 * it. */
void flush_writer_init(struct flush_writer *flush, struct run_set *runs, struct memtable *memtable);
/* Write everything; or, if `only` is not NULL, only the rows of that segment's table and kind, to
 * make the segment again.  If the status is negative, flush->err is set. */
must_check int flush_writer_write(struct flush_writer *flush, const struct segment_info *only);
#endif

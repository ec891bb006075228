/* flush_writer: writes the contents of a frozen memtable as segments.
 *
 *     memtable ──▶ per event table: one segment per large day, one for all other days
 *              └─▶ per table: one segment of everything else
 *
 * A large day (day_rows_min rows or more, engine.h; at most 64 days) gets a separate segment, so
 * that days can be merged and removed one by one.  The same memtable always gives the same bytes,
 * except ids.  The segments are added to `change`, which the caller publishes.  Any thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_FLUSH_WRITER_H
#define DAYBOOK_STORAGE_ENGINE_FLUSH_WRITER_H

#include "storage/engine/run_change.h"
#include "storage/memtable/memtable.h"

struct flush_writer {
    struct memtable *memtable;
    struct run_change change;
    struct error err;
};

/* The caller releases `change`.  `runs` and `memtable` must outlive `flush`. */
void flush_writer_init(struct flush_writer *flush, struct run_set *runs, struct memtable *memtable);
/* `only` not NULL: write only the rows of that segment's table and kind.  If the status is
 * negative, flush->err is set. */
must_check int flush_writer_write(struct flush_writer *flush, const struct segment_info *only);
#endif

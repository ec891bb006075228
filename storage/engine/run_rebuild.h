/* run_rebuild: makes a damaged segment again from the log, if the log still has its frames.
 *
 *   footer of the damaged file ──────────────── must agree ───┐
 *   frames of the segment, DIR/archive and DIR/log ─▶ memtable ─▶ segment under a new id
 *                                                              └─▶ one edit of the manifest: the
 *                                                                  new one, not the damaged one */
#ifndef DAYBOOK_STORAGE_ENGINE_RUN_REBUILD_H
#define DAYBOOK_STORAGE_ENGINE_RUN_REBUILD_H

#include "storage/engine/run_set.h"
#include "storage/engine/skipped_cells.h"
#include "storage/memtable/memtable.h"

struct run_rebuild_parts {
    struct schema *schema;
    struct arena_supply *supply;       /* for the memtable of the frames */
    struct skipped_cells *cells;
};

/* Make a segment from the log, and name it instead of the damaged one in the manifest.  Call this
 * before the log is opened, because the open log reuses files whose frames are flushed.  The caller
 * removes the damaged file.  ERROR_CORRUPT, ERROR_CONFLICT: `err` says why the segment cannot be
 * made, and nothing was changed. */
must_check int run_rebuild(struct run_set *runs, const struct run_rebuild_parts *parts,
                           const struct segment_info *damaged, struct segment **segment_out,
                           struct error *err);

enum { RUN_REBUILD_ADVICE_MAX = 512 };
/* Describe what can be done about a damaged segment, and change nothing; any thread.  If `command`
 * could make the segment again, the text names it. */
void run_rebuild_advise(struct world *world, const struct segment_info *damaged,
                        const struct table *table, const char *command,
                        char advice_out[RUN_REBUILD_ADVICE_MAX]);
/* The text of run_rebuild_advise, after run_rebuild has failed with the error `why`. */
void run_rebuild_damage(const struct segment_info *damaged, const struct table *table,
                        const char *why, char advice_out[RUN_REBUILD_ADVICE_MAX]);
#endif

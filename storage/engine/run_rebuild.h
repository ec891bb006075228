/* run_rebuild: a damaged segment is made again from the log, where that still has its frames.
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

/* What making a segment again needs besides the runs. */
struct run_rebuild_parts {
    struct schema *schema;             /* of now */
    struct arena_supply *supply;       /* for its memtable */
    struct skipped_cells *cells;
};

/* While opening: put a segment made from the log in the place of a damaged one, in the manifest,
 * too.  The damaged file is the caller's to remove.  ERROR_CORRUPT, ERROR_CONFLICT: `err` says why
 * it cannot be made, and nothing was changed. */
must_check int run_rebuild(struct run_set *runs, const struct run_rebuild_parts *parts,
                           const struct segment_info *damaged, struct segment **segment_out,
                           struct error *err);

enum { RUN_REBUILD_ADVICE_MAX = 512 };
/* What becomes of a damaged segment, for a caller that changes nothing; any thread.  "the log still
 * has its frames …", if it has and its footer is whole, without which none is made again; else what
 * is missing, and what is lost with the file.  `command` is what would make it again. */
void run_rebuild_advise(struct world *world, const struct segment_info *damaged,
                        const struct table *table, const char *command,
                        char advice_out[RUN_REBUILD_ADVICE_MAX]);
/* The latter for a caller that has tried: `why` is what was missing. */
void run_rebuild_damage(const struct segment_info *damaged, const struct table *table,
                        const char *why, char advice_out[RUN_REBUILD_ADVICE_MAX]);
#endif

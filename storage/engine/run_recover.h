/* run_recover: opens the segments that the manifest names, and puts in order what is not.
 *
 * Files in segments/ that the manifest does not name are of a flush or merge that a crash cut
 * short: they are removed.  A damaged segment is made again from the log where that can be
 * (run_rebuild.h).  One that cannot be opened and cannot be made again is refused; one that can be
 * opened is not, though a page of it is damaged: reads of that page fail. */
#ifndef DAYBOOK_STORAGE_ENGINE_RUN_RECOVER_H
#define DAYBOOK_STORAGE_ENGINE_RUN_RECOVER_H

#include "storage/engine/run_rebuild.h"

/* While opening, before the log is.  `parts` as run_rebuild needs them. */
must_check int run_recover(struct run_set *runs, const struct run_rebuild_parts *parts,
                           struct error *err);
#endif

/* run_recover: opens the segments that the manifest names, and removes all other segment files,
 * which a crash left.  A salvage, or an opening for reading only, leaves them in place.
 *
 * A damaged segment is made again from the log where possible (run_rebuild.h), but not by an
 * opening for reading only.  If only pages are damaged, the segment is used, and reads of those
 * pages fail. */
#ifndef DAYBOOK_STORAGE_ENGINE_RUN_RECOVER_H
#define DAYBOOK_STORAGE_ENGINE_RUN_RECOVER_H

#include "storage/engine/run_rebuild.h"

/* Called while opening, before the log is opened. */
must_check int run_recover(struct run_set *runs, const struct run_rebuild_parts *parts,
                           struct error *err);
#endif

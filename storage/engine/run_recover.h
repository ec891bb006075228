/* run_recover: opens the segments that the manifest names, and removes all other files in segments/
 * except the roster (manifest_snapshot.h).  A salvage, or an opening for reading only, leaves them
 * in place.
 *
 * A damaged segment is made again from the log where possible (run_rebuild.h), but not by an
 * opening for reading only.  Pages are checked only by a salvage that may write.  A segment of
 * which only pages are damaged is used if it cannot be made again; reads of those pages fail. */
#ifndef DAYBOOK_STORAGE_ENGINE_RUN_RECOVER_H
#define DAYBOOK_STORAGE_ENGINE_RUN_RECOVER_H

#include "storage/engine/run_rebuild.h"

/* Call this before the log is opened, because the open log reuses the files that a segment can be
 * made from. */
must_check int run_recover(struct run_set *runs, const struct run_rebuild_parts *parts,
                           struct error *err);
#endif

/* run_recover: opens the segments that the manifest names, and removes all other segment files.
 *
 * A segment file that the manifest does not name is left over from a flush or merge that a crash
 * interrupted.  An opening that salvages or is for reading only leaves such files in place.
 *
 * A damaged segment is made again from the log where that is possible (run_rebuild.h), but not by
 * an opening for reading only.  If the segment is not made again and cannot be opened, the
 * directory is refused.  If only pages of the segment are damaged, the segment is used, and reads
 * of those pages fail. */
#ifndef DAYBOOK_STORAGE_ENGINE_RUN_RECOVER_H
#define DAYBOOK_STORAGE_ENGINE_RUN_RECOVER_H

#include "storage/engine/run_rebuild.h"

/* Call this while opening, before the log is opened.  `parts` are as run_rebuild needs them. */
must_check int run_recover(struct run_set *runs, const struct run_rebuild_parts *parts,
                           struct error *err);
#endif

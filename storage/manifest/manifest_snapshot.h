/* manifest_snapshot: the roster, a file in segments/ from which the manifest can be made again if
 * the manifest and its copy (manifest_copy.h) are both lost.
 *
 *     DIR/segments/roster       the state of the manifest after its last edit
 *     DIR/segments/roster.new   a roster that is being written
 *
 * The roster is replaced as a whole after each edit, before the files that are no longer needed
 * after the edit are removed.  The roster is at most one edit behind, and every segment that it
 * names exists.  docs/FORMATS.md "Roster" has the layout. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_SNAPSHOT_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_SNAPSHOT_H

#include "storage/manifest/manifest.h"

#define MANIFEST_SNAPSHOT_NAME "roster"

/* 0: the roster is durable; or it was removed, because there was no space for the new one.  Makes
 * segments/ if it is missing.  `is_settling`: the manifest is being opened. */
must_check int manifest_snapshot_write(struct disk *disk, const struct manifest_state *state,
                                       bool is_settling);

void manifest_snapshot_encode(const struct manifest_state *state, struct buffer *to);
/* ERROR_CORRUPT or ERROR_NEWER_FORMAT. */
must_check int manifest_snapshot_decode(struct bytes bytes, struct manifest **manifest_out,
                                        struct error *err);

/* Read the roster's file, and check the segments that it names.  ERROR_CORRUPT also if a segment's
 * file is missing, damaged or another segment's; `err` says how many rows would be missing. */
must_check int manifest_snapshot_read(struct world *world, struct manifest **manifest_out,
                                      struct error *err);
#endif

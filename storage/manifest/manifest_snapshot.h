/* manifest_snapshot: the roster: which segments are live, kept in their folder, for a directory
 * whose manifest and copy (manifest_copy.h) are both lost.
 *
 *     DIR/segments/roster       the state of the manifest after its last edit
 *     DIR/segments/roster.new   one being written
 *
 * A segment's file says what it is (table, kind, frames, rows, schema version), but not whether a
 * merge has put another segment in its place, nor how to read the tables; the roster says that.  It
 * is replaced as a whole after each edit, before what the edit gives up is removed.  So it is never
 * more than one edit behind, and every segment that it names is there.  Layout by bytes: FORMATS.md
 * "Roster".
 *
 * Calls block on the disk; the manifest makes all of them. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_SNAPSHOT_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_SNAPSHOT_H

#include "storage/manifest/manifest.h"

#define MANIFEST_SNAPSHOT_NAME "roster"    /* in segments/ */

/* Replace the roster, by manifest_copy_make: durable when it returns 0, and without space for it
 * there is none until the next one is written.  Makes segments/ where it is not there. */
must_check int manifest_snapshot_write(struct disk *disk, const struct manifest_state *state);

/* The same when a manifest is opened, by manifest_copy_settle. */
must_check int manifest_snapshot_settle(struct disk *disk, const struct manifest_state *state);

void manifest_snapshot_encode(const struct manifest_state *state, struct buffer *to);
/* A manifest without a file, of the state that the roster has.  ERROR_CORRUPT,
 * ERROR_NEWER_FORMAT. */
must_check int manifest_snapshot_decode(struct bytes bytes, struct manifest **manifest_out,
                                        struct error *err);

/* The same from the roster's file, with a check of the segments that it names: one that is gone or
 * is another is ERROR_CORRUPT, and `err` says how many rows would be missing. */
must_check int manifest_snapshot_read(struct world *world, struct manifest **manifest_out,
                                      struct error *err);
#endif

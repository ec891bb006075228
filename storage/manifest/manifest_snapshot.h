/* manifest_snapshot: which segments are live, kept beside them, for a directory whose manifest is
 * lost and its mirror (manifest_copy.h) too.
 *
 *     DIR/segments/roster       the state of the manifest after its last edit
 *     DIR/segments/roster.new   one being written
 *
 * A segment says of itself what it is (table, kind, frames, rows, schema version), but not whether
 * a merge has put another in its place, nor how to read the tables; that is said here.  A roster is
 * replaced as a whole after each edit, before what the edit gives up may go: so it is never more
 * than one edit behind, and everything that it names is there.  Layout by bytes: FORMATS.md
 * "Roster".
 *
 * Calls block on the disk, like those of the manifest, which makes all of them. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_SNAPSHOT_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_SNAPSHOT_H

#include "storage/manifest/manifest.h"

#define MANIFEST_SNAPSHOT_NAME "roster"    /* in segments/ */

/* Durable when it returns 0; makes segments/ where it is not there.  Without room for it
 * (error_is_passing) there is none until the next one is written: the result is 0, and the one that
 * is out of date is removed. */
must_check int manifest_snapshot_write(struct disk *disk, const struct manifest_state *state);

/* The same at an opening: manifest_copy_settle. */
must_check int manifest_snapshot_settle(struct disk *disk, const struct manifest_state *state);

void manifest_snapshot_encode(const struct manifest_state *state, struct buffer *to);
/* As manifest_state_decode, which it ends in; ERROR_CORRUPT, ERROR_NEWER_FORMAT. */
must_check int manifest_snapshot_decode(struct bytes bytes, struct manifest **manifest_out,
                                        struct error *err);

/* Read it, and look for everything that it names: a segment that is gone or another than it says
 * is ERROR_CORRUPT, and `err` says what is at stake.  The manifest has no file behind it. */
must_check int manifest_snapshot_read(struct world *world, struct manifest **manifest_out,
                                      struct error *err);
#endif

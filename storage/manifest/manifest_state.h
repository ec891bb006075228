/* manifest_state: what a manifest says, how an edit changes it, and both as bytes.
 *
 *   state   directory id, 16 | u64 frame up to which all is flushed | u64 next segment's id |
 *           properties | schema | varint count | that many segments | clock | purges
 *   edit    u64 flushed frame, 0: as it was | schema, empty: as it was | varint count | u64 ids of
 *           segments removed | varint count | segments added | clock | purges
 *   clock   u64 last write timestamp | u64 trusted time | u64 boot time | boot id, 16; times of 0:
 *           as they were; not there in format 1
 *   purges  u64; nothing: none there have been, or as many as there were
 *
 * Properties and schema are sized bytes; a segment is 65 bytes.  State and edit are the bodies of
 * the manifest's records (manifest_record.h); a roster and a backup have a state, too.  These
 * functions work on bytes in memory.  The structs, and functions for other folders, are in
 * manifest.h. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_STATE_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_STATE_H

#include "base/buffer.h"
#include "storage/manifest/manifest.h"

/* Whether the edit fits the state: removed segments are in it, added ones are not, and the flushed
 * frame and the number of purges do not fall. */
bool manifest_state_takes(const struct manifest_state *state, const struct manifest_edit *edit);
/* Change the state by the edit; false, and unchanged, when the edit does not fit it. */
bool manifest_state_edit(struct manifest_state *state, const struct manifest_edit *edit);

void manifest_state_encode_edit(const struct manifest_edit *edit, struct buffer *to);

/* Fill a zeroed state from the bytes of one; its properties are copied to `properties` (cleared).
 * False when the bytes make no sense; then `err` is set if a schema's format is newer than this
 * program.  What was filled is released by manifest_state_release either way. */
bool manifest_state_load(struct manifest_state *state, struct buffer *properties,
                         struct bytes bytes, struct error *err);
/* Change the state by the bytes of an edit; false as above, or when the edit does not fit it. */
bool manifest_state_load_edit(struct manifest_state *state, struct bytes bytes, struct error *err);
void manifest_state_release(struct manifest_state *state); /* its segments, and the schema */
#endif

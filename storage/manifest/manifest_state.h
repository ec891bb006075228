/* manifest_state: the state of a manifest, its changes by edits, and the bytes of both.
 *
 *   state   directory id, 16 bytes | u64 flushed frame | u64 next segment's id | properties |
 *           schema | varint count | that many segments | clock | purges
 *   edit    u64 flushed frame, 0: unchanged | schema, empty: unchanged | varint count | u64 ids of
 *           removed segments | varint count | added segments | clock | purges
 *   clock   u64 last write timestamp | u64 trusted time | u64 boot time | boot id, 16 bytes; times
 *           of 0: unchanged; format 1 has no clock
 *   purges  u64 number of purges; missing: 0 in a state, unchanged in an edit
 *
 * Properties and schema are sized bytes; a segment has 65 bytes.  The structs are in manifest.h. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_STATE_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_STATE_H

#include "base/buffer.h"
#include "storage/manifest/manifest.h"

/* Whether the state has the removed segments and not the added ones, and the edit lowers neither
 * the flushed frame nor the number of purges. */
bool manifest_state_takes(const struct manifest_state *state, const struct manifest_edit *edit);
/* False: the edit does not fit, and the state is unchanged. */
bool manifest_state_edit(struct manifest_state *state, const struct manifest_edit *edit);

void manifest_state_encode_edit(const struct manifest_edit *edit, struct buffer *to);

/* Fill a zeroed state from the bytes of a state; its properties are copied to `properties`, which
 * must be empty.  False: the bytes are wrong; `err` is set if the schema's format is newer than
 * this program's.  The caller releases the state in both cases. */
bool manifest_state_load(struct manifest_state *state, struct buffer *properties,
                         struct bytes bytes, struct error *err);
/* False: as from manifest_state_load, or the edit does not fit the state. */
bool manifest_state_load_edit(struct manifest_state *state, struct bytes bytes, struct error *err);
void manifest_state_release(struct manifest_state *state);
#endif

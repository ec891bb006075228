/* manifest: records which segments are live, up to which frame they reach, and the schema to read
 * them.
 *
 * DIR/manifest is a log of checksummed records.  An edit is one record, and takes effect when the
 * record is durable.  When the file has no room for a record, a new file is written under a
 * temporary name and synced, then renamed, and the directory is synced.  If a sector of the last
 * record is missing, a crash has torn the record, and the record is dropped; any other record with
 * a wrong checksum is damaged.  Layout: FORMATS.md "Manifest".
 *
 * The functions that use the disk block.  They are called while a directory is made, restored or
 * opened, and by jobs of the background lane, one at a time; manifest_is_linked, a short system
 * call, is called on the engine thread. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/world/trusted_clock.h"
#include "base/world/world.h"
#include "storage/schema/schema.h"
#include "storage/segment/segment_info.h"

struct manifest_state {
    uint8_t directory_id[16];         /* made by uuid_make at `daybook init`; is host_id in CQL */
    struct bytes properties;          /* settings of `daybook init`, as `key=value` lines */
    struct schema *schema;
    struct segment_info *segments;    /* by (table_id, frame_first) */
    uint32_t segment_count;
    uint64_t segment_id_next;
    uint64_t flushed_frame;           /* every frame up to this one is in segments */
    int64_t timestamp_us;             /* the last write timestamp that the store gave to a frame
                                       * up to flushed_frame; 0: unknown, as in format 1 */
    struct clock_reading clock;       /* the last mark of trusted time */
    uint64_t purges;                  /* number of purges of deleted rows, where a mended clock
                                       * counts as a purge; later frames must not be replayed
                                       * over older segments (commit_log_note_purges) */
};

struct manifest;

/* Make a manifest in an empty directory, and return it open, as manifest_open does.  ERROR_EXISTS:
 * the directory has a manifest.  ERROR_NOT_OURS or ERROR_CORRUPT: it has other files
 * (manifest_probe_missing).  Takes a reference to `schema` and copies `properties`. */
must_check int manifest_create(struct world *world, struct schema *schema,
                               const uint8_t directory_id[16], struct bytes properties,
                               struct manifest **manifest_out, struct error *err);
/* Make the files of a manifest with `state`, in a restored directory that has the state's segments
 * already.  ERROR_EXISTS: the directory has a manifest. */
must_check int manifest_create_from(struct world *world, const struct manifest_state *state,
                                    struct error *err);
/* Sort the segments by (table_id, frame_first): a state must have them in this order. */
void manifest_state_sort(struct manifest_state *state);
/* manifest_state_encode appends the bytes of a state.  manifest_state_decode makes a manifest from
 * such bytes; that manifest has no file and only owns the state.  Errors are ERROR_CORRUPT and
 * ERROR_NEWER_FORMAT. */
void manifest_state_encode(const struct manifest_state *state, struct buffer *to);
must_check int manifest_state_decode(struct bytes bytes, struct manifest **manifest_out,
                                     struct error *err);
struct manifest_options {
    bool read_only;                   /* write nothing */
    bool salvage;                     /* make a lost or damaged manifest again from its copy
                                       * (manifest_copy.h) or the roster (manifest_snapshot.h).
                                       * If that succeeds, opening returns 0, and `err` says
                                       * what was done.  With read_only it is ignored */
};

/* ERROR_NOT_FOUND: the directory is empty or missing; ERROR_NOT_OURS: it has files of other
 * programs; also ERROR_NEWER_FORMAT and ERROR_CORRUPT.  Salvage keeps a damaged file under another
 * name. */
must_check int manifest_open(struct world *world, const struct manifest_options *options,
                             struct manifest **manifest_out, struct error *err);
/* The state, which the manifest owns; only manifest_apply changes it. */
const struct manifest_state *manifest_state(const struct manifest *manifest);
/* Whether the manifest's open file still has a name in the directory; true also if that is unknown,
 * if the file is being replaced, or if the manifest has no file. */
bool manifest_is_linked(struct manifest *manifest);
/* Read the file and its copy again, and compare them with the state and with each other.  Must not
 * be called while manifest_apply runs.  ERROR_CORRUPT: `err` says which of the two is wrong, and
 * what mends it.  Other errors say why a file cannot be read. */
must_check int manifest_verify(const struct manifest *manifest, struct error *err);

/* One atomic change. */
struct manifest_edit {
    const struct segment_info *added;
    uint32_t added_count;
    const uint64_t *removed;          /* segment ids */
    uint32_t removed_count;
    uint64_t flushed_frame;           /* 0: unchanged */
    uint64_t purges;                  /* 0: unchanged */
    struct schema *schema;            /* NULL: unchanged */
    int64_t timestamp_us;             /* 0: unchanged */
    struct clock_reading clock;       /* wall_us 0: unchanged */
};
/* The edit is durable when this function returns 0.  After an error of error_is_passing, such as
 * -ENOSPC, the manifest is unchanged and the edit can be tried again.  After any other error it may
 * be unknown what is on disk; later calls then return ERROR_FAILED.  The edit must fit the state:
 * the state has the removed segments and not the added ones, and flushed_frame and purges do not
 * fall. */
must_check int manifest_apply(struct manifest *manifest, const struct manifest_edit *edit,
                              struct error *err);
void manifest_close(struct manifest *manifest);
#endif

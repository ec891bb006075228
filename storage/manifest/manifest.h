/* manifest: records which segments are live, up to which frame they reach, and the schema to read
 * them.
 *
 * DIR/manifest is a log of checksummed records.  An edit is one record, and takes effect when it is
 * durable.  If a sector of the last record is missing, a crash has torn the record, and it is
 * dropped; any other record with a wrong checksum is damaged.  docs/FORMATS.md "Manifest" has the
 * layout.
 *
 * Functions that use the disk wait for it.  They are called while a directory is made, restored or
 * opened, and by jobs of the background lane, one at a time.  manifest_is_linked is for the engine
 * thread. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/world/trusted_clock.h"
#include "base/world/world.h"
#include "storage/schema/schema.h"
#include "storage/segment/segment_info.h"

struct manifest_state {
    uint8_t directory_id[16];         /* is host_id in CQL */
    struct bytes properties;          /* settings of `daybook init`, as `key=value` lines */
    struct schema *schema;
    struct segment_info *segments;    /* by (table_id, frame_first) */
    uint32_t segment_count;
    uint64_t segment_id_next;
    uint64_t flushed_frame;           /* every frame up to here is in segments */
    int64_t timestamp_us;             /* the last write timestamp that the store had given when
                                       * flushed_frame was the last frame; 0: unknown, as in format
                                       * 1 */
    struct clock_reading clock;
    uint64_t purges;                  /* number of purges; a mended clock counts as one
                                       * (commit_log_note_purges) */
};

struct manifest;

/* Make a manifest in a directory for which manifest_probe_missing gives ERROR_NOT_FOUND, and return
 * the manifest open.  ERROR_EXISTS: the directory has a manifest.  Other errors of
 * manifest_probe_missing are returned.  Takes a reference to `schema` and copies `properties`. */
must_check int manifest_create(struct world *world, struct schema *schema,
                               const uint8_t directory_id[16], struct bytes properties,
                               struct manifest **manifest_out, struct error *err);
/* Make a manifest with `state`, in a restored directory that already has its segments.
 * ERROR_EXISTS: the directory has a manifest. */
must_check int manifest_create_from(struct world *world, const struct manifest_state *state,
                                    struct error *err);
/* Sort the segments by (table_id, frame_first): a state must have them in this order. */
void manifest_state_sort(struct manifest_state *state);
/* manifest_state_decode makes a manifest without a file.  ERROR_CORRUPT, ERROR_NEWER_FORMAT. */
void manifest_state_encode(const struct manifest_state *state, struct buffer *to);
must_check int manifest_state_decode(struct bytes bytes, struct manifest **manifest_out,
                                     struct error *err);
struct manifest_options {
    bool read_only;
    bool salvage;                     /* make a lost or damaged manifest again from its copy or the
                                       * roster, return 0, and say so in `err`.  Ignored with
                                       * read_only */
};

/* Without a manifest, errors are those of manifest_probe_missing.  ERROR_NOT_OURS: the file
 * `manifest` is of another program.  Other errors: ERROR_NEWER_FORMAT, ERROR_CORRUPT.  Salvage
 * keeps a damaged file under another name. */
must_check int manifest_open(struct world *world, const struct manifest_options *options,
                             struct manifest **manifest_out, struct error *err);
/* The manifest owns the state; only manifest_apply changes it. */
const struct manifest_state *manifest_state(const struct manifest *manifest);
/* Whether the manifest's open file still has a name in the directory.  Also true if that is
 * unknown, if the file is being replaced, or if there is none. */
bool manifest_is_linked(struct manifest *manifest);
/* Compare the file, its copy and the state.  Must not be called while manifest_apply runs.
 * ERROR_CORRUPT: `err` says which of the files is wrong, and how to repair it.  Other errors say
 * why a file cannot be read. */
must_check int manifest_verify(const struct manifest *manifest, struct error *err);

struct manifest_edit {
    const struct segment_info *added;
    uint32_t added_count;
    const uint64_t *removed;          /* ids */
    uint32_t removed_count;
    uint64_t flushed_frame;           /* 0: unchanged */
    uint64_t purges;                  /* 0: unchanged */
    struct schema *schema;            /* NULL: unchanged */
    int64_t timestamp_us;             /* 0: unchanged */
    struct clock_reading clock;       /* wall_us 0: unchanged */
};
/* The edit is durable when this function returns 0.  After an error for which error_is_passing is
 * true, such as -ENOSPC, the manifest is unchanged and the edit can be tried again.  After any
 * other error it may be unknown what is on disk, and later calls return ERROR_FAILED.  The state
 * must have the removed segments and not the added ones; flushed_frame and purges must not
 * decrease. */
must_check int manifest_apply(struct manifest *manifest, const struct manifest_edit *edit,
                              struct error *err);
void manifest_close(struct manifest *manifest);
#endif

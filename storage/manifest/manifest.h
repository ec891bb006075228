/* manifest: which segments are live, up to which frame they reach, and the schema to read them by.
 *
 * DIR/manifest is a log of checksummed records.  An edit is one record, and takes effect when that
 * is durable.  When the file has no room for a record, a whole new file is written under a
 * temporary name and synced, it is renamed, and the directory is synced.  A last record of which a
 * sector is missing was left by a crash and is dropped; any other record that does not check is
 * damage.  Layout: FORMATS.md "Manifest".
 *
 * Calls block on the disk: they are made while a directory is opened, and by jobs of the background
 * lane, one at a time. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/world/trusted_clock.h"
#include "base/world/world.h"
#include "storage/schema/schema.h"
#include "storage/segment/segment_info.h"

struct manifest_state {
    uint8_t directory_id[16];         /* made at init, by uuid_make; host_id over CQL */
    struct bytes properties;          /* settings of `daybook init`, as `key=value` lines */
    struct schema *schema;
    struct segment_info *segments;    /* by (table_id, frame_first) */
    uint32_t segment_count;
    uint64_t segment_id_next;
    uint64_t flushed_frame;           /* every frame up to here is in segments */
    int64_t timestamp_us;             /* the last write timestamp that the store gave to one of
                                       * these frames; 0: not known, as in formats before 2 */
    struct clock_mark clock;          /* the last mark that was made */
    uint64_t purges;                  /* number of purges of deleted rows; a purge can make later
                                       * frames differ (commit_log_note_purges) */
};

struct manifest;

/* Make a manifest in an empty directory, and leave it open, as manifest_open does.  ERROR_EXISTS if
 * the directory has one.  Takes a reference of `schema`, and a copy of `properties`. */
must_check int manifest_create(struct world *world, struct schema *schema,
                               const uint8_t directory_id[16], struct bytes properties,
                               struct manifest **manifest_out, struct error *err);
/* Make a manifest of `state`, whose segments must be there, for a directory that is restored; it is
 * not left open. */
must_check int manifest_create_from(struct world *world, const struct manifest_state *state,
                                    struct error *err);
/* Sort the segments by (table_id, frame_first), as a state must have them. */
void manifest_state_sort(struct manifest_state *state);
/* manifest_state_encode appends a state as bytes.  manifest_state_decode makes a manifest from such
 * bytes; it has no file, and serves only to hold the state.  ERROR_CORRUPT, ERROR_NEWER_FORMAT. */
void manifest_state_encode(const struct manifest_state *state, struct buffer *to);
must_check int manifest_state_decode(struct bytes bytes, struct manifest **manifest_out,
                                     struct error *err);
struct manifest_options {
    bool read_only;                   /* write nothing */
    bool salvage;                     /* a manifest that is lost or damaged is made again from its
                                       * copy (manifest_copy.h) or the roster (manifest_snapshot.h);
                                       * the result is 0, and `err` says what was done */
};

/* ERROR_NOT_FOUND in an empty or missing directory, ERROR_NOT_OURS in one with other files,
 * ERROR_NEWER_FORMAT, ERROR_CORRUPT.  Removes nothing; a damaged file is kept under another
 * name. */
must_check int manifest_open(struct world *world, const struct manifest_options *options,
                             struct manifest **manifest_out, struct error *err);
/* The state, which the manifest owns; only manifest_apply changes it. */
const struct manifest_state *manifest_state(const struct manifest *manifest);
/* Whether the manifest's open file still has a name in the directory; true also where that is not
 * known, and for a manifest without a file. */
bool manifest_is_linked(const struct manifest *manifest);
/* Read the file and its copy again, and compare them with the state and with each other.  Not to be
 * called while manifest_apply runs.  `err` says which of them is wrong and what mends it
 * (ERROR_CORRUPT), or why it cannot be read. */
must_check int manifest_verify(const struct manifest *manifest, struct error *err);

/* One atomic change. */
struct manifest_edit {
    const struct segment_info *added;
    uint32_t added_count;
    const uint64_t *removed;          /* segment ids */
    uint32_t removed_count;
    uint64_t flushed_frame;           /* 0: as it was */
    uint64_t purges;                  /* 0: as it was */
    struct schema *schema;            /* NULL: as it was */
    int64_t timestamp_us;             /* 0: as it was */
    struct clock_mark clock;          /* trusted_us 0: as it was */
};
/* The edit is durable when this returns 0.  After -ENOSPC the manifest is unchanged and the edit
 * can be tried again; after any other error it is unknown what is on disk, and every later call
 * returns ERROR_FAILED.  The edit must fit the state: removed segments are in it, added ones are
 * not, flushed_frame and purges do not fall. */
must_check int manifest_apply(struct manifest *manifest, const struct manifest_edit *edit,
                              struct error *err);
void manifest_close(struct manifest *manifest);
#endif

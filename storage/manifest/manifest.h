/* manifest: which segments are live, up to which frame they reach, and the schema to read them by.
 *
 * DIR/manifest is a log of checksummed records; an edit is one record, durable before it counts.
 * When its room is used up, a whole new one is written under a temporary name, synced, renamed and
 * the directory synced.  A last record of which a sector is missing is the residue of a crash and
 * is dropped; anything else that does not check is damage.  Layout: FORMATS.md "Manifest".
 *
 * Calls block on the disk: they are made while opening, and by jobs of the background lane, one at
 * a time. */
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
    struct bytes properties;          /* init's settings as `key=value` lines, kept as they are */
    struct schema *schema;
    struct segment_info *segments;    /* by (table_id, frame_first) */
    uint32_t segment_count;
    uint64_t segment_id_next;
    uint64_t flushed_frame;           /* every frame up to here is in segments */
    int64_t timestamp_us;             /* the last that the store gave any of them; 0: not known, as
                                       * formats before 2 did not say */
    struct clock_mark clock;          /* the last that was made */
    uint64_t purges;                  /* how often deleted rows were purged that a later frame may
                                       * have seen the difference of: commit_log_note_purges */
};

struct manifest;

/* A new one in an empty directory, open as manifest_open leaves it; ERROR_EXISTS where there is
 * one.  Takes a reference of `schema`, and a copy of `properties`. */
must_check int manifest_create(struct world *world, struct schema *schema,
                               const uint8_t directory_id[16], struct bytes properties,
                               struct manifest **manifest_out, struct error *err);
/* The same with segments, which must be there, for a directory that is restored; and closed. */
must_check int manifest_create_from(struct world *world, const struct manifest_state *state,
                                    struct error *err);
void manifest_state_sort(struct manifest_state *state);        /* its segments, as they must be */
/* A state as bytes; and from bytes a manifest that no file stands behind, for its state alone. */
void manifest_state_encode(const struct manifest_state *state, struct buffer *to);
must_check int manifest_state_decode(struct bytes bytes, struct manifest **manifest_out,
                                     struct error *err);
struct manifest_options {
    bool read_only;                   /* write nothing */
    bool salvage;                     /* one that is lost or damaged is made again from its copy
                                       * (manifest_copy.h) or the roster (manifest_snapshot.h);
                                       * `err` says so, the result is 0 */
};

/* ERROR_NOT_FOUND in an empty or missing directory, ERROR_NOT_OURS in one with other files,
 * ERROR_NEWER_FORMAT, ERROR_CORRUPT.  Removes nothing; a damaged file is kept under another
 * name. */
must_check int manifest_open(struct world *world, const struct manifest_options *options,
                             struct manifest **manifest_out, struct error *err);
/* Owned by the manifest; changes only by manifest_apply. */
const struct manifest_state *manifest_state(const struct manifest *manifest);
/* Whether its file still has a name. */
bool manifest_is_linked(const struct manifest *manifest);
/* Read the file and its copy again, and compare them with the state and with each other; not beside
 * manifest_apply.  ERROR_CORRUPT, and `err` says which of them is wrong and what mends it; or why
 * the file cannot be read. */
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
/* Durable when it returns 0.  After -ENOSPC it is unchanged and can be tried again; after any other
 * error nobody knows what is on disk, and every later call returns ERROR_FAILED.  The edit must
 * fit: removed segments are there, added ones are not, flushed_frame and purges do not fall. */
must_check int manifest_apply(struct manifest *manifest, const struct manifest_edit *edit,
                              struct error *err);
void manifest_close(struct manifest *manifest);
#endif

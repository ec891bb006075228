/* manifest_copy: writes the files that repeat the manifest.  --salvage makes a lost or damaged
 * manifest again from one of them.
 *
 * DIR/manifest.copy has the bytes of DIR/manifest; after a crash only the last record may be
 * missing.  Segments and log frames that are not needed after a record are removed only when the
 * copy has the record, too.  The second file is the roster (manifest_snapshot.h). */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_COPY_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_COPY_H

#include "base/bytes.h"
#include "base/world/world.h"

#define MANIFEST_COPY_PATH     "manifest.copy"
#define MANIFEST_COPY_NEW_PATH "manifest.copy.new"
#define MANIFEST_DAMAGED_PREFIX "manifest.damaged-"

struct manifest_copy_names {
    const char *folder;
    const char *path;
    const char *path_new;
};

/* Replace the file durably, and leave it open for appending.  If there is no space for it
 * (error_is_passing), the old file is removed as out of date; the function returns 0, and *file_out
 * is NULL. */
must_check int manifest_copy_make(struct disk *disk, const struct manifest_copy_names *names,
                                  struct bytes content, struct disk_file **file_out);
/* When a manifest is opened: make the file durable with the bytes of `content`.  If the file has
 * them already, perhaps in a cache only, the bytes from `from` to `end` are written again and
 * synced.  Otherwise the file is replaced. */
must_check int manifest_copy_settle(struct disk *disk, const struct manifest_copy_names *names,
                                    struct bytes content, uint64_t from, uint64_t end,
                                    struct disk_file **file_out);
/* Write bytes at `offset` and sync them. */
must_check int manifest_copy_write(struct disk *disk, struct disk_file *file, uint64_t offset,
                                   struct bytes bytes);
/* Rename the damaged file `path` to the first free name of manifest.damaged-1, manifest.damaged-2
 * and so on.  A missing file is no error. */
must_check int manifest_copy_keep_damaged(struct disk *disk, const char *path);
#endif

/* manifest_copy: files that repeat the manifest, from which --salvage makes a lost or damaged one
 * again: how they are replaced, and written again at an opening.
 *
 * DIR/manifest.copy holds the bytes of DIR/manifest, except that a crash may have kept the last
 * record from it.  Segments and log frames that a record gives up are removed only once the copy
 * has the record, too: so each of the two leads to everything that was acknowledged.  The other one
 * is the roster (manifest_snapshot.h). */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_COPY_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_COPY_H

#include "base/bytes.h"
#include "base/world/world.h"

#define MANIFEST_COPY_PATH     "manifest.copy"
#define MANIFEST_COPY_NEW_PATH "manifest.copy.new"
#define MANIFEST_DAMAGED_PREFIX "manifest.damaged-"

/* The names of such a file. */
struct manifest_copy_names {
    const char *folder;
    const char *path;
    const char *path_new;              /* while it is written */
};

/* Make the file anew with these bytes, durable when it returns 0, and leave it open for appending.
 * Without room for it (error_is_passing) there is none from here on: the result is 0, *file_out
 * NULL, and one that is out of date is removed. */
must_check int manifest_copy_make(struct disk *disk, const struct manifest_copy_names *names,
                                  struct bytes content, struct disk_file **file_out);
/* The same at an opening, when the file nearly always has just these bytes, but perhaps in a cache
 * only: then those from `from` to `end` are written again in their place and synced, which takes no
 * new file and no new name. */
must_check int manifest_copy_settle(struct disk *disk, const struct manifest_copy_names *names,
                                    struct bytes content, uint64_t from, uint64_t end,
                                    struct disk_file **file_out);
/* Write bytes at `offset` and sync them. */
must_check int manifest_copy_write(struct disk *disk, struct disk_file *file, uint64_t offset,
                                   struct bytes bytes);
/* Rename the damaged file `path`, if it is there, to the first free name of manifest.damaged-1,
 * manifest.damaged-2 and so on. */
must_check int manifest_copy_keep_damaged(struct disk *disk, const char *path);
#endif

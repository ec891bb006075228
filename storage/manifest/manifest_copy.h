/* manifest_copy: the manifest's mirror, from which --salvage makes a lost or damaged one again.
 *
 * DIR/manifest.copy holds the bytes of DIR/manifest, except that a crash may have kept the last
 * record from it.  Segments and log frames that a record gives up go only once the copy has it,
 * too: so each of the two leads to everything that was acknowledged. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_COPY_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_COPY_H

#include "base/bytes.h"
#include "base/world/world.h"

#define MANIFEST_COPY_PATH     "manifest.copy"
#define MANIFEST_COPY_NEW_PATH "manifest.copy.new"
#define MANIFEST_DAMAGED_PREFIX "manifest.damaged-"

/* Give a new file `size` bytes, zero-filled, that begin with `content`, and sync it. */
must_check int manifest_copy_fill_file(struct disk *disk, struct disk_file *file,
                                       struct bytes content, uint64_t size);

/* Make the copy anew, of `size` bytes that begin with `content`, and leave it open for appending.
 * Without room for it (error_is_passing) there is none from here on: the result is 0, *file_out
 * NULL, and one that is out of date is removed. */
must_check int manifest_copy_make(struct disk *disk, struct bytes content, uint64_t size,
                                  struct disk_file **file_out);
/* The same, unless the copy that is there has just these bytes; then only its last record, from
 * `last` to `end`, is written again, as an opening does with the manifest's. */
must_check int manifest_copy_open(struct disk *disk, struct bytes content, uint64_t last,
                                  uint64_t end, struct disk_file **file_out);
/* Add a record and sync it. */
must_check int manifest_copy_append(struct disk *disk, struct disk_file *file, uint64_t offset,
                                    struct bytes record);
/* Rename a manifest that is damaged, if it is there at all, to the first that is free of
 * manifest.damaged-1, manifest.damaged-2 and so on. */
must_check int manifest_copy_keep_damaged(struct disk *disk, const char *path);
#endif

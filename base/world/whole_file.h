/* whole_file: small files that are read whole, and replaced whole. */
#ifndef DAYBOOK_BASE_WORLD_WHOLE_FILE_H
#define DAYBOOK_BASE_WORLD_WHOLE_FILE_H

#include "base/buffer.h"
#include "base/world/world.h"

/* All of an open file, appended to `content`, which is empty.  ERROR_LIMIT when it has more than
 * `size_max` bytes, -EIO when it ends before its size; then nothing is. */
must_check int whole_file_read(struct disk *disk, struct disk_file *file, int64_t size_max,
                               struct buffer *content);

/* Put a file of these bytes in the place of `path`, in `folder`, by way of `path_new`: after a
 * crash the old one is there or the new one, whole, and perhaps one of any content under
 * `path_new`, which the next call removes.  Durable when it returns 0. */
must_check int whole_file_replace(struct disk *disk, const char *folder, const char *path,
                                  const char *path_new, struct bytes bytes);
#endif

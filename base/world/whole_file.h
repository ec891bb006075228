/* whole_file: reads and replaces small files as a whole, and finds unused names. */
#ifndef DAYBOOK_BASE_WORLD_WHOLE_FILE_H
#define DAYBOOK_BASE_WORLD_WHOLE_FILE_H

#include "base/buffer.h"
#include "base/world/world.h"

/* `content` must be empty, and stays empty after an error.  ERROR_LIMIT when the file has more than
 * `size_max` bytes, -EIO when fewer bytes can be read. */
must_check int whole_file_read(struct disk *disk, struct disk_file *file, int64_t size_max,
                               struct buffer *content);

/* Replace the file `path` in `folder`: write the file `path_new`, and rename it to `path`.  The new
 * file is durable when 0 is returned.  After an error or a crash `path` is the whole old file or
 * the whole new one. */
must_check int whole_file_replace(struct disk *disk, const char *folder, const char *path,
                                  const char *path_new, struct bytes bytes);

/* Set `path` (of `size` bytes) to the first of the names `prefix`1, `prefix`2 and so on that no
 * file has. */
must_check int whole_file_unused_name(struct disk *disk, const char *prefix, char *path,
                                      size_t size);
#endif

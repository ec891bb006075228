/* disk_posix: the disk of world.h on a real directory.
 *
 * Any thread may call it; a file belongs to one caller at a time.  Opening changes nothing, so that
 * a reader can look into a directory it may not write. */
#ifndef DAYBOOK_BASE_WORLD_DISK_POSIX_H
#define DAYBOOK_BASE_WORLD_DISK_POSIX_H

#include <stdbool.h>

#include "base/world/world.h"

/* `path` must exist unless `create`. */
must_check int disk_posix_open(const char *path, bool create, struct disk **disk_out,
                               struct error *err);
/* All files closed; gives the lock back. */
void disk_posix_close(struct disk *disk);                    /* NULL is fine */
#endif

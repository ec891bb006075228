/* disk_posix: the disk of world.h on a real directory.
 *
 * Any thread may call a disk's functions, and several may read a file at the same time.  Opening an
 * existing directory changes nothing in it, so a process that may only read can open it. */
#ifndef DAYBOOK_BASE_WORLD_DISK_POSIX_H
#define DAYBOOK_BASE_WORLD_DISK_POSIX_H

#include <stdbool.h>

#include "base/world/world.h"

/* Open the directory `path`, which must exist unless `create`. */
must_check int disk_posix_open(const char *path, bool create, struct disk **disk_out,
                               struct error *err);
/* Release the lock and free the disk, whose files must be closed. */
void disk_posix_close(struct disk *disk);                    /* NULL is fine */
#endif

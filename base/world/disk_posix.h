/* disk_posix: the disk of world.h on a real directory.
 *
 * Any thread may call a disk's functions.  Opening an existing directory does not change it. */
#ifndef DAYBOOK_BASE_WORLD_DISK_POSIX_H
#define DAYBOOK_BASE_WORLD_DISK_POSIX_H

#include <stdbool.h>

#include "base/world/world.h"

/* `path` must exist unless `create`. */
must_check int disk_posix_open(const char *path, bool create, struct disk **disk_out,
                               struct error *err);
/* The disk's files must be closed. */
void disk_posix_close(struct disk *disk);                    /* NULL is fine */
#endif

/* disk_modes: only its owner may enter a data directory: directories 0700, files 0600.
 *
 * A data directory contains clicks, rates and payments.  Also, a user who can open a directory can
 * lock it (flock), so that no server starts there. */
#ifndef DAYBOOK_BASE_WORLD_DISK_MODES_H
#define DAYBOOK_BASE_WORLD_DISK_MODES_H

#include "base/error.h"

enum { DISK_MODE_DIRECTORY = 0700, DISK_MODE_FILE = 0600 };

/* If other users have any right on the directory that is open as `directory`, remove their rights
 * on it and on all files in it, and log that.  -EACCES where another user owns the directory; `err`
 * then names what the owner has to do. */
must_check int disk_modes_tighten(int directory, const char *path, struct error *err);
#endif

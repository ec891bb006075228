/* disk_modes: the modes of a data directory, which only its owner may enter: directories 0700,
 * files 0600.
 *
 * A user that can open a directory can lock it (flock), and no server then starts on it. */
#ifndef DAYBOOK_BASE_WORLD_DISK_MODES_H
#define DAYBOOK_BASE_WORLD_DISK_MODES_H

#include "base/error.h"

enum { DISK_MODE_DIRECTORY = 0700, DISK_MODE_FILE = 0600 };

/* Remove all rights of other users on the directory, its folders and their files, and log that.
 * `directory` is a descriptor of `path`.  -EACCES when another user owns the directory or its mode
 * cannot be set; `err` then contains the command that the owner has to run. */
must_check int disk_modes_tighten(int directory, const char *path, struct error *err);
#endif

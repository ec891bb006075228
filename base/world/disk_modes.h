/* disk_modes: the modes of a data directory, which only its owner may enter: directories 0700,
 * files 0600.
 *
 * A data directory contains clicks, rates and amounts.  Also, a user that can open a directory can
 * lock it (flock), and no server then starts on it. */
#ifndef DAYBOOK_BASE_WORLD_DISK_MODES_H
#define DAYBOOK_BASE_WORLD_DISK_MODES_H

#include "base/error.h"

enum { DISK_MODE_DIRECTORY = 0700, DISK_MODE_FILE = 0600 };

/* `directory` is a descriptor of the directory `path`.  If other users have any right on this
 * directory, remove their rights on it, its folders and the files in them, and log that.  -EACCES
 * when another user owns the directory or its mode cannot be set; `err` then contains the command
 * that the owner has to run. */
must_check int disk_modes_tighten(int directory, const char *path, struct error *err);
#endif

/* disk_modes: a data directory is its owner's alone: directories 0700, files 0600.
 *
 * What is in it are the clicks, the rates and who is paid what.  And who can open a directory can
 * lock it (flock), so that no server starts there. */
#ifndef DAYBOOK_BASE_WORLD_DISK_MODES_H
#define DAYBOOK_BASE_WORLD_DISK_MODES_H

#include "base/error.h"

enum { DISK_MODE_DIRECTORY = 0700, DISK_MODE_FILE = 0600 };

/* The directory that is open as `directory`: if others may do anything in it, their rights are
 * taken away, of all that is in it, too, and a log line says so.  -EACCES where it is another
 * user's; `err` says what that one has to do. */
must_check int disk_modes_tighten(int directory, const char *path, struct error *err);
#endif

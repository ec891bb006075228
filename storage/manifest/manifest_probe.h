/* manifest_probe: finds out whether a directory is empty, a data directory, or something else,
 * without a lock, and without changing it. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_PROBE_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_PROBE_H

#include "base/world/world.h"

#define MANIFEST_PATH     "manifest"
#define MANIFEST_NEW_PATH "manifest.new"
#define MANIFEST_MAGIC    "DAYBOOKM"

enum { MANIFEST_MAGIC_SIZE = 8 };

/* 0: the directory has a manifest; without one, as manifest_probe_missing.  ERROR_NOT_OURS: its
 * file `manifest` is of another program. */
must_check int manifest_probe(struct disk *disk, struct error *err);
/* For a directory without a manifest.  ERROR_NOT_FOUND: it is missing, or has no log files, no
 * segments and no files of other programs.  ERROR_NOT_OURS: it has files of other programs.
 * ERROR_CORRUPT: it is a data directory whose manifest is lost. */
must_check int manifest_probe_missing(struct disk *disk, struct error *err);
#endif

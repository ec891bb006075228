/* manifest_probe: finds out whether a directory is empty, a data directory, or something else.
 *
 * Nothing in the directory is changed, and no lock is taken. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_PROBE_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_PROBE_H

#include "base/world/world.h"

#define MANIFEST_PATH     "manifest"
#define MANIFEST_NEW_PATH "manifest.new"
#define MANIFEST_MAGIC    "DAYBOOKM"

enum { MANIFEST_MAGIC_SIZE = 8 };

/* Returns 0 if the directory has a manifest.  ERROR_NOT_OURS: its file `manifest` is of another
 * program.  Without a manifest, returns what manifest_probe_missing returns. */
must_check int manifest_probe(struct disk *disk, struct error *err);
/* Returns what a directory without a manifest is.  ERROR_NOT_FOUND: it is missing, empty, or has
 * files of daybook but neither log files nor segments; ERROR_NOT_OURS: it has files of other
 * programs; ERROR_CORRUPT: it is a data directory whose manifest is lost. */
must_check int manifest_probe_missing(struct disk *disk, struct error *err);
#endif

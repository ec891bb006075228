/* manifest_probe: what a directory is, told without changing anything in it, not even a lock. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_PROBE_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_PROBE_H

#include "base/world/world.h"

#define MANIFEST_PATH     "manifest"
#define MANIFEST_NEW_PATH "manifest.new"
#define MANIFEST_MAGIC    "DAYBOOKM"

enum { MANIFEST_MAGIC_SIZE = 8 };

/* 0 when it has a manifest of ours, else as below. */
must_check int manifest_probe(struct disk *disk, struct error *err);
/* What one without a manifest is: ERROR_NOT_FOUND (empty), ERROR_NOT_OURS (somebody else's),
 * ERROR_CORRUPT (ours, and the manifest is lost). */
must_check int manifest_probe_missing(struct disk *disk, struct error *err);
#endif

/* manifest_probe: what a directory is: empty, a daybook's, or something else.
 *
 * Nothing in the directory is changed, and no lock is taken. */
#ifndef DAYBOOK_STORAGE_MANIFEST_MANIFEST_PROBE_H
#define DAYBOOK_STORAGE_MANIFEST_MANIFEST_PROBE_H

#include "base/world/world.h"

#define MANIFEST_PATH     "manifest"
#define MANIFEST_NEW_PATH "manifest.new"
#define MANIFEST_MAGIC    "DAYBOOKM"

enum { MANIFEST_MAGIC_SIZE = 8 };

/* 0 when the directory has a daybook's manifest, else as manifest_probe_missing. */
must_check int manifest_probe(struct disk *disk, struct error *err);
/* What a directory without a manifest is: ERROR_NOT_FOUND (empty), ERROR_NOT_OURS (it has files
 * that are not daybook's), ERROR_CORRUPT (daybook's, and the manifest is lost). */
must_check int manifest_probe_missing(struct disk *disk, struct error *err);
#endif

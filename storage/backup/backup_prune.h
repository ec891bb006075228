/* backup_prune: what the points of a backup that stay do not need is removed. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_PRUNE_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_PRUNE_H

#include "base/world/world.h"

/* Keep the newest `keep` (at least 1) points: older ones go, then every segment and log file that
 * none of the others needs.  A damaged point stops it before any file is removed.  The log behind
 * the oldest point that stays is kept whole, so that any moment since then can be restored. */
must_check int backup_prune(struct disk *target, uint32_t keep, struct error *err);
#endif

/* backup_prune: removes old points of a backup, and the files that no other point needs. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_PRUNE_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_PRUNE_H

#include "base/world/world.h"

/* With over `keep` points (1 or more), remove the oldest, and every segment and log file that no
 * kept point needs.  A damaged kept point is an error, and nothing is removed.  All log from the
 * oldest kept point on stays. */
must_check int backup_prune(struct disk *target, uint32_t keep, struct error *err);
#endif

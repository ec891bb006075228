/* backup_prune: removes old points of a backup, and the files that no other point needs. */
#ifndef DAYBOOK_STORAGE_BACKUP_BACKUP_PRUNE_H
#define DAYBOOK_STORAGE_BACKUP_BACKUP_PRUNE_H

#include "base/world/world.h"

/* If there are more than `keep` points, keep the newest `keep` (1 or more) and remove the others,
 * then every segment and log file that no kept point needs.  If a kept point is damaged, nothing is
 * removed.  All log from the oldest kept point on is kept, so that any moment since that point can
 * be restored. */
must_check int backup_prune(struct disk *target, uint32_t keep, struct error *err);
#endif

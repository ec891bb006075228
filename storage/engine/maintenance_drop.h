/* maintenance_drop: finds the columnar runs of which nothing is left: a purge need not read them.
 *
 * A day that is sealed is deleted whole, partition by partition, in one frame each.  A run whose
 * every partition was deleted after its last row was written can be unlinked as it is: one edit of
 * the manifest takes the runs away, and the deletions with them.
 *
 *     runs of days    27 ─ dropped      28 ─ dropped      27, 28, 29 mixed ─ stays
 *     deletions       of every partition of the 27th and the 28th
 *
 * The mixed run still has rows of the 29th.  As it also has partitions of the 27th and the 28th,
 * whose later equals would get other ranks if only the older run went, neither day's run goes
 * before it: the three are merged as any others, which reads them once.
 *
 * On the merge lane, for a merge that may purge (maintenance_merge.h). */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_DROP_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_DROP_H

#include "storage/engine/maintenance_merge.h"

/* Look through all columnar runs of the table.  1: compact->inputs are now the runs that may be
 * unlinked, compact->beside the others, and compact->purged has the partitions; 0: there are none,
 * and nothing was changed; negative: an error. */
must_check int maintenance_drop_find(struct compact_job *compact);

/* A stream of all that the overwrites have of a partition; NULL when they have nothing. */
must_check int maintenance_drop_overwrites(struct compact_job *compact, int64_t token,
                                           struct bytes key, struct stream **stream_out,
                                           struct error *err);
#endif

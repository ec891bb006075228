/* maintenance_drop: finds the columnar runs whose rows are all deleted.  A purge removes these runs
 * without reading them.
 *
 * A sealed day is deleted partition by partition, one partition in one frame.  If every partition
 * of a run was deleted after the last row of the run was written, the run can be removed without
 * being read: one edit of the manifest removes such runs together with the deletions.
 *
 *     runs of days    27 ─ dropped      28 ─ stays      28, 29 mixed ─ stays
 *     deletions       of every partition of the 27th and the 28th
 *
 * The mixed run stays, because it still has rows of the 29th.  The run of the 28th stays because
 * the mixed run has rows of the same partitions: without the older run these clicks would get other
 * ranks.  Runs that stay are merged as others are.
 *
 * These functions run on the merge lane, for a merge that may purge (maintenance_merge.h). */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_DROP_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_DROP_H

#include "storage/engine/maintenance_merge.h"

/* Look for runs to be removed among all columnar runs of the table.  1: compact->inputs are now the
 * runs that may be removed, compact->beside the others, and compact->purged has the partitions of
 * the inputs; 0: there are no such runs, and nothing was changed; negative: an error. */
must_check int maintenance_drop_find(struct compact_job *compact);

/* Open a stream of everything in compact->overwrites that belongs to a partition; *stream_out is
 * NULL when there is nothing. */
must_check int maintenance_drop_overwrites(struct compact_job *compact, int64_t token,
                                           struct bytes key, struct stream **stream_out,
                                           struct error *err);
#endif

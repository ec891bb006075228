/* maintenance_drop: finds the columnar runs whose rows are all deleted, so that a purge can remove
 * them without reading them.
 *
 *     runs of days    27 ─ dropped      28 ─ stays      28, 29 mixed ─ stays
 *     deletions       of every partition of the 27th and the 28th
 *
 * The mixed run stays, because it still has rows of the 29th.  The run of the 28th stays because
 * the mixed run has rows of the same partitions: without the older run these clicks would get other
 * ranks.
 *
 * Merge lane, for a merge that may purge (maintenance_merge.h). */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_DROP_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_DROP_H

#include "storage/engine/maintenance_merge.h"

/* 1: compact->inputs has the removable runs, compact->beside the others, and compact->purged the
 * partitions of the inputs; 0: no run can be removed, and nothing was changed; negative: an
 * error. */
must_check int maintenance_drop_find(struct compact_job *compact);

/* Open a stream of the partition's items in compact->overwrites; NULL: there are none. */
must_check int maintenance_drop_overwrites(struct compact_job *compact, int64_t token,
                                           struct bytes key, struct stream **stream_out,
                                           struct error *err);
#endif

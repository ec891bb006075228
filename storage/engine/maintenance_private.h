/* maintenance_private: what maintenance.c, maintenance_flush.c and maintenance_compact.c share. */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_PRIVATE_H

#include "storage/engine/maintenance.h"

/* Retry the job later if waiting can help; otherwise the engine fails. */
void maintenance_job_failed(struct maintenance *maintenance, enum maintenance_kind kind, int status,
                            const struct error *err);
/* Log at most one failure of a kind in a minute. */
void maintenance_log_failure(struct maintenance *maintenance, enum maintenance_kind kind,
                             const struct error *err, const char *effect);
void maintenance_job_succeeded(struct maintenance *maintenance, enum maintenance_kind kind);
void maintenance_call_flush_waiters(struct maintenance *maintenance, int status,
                                    const struct error *err);
bool maintenance_is_flushed(const struct maintenance *maintenance, uint64_t frame);
/* Whether a merge of the table is under way; `table_id` 0: of any table.  While a merge of a table
 * is under way, nothing else may remove runs of the table, because they may be its inputs. */
bool maintenance_is_merging(const struct maintenance *maintenance, uint32_t table_id);
#endif

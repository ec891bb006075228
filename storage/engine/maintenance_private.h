/* maintenance_private: what maintenance.c, maintenance_flush.c and maintenance_compact.c share. */
#ifndef DAYBOOK_STORAGE_ENGINE_MAINTENANCE_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_MAINTENANCE_PRIVATE_H

#include "storage/engine/maintenance.h"

/* A job has failed.  Where waiting can help, the callbacks that wait for a flush or a merge are
 * called, and the job is tried again later; else the engine has failed. */
void maintenance_job_failed(struct maintenance *maintenance, enum maintenance_kind kind, int status,
                            const struct error *err);
/* A job of this kind has succeeded: no job of the kind waits for a resource any more. */
void maintenance_job_succeeded(struct maintenance *maintenance, enum maintenance_kind kind);
/* Call the callbacks that wait for a flush. */
void maintenance_call_flush_waiters(struct maintenance *maintenance, int status,
                                    const struct error *err);
/* Whether all frames up to `frame` are in segments. */
bool maintenance_is_flushed(const struct maintenance *maintenance, uint64_t frame);
/* Whether runs of the table (0: of any) are being merged.  Only that merge may then remove runs of
 * the table. */
bool maintenance_is_merging(const struct maintenance *maintenance, uint32_t table_id);
#endif
